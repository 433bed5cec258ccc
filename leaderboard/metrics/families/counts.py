"""Counts: how many documents are returned, relevant, both or neither. They are added up, not averaged."""

from dataclasses import replace

import numpy as np

from leaderboard.metrics.aggregation import SUM
from leaderboard.metrics.families.detection import found_returned
from leaderboard.metrics.measure import COUNT, REL, Family, TrecEval
from leaderboard.metrics.ranking import Ranking
from leaderboard.metrics.segments import Floats, count
from leaderboard.metrics.wording import (
    HIGHER,
    LOWER,
    NEITHER,
    NO_CUTOFF_SET,
    NO_ORDER,
    NOT_RELEVANT,
    SETS,
    TREC_EVAL,
)

__all__ = ["FAMILIES"]

GROUP = "Counts"


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


def judged_not_relevant(ranking: Ranking, *, rel: int) -> Floats:
    """Returned and judged not relevant (a negative grade is no judgment), whole numbers as float64[Q]."""
    hits = ranking.is_returned & (ranking.grade >= 0) & (ranking.grade < rel)
    return count(ranking.query[hits], ranking.queries).astype(np.float64)


def query(ranking: Ranking) -> Floats:
    """1 for every query, float64[Q]."""
    return np.ones(ranking.queries)


ADDED = "Counts are added up over the queries, not averaged."
COUNTED = replace(
    SETS,
    where="|…| is a number of documents; N_total is that of the collection.",
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
    group=GROUP,
    compute=true_positives,
    defined_where=None,
    parameters=(REL,),
    span=COUNT,
    unit="documents",
    aggregation=SUM,
    reference=replace(COUNTED, formula="TP = |returned ∩ relevant|", elsewhere="trec_eval: num_rel_ret."),
)
FP = Family(
    name="FP",
    title="False positives",
    summary=f"Documents returned and not relevant. {ADDED}",
    group=GROUP,
    compute=false_positives,
    defined_where=None,
    parameters=(REL,),
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
    group=GROUP,
    compute=true_negatives,
    defined_where=None,
    parameters=(REL,),
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
    group=GROUP,
    compute=false_negatives,
    defined_where=None,
    parameters=(REL,),
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
    group=GROUP,
    compute=query,
    defined_where=None,
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
    group=GROUP,
    compute=returned,
    defined_where=None,
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
    group=GROUP,
    compute=relevant,
    defined_where=None,
    parameters=(REL,),
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
    group=GROUP,
    compute=true_positives,
    defined_where=None,
    parameters=(REL,),
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
NUM_NONREL_JUDGED_RET = Family(
    name="NumNonrelJudgedRet",
    title="Documents returned that were judged not relevant",
    summary=f"Documents returned and judged, but not relevant: unjudged ones are left out. {ADDED}",
    group=GROUP,
    compute=judged_not_relevant,
    defined_where=None,
    parameters=(REL,),
    span=COUNT,
    unit="documents",
    direction="lower",
    aggregation=SUM,
    trec_eval=(TrecEval("num_nonrel_judged_ret"),),
    reference=replace(
        COUNTED,
        formula="NumNonrelJudgedRet = |returned ∩ judged| − TP",
        direction=LOWER,
        no_relevant="It counts all the same.",
        unjudged="They are not counted; nor are documents with a negative grade.",
        elsewhere="trec_eval computes the same over every retrieved document; ir_measures does not name it.",
        source=TREC_EVAL,
    ),
)

FAMILIES = (TP, FP, TN, FN, NUM_Q, NUM_RET, NUM_REL, NUM_REL_RET, NUM_NONREL_JUDGED_RET)
