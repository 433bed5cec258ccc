"""Sets: what was returned against what is relevant, whatever the order."""

from dataclasses import replace

import numpy as np

from leaderboard.metrics.aggregation import SUM
from leaderboard.metrics.detection import found_returned
from leaderboard.metrics.measure import COUNT, LEVEL, Family, TrecEval
from leaderboard.metrics.ranking import Floats, Ints, Ranking
from leaderboard.metrics.values import Parameter
from leaderboard.metrics.wording import HIGHER, LOWER, NEITHER, NO_CUTOFF_SET, NO_ORDER, NOT_RELEVANT, SETS, TREC_EVAL

__all__ = ["COUNTS", "SET_MEASURES", "share"]

GROUP = "Sets"
COUNTING = "Counts"


def share(part: Ints | Floats, whole: Ints | Floats) -> Floats:
    """part / whole, 0 where whole is 0."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=np.asarray(whole) != 0)


def precision(ranking: Ranking, *, rel: int) -> Floats:
    """TP / returned, float64[Q] in [0, 1]; 0 where nothing is returned."""
    return share(found_returned(ranking, rel), ranking.returned)


def recall(ranking: Ranking, *, rel: int) -> Floats:
    """TP / relevant, float64[Q] in [0, 1]; 0 where nothing is relevant."""
    return share(found_returned(ranking, rel), ranking.relevant(rel).judged)


def f_measure(ranking: Ranking, *, rel: int, alpha: float, beta: float | None) -> Floats:
    """1 / (α / P + (1 − α) / R), float64[Q] in [0, 1]; 0 where nothing right is returned."""
    weight = alpha if beta is None else 1.0 / (1.0 + beta * beta)
    found = found_returned(ranking, rel)
    # The same with both fractions cleared: no division by a precision or recall of 0.
    return share(found, weight * ranking.returned + (1.0 - weight) * ranking.relevant(rel).judged)


def one_weight(given: frozenset[str]) -> str | None:
    return "alpha and beta say the same thing twice; give one" if {"alpha", "beta"} <= given else None


def set_average_precision(ranking: Ranking, *, rel: int) -> Floats:
    """TP² / (returned · relevant), float64[Q] in [0, 1]."""
    return precision(ranking, rel=rel) * recall(ranking, rel=rel)


def set_relative_precision(ranking: Ranking, *, rel: int) -> Floats:
    """TP / min(returned, relevant), float64[Q] in [0, 1]."""
    return share(found_returned(ranking, rel), np.minimum(ranking.returned, ranking.relevant(rel).judged))


def fallout(ranking: Ranking, *, rel: int) -> Floats:
    """FP / (documents that are not relevant), float64[Q] in [0, 1]; 0 where every document is relevant."""
    others = (ranking.setting.documents or 0) - ranking.relevant(rel).judged
    return share(ranking.returned - found_returned(ranking, rel), np.maximum(others, 0))


def true_positives(ranking: Ranking, *, rel: int) -> Floats:
    """Relevant and returned, whole numbers as float64[Q]."""
    return found_returned(ranking, rel).astype(np.float64)


def false_positives(ranking: Ranking, *, rel: int) -> Floats:
    """Returned and not relevant, whole numbers as float64[Q]."""
    return (ranking.returned - found_returned(ranking, rel)).astype(np.float64)


def false_negatives(ranking: Ranking, *, rel: int) -> Floats:
    """Relevant and not returned, whole numbers as float64[Q]."""
    return (ranking.relevant(rel).judged - found_returned(ranking, rel)).astype(np.float64)


def true_negatives(ranking: Ranking, *, rel: int) -> Floats:
    """Neither relevant nor returned, whole numbers as float64[Q]."""
    return float(ranking.setting.documents or 0) - ranking.returned - false_negatives(ranking, rel=rel)


def returned(ranking: Ranking) -> Floats:
    """Documents returned, whole numbers as float64[Q]."""
    return ranking.returned.astype(np.float64)


def relevant(ranking: Ranking, *, rel: int) -> Floats:
    """Documents judged relevant, whole numbers as float64[Q]."""
    return ranking.relevant(rel).judged.astype(np.float64)


def query(ranking: Ranking) -> Floats:
    """1 for every query, float64[Q]."""
    return np.ones(ranking.queries)


SET_P = Family(
    name="SetP",
    title="Precision of the returned set",
    summary="The share of the returned documents that is relevant.",
    group=GROUP,
    compute=precision,
    parameters=(LEVEL,),
    trec_eval=(TrecEval("set_P"),),
    reference=replace(SETS, formula="SetP = TP / (TP + FP)", no_relevant="0, and the query counts."),
)
SET_R = Family(
    name="SetR",
    title="Recall of the returned set",
    summary="The share of the relevant documents that is returned.",
    group=GROUP,
    compute=recall,
    parameters=(LEVEL,),
    trec_eval=(TrecEval("set_recall"),),
    reference=replace(SETS, formula="SetR = TP / (TP + FN)"),
)
SET_F = Family(
    name="SetF",
    title="F measure of the returned set",
    summary="The weighted harmonic mean of precision and recall; a higher α weights precision, a higher β recall.",
    group=GROUP,
    compute=f_measure,
    parameters=(
        LEVEL,
        Parameter("alpha", "float", 0.5, low=0.0, high=1.0, meaning="weight of precision"),
        Parameter("beta", "float", low=0.0, meaning="recall counts β times as much: α = 1 / (1 + β²)"),
    ),
    check=one_weight,
    trec_eval=(TrecEval("set_F"),),
    reference=replace(
        SETS,
        formula="SetF = 1 / (α / SetP + (1 − α) / SetR)",
        elsewhere=(
            "trec_eval's set_F.x takes x = β², and ir_measures hands its beta through as that x: of P = 0.5 and R = 1 "
            "SetF(beta=2) is 0.8333 here and 0.75 there."
        ),
    ),
)
SET_AP = Family(
    name="SetAP",
    title="Average precision of the returned set",
    summary="Precision times recall: average precision as if the set had no order.",
    group=GROUP,
    compute=set_average_precision,
    parameters=(LEVEL,),
    trec_eval=(TrecEval("set_map"),),
    reference=replace(SETS, formula="SetAP = TP^2 / ((TP + FP) · (TP + FN))", source=TREC_EVAL),
)
SET_REL_P = Family(
    name="SetRelP",
    title="Relative precision of the returned set",
    summary="Precision as a share of the best precision that a set of this size can have.",
    group=GROUP,
    compute=set_relative_precision,
    parameters=(LEVEL,),
    trec_eval=(TrecEval("set_relative_P"),),
    reference=replace(SETS, formula="SetRelP = TP / min(TP + FP, TP + FN)", source=TREC_EVAL),
)
FALLOUT = Family(
    name="Fallout",
    title="Fallout",
    summary="The share of the collection's documents that are not relevant, and are returned all the same.",
    group=GROUP,
    compute=fallout,
    parameters=(LEVEL,),
    direction="lower",
    needs=frozenset({"documents"}),
    reference=replace(
        SETS,
        formula="Fallout = FP / (FP + TN)",
        direction=LOWER,
        no_relevant="Defined: everything returned is wrong.",
        missing="An empty list: 0, and it counts towards the mean.",
        elsewhere="Neither has it.",
    ),
)

ADDED = "Counts are added up over the queries, not averaged."
COUNTED = replace(
    SETS,
    range="0 and up",
    unit="Documents.",
    ties=NO_ORDER,
    missing="An empty list.",
    beyond=NO_CUTOFF_SET,
    unjudged=NOT_RELEVANT,
)

TP = Family(
    name="TP",
    title="True positives",
    summary=f"Documents returned and relevant. {ADDED}",
    group=COUNTING,
    compute=true_positives,
    parameters=(LEVEL,),
    span=COUNT,
    unit="documents",
    aggregation=SUM,
    reference=replace(COUNTED, formula="TP = |returned ∩ relevant|", elsewhere="trec_eval: num_rel_ret."),
)
FP = Family(
    name="FP",
    title="False positives",
    summary=f"Documents returned and not relevant. {ADDED}",
    group=COUNTING,
    compute=false_positives,
    parameters=(LEVEL,),
    span=COUNT,
    unit="documents",
    direction="lower",
    aggregation=SUM,
    reference=replace(
        COUNTED,
        formula="FP = |returned| − TP",
        direction=LOWER,
        no_relevant="Everything returned.",
        elsewhere="Neither names it; trec_eval: num_ret − num_rel_ret.",
    ),
)
TN = Family(
    name="TN",
    title="True negatives",
    summary=f"Documents of the collection neither returned nor relevant. {ADDED}",
    group=COUNTING,
    compute=true_negatives,
    parameters=(LEVEL,),
    span=COUNT,
    unit="documents",
    aggregation=SUM,
    needs=frozenset({"documents"}),
    reference=replace(
        COUNTED,
        formula="TN = N_total − TP − FP − FN",
        no_relevant="The documents that are not returned.",
        elsewhere="Neither names it.",
    ),
)
FN = Family(
    name="FN",
    title="False negatives",
    summary=f"Documents relevant and not returned. {ADDED}",
    group=COUNTING,
    compute=false_negatives,
    parameters=(LEVEL,),
    span=COUNT,
    unit="documents",
    direction="lower",
    aggregation=SUM,
    reference=replace(
        COUNTED,
        formula="FN = |relevant| − TP",
        direction=LOWER,
        missing="Every relevant document.",
        elsewhere="Neither names it; trec_eval: num_rel − num_rel_ret.",
    ),
)
NUM_Q = Family(
    name="NumQ",
    title="Queries",
    summary="Queries that are evaluated.",
    group=COUNTING,
    compute=query,
    span=(1.0, 1.0),
    unit="queries",
    direction="none",
    aggregation=SUM,
    trec_eval=(TrecEval("num_q"),),
    reference=replace(
        COUNTED,
        formula="NumQ = |queries|",
        range="1 for a query",
        unit="Queries.",
        direction=NEITHER,
        no_relevant="It counts.",
        missing="It counts.",
        unjudged="They do not matter.",
        elsewhere="trec_eval without -c leaves out queries that the run lacks.",
        source=TREC_EVAL,
    ),
)
NUM_RET = Family(
    name="NumRet",
    title="Returned documents",
    summary=f"Documents returned. {ADDED}",
    group=COUNTING,
    compute=returned,
    span=COUNT,
    unit="documents",
    direction="none",
    aggregation=SUM,
    trec_eval=(TrecEval("num_ret"),),
    reference=replace(
        COUNTED,
        formula="NumRet = |returned|",
        direction=NEITHER,
        no_relevant="It counts all the same.",
        unjudged="They count like any other.",
        elsewhere="Both count every retrieved document, as this does without decisions and without a threshold.",
        source=TREC_EVAL,
    ),
)
NUM_REL = Family(
    name="NumRel",
    title="Relevant documents",
    summary=f"Documents judged relevant, returned or not. {ADDED}",
    group=COUNTING,
    compute=relevant,
    parameters=(LEVEL,),
    span=COUNT,
    unit="documents",
    direction="none",
    aggregation=SUM,
    trec_eval=(TrecEval("num_rel"),),
    reference=replace(
        COUNTED,
        formula="NumRel = |relevant|",
        direction=NEITHER,
        missing="Its relevant documents count all the same.",
        elsewhere="Both compute the same.",
        source=TREC_EVAL,
    ),
)
NUM_REL_RET = Family(
    name="NumRelRet",
    title="Relevant documents returned",
    summary=f"Documents returned and relevant: TP under trec_eval's name. {ADDED}",
    group=COUNTING,
    compute=true_positives,
    parameters=(LEVEL,),
    span=COUNT,
    unit="documents",
    aggregation=SUM,
    trec_eval=(TrecEval("num_rel_ret"),),
    reference=replace(
        COUNTED,
        formula="NumRelRet = |returned ∩ relevant|",
        direction=HIGHER,
        elsewhere="Both count every retrieved document, as this does without decisions and without a threshold.",
        source=TREC_EVAL,
    ),
)

SET_MEASURES = (SET_P, SET_R, SET_F, SET_AP, SET_REL_P, FALLOUT)
COUNTS = (TP, FP, TN, FN, NUM_Q, NUM_RET, NUM_REL, NUM_REL_RET)
