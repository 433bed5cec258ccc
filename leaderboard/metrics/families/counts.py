"""Counts: how many documents are returned, relevant, both or neither. They are added up, not averaged."""

from functools import partial

import numpy as np

from leaderboard.metrics.aggregation import SUM
from leaderboard.metrics.families.detection import found_returned
from leaderboard.metrics.measure import COUNT, REL, Family
from leaderboard.metrics.ranking import Ranking
from leaderboard.metrics.segments import Floats, count


def true_positives(ranking: Ranking, *, rel: int) -> Floats:
    """Documents returned and relevant. Added up over the queries, not averaged.

    Formula: TP = |returned ∩ relevant|
    Symbols: |…| is a number of documents; N_total is that of the collection.
    Range: 0 and up
    Ties: The order does not matter, so neither do ties.
    No relevant document: 0, and the query counts.
    Missing query: An empty list.
    Cutoff beyond the list: It takes no cutoff: everything returned counts, and nothing else.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: trec_eval: num_rel_ret.
    Source: C. J. van Rijsbergen: Information Retrieval, 2nd edition, Butterworths, 1979, chapter 7

    Relevant and returned, whole numbers as float64[Q].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> true_positives(graded_lists([1, None, 0, 2], missed=[1], returned=2), rel=1)
    array([1.])
    """
    return found_returned(ranking, rel).astype(np.float64)


def false_positives(ranking: Ranking, *, rel: int) -> Floats:
    """Documents returned and not relevant. Added up over the queries, not averaged.

    Formula: FP = |returned| − TP
    Symbols: |…| is a number of documents; N_total is that of the collection.
    Range: 0 and up
    Ties: The order does not matter, so neither do ties.
    No relevant document: Everything returned.
    Missing query: An empty list.
    Cutoff beyond the list: It takes no cutoff: everything returned counts, and nothing else.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: Neither names it; trec_eval: num_ret − num_rel_ret.
    Source: C. J. van Rijsbergen: Information Retrieval, 2nd edition, Butterworths, 1979, chapter 7

    Returned and not relevant, whole numbers as float64[Q].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> false_positives(graded_lists([1, None, 0, 2], missed=[1], returned=2), rel=1)
    array([1.])
    """
    return (ranking.returned - found_returned(ranking, rel)).astype(np.float64)


def false_negatives(ranking: Ranking, *, rel: int) -> Floats:
    """Documents relevant and not returned. Added up over the queries, not averaged.

    Formula: FN = |relevant| − TP
    Symbols: |…| is a number of documents; N_total is that of the collection.
    Range: 0 and up
    Ties: The order does not matter, so neither do ties.
    No relevant document: 0, and the query counts.
    Missing query: Every relevant document.
    Cutoff beyond the list: It takes no cutoff: everything returned counts, and nothing else.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: Neither names it; trec_eval: num_rel − num_rel_ret.
    Source: C. J. van Rijsbergen: Information Retrieval, 2nd edition, Butterworths, 1979, chapter 7

    Relevant and not returned, whole numbers as float64[Q].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> false_negatives(graded_lists([1, None, 0, 2], missed=[1], returned=2), rel=1)
    array([2.])
    """
    return (ranking.relevant(rel).judged - found_returned(ranking, rel)).astype(np.float64)


def true_negatives(ranking: Ranking, *, rel: int) -> Floats:
    """Documents of the collection neither returned nor relevant. Added up over the queries, not averaged.

    Formula: TN = N_total − TP − FP − FN
    Symbols: |…| is a number of documents; N_total is that of the collection.
    Range: 0 and up
    Ties: The order does not matter, so neither do ties.
    No relevant document: The documents that are not returned.
    Missing query: An empty list.
    Cutoff beyond the list: It takes no cutoff: everything returned counts, and nothing else.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: Neither names it.
    Source: C. J. van Rijsbergen: Information Retrieval, 2nd edition, Butterworths, 1979, chapter 7

    Neither relevant nor returned, whole numbers as float64[Q].

    >>> from leaderboard.metrics.ranking import Setting, graded_lists
    >>> setting = Setting(documents=103)
    >>> true_negatives(graded_lists([1, None, 0, 2], missed=[1], returned=2, setting=setting), rel=1)
    array([99.])
    """
    left = float(ranking.setting.documents or 0) - ranking.returned - false_negatives(ranking, rel=rel)
    return np.maximum(left, 0.0)  # a list with documents that the collection lacks may be longer than it


def returned(ranking: Ranking) -> Floats:
    """Documents returned. Added up over the queries, not averaged.

    Formula: NumRet = |returned|
    Symbols: |…| is a number of documents; N_total is that of the collection.
    Range: 0 and up
    Ties: The order does not matter, so neither do ties.
    No relevant document: It counts all the same.
    Missing query: An empty list.
    Cutoff beyond the list: It takes no cutoff: everything returned counts, and nothing else.
    Unjudged documents: They count like any other.
    trec_eval and ir_measures: Both count every retrieved document, as this does without decisions and without a
        threshold.
    Source: trec_eval, https://github.com/usnistgov/trec_eval

    Documents returned, whole numbers as float64[Q].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> returned(graded_lists([1, None, 0, 2], missed=[1], returned=2))
    array([2.])
    """
    return ranking.returned.astype(np.float64)


