"""Sweeps over the threshold: the value at every distinct score, the best one, and the best one of each query."""

from dataclasses import dataclass, replace

import numpy as np

from leaderboard.metrics.aggregation import VALUE_OF_MEANS, WHOLE_RUN, Columns
from leaderboard.metrics.families.detection import AQWV, losses, value_range, weighted_losses
from leaderboard.metrics.measure import REL, Evaluated, Family, Measure, Range
from leaderboard.metrics.ranking import Ranking, Setting
from leaderboard.metrics.segments import Floats, Ints
from leaderboard.metrics.wording import SWEEP_TIES

__all__ = ["FAMILIES", "MQWV", "OQWV", "Oracle", "Sweep", "oracles", "sweep"]

GROUP = "Detection"


@dataclass(frozen=True, eq=False, slots=True)
class Sweep:
    """The run at every threshold, from the strictest on. T = distinct scores + 1.

    theta   float64[T], falling; the first is +inf: nothing returned
    p_miss  float64[T], mean over the queries with relevant documents (over all under `pmiss_zero`)
    p_fa    float64[T], mean over the queries that the policy counts
    qwv     float64[T], 1 − p_miss − β · p_fa
    """

    theta: Floats
    p_miss: Floats
    p_fa: Floats
    qwv: Floats

    @property
    def best(self) -> int:
        """Where the value is highest; the strictest such threshold."""
        return int(np.argmax(self.qwv)) if not np.isnan(self.qwv).any() else 0


def sweep(ranking: Ranking, rel: int = 1) -> Sweep:
    """The run's P_miss, P_fa and value at each distinct score, one pass over its lines.

    Needs scores, documents and beta. NaN throughout where the policy leaves no query to average over.
    """
    return ranking.keep(("sweep", rel), lambda: _sweep(ranking, rel))


def _sweep(ranking: Ranking, rel: int) -> Sweep:
    nothing = np.zeros(ranking.queries, dtype=np.int64)
    p_miss, p_fa = weighted_losses(ranking, nothing, nothing, rel)
    counts_miss, counts_fa = ~np.isnan(p_miss), ~np.isnan(p_fa)
    relevant = ranking.relevant(rel)
    others = (ranking.setting.documents or 0) - relevant.judged
    with np.errstate(divide="ignore", invalid="ignore"):
        per_hit = np.where(relevant.judged > 0, 1.0 / relevant.judged, 0.0) / np.sum(counts_miss)
        per_alarm = np.where(counts_fa, 1.0 / others, 0.0) / np.sum(counts_fa)
        start = np.nansum(p_miss) / np.sum(counts_miss)

    alarm = np.repeat(per_alarm, ranking.retrieved)
    hit = np.zeros(len(alarm))
    line = ranking.line_start[relevant.query] + relevant.rank - 1
    alarm[line] = 0.0
    hit[line] = per_hit[relevant.query]

    order = np.argsort(-ranking.scores, kind="stable")
    scores = ranking.scores[order]
    last = np.flatnonzero(np.append(scores[1:] != scores[:-1], True)) if len(scores) else order
    miss = np.concatenate(([start], start - np.cumsum(hit[order])[last]))
    false = np.concatenate(([0.0], np.cumsum(alarm[order])[last]))
    if not counts_fa.any():
        false = np.full_like(false, np.nan)
    return Sweep(
        theta=np.concatenate(([np.inf], scores[last])),
        p_miss=miss,
        p_fa=false,
        qwv=1.0 - miss - (ranking.setting.beta or 0.0) * false,
    )


def returned_above(ranking: Ranking, theta: float, rel: int) -> tuple[Ints, Ints]:
    """(relevant, all) documents of each query with a score of at least θ, int64[Q] each."""
    above = np.concatenate(([0], np.cumsum(ranking.scores >= theta)))
    returned = above[ranking.line_start[1:]] - above[ranking.line_start[:-1]]
    return ranking.relevant(rel).within(returned), returned


def maximum(ranking: Ranking, *, rel: int) -> Evaluated:
    """MQWV: the policy's aggregate at the best single θ. No query has a value of its own.

    The sweep finds θ; the figure is then counted afresh there, so that it is as exact as AQWV.
    """
    thresholds = sweep(ranking, rel)
    theta = float(thresholds.theta[thresholds.best])
    found, returned = returned_above(ranking, theta, rel)
    columns = weighted_losses(ranking, found, returned, rel)
    return Evaluated(
        values=np.full(ranking.queries, np.nan),
        columns=(),
        mean=VALUE_OF_MEANS.combine(columns, None),
        count=int(np.count_nonzero(~np.isnan(columns[1]))),
        theta=theta,
    )


