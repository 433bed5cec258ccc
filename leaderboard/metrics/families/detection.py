"""Detection: the value of returning a document, at the system's own decisions; then sweeps over the
threshold: the value at every distinct score, the best one, and the best one of each query.

At the end: a measure's columns worked out from stored per-query values. The database keeps one value per query, measure
and run; an interval or a comparison needs the columns that the measure's aggregate takes. Most measures aggregate the
values themselves. AQWV aggregates P_miss and β · P_fa apart: under `pfa_only` a query without relevant documents has no
value of its own and still counts in the mean of P_fa, so that the run's Pmiss and Pfa have to be stored beside AQWV.
"""

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from leaderboard.metrics.aggregation import VALUE_OF_MEANS, WHOLE_RUN, Columns
from leaderboard.metrics.measure import FAMILIES, REL, Evaluated, Measure, Range, choice, measured
from leaderboard.metrics.ranking import NoRelevant, Ranking, Setting, kept
from leaderboard.metrics.segments import Floats, Ints, count

ROUNDING = 1e-12  # values closer than this are equal but for the rounding of sums


def losses(ranking: Ranking, hits: Ints, returned: Ints, rel: int) -> Columns:
    """(P_miss, P_fa), each float64[Q], for `found` relevant ones among `returned` documents of each query.

    P_miss of a query without relevant documents is NaN, under `pmiss_zero` 0. Where every document is relevant nothing
    can be a false alarm, and P_fa is NaN. A list with documents that the collection lacks may be longer than it: no
    more of them are false alarms than the collection has documents that are not relevant.
    """
    relevant = ranking.relevant(rel).judged
    others = (ranking.setting.documents or 0) - relevant
    none = 0.0 if ranking.setting.no_relevant == "pmiss_zero" else np.nan
    with np.errstate(divide="ignore", invalid="ignore"):
        p_miss = np.where(relevant > 0, 1.0 - hits / relevant, none)
        p_fa = np.where(others > 0, np.minimum(returned - hits, others) / others, np.nan)
    return p_miss, p_fa


def weighted_losses(ranking: Ranking, hits: Ints, returned: Ints, rel: int) -> Columns:
    """(P_miss, β · P_fa), NaN where the policy leaves the query out: what Value and AQWV are made of."""
    p_miss, p_fa = losses(ranking, hits, returned, rel)
    return p_miss, (ranking.setting.beta or 0.0) * counted(ranking, p_miss, p_fa)


def counted(ranking: Ranking, p_miss: Floats, p_fa: Floats) -> Floats:
    """P_fa where the query counts in its mean: under `exclude` NaN where P_miss is."""
    return np.where(np.isnan(p_miss), np.nan, p_fa) if ranking.setting.no_relevant == "exclude" else p_fa


@kept
def found_returned(ranking: Ranking, rel: int) -> Ints:
    """int64[Q]: relevant documents among those that count as returned."""
    return count(ranking.query[ranking.is_returned & (ranking.grade >= rel)], ranking.queries)


def value_range(setting: Setting, _measure: Measure) -> Range:
    """−β (nothing right returned and everything wrong) to 1."""
    return -(setting.beta if setting.beta is not None else np.inf), 1.0


of_decisions = partial(measured, "Detection", of_returned=True, defined_where=None)
of_value = partial(of_decisions, span=value_range, unit="value", needs=("documents", "beta"))


