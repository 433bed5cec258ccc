"""Sets: what was returned against what is relevant, whatever the order; then counts: how many documents are returned,
relevant, both or neither. They are added up, not averaged."""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from leaderboard.metrics import measure
from leaderboard.metrics.aggregation import SUM
from leaderboard.metrics.families.detection import found_returned
from leaderboard.metrics.ranking import Ranking, Setting
from leaderboard.metrics.segments import Floats, Ints, count, share

of_set = partial(measure.measured, "Sets", of_returned=True)
counted = partial(measure.measured, "Counts", defined_where=None, span=measure.COUNT, unit="documents", aggregation=SUM)
returned_documents = partial(counted, of_returned=True)


def rest_needs_collection(setting: Setting, arguments: Mapping[str, Any]) -> str | None:
    """How many documents are neither relevant nor returned is known only where the collection's size is."""
    lacks = arguments["d"] and setting.documents is None
    return "needs the number of documents in the collection, as d is not 0" if lacks else None


def read_factor(text: str) -> dict[str, measure.Value]:
    """trec_eval's x = β² as our β."""
    return {"beta": math.sqrt(float(text))}


def read_weights(text: str) -> dict[str, measure.Value]:
    """trec_eval's four numbers as our a, b, c, d."""
    return dict(zip("abcd", map(measure.read_value, text.split(",")), strict=True))


@of_set("SetP", "Precision of the returned set", measure.REL, measure.JUDGED_ONLY, trec_eval="set_P")
def precision(ranking: Ranking, rel: int) -> Floats:
    """The share of the returned documents that is relevant.

    Formula: SetP = TP / (TP + FP)
    Symbols: TP is the number of relevant documents returned, FP that of others returned, FN that of relevant ones not
        returned, TN that of others not returned.
    Range: 0 to 1
    Ties: The order does not matter, so neither do ties.
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff: everything returned counts, and nothing else.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: trec_eval and ir_measures know no decisions and count every retrieved document; so does
        this measure for a run without decisions and without a threshold.
    Source: C. J. van Rijsbergen: Information Retrieval, 2nd edition, Butterworths, 1979, chapter 7

    TP / returned, float64[Q] in [0, 1]; 0 where nothing is returned.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> precision(graded_lists([1, None, 0, 2], missed=[1], returned=2), rel=1)
    array([0.5])
    """
    return share(found_returned(ranking, rel), ranking.returned)


@of_set("SetR", "Recall of the returned set", measure.REL, trec_eval="set_recall")
def recall(ranking: Ranking, rel: int) -> Floats:
    """The share of the relevant documents that is returned.

    Formula: SetR = TP / (TP + FN)
    Symbols: TP is the number of relevant documents returned, FP that of others returned, FN that of relevant ones not
        returned, TN that of others not returned.
    Range: 0 to 1
    Ties: The order does not matter, so neither do ties.
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff: everything returned counts, and nothing else.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: trec_eval and ir_measures know no decisions and count every retrieved document; so does
        this measure for a run without decisions and without a threshold.
    Source: C. J. van Rijsbergen: Information Retrieval, 2nd edition, Butterworths, 1979, chapter 7

    TP / relevant, float64[Q] in [0, 1]; 0 where nothing is relevant.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> recall(graded_lists([1, None, 0, 2], missed=[1], returned=2), rel=1).round(4)
    array([0.3333])
    """
    return share(found_returned(ranking, rel), ranking.relevant(rel).judged)


@of_set(
    "SetF",
    "F measure of the returned set",
    measure.REL,
    measure.fraction("alpha", 0.5, "weight of precision"),
    measure.Parameter("beta", "float", "recall counts β times as much: α = 1 / (1 + β²)", low=0.0),
    measure.JUDGED_ONLY,
    check=measure.only_one_of("alpha", "beta"),
    trec_eval=measure.TrecEval("set_F", read=read_factor, example="0.25"),
)
def f_measure(ranking: Ranking, rel: int, alpha: float, beta: float | None) -> Floats:
    """The weighted harmonic mean of precision and recall; a higher α weights precision, a higher β recall.

    Formula: SetF = 1 / (α / SetP + (1 − α) / SetR)
    Symbols: TP is the number of relevant documents returned, FP that of others returned, FN that of relevant ones not
        returned, TN that of others not returned.
    Range: 0 to 1
    Ties: The order does not matter, so neither do ties.
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff: everything returned counts, and nothing else.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: trec_eval's set_F.x takes x = β², and ir_measures hands its beta through as that x: of P
        = 0.5 and R = 1 SetF(beta=2) is 0.8333 here and 0.75 there.
    Source: C. J. van Rijsbergen: Information Retrieval, 2nd edition, Butterworths, 1979, chapter 7

    1 / (α / P + (1 − α) / R), float64[Q] in [0, 1]; 0 where nothing right is returned.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> f_measure(graded_lists([1, None, 0, 2], missed=[1], returned=2), rel=1, alpha=0.5, beta=None)
    array([0.4])
    """
    if alpha == 0.0 and beta is None:
        return recall(ranking, rel)
    # With x = β² = (1 − α) / α, and no division by a precision or recall of 0.
    x = (1.0 - alpha) / alpha if beta is None else beta * beta
    p, r = precision(ranking, rel), recall(ranking, rel)
    return share((x + 1.0) * p * r, x * p + r)