def oracle(ranking: Ranking, *, rel: int) -> Columns:
    """(P_miss, β · P_fa) of each query at its own best θ, float64[Q] each; equal scores stay together.

    Only a threshold at the score of a relevant document can be best (or returning nothing), so only those are tried.
    """
    return weighted_losses(ranking, *best_of_each(ranking, rel)[:2], rel)


@dataclass(frozen=True, eq=False, slots=True)
class Oracle:
    """Each query at its own best threshold, float64[Q] each; NaN where the policy gives the query no value.

    theta is +inf where returning nothing is best.
    """

    theta: Floats
    p_miss: Floats
    p_fa: Floats
    value: Floats


def oracles(ranking: Ranking, rel: int = 1) -> Oracle:
    """What the best threshold of each query would have brought. Needs scores, documents and beta."""
    found, returned, theta = best_of_each(ranking, rel)
    p_miss, p_fa = losses(ranking, found, returned, rel)
    value = 1.0 - p_miss - (ranking.setting.beta or 0.0) * p_fa
    return Oracle(np.where(np.isnan(value), np.nan, theta), p_miss, p_fa, value)


def best_of_each(ranking: Ranking, rel: int) -> tuple[Ints, Ints, Floats]:
    """(relevant returned, returned, θ) of each query at its own best θ; θ +inf where returning nothing is best."""
    relevant = ranking.relevant(rel)
    lines = ranking.line_start
    none = np.zeros(ranking.queries, dtype=np.int64)
    if not len(relevant.query):
        return none, none, np.full(ranking.queries, np.inf)
    scores = ranking.scores
    ends = np.append(scores[1:] != scores[:-1], True)
    ends[lines[1:][ranking.retrieved > 0] - 1] = True
    end = np.flatnonzero(ends)
    line = lines[relevant.query] + relevant.rank - 1
    returned = end[np.searchsorted(end, line)] + 1 - lines[relevant.query]

    found = relevant.at(relevant.query, returned)
    counted = weighted_losses(ranking, none, none, rel)
    with_miss, with_alarm = (int(np.count_nonzero(~np.isnan(column))) for column in counted)
    share = with_miss / max(with_alarm, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = (ranking.setting.beta or 0.0) * share / ((ranking.setting.documents or 0) - relevant.judged)
    gain = found / relevant.judged[relevant.query] - cost[relevant.query] * (returned - found)

    best = np.lexsort((returned, -gain, relevant.query))
    first = best[relevant.start[:-1][relevant.found > 0]]
    first = first[gain[first] > 0]
    queries = relevant.query[first]
    best_found, best_returned, theta = none.copy(), none.copy(), np.full(ranking.queries, np.inf)
    best_found[queries], best_returned[queries] = found[first], returned[first]
    theta[queries] = scores[line[first]]
    return best_found, best_returned, theta


def oracle_range(setting: Setting, measure: Measure) -> Range:
    """0 to 1; under pfa_only a query's own value may fall below 0, since its false alarms weigh less in the choice."""
    return (value_range(setting, measure)[0] if setting.no_relevant == "pfa_only" else 0.0), 1.0


OQWV_CHOICE = (
    "The policy decides what a query contributes: under pfa_only (1 − P_miss) counts once per query with relevant "
    "documents and β · P_fa once per query, and θ is chosen to maximise that."
)

MQWV = Family(
    name="MQWV",
    title="Maximum query weighted value",
    summary="AQWV at the best single threshold over all queries: what better calibration alone would have brought.",
    group=GROUP,
    compute=maximum,
    defined_where=None,
    parameters=(REL,),
    unit="value",
    aggregation=WHOLE_RUN,
    needs=frozenset({"documents", "beta", "scores"}),
    reference=replace(
        AQWV.reference,
        where=f"P_miss(θ) and P_fa(θ) when everything with a score of at least θ is returned. {AQWV.reference.where}",
        formula="MQWV = max_θ (1 − mean(P_miss(θ)) − β · mean(P_fa(θ)))",
        range="0 to 1: returning nothing is one of the thresholds",
        ties=SWEEP_TIES,
        missing="An empty list at every threshold.",
        beyond="It takes no cutoff: every line feeds the sweep, whatever its decision.",
    ),
)
OQWV = Family(
    name="OQWV",
    title="Optimal query weighted value",
    summary=f"AQWV with the best threshold for each query by itself: no choice of θ does better. {OQWV_CHOICE}",
    group=GROUP,
    compute=oracle,
    defined_where=None,
    parameters=(REL,),
    span=oracle_range,
    unit="value",
    aggregation=VALUE_OF_MEANS,
    needs=frozenset({"documents", "beta", "scores"}),
    reference=replace(
        MQWV.reference,
        formula="OQWV = mean(max_θ Value(θ))",
        range="0 to 1; under pfa_only a single query may lie below 0, down to −β",
    ),
)

FAMILIES = (MQWV, OQWV)