@of_value("AQWV", "Actual query weighted value", REL, aggregation=VALUE_OF_MEANS)
def actual(ranking: Ranking, rel: int) -> Columns:
    """The value of the system's own decisions over all queries.

    Formula: AQWV = 1 − mean(P_miss) − β · mean(P_fa)
    Symbols: P_miss is the share of the relevant documents not returned, P_fa that of the collection's other documents
        returned; β = (C / V) · (1 / P_relevant − 1) from the campaign's cost, value and prior, or as the campaign
        states it. Returned are the documents with decision Y; without decisions, those with a score of at least
        the submission's θ; without either, every document listed.
    Range: −β to 1: 1 perfect, 0 nothing returned, 1 − β everything returned, −β worst
    Ties: The order does not matter, so neither do ties.
    No relevant document: The campaign's policy. exclude (default): the query is left out. pfa_only: it counts in the
        mean of P_fa but not in that of P_miss. pmiss_zero: it counts with P_miss = 0, which raises scores.
    Missing query: An empty list: P_miss 1, P_fa 0, Value 0.
    Cutoff beyond the list: It takes no cutoff: everything returned counts, and nothing else.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: Neither has it.
    Source: MATERIAL evaluation plan (NIST, 2017–2021); J. G. Fiscus and others: Results of the 2006 Spoken Term
        Detection Evaluation, SSCS 2007

    (P_miss, β · P_fa) at the decisions, as the policy counts them.

    >>> from leaderboard.metrics.ranking import Setting, graded_lists
    >>> setting = Setting(documents=103, beta=20.0)
    >>> ranking = graded_lists([1, None, 0, 2], missed=[1], returned=2, setting=setting)
    >>> [column.round(4).tolist() for column in actual(ranking, rel=1)]
    [[0.6667], [0.2]]
    """
    return weighted_losses(ranking, found_returned(ranking, rel), ranking.returned, rel)


@of_value("Value", "Query weighted value of one query", REL)
def value(ranking: Ranking, rel: int) -> Floats:
    """What the decisions on a query are worth: found documents less false alarms.

    Formula: Value = 1 − (P_miss + β · P_fa)
    Symbols: P_miss is the share of the relevant documents not returned, P_fa that of the collection's other documents
        returned; β = (C / V) · (1 / P_relevant − 1) from the campaign's cost, value and prior, or as the campaign
        states it. Returned are the documents with decision Y; without decisions, those with a score of at least
        the submission's θ; without either, every document listed.
    Range: −β to 1: 1 perfect, 0 nothing returned, 1 − β everything returned, −β worst
    Ties: The order does not matter, so neither do ties.
    No relevant document: The campaign's policy. exclude (default): the query is left out. pfa_only: it counts in the
        mean of P_fa but not in that of P_miss. pmiss_zero: it counts with P_miss = 0, which raises scores.
    Missing query: An empty list: P_miss 1, P_fa 0, Value 0.
    Cutoff beyond the list: It takes no cutoff: everything returned counts, and nothing else.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: Neither has it.
    Source: MATERIAL evaluation plan (NIST, 2017–2021); J. G. Fiscus and others: Results of the 2006 Spoken Term
        Detection Evaluation, SSCS 2007

    1 − (P_miss + β · P_fa), float64[Q] in [−β, 1]; NaN where the policy leaves the query without a value.

    >>> from leaderboard.metrics.ranking import Setting, graded_lists
    >>> setting = Setting(documents=103, beta=20.0)
    >>> value(graded_lists([1, None, 0, 2], missed=[1], returned=2, setting=setting), rel=1).round(4)
    array([0.1333])
    """
    p_miss, weighted = actual(ranking, rel)
    return 1.0 - p_miss - weighted


@of_decisions("Pmiss", "Probability of a miss", REL, direction="lower")
def miss(ranking: Ranking, rel: int) -> Floats:
    """The share of the relevant documents that is not returned.

    Formula: P_miss = 1 − N_correct / N_relevant
    Symbols: N_correct is the number of relevant documents returned, N_relevant that of all relevant documents.
        Returned are the documents with decision Y; without decisions, those with a score of at least the
        submission's θ; without either, every document listed.
    Range: 0 to 1
    Ties: The order does not matter, so neither do ties.
    No relevant document: Undefined, and left out of the mean; 0 under pmiss_zero.
    Missing query: An empty list: 1.
    Cutoff beyond the list: It takes no cutoff: everything returned counts, and nothing else.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: Neither has it.
    Source: MATERIAL evaluation plan (NIST, 2017–2021); J. G. Fiscus and others: Results of the 2006 Spoken Term
        Detection Evaluation, SSCS 2007

    P_miss, float64[Q] in [0, 1]; NaN without relevant documents (0 under `pmiss_zero`).

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> miss(graded_lists([1, None, 0, 2], missed=[1], returned=2), rel=1).round(4)
    array([0.6667])
    """
    return losses(ranking, found_returned(ranking, rel), ranking.returned, rel)[0]