@of_set("SetAP", "Average precision of the returned set", measure.REL, measure.JUDGED_ONLY, trec_eval="set_map")
def set_average_precision(ranking: Ranking, rel: int) -> Floats:
    """Precision times recall: average precision as if the set had no order.

    Formula: SetAP = TP^2 / ((TP + FP) · (TP + FN))
    Symbols: TP is the number of relevant documents returned, FP that of others returned, FN that of relevant ones not
        returned, TN that of others not returned.
    Range: 0 to 1
    Ties: The order does not matter, so neither do ties.
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff: everything returned counts, and nothing else.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: trec_eval and ir_measures know no decisions and count every retrieved document; so does
        this measure for a run without decisions and without a threshold.
    Source: trec_eval, https://github.com/usnistgov/trec_eval

    TP² / (returned · relevant), float64[Q] in [0, 1].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> set_average_precision(graded_lists([1, None, 0, 2], missed=[1], returned=2), rel=1).round(4)
    array([0.1667])
    """
    hits = found_returned(ranking, rel)
    return share(hits * hits, ranking.returned * ranking.relevant(rel).judged)


@of_set(
    "SetRelP", "Relative precision of the returned set", measure.REL, measure.JUDGED_ONLY, trec_eval="set_relative_P"
)
def set_relative_precision(ranking: Ranking, rel: int) -> Floats:
    """Precision as a share of the best precision that a set of this size can have.

    Formula: SetRelP = TP / min(TP + FP, TP + FN)
    Symbols: TP is the number of relevant documents returned, FP that of others returned, FN that of relevant ones not
        returned, TN that of others not returned.
    Range: 0 to 1
    Ties: The order does not matter, so neither do ties.
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff: everything returned counts, and nothing else.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: trec_eval and ir_measures know no decisions and count every retrieved document; so does
        this measure for a run without decisions and without a threshold.
    Source: trec_eval, https://github.com/usnistgov/trec_eval

    TP / min(returned, relevant), float64[Q] in [0, 1].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> set_relative_precision(graded_lists([1, None, 0, 2], missed=[1], returned=2), rel=1)
    array([0.5])
    """
    return share(found_returned(ranking, rel), np.minimum(ranking.returned, ranking.relevant(rel).judged))


@of_set(
    "Fallout", "Fallout", measure.REL, defined_where=None, direction="lower", unit="false alarms", needs=("documents",)
)
def fallout(ranking: Ranking, rel: int) -> Floats:
    """The share of the collection's documents that are not relevant, and are returned all the same.

    Formula: Fallout = FP / (FP + TN)
    Symbols: TP is the number of relevant documents returned, FP that of others returned, FN that of relevant ones not
        returned, TN that of others not returned.
    Range: 0 to 1
    Ties: The order does not matter, so neither do ties.
    No relevant document: Defined: everything returned is wrong.
    Missing query: An empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff: everything returned counts, and nothing else.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: Neither has it.
    Source: C. J. van Rijsbergen: Information Retrieval, 2nd edition, Butterworths, 1979, chapter 7

    FP / (documents that are not relevant), float64[Q] in [0, 1]; 0 where every document is relevant.

    >>> from leaderboard.metrics.ranking import Setting, graded_lists
    >>> setting = Setting(documents=103)
    >>> fallout(graded_lists([1, None, 0, 2], missed=[1], returned=2, setting=setting), rel=1)
    array([0.01])
    """
    others = np.maximum((ranking.setting.documents or 0) - ranking.relevant(rel).judged, 0)
    # A list with documents that the collection lacks may be longer than it.
    return share(np.minimum(ranking.returned - found_returned(ranking, rel), others), others)


@of_set(
    "Utility",
    "Utility",
    measure.REL,
    measure.Parameter("a", "float", "worth of a relevant document returned", 1.0),
    measure.Parameter("b", "float", "worth of another document returned", -1.0),
    measure.Parameter("c", "float", "worth of a relevant document not returned", 0.0),
    measure.Parameter("d", "float", "worth of another document not returned", 0.0),
    defined_where=None,
    span=(-math.inf, math.inf),
    unit="utility",
    refuse=rest_needs_collection,
    trec_eval=measure.TrecEval("utility", read=read_weights, example="1,-1,0,0"),
)
def utility(ranking: Ranking, rel: int, a: float, b: float, c: float, d: float) -> Floats:
    """What the decisions are worth when each of the four outcomes has a value of its own.

    Formula: Utility = a · TP + b · FP + c · FN + d · TN
    Symbols: TP is the number of relevant documents returned, FP that of others returned, FN that of relevant ones not
        returned, TN that of others not returned.
    Range: Without bounds.
    Ties: The order does not matter, so neither do ties.
    No relevant document: Defined: what is returned costs b each.
    Missing query: An empty list: c for each relevant document, 0 by default.
    Cutoff beyond the list: It takes no cutoff: everything returned counts, and nothing else.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: trec_eval computes the same; with d it takes the collection's size from -N, and a huge
        number without. ir_measures does not name it.
    Source: trec_eval, https://github.com/usnistgov/trec_eval

    a · TP + b · FP + c · FN + d · TN, float64[Q]. Raises BadInput when d counts and the collection has no size.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> utility(graded_lists([1, None, 0, 2], missed=[1], returned=2), rel=1, a=1.0, b=-1.0, c=0.0, d=0.0)
    array([0.])
    """
    documents = ranking.setting.documents
    hits, relevant = found_returned(ranking, rel), ranking.relevant(rel).judged
    neither = np.maximum((documents or 0) + hits - ranking.returned - relevant, 0) if d else 0 * hits
    worth: Floats = a * hits + b * (ranking.returned - hits) + c * (relevant - hits) + d * neither
    return worth


