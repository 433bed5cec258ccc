"""Ranks, diversity: measures of lists that should serve every aspect (subtopic, intent) of a query.

They follow ndeval, the program of TREC's web track: relevance to a subtopic is yes or no, and each further document
about a subtopic is worth 1 − alpha of the one before.
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from leaderboard.metrics.measure import JUDGED_ONLY, REL, Parameter, Range, fraction, measured
from leaderboard.metrics.ranking import Ranking, Subtopics
from leaderboard.metrics.segments import Bools, Floats, Ints, count, opens, share, total

HALF = 0.5  # alpha of ERR_IA, where a reader whom a document satisfies stops with this probability
Discount = Callable[[Floats], Floats]


def judged_subtopics(ranking: Ranking) -> tuple[Subtopics, Ints]:
    """The judgments of subtopics, and the rank of the document of each."""
    if ranking.subtopics is None or ranking.subtopic_rank is None:
        raise ValueError("this ranking was joined without judgments of subtopics")
    return ranking.subtopics, ranking.subtopic_rank


def relevant_subtopics(ranking: Ranking, rel: int) -> Floats:
    """float64[Q]: subtopics that have a relevant document, listed or not; NaN for a query without judgments of any."""
    judged, _ = judged_subtopics(ranking)
    rows = judged.grade >= rel
    pairs = np.unique(np.stack((judged.query[rows], judged.subtopic[rows])), axis=1)
    has_judgments = count(judged.query, ranking.queries) > 0
    return np.where(has_judgments, count(pairs[0], ranking.queries), np.nan)


def found_in(ranking: Ranking, rel: int, ideal: Ints | None = None) -> tuple[Ints, Ints, Ints, Ints]:
    """The judgments that make a listed document relevant to a subtopic: their place among all, their query, their rank
    (in the run, unless others are given, int64[T]), and how many of their subtopic stand before, int64 each; in the
    order of query, subtopic and rank."""
    judged, rank = judged_subtopics(ranking)
    rank = rank if ideal is None else ideal
    rows = np.flatnonzero((judged.grade >= rel) & (rank > 0))
    rows = rows[np.lexsort((rank[rows], judged.subtopic[rows], judged.query[rows]))]
    first = opens(judged.query[rows], judged.subtopic[rows])
    before = np.arange(len(rows)) - np.repeat(first, np.diff(first, append=len(rows)))
    return rows, judged.query[rows], rank[rows], before


def gathered(
    ranking: Ranking, rel: int, alpha: float, discount: Discount, cutoff: int | None = None, ideal: Ints | None = None
) -> Floats:
    """float64[Q]: the gains of the documents, each times the discount of its rank; ideal as `found_in` has it."""
    _, query, at, before = found_in(ranking, rel, ideal)
    worth = (1.0 - alpha) ** before * discount(at.astype(np.float64))
    return total(query, worth if cutoff is None else np.where(at <= cutoff, worth, 0.0), ranking.queries)


def by_best_imaginable(ranking: Ranking, rel: int, alpha: float, discount: Discount, cutoff: int) -> Floats:
    """float64[Q]: what is gathered, over what a list of documents relevant to every subtopic would gather."""
    depth = np.arange(1.0, cutoff + 1.0)
    best = float(np.sum((1.0 - alpha) ** (depth - 1.0) * discount(depth)))
    return per_subtopic(ranking, rel, gathered(ranking, rel, alpha, discount, cutoff) / best)


def by_best_found(ranking: Ranking, rel: int, alpha: float, discount: Discount, cutoff: int | None = None) -> Floats:
    """float64[Q]: what is gathered, over what the best order of the judged documents gathers."""
    ideal = judged_subtopics(ranking)[0].ideal_rank(rel, alpha, cutoff)
    gains, best = (gathered(ranking, rel, alpha, discount, cutoff, rank) for rank in (None, ideal))
    return np.where(np.isnan(relevant_subtopics(ranking, rel)), np.nan, share(gains, best))


def per_subtopic(ranking: Ranking, rel: int, amount: Floats) -> Floats:
    """float64[Q]: an amount, float64[Q], over the number of subtopics with a relevant document."""
    return share(amount, relevant_subtopics(ranking, rel))


def by_log(rank: Floats) -> Floats:
    return 1.0 / np.log2(rank + 1.0)


def by_rank(rank: Floats) -> Floats:
    return 1.0 / rank


def with_relevant_subtopic(ranking: Ranking, rel: int, **_others: object) -> Bools:
    """bool[Q]: whether a document of the query is relevant to one of its subtopics."""
    return relevant_subtopics(ranking, rel) > 0


# The best list imaginable is added up rank by rank.
DEPTH = Parameter("cutoff", "int", "only the first k ranks count", low=1, high=1000, required=True)
ALPHA = fraction("alpha", 0.5, "how much less each further document about a subtopic is worth")
BETA = fraction("beta", 0.5, "the probability of going on to the next rank")
ABOVE_ONE: Range = (0.0, math.inf)

diversity = partial(measured, "Ranks, diversity", defined_where=with_relevant_subtopic, needs=("subtopics",))


@diversity("alpha_nDCG", "α-nDCG", REL, ALPHA, JUDGED_ONLY, cutoff=DEPTH, span=ABOVE_ONE)
def alpha_ndcg(ranking: Ranking, rel: int, alpha: float, cutoff: int) -> Floats:
    """DCG that counts each further document about a subtopic for less, over that of the best order of what was judged.

    Formula: αnDCG@k = (sum_{i=1}^{k} gain_i / log_2(i + 1)) / (sum_{i=1}^{k} ideal_i / log_2(i + 1))
    Symbols: gain_i is the sum over the subtopics that the document at rank i is relevant to of (1 − alpha)ⁿ, where n
        documents before it are too; ideal_i likewise where at each rank the document that gains most comes next, the
        highest id first.
    Range: 0 to 1; above 1 where the list beats that order, which is not always the best.
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: A query that has judgments of subtopics, and no relevant document among them: 0, and the query
        counts, under pooled judgments; undefined, and left out of the mean, under complete ones. A query without
        judgments of subtopics is left out of the mean.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: Ranks that a list lacks gain nothing.
    Unjudged documents: A document without a judgment of a subtopic counts as relevant to none.
    trec_eval and ir_measures: ir_measures' alpha_nDCG (ndeval) is the same but for equal scores, which it orders by
        document id, ascending; there the cutoff is 20 at most. trec_eval has none.
    Source: C. L. A. Clarke and others: Novelty and Diversity in Information Retrieval Evaluation, SIGIR 2008

    Gains over those of the best order, float64[Q], NaN without judgments of subtopics.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> ranking = graded_lists([1, 0, 1, 1], about=["ab", "", "a", "c"])
    >>> alpha_ndcg(ranking, rel=1, alpha=0.5, cutoff=4).round(4)
    array([0.9305])
    """
    return by_best_found(ranking, rel, alpha, by_log, cutoff)


@diversity("alpha_DCG", "α-DCG", REL, ALPHA, JUDGED_ONLY, cutoff=DEPTH)
def alpha_dcg(ranking: Ranking, rel: int, alpha: float, cutoff: int) -> Floats:
    """DCG that counts each further document about a subtopic for less, over that of the best list imaginable.

    Formula: αDCG@k = (sum_{i=1}^{k} gain_i / log_2(i + 1)) / (N · sum_{i=1}^{k} best_i / log_2(i + 1))
    Symbols: best_i is (1 − alpha)ⁱ⁻¹; N is the number of the query's subtopics that have a relevant document;
        gain_i is the sum over the subtopics that the document at rank i is relevant to of (1 − alpha)ⁿ, where n
        documents before it are too.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: A query that has judgments of subtopics, and no relevant document among them: 0, and the query
        counts, under pooled judgments; undefined, and left out of the mean, under complete ones. A query without
        judgments of subtopics is left out of the mean.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: Ranks that a list lacks gain nothing.
    Unjudged documents: A document without a judgment of a subtopic counts as relevant to none.
    trec_eval and ir_measures: ir_measures' alpha_DCG (ndeval) is the same but for equal scores, which it orders by
        document id, ascending; there the cutoff is 20 at most; at cutoff 1 ndeval leaves out the division. trec_eval
        has none.
    Source: C. L. A. Clarke and others: Novelty and Diversity in Information Retrieval Evaluation, SIGIR 2008

    Gains over those of documents about every subtopic, float64[Q] in [0, 1], NaN without judgments of subtopics.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> ranking = graded_lists([1, 0, 1, 1], about=["ab", "", "a", "c"])
    >>> alpha_dcg(ranking, rel=1, alpha=0.5, cutoff=4).round(4)
    array([0.598])
    """
    return by_best_imaginable(ranking, rel, alpha, by_log, cutoff)


@diversity("ERR_IA", "Intent-aware expected reciprocal rank", REL, JUDGED_ONLY, cutoff=DEPTH)
def err_ia(ranking: Ranking, rel: int, cutoff: int) -> Floats:
    """The expected inverse rank at which readers with different intents stop, over that of the best list imaginable.

    Formula: ERR_IA@k = (sum_{i=1}^{k} gain_i / i) / (N · sum_{i=1}^{k} 0.5^{i − 1} / i)
    Symbols: N is the number of the query's subtopics that have a relevant document; gain_i is the sum over the
        subtopics that the document at rank i is relevant to of 0.5ⁿ, where n documents before it are too.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: A query that has judgments of subtopics, and no relevant document among them: 0, and the query
        counts, under pooled judgments; undefined, and left out of the mean, under complete ones. A query without
        judgments of subtopics is left out of the mean.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: Ranks that a list lacks gain nothing.
    Unjudged documents: A document without a judgment of a subtopic counts as relevant to none.
    trec_eval and ir_measures: ir_measures' ERR_IA (ndeval) is the same but for equal scores, which it orders by
        document id, ascending; there the cutoff is 20 at most; at cutoff 1 ndeval leaves out the division. trec_eval
        has none.
    Source: O. Chapelle and others: Intent-based Diversification of Web Search Results: Metrics and Algorithms,
        Information Retrieval 14 (6), 2011

    Gains over those of documents about every subtopic, float64[Q] in [0, 1], NaN without judgments of subtopics.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> ranking = graded_lists([1, 0, 1, 1], about=["ab", "", "a", "c"])
    >>> err_ia(ranking, rel=1, cutoff=4).round(4)
    array([0.5903])
    """
    return by_best_imaginable(ranking, rel, HALF, by_rank, cutoff)


@diversity(
    "nERR_IA", "Normalised intent-aware expected reciprocal rank", REL, JUDGED_ONLY, cutoff=DEPTH, span=ABOVE_ONE
)
def normalised_err_ia(ranking: Ranking, rel: int, cutoff: int) -> Floats:
    """The expected inverse rank at which readers with different intents stop, over that of the best order judged.

    Formula: nERR_IA@k = (sum_{i=1}^{k} gain_i / i) / (sum_{i=1}^{k} ideal_i / i)
    Symbols: gain_i is the sum over the subtopics that the document at rank i is relevant to of 0.5ⁿ, where n documents
        before it are too; ideal_i likewise where at each rank the document that gains most comes next, the highest id
        first.
    Range: 0 to 1; above 1 where the list beats that order, which is not always the best.
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: A query that has judgments of subtopics, and no relevant document among them: 0, and the query
        counts, under pooled judgments; undefined, and left out of the mean, under complete ones. A query without
        judgments of subtopics is left out of the mean.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: Ranks that a list lacks gain nothing.
    Unjudged documents: A document without a judgment of a subtopic counts as relevant to none.
    trec_eval and ir_measures: ir_measures' nERR_IA (ndeval) is the same but for equal scores, which it orders by
        document id, ascending; there the cutoff is 20 at most. trec_eval has none.
    Source: O. Chapelle and others: Intent-based Diversification of Web Search Results: Metrics and Algorithms,
        Information Retrieval 14 (6), 2011

    Gains over those of the best order, float64[Q], NaN without judgments of subtopics.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> ranking = graded_lists([1, 0, 1, 1], about=["ab", "", "a", "c"])
    >>> normalised_err_ia(ranking, rel=1, cutoff=4).round(4)
    array([0.9062])
    """
    return by_best_found(ranking, rel, HALF, by_rank, cutoff)


@diversity("NRBP", "Novelty- and rank-biased precision", REL, ALPHA, BETA)
def novelty_rank_biased(ranking: Ranking, rel: int, alpha: float, beta: float) -> Floats:
    """RBP that counts each further document about a subtopic for less: novelty- and rank-biased precision.

    Formula: NRBP = ((1 − (1 − alpha) · beta) / N) · sum_{i} gain_i · beta^{i − 1}
    Symbols: N is the number of the query's subtopics that have a relevant document; gain_i is the sum over the
        subtopics that the document at rank i is relevant to of (1 − alpha)ⁿ, where n documents before it are too.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: A query that has judgments of subtopics, and no relevant document among them: 0, and the query
        counts, under pooled judgments; undefined, and left out of the mean, under complete ones. A query without
        judgments of subtopics is left out of the mean.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff: the whole list counts, and ranks that it lacks gain nothing.
    Unjudged documents: A document without a judgment of a subtopic counts as relevant to none.
    trec_eval and ir_measures: ir_measures' NRBP (ndeval) is the same but for equal scores, which it orders by document
        id, ascending. trec_eval has none.
    Source: C. L. A. Clarke, M. Kolla, O. Vechtomova: An Effectiveness Measure for Ambiguous and Underspecified Queries,
        ICTIR 2009

    Gains discounted by patience, float64[Q] in [0, 1], NaN without judgments of subtopics.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> ranking = graded_lists([1, 0, 1, 1], about=["ab", "", "a", "c"])
    >>> novelty_rank_biased(ranking, rel=1, alpha=0.5, beta=0.5).round(4)
    array([0.5625])
    """
    gains = gathered(ranking, rel, alpha, patience(beta))
    return per_subtopic(ranking, rel, (1.0 - (1.0 - alpha) * beta) * gains)


@diversity("nNRBP", "Normalised novelty- and rank-biased precision", REL, ALPHA, BETA, span=ABOVE_ONE)
def normalised_novelty_rank_biased(ranking: Ranking, rel: int, alpha: float, beta: float) -> Floats:
    """Novelty- and rank-biased precision over that of the best order of what was judged.

    Formula: nNRBP = (sum_{i} gain_i · beta^{i − 1}) / (sum_{i} ideal_i · beta^{i − 1})
    Symbols: gain_i is the sum over the subtopics that the document at rank i is relevant to of (1 − alpha)ⁿ, where n
        documents before it are too; ideal_i likewise where at each rank the document that gains most comes next, the
        highest id first.
    Range: 0 to 1; above 1 where the list beats that order, which is not always the best.
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: A query that has judgments of subtopics, and no relevant document among them: 0, and the query
        counts, under pooled judgments; undefined, and left out of the mean, under complete ones. A query without
        judgments of subtopics is left out of the mean.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff: the whole list counts, and ranks that it lacks gain nothing.
    Unjudged documents: A document without a judgment of a subtopic counts as relevant to none.
    trec_eval and ir_measures: ir_measures' nNRBP (ndeval) is the same but for equal scores, which it orders by document
        id, ascending. trec_eval has none.
    Source: C. L. A. Clarke, M. Kolla, O. Vechtomova: An Effectiveness Measure for Ambiguous and Underspecified Queries,
        ICTIR 2009

    Gains over those of the best order, float64[Q], NaN without judgments of subtopics.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> ranking = graded_lists([1, 0, 1, 1], about=["ab", "", "a", "c"])
    >>> normalised_novelty_rank_biased(ranking, rel=1, alpha=0.5, beta=0.5).round(4)
    array([0.8571])
    """
    return by_best_found(ranking, rel, alpha, patience(beta))


def patience(beta: float) -> Discount:
    """What the ranks further down count for a reader who goes on with the probability beta."""
    return lambda rank: np.power(beta, rank - 1.0)


@diversity("AP_IA", "Intent-aware average precision", REL, JUDGED_ONLY)
def average_precision_ia(ranking: Ranking, rel: int) -> Floats:
    """Average precision for each subtopic, averaged over the subtopics.

    Formula: AP_IA = (1 / N) · sum_{s} AP_s
    Symbols: N is the number of the query's subtopics that have a relevant document; AP_s is average precision where
        relevant means relevant to subtopic s.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: A query that has judgments of subtopics, and no relevant document among them: 0, and the query
        counts, under pooled judgments; undefined, and left out of the mean, under complete ones. A query without
        judgments of subtopics is left out of the mean.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff: the whole list counts.
    Unjudged documents: A document without a judgment of a subtopic counts as relevant to none.
    trec_eval and ir_measures: ir_measures' AP_IA (ndeval) is the same but for equal scores, which it orders by document
        id, ascending. trec_eval has none.
    Source: R. Agrawal, S. Gollapudi, A. Halverson, S. Ieong: Diversifying Search Results, WSDM 2009

    Mean of the average precisions, float64[Q] in [0, 1], NaN without judgments of subtopics.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> ranking = graded_lists([1, 0, 1, 1], about=["ab", "", "a", "c"])
    >>> average_precision_ia(ranking, rel=1).round(4)
    array([0.6944])
    """
    judged, _ = judged_subtopics(ranking)
    rows, query, at, before = found_in(ranking, rel)
    key = judged.query * (int(judged.subtopic.max(initial=0)) + 1) + judged.subtopic
    subtopic, size = np.unique(key[judged.grade >= rel], return_counts=True)
    all_relevant = size[np.searchsorted(subtopic, key[rows])]
    return per_subtopic(ranking, rel, total(query, (before + 1) / at / all_relevant, ranking.queries))


@diversity("P_IA", "Intent-aware precision", REL, JUDGED_ONLY, cutoff=DEPTH)
def precision_ia(ranking: Ranking, rel: int, cutoff: int) -> Floats:
    """Precision at k for each subtopic, averaged over the subtopics.

    Formula: P_IA@k = (1 / N) · sum_{s} P_s@k
    Symbols: N is the number of the query's subtopics that have a relevant document; P_s@k is precision at k where
        relevant means relevant to subtopic s.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: A query that has judgments of subtopics, and no relevant document among them: 0, and the query
        counts, under pooled judgments; undefined, and left out of the mean, under complete ones. A query without
        judgments of subtopics is left out of the mean.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: A list shorter than k is not excused: the ranks that it lacks count as not relevant.
    Unjudged documents: A document without a judgment of a subtopic counts as relevant to none.
    trec_eval and ir_measures: ir_measures' P_IA (ndeval) is the same but for equal scores, which it orders by document
        id, ascending; there the cutoff is 20 at most. trec_eval has none.
    Source: R. Agrawal, S. Gollapudi, A. Halverson, S. Ieong: Diversifying Search Results, WSDM 2009

    Mean of the precisions, float64[Q] in [0, 1], NaN without judgments of subtopics.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> ranking = graded_lists([1, 0, 1, 1], about=["ab", "", "a", "c"])
    >>> precision_ia(ranking, rel=1, cutoff=4).round(4)
    array([0.3333])
    """
    _, query, at, _ = found_in(ranking, rel)
    return per_subtopic(ranking, rel, count(query[at <= cutoff], ranking.queries) / cutoff)


@diversity("StRecall", "Subtopic recall", REL, cutoff=DEPTH)
def subtopic_recall(ranking: Ranking, rel: int, cutoff: int) -> Floats:
    """The share of the query's subtopics that the first k documents are about.

    Formula: StRecall@k = |subtopics of top_k| / N
    Symbols: N is the number of the query's subtopics that have a relevant document; top_k are the first k documents.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: A query that has judgments of subtopics, and no relevant document among them: 0, and the query
        counts, under pooled judgments; undefined, and left out of the mean, under complete ones. A query without
        judgments of subtopics is left out of the mean.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: Ranks that a list lacks are about nothing.
    Unjudged documents: A document without a judgment of a subtopic counts as relevant to none.
    trec_eval and ir_measures: ir_measures' StRecall (ndeval) is the same but for equal scores, which it orders by
        document id, ascending; there the cutoff is 20 at most. trec_eval has none.
    Source: C. Zhai, W. W. Cohen, J. Lafferty: Beyond Independent Relevance: Methods and Evaluation Metrics for Subtopic
        Retrieval, SIGIR 2003

    Subtopics found over all, float64[Q] in [0, 1], NaN without judgments of subtopics.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> ranking = graded_lists([1, 0, 1, 1], about=["ab", "", "a", "c"])
    >>> subtopic_recall(ranking, rel=1, cutoff=4).round(4)
    array([1.])
    """
    _, query, at, before = found_in(ranking, rel)
    return per_subtopic(ranking, rel, count(query[(at <= cutoff) & (before == 0)], ranking.queries).astype(np.float64))
