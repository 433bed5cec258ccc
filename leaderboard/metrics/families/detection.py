"""Detection: the value of returning a document, at the system's own decisions.

At the end: a measure's columns worked out from stored per-query values. The database keeps one value per query, measure
and run; an interval or a comparison needs the columns that the measure's aggregate takes. Most measures aggregate the
values themselves. AQWV aggregates P_miss and β · P_fa apart: under `pfa_only` a query without relevant documents has no
value of its own and still counts in the mean of P_fa, so that the run's Pmiss and Pfa have to be stored beside AQWV.
"""

from collections.abc import Mapping
from functools import partial

import numpy as np

from leaderboard.metrics.aggregation import VALUE_OF_MEANS, Columns
from leaderboard.metrics.measure import REL, Family, Measure, Range, choice
from leaderboard.metrics.ranking import NoRelevant, Ranking, Setting
from leaderboard.metrics.segments import Floats, Ints, count


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


def found_returned(ranking: Ranking, rel: int) -> Ints:
    """int64[Q]: relevant documents among those that count as returned."""

    def make() -> Ints:
        hits = ranking.is_returned & (ranking.grade >= rel)
        return count(ranking.query[hits], ranking.queries)

    return ranking.keep(("found returned", rel), make)


def miss(ranking: Ranking, *, rel: int) -> Floats:
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


def false_alarm(ranking: Ranking, *, rel: int, queries: str) -> Floats:
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


def value(ranking: Ranking, *, rel: int) -> Floats:
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
    p_miss, weighted = actual(ranking, rel=rel)
    return 1.0 - p_miss - weighted


def actual(ranking: Ranking, *, rel: int) -> Columns:
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


def value_range(setting: Setting, _measure: Measure) -> Range:
    """−β (nothing right returned and everything wrong) to 1."""
    return -(setting.beta if setting.beta is not None else np.inf), 1.0


of_decisions = partial(Family, of_returned=True, defined_where=None)

AQWV = of_decisions(
    "AQWV",
    "Actual query weighted value",
    actual,
    (REL,),
    span=value_range,
    unit="value",
    aggregation=VALUE_OF_MEANS,
    needs=("documents", "beta"),
)
PMISS = of_decisions("Pmiss", "Probability of a miss", miss, (REL,), direction="lower")
PFA = of_decisions(
    "Pfa",
    "Probability of a false alarm",
    false_alarm,
    (
        REL,
        choice(
            "queries", ("counted", "all"), "the mean is over the queries that count in AQWV's mean of P_fa, or over all"
        ),
    ),
    direction="lower",
    unit="false alarms",
    needs=("documents",),
)

FAMILIES = (
    AQWV,
    of_decisions(
        "Value",
        "Query weighted value of one query",
        value,
        (REL,),
        span=value_range,
        unit="value",
        needs=("documents", "beta"),
    ),
    PMISS,
    PFA,
)


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
    values_beside = [values.get(str(each)) for each in measures_beside(measure, no_relevant)]
    if beta is None or len(values_beside) != 2 or values_beside[0] is None or values_beside[1] is None:
        return None
    return values_beside[0], beta * values_beside[1]