@of_decisions(
    "Pfa",
    "Probability of a false alarm",
    REL,
    choice(
        "queries", ("counted", "all"), "the mean is over the queries that count in AQWV's mean of P_fa, or over all"
    ),
    direction="lower",
    unit="false alarms",
    needs=("documents",),
)
def false_alarm(ranking: Ranking, rel: int, queries: str) -> Floats:
    """The share of the collection's other documents that is returned.

    Formula: P_fa = N_fa / (N_total − N_relevant)
    Symbols: N_fa is the number of documents returned that are not relevant, N_total − N_relevant that of all such
        documents of the collection. N_fa is no larger than that, even for a list with documents that the collection
        lacks. Returned are the documents with decision Y; without decisions, those with a score of at least the
        submission's θ; without either, every document listed.
    Range: 0 to 1
    Ties: The order does not matter, so neither do ties.
    No relevant document: The campaign's policy. Under exclude undefined, and left out of the mean, as in AQWV. Under
        pfa_only and pmiss_zero, and with queries=all under each, defined: every document returned is a false alarm.
    Missing query: An empty list: 0.
    Cutoff beyond the list: It takes no cutoff: everything returned counts, and nothing else.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: Neither has it.
    Source: MATERIAL evaluation plan (NIST, 2017–2021); J. G. Fiscus and others: Results of the 2006 Spoken Term
        Detection Evaluation, SSCS 2007

    float64[Q] in [0, 1]; NaN where every document of the collection is relevant, and where the policy leaves the query
    out (with queries="counted"), so that AQWV = 1 − mean(P_miss) − β · mean(P_fa).

    >>> from leaderboard.metrics.ranking import Setting, graded_lists
    >>> setting = Setting(documents=103)
    >>> ranking = graded_lists([1, None, 0, 2], missed=[1], returned=2, setting=setting)
    >>> false_alarm(ranking, rel=1, queries='counted')
    array([0.01])
    """
    p_miss, p_fa = losses(ranking, found_returned(ranking, rel), ranking.returned, rel)
    return p_fa if queries == "all" else counted(ranking, p_miss, p_fa)


def oracle_range(setting: Setting, measure: Measure) -> Range:
    """0 to 1; under pfa_only a query's own value may fall below 0, since its false alarms weigh less in the choice."""
    return (value_range(setting, measure)[0] if setting.no_relevant == "pfa_only" else 0.0), 1.0


of_sweep = partial(measured, "Detection", defined_where=None, unit="value", needs=("documents", "beta"))


class Sweep(NamedTuple):
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
        """Where the value is highest; the strictest such threshold, whatever the rounding of sums makes of a tie."""
        return 0 if np.isnan(self.qwv).any() else int(np.argmax(self.qwv >= self.qwv.max() - ROUNDING))


@kept
def sweep(ranking: Ranking, rel: int = 1) -> Sweep:
    """The run's P_miss, P_fa and value at each distinct score, one pass over its lines.

    Needs scores, documents and beta. NaN throughout where the policy leaves no query to average over.

    >>> from leaderboard.metrics.ranking import Setting, graded_lists
    >>> ranking = graded_lists([1, 0], missed=[1], setting=Setting(documents=102, beta=20.0))
    >>> sweep(ranking).theta, sweep(ranking).qwv
    (array([inf,  2.,  1.]), array([0. , 0.5, 0.3]))
    """
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
    if (ranking.retrieved - relevant.found > others).any():
        _drop_surplus(alarm, ranking, line, others)

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