def relevant_returned(ranking: Ranking, *, rel: int) -> Floats:
    """Documents returned and relevant: TP under trec_eval's name. Added up over the queries, not averaged.

    Formula: NumRelRet = |returned ∩ relevant|
    Symbols: |…| is a number of documents.
    Range: 0 and up
    Ties: The order does not matter, so neither do ties.
    No relevant document: 0, and the query counts.
    Missing query: An empty list.
    Cutoff beyond the list: It takes no cutoff: everything returned counts, and nothing else.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: Both count every retrieved document, as this does without decisions and without a
        threshold.
    Source: trec_eval, https://github.com/usnistgov/trec_eval

    Whole numbers as float64[Q].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> relevant_returned(graded_lists([1, None, 0, 2], missed=[1], returned=2), rel=1)
    array([1.])
    """
    return true_positives(ranking, rel=rel)


def relevant(ranking: Ranking, *, rel: int) -> Floats:
    """Documents judged relevant, returned or not. Added up over the queries, not averaged.

    Formula: NumRel = |relevant|
    Symbols: |…| is a number of documents; N_total is that of the collection.
    Range: 0 and up
    Ties: The order does not matter, so neither do ties.
    No relevant document: 0, and the query counts.
    Missing query: Its relevant documents count all the same.
    Cutoff beyond the list: It takes no cutoff: everything returned counts, and nothing else.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: Both compute the same.
    Source: trec_eval, https://github.com/usnistgov/trec_eval

    Documents judged relevant, whole numbers as float64[Q].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> relevant(graded_lists([1, None, 0, 2], missed=[1], returned=2), rel=1)
    array([3.])
    """
    return ranking.relevant(rel).judged.astype(np.float64)


def judged_not_relevant(ranking: Ranking, *, rel: int) -> Floats:
    """Documents returned and judged, but not relevant: unjudged ones are left out. Added up over the queries, not
    averaged.

    Formula: NumNonrelJudgedRet = |returned ∩ judged| − TP
    Symbols: |…| is a number of documents; N_total is that of the collection.
    Range: 0 and up
    Ties: The order does not matter, so neither do ties.
    No relevant document: It counts all the same.
    Missing query: An empty list.
    Cutoff beyond the list: It takes no cutoff: everything returned counts, and nothing else.
    Unjudged documents: They are not counted; nor are documents with a negative grade.
    trec_eval and ir_measures: trec_eval computes the same over every retrieved document; ir_measures does not name it.
    Source: trec_eval, https://github.com/usnistgov/trec_eval

    Returned and judged not relevant (a negative grade is no judgment), whole numbers as float64[Q].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> judged_not_relevant(graded_lists([1, None, 0, 2], missed=[1], returned=2), rel=1)
    array([0.])
    """
    hits = ranking.is_returned & (ranking.grade >= 0) & (ranking.grade < rel)
    return count(ranking.query[hits], ranking.queries).astype(np.float64)


def query(ranking: Ranking) -> Floats:
    """Queries that are evaluated.

    Formula: NumQ = |queries|
    Symbols: |…| is a number of documents; N_total is that of the collection.
    Range: 1 for a query
    Ties: The order does not matter, so neither do ties.
    No relevant document: It counts.
    Missing query: It counts.
    Cutoff beyond the list: It takes no cutoff: everything returned counts, and nothing else.
    Unjudged documents: They do not matter.
    trec_eval and ir_measures: trec_eval without -c leaves out queries that the run lacks.
    Source: trec_eval, https://github.com/usnistgov/trec_eval

    1 for every query, float64[Q].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> query(graded_lists([1, None, 0, 2], missed=[1], returned=2))
    array([1.])
    """
    return np.ones(ranking.queries)


documents = partial(Family, defined_where=None, span=COUNT, unit="documents", aggregation=SUM)

returned_documents = partial(documents, of_returned=True)

TP = returned_documents("TP", "True positives", true_positives, (REL,))
FP = returned_documents("FP", "False positives", false_positives, (REL,), direction="lower")
TN = returned_documents("TN", "True negatives", true_negatives, (REL,), needs=("documents",))
FN = returned_documents("FN", "False negatives", false_negatives, (REL,), direction="lower")
NUM_RET = returned_documents("NumRet", "Returned documents", returned, direction="none", trec_eval="num_ret")
NUM_REL_RET = returned_documents(
    "NumRelRet", "Relevant documents returned", relevant_returned, (REL,), trec_eval="num_rel_ret"
)

FAMILIES = (
    TP,
    FP,
    TN,
    FN,
    Family(
        "NumQ",
        "Queries",
        query,
        of_judgments=True,
        defined_where=None,
        span=(1.0, 1.0),
        unit="queries",
        direction="none",
        aggregation=SUM,
        trec_eval="num_q",
    ),
    NUM_RET,
    documents(
        "NumRel", "Relevant documents", relevant, (REL,), of_judgments=True, direction="none", trec_eval="num_rel"
    ),
    NUM_REL_RET,
    returned_documents(
        "NumNonrelJudgedRet",
        "Documents returned that were judged not relevant",
        judged_not_relevant,
        (REL,),
        direction="lower",
        trec_eval="num_nonrel_judged_ret",
    ),
)