def known_and_found(ranking: Ranking, rel: int) -> Ints:
    """int64[Q]: relevant documents that are returned and known to the user. Needs the known documents' columns."""
    known = np.asarray(ranking.is_known, np.bool_)
    return count(ranking.query[ranking.is_returned & known & (ranking.grade >= rel)], ranking.queries)


@of_set("Coverage", "Coverage", measure.REL, needs=("known",))
def coverage(ranking: Ranking, rel: int) -> Floats:
    """The share of the relevant documents known to the user that is returned.

    Formula: Coverage = |returned ∩ relevant ∩ known| / |relevant ∩ known|
    Symbols: known are the documents that the evaluation lists as known to the user who asked.
    Range: 0 to 1
    Ties: The order does not matter, so neither do ties.
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones. Where some are relevant and the user knows none of them: 0.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff: everything returned counts, and nothing else.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: Neither has it.
    Source: R. Baeza-Yates, B. Ribeiro-Neto: Modern Information Retrieval, Addison-Wesley, 1999, section 3.2.2

    Relevant, returned and known / relevant and known, float64[Q] in [0, 1]; 0 where nothing relevant is known.
    """
    known = np.asarray(ranking.judged_known, np.bool_) & (ranking.judged_grade >= rel)
    return share(known_and_found(ranking, rel), count(ranking.judged_query[known], ranking.queries))


@of_set("Novelty", "Novelty", measure.REL, needs=("known",))
def novelty(ranking: Ranking, rel: int) -> Floats:
    """The share of the relevant documents returned that the user did not know.

    Formula: Novelty = |(returned ∩ relevant) − known| / |returned ∩ relevant|
    Symbols: known are the documents that the evaluation lists as known to the user who asked.
    Range: 0 to 1
    Ties: The order does not matter, so neither do ties.
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones. Where nothing relevant is returned: 0.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff: everything returned counts, and nothing else.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: Neither has it.
    Source: R. Baeza-Yates, B. Ribeiro-Neto: Modern Information Retrieval, Addison-Wesley, 1999, section 3.2.2

    Relevant, returned and unknown / relevant and returned, float64[Q] in [0, 1]; 0 where that is nothing.
    """
    hits = found_returned(ranking, rel)
    return share(hits - known_and_found(ranking, rel), hits)


@returned_documents("TP", "True positives", measure.REL)
def true_positives(ranking: Ranking, rel: int) -> Floats:
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


@returned_documents("FP", "False positives", measure.REL, direction="lower")
def false_positives(ranking: Ranking, rel: int) -> Floats:
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


@returned_documents("TN", "True negatives", measure.REL, needs=("documents",))
def true_negatives(ranking: Ranking, rel: int) -> Floats:
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
    left = float(ranking.setting.documents or 0) - ranking.returned - false_negatives(ranking, rel)
    return np.maximum(left, 0.0)  # a list with documents that the collection lacks may be longer than it


@returned_documents("FN", "False negatives", measure.REL, direction="lower")
def false_negatives(ranking: Ranking, rel: int) -> Floats:
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


@counted("NumQ", "Queries", of_judgments=True, span=(1.0, 1.0), unit="queries", direction="none", trec_eval="num_q")
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


@returned_documents("NumRet", "Returned documents", direction="none", trec_eval="num_ret")
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


@counted("NumRel", "Relevant documents", measure.REL, of_judgments=True, direction="none", trec_eval="num_rel")
def relevant(ranking: Ranking, rel: int) -> Floats:
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


@returned_documents("NumRelRet", "Relevant documents returned", measure.REL, trec_eval="num_rel_ret")
def relevant_returned(ranking: Ranking, rel: int) -> Floats:
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
    return true_positives(ranking, rel)


@returned_documents(
    "NumNonrelJudgedRet",
    "Documents returned that were judged not relevant",
    measure.REL,
    direction="lower",
    trec_eval="num_nonrel_judged_ret",
)
def judged_not_relevant(ranking: Ranking, rel: int) -> Floats:
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