def promising_thresholds(ranking: Ranking, rel: int = 1, *, most: int) -> Floats:
    """float64[T], falling: at which thresholds MQWV may lie, whatever the weights of the queries; +inf is the first.

    Between two relevant documents more is only false alarms, so the score of a relevant document is best, or to return
    nothing. Where there are more than `most` such scores, those with the highest value over the queries as they are.

    >>> from leaderboard.metrics.ranking import Setting, graded_lists
    >>> setting = Setting(documents=103, beta=20.0)
    >>> promising_thresholds(graded_lists([1, None, 0, 2], [0, 1], setting=setting), most=9)
    array([inf,  4.,  1.])
    """
    relevant, thresholds = ranking.relevant(rel), sweep(ranking, rel)
    scores = np.unique(ranking.scores[ranking.line_start[relevant.query] + relevant.rank - 1])[::-1]
    if len(scores) > most:
        own = thresholds.qwv[np.searchsorted(-thresholds.theta, -scores)]
        scores = scores[np.sort(np.argsort(-own, kind="stable")[:most])]
    return np.concatenate(([np.inf], scores))


def losses_at(ranking: Ranking, thetas: Floats, rel: int = 1) -> Columns:
    """(P_miss, β · P_fa) of each query at each threshold, float64[Q, T] both, NaN where the policy leaves it out.

    thetas: float64[T], falling.

    >>> from leaderboard.metrics.ranking import Setting, graded_lists
    >>> setting = Setting(documents=103, beta=20.0)
    >>> p_miss, p_fa = losses_at(graded_lists([1, None, 0, 2], setting=setting), np.array([np.inf, 4.0, 1.0]))
    >>> p_miss.tolist(), p_fa.round(2).tolist()
    ([[1.0, 0.5, 0.0]], [[0.0, 0.0, 0.4]])
    """
    relevant, lines = ranking.relevant(rel), ranking.line_start
    hits, returned = (np.empty((len(thetas), ranking.queries), dtype=np.int64) for _ in range(2))
    for query in range(ranking.queries):
        scores = ranking.scores[lines[query] : lines[query + 1]]
        returned[:, query] = np.searchsorted(-scores, -thetas, side="right")
        ranks = relevant.rank[relevant.start[query] : relevant.start[query + 1]]
        hits[:, query] = np.searchsorted(ranks, returned[:, query], side="right")
    p_miss, p_fa = weighted_losses(ranking, hits, returned, rel)
    return np.broadcast_to(p_miss, hits.shape).T, np.broadcast_to(p_fa, hits.shape).T


@of_sweep("MQWV", "Maximum query weighted value", REL, aggregation=WHOLE_RUN)
def maximum(ranking: Ranking, rel: int) -> Evaluated:
    """AQWV at the best single threshold over all queries: what better calibration alone would have brought.

    Formula: MQWV = max_θ (1 − mean(P_miss(θ)) − β · mean(P_fa(θ)))
    Symbols: P_miss(θ) and P_fa(θ) are those of everything with a score of at least θ; β is that of the campaign.
    Range: 0 to 1: returning nothing is one of the thresholds
    Ties: A threshold never parts equal scores: documents of one score are returned together or not at all.
    No relevant document: The campaign's policy. exclude (default): the query is left out. pfa_only: it counts in the
        mean of P_fa but not in that of P_miss. pmiss_zero: it counts with P_miss = 0, which raises scores.
    Missing query: An empty list at every threshold.
    Cutoff beyond the list: It takes no cutoff: every line feeds the sweep, whatever its decision.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: Neither has it.
    Source: MATERIAL evaluation plan (NIST, 2017–2021); J. G. Fiscus and others: Results of the 2006 Spoken Term
        Detection Evaluation, SSCS 2007

    MQWV: the policy's aggregate at the best single θ. No query has a value of its own.

    The sweep finds θ; the figure is then counted afresh there, so that it is as exact as AQWV.

    >>> from leaderboard.metrics.ranking import Setting, graded_lists
    >>> setting = Setting(documents=103, beta=20.0)
    >>> round(maximum(graded_lists([1, None, 0, 2], missed=[1], returned=2, setting=setting), rel=1).mean, 4)
    0.3333
    """
    thresholds = sweep(ranking, rel)
    theta = float(thresholds.theta[thresholds.best])
    hits, returned = returned_above(ranking, theta, rel)
    columns = weighted_losses(ranking, hits, returned, rel)
    return Evaluated(
        values=np.full(ranking.queries, np.nan),
        columns=(),
        mean=float(VALUE_OF_MEANS.combine(columns, None)),
        count=int(np.count_nonzero(~np.isnan(columns[1]))),
        theta=theta,
    )


@of_sweep("OQWV", "Optimal query weighted value", REL, span=oracle_range, aggregation=VALUE_OF_MEANS)
def oracle(ranking: Ranking, rel: int) -> Columns:
    """AQWV with the best threshold for each query by itself: no choice of θ does better.

    Formula: OQWV = mean(max_θ Value(θ))
    Symbols: Value(θ) is that of returning everything with a score of at least θ. Under pfa_only θ is chosen to maximise
        what the query adds to the figure: (1 − P_miss) / n where it has relevant documents (n queries have), less
        β · P_fa / q (there are q queries).
    Range: 0 to 1; under pfa_only a single query may lie below 0, down to −β
    Ties: A threshold never parts equal scores: documents of one score are returned together or not at all.
    No relevant document: The campaign's policy. exclude (default): the query is left out. pfa_only: it counts in the
        mean of P_fa but not in that of P_miss. pmiss_zero: it counts with P_miss = 0, which raises scores.
    Missing query: An empty list at every threshold.
    Cutoff beyond the list: It takes no cutoff: every line feeds the sweep, whatever its decision.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: Neither has it.
    Source: MATERIAL evaluation plan (NIST, 2017–2021); J. G. Fiscus and others: Results of the 2006 Spoken Term
        Detection Evaluation, SSCS 2007

    (P_miss, β · P_fa) of each query at its own best θ, float64[Q] each; equal scores stay together.

    Only a threshold at the score of a relevant document can be best (or returning nothing), so only those are tried.

    >>> from leaderboard.metrics.ranking import Setting, graded_lists
    >>> setting = Setting(documents=103, beta=20.0)
    >>> ranking = graded_lists([1, None, 0, 2], missed=[1], returned=2, setting=setting)
    >>> [column.round(4).tolist() for column in oracle(ranking, rel=1)]
    [[0.6667], [0.0]]
    """
    return weighted_losses(ranking, *best_of_each(ranking, rel)[:2], rel)


def oracles(ranking: Ranking, rel: int = 1) -> dict[str, Floats]:
    """What the best threshold of each query would have brought. Needs scores, documents and beta.

    theta, p_miss, p_fa and value, float64[Q] each; NaN where the policy gives the query no value. theta is +inf where
    returning nothing is best.

    >>> from leaderboard.metrics.ranking import Setting, graded_lists
    >>> ranking = graded_lists([1, 0], missed=[1], setting=Setting(documents=102, beta=20.0))
    >>> oracles(ranking)["theta"], oracles(ranking)["value"]
    (array([2.]), array([0.5]))
    """
    hits, returned, theta = best_of_each(ranking, rel)
    p_miss, p_fa = losses(ranking, hits, returned, rel)
    value = 1.0 - p_miss - (ranking.setting.beta or 0.0) * p_fa
    return {"theta": np.where(np.isnan(value), np.nan, theta), "p_miss": p_miss, "p_fa": p_fa, "value": value}


def _drop_surplus(alarm: Floats, ranking: Ranking, relevant: Ints, others: Ints) -> None:
    """Takes the weight off false alarms that are more than the collection's `others` of a query: documents it lacks.

    alarm     float64[L], the weight of each line
    relevant  the lines of relevant documents
    others    int64[Q], documents of the collection that are not relevant
    """
    is_alarm = np.ones(len(alarm), np.int64)
    is_alarm[relevant] = 0
    so_far = np.concatenate(([0], np.cumsum(is_alarm)))
    in_query = so_far[1:] - np.repeat(so_far[ranking.line_start[:-1]], ranking.retrieved)
    alarm[in_query > np.repeat(others, ranking.retrieved)] = 0.0


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

    hits = relevant.at(relevant.query, returned)
    counted = weighted_losses(ranking, none, none, rel)
    with_miss, with_alarm = (int(np.count_nonzero(~np.isnan(column))) for column in counted)
    share = with_miss / max(with_alarm, 1)
    others = (ranking.setting.documents or 0) - relevant.judged
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = (ranking.setting.beta or 0.0) * share / others
    alarms = np.minimum(returned - hits, others[relevant.query])
    gain = hits / relevant.judged[relevant.query] - cost[relevant.query] * alarms

    # The strictest threshold of those that tie, whatever rounding makes of the tie: and nothing, where it is as good.
    highest = np.maximum.reduceat(gain, relevant.start[:-1][relevant.found > 0])
    highest = np.repeat(highest, relevant.found[relevant.found > 0])
    ties = np.flatnonzero((gain >= highest - ROUNDING) & (gain > ROUNDING))
    first = ties[np.unique(relevant.query[ties], return_index=True)[1]]
    queries = relevant.query[first]
    best_found, best_returned, theta = none.copy(), none.copy(), np.full(ranking.queries, np.inf)
    best_found[queries], best_returned[queries] = hits[first], returned[first]
    theta[queries] = scores[line[first]]
    return best_found, best_returned, theta


AQWV, MQWV, OQWV, PMISS, PFA = (FAMILIES[name] for name in ("AQWV", "MQWV", "OQWV", "Pmiss", "Pfa"))


def measures_beside(measure: Measure, no_relevant: NoRelevant) -> tuple[Measure, ...]:
    """The measures whose values must be stored beside this one's: Pmiss and Pfa for AQWV under `pfa_only`.

    >>> from leaderboard.metrics import parse
    >>> measures_beside(parse("AQWV"), "pfa_only"), measures_beside(parse("AP"), "pfa_only")
    ((<Measure Pmiss>, <Measure Pfa>), ())
    """
    if measure.family is not AQWV or no_relevant != "pfa_only":
        return ()
    rel = dict(measure.given)
    return PMISS(**rel), PFA(**rel)


def columns_from_values(
    measure: Measure, values: Mapping[str, Floats], *, no_relevant: NoRelevant, beta: float | None
) -> Columns | None:
    """What `measure.aggregate` takes, float64[Q] each, NaN where a query has no value; None when the values don't say.

    values: canonical name -> float64[Q] of one run, for the measure and its `measures_beside`. A measure of the whole
    run (MQWV) has no columns; nor has OQWV under `pfa_only`, whose P_miss and P_fa are at thresholds of its own.

    >>> from leaderboard.metrics import parse
    >>> columns_from_values(parse("AP"), {"AP": np.array([0.5, 0.25])}, no_relevant="exclude", beta=None)
    (array([0.5 , 0.25]),)
    """
    own = values.get(str(measure))
    if own is None or not measure.has_interval:
        return None
    if measure.family.aggregation is not VALUE_OF_MEANS:
        return (own,)
    if no_relevant != "pfa_only":
        # Every query that counts has both of its parts: 1 − mean(1 − value) − mean(0) is the aggregate.
        return 1.0 - own, np.where(np.isnan(own), np.nan, 0.0)
    parts = [values[name] for name in map(str, measures_beside(measure, no_relevant)) if name in values]
    return None if beta is None or len(parts) < 2 else (parts[0], beta * parts[1])
