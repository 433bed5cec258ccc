"""Ranks, binary: a document is relevant or it is not, and the earlier the better."""

from functools import partial

import numpy as np

from leaderboard.metrics.aggregation import GEOMETRIC_MEAN
from leaderboard.metrics.measure import JUDGED_ONLY, REL, Family, Parameter, TrecEval, choice
from leaderboard.metrics.ranking import Ranking
from leaderboard.metrics.segments import Floats, share, total

RANK = Parameter("cutoff", "int", low=1, meaning="only the first k ranks count")
RANK_NEEDED = Parameter("cutoff", "int", low=1, required=True, meaning="only the first k ranks count")

at_cutoffs = partial(TrecEval, takes="cutoff", values=(5, 10, 15, 20, 30, 100, 200, 500, 1000))


def precision(ranking: Ranking, *, rel: int, cutoff: int) -> Floats:
    """The share of the first k ranks that holds relevant documents.

    Formula: P@k = (sum_{i=1}^{k} rel_i) / k
    Symbols: rel_i is 1 where the document at rank i is relevant, else 0; R is the number of relevant documents.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: A list shorter than k is not excused: the ranks that it lacks count as not relevant.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: Both compute the same.
    Source: C. D. Manning, P. Raghavan, H. Schütze: Introduction to Information Retrieval, Cambridge University Press,
        2008, chapter 8

    Relevant in the top k / k, float64[Q] in [0, 1].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> precision(graded_lists([1, None, 0, 2], missed=[1]), rel=1, cutoff=2)
    array([0.5])
    """
    return ranking.relevant(rel).within(cutoff) / cutoff


def recall(ranking: Ranking, *, rel: int, cutoff: int) -> Floats:
    """The share of all relevant documents that is in the first k ranks.

    Formula: R@k = (sum_{i=1}^{k} rel_i) / R
    Symbols: rel_i is 1 where the document at rank i is relevant, else 0; R is the number of relevant documents.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: A list shorter than k is not excused: the ranks that it lacks count as not relevant.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: Both compute the same.
    Source: C. D. Manning, P. Raghavan, H. Schütze: Introduction to Information Retrieval, Cambridge University Press,
        2008, chapter 8

    Relevant in the top k / all relevant, float64[Q] in [0, 1]; 0 where nothing is relevant.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> recall(graded_lists([1, None, 0, 2], missed=[1]), rel=1, cutoff=2).round(4)
    array([0.3333])
    """
    relevant = ranking.relevant(rel)
    return share(relevant.within(cutoff), relevant.judged)


def success(ranking: Ranking, *, rel: int, cutoff: int) -> Floats:
    """Whether a relevant document is in the first k ranks; its mean is the share of the queries where one is.

    Formula: Success@k = min(1, sum_{i=1}^{k} rel_i)
    Symbols: rel_i is 1 where the document at rank i is relevant, else 0; R is the number of relevant documents.
    Range: 0 or 1 for a query, 0 to 1 for the mean
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: A list shorter than k is not excused: the ranks that it lacks count as not relevant.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: Both compute the same.
    Source: trec_eval, https://github.com/usnistgov/trec_eval

    1 where a relevant document is in the top k, else 0, float64[Q].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> success(graded_lists([1, None, 0, 2], missed=[1]), rel=1, cutoff=2)
    array([1.])
    """
    return (ranking.relevant(rel).within(cutoff) > 0).astype(np.float64)


def pairs_in_order(ranking: Ranking, *, rel: int) -> Floats:
    """Of all pairs of a relevant and another document in the list, the share that has the relevant one first.

    Formula: Accuracy = (sum_{r} (N − n_r)) / (F · N)
    Symbols: r runs over the F relevant documents of the list, n_r of its N other documents stand above r.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: Undefined, and left out of the mean; so too where the list has no relevant document, or no
        other one.
    Missing query: Undefined, and left out of the mean: compare it only between runs that found something.
    Cutoff beyond the list: It takes no cutoff: the whole list counts.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: ir_measures computes the same, except that it leaves equal scores in the order of the
        file and fails on a list of relevant documents only, where it is undefined here. Accuracy@k stands for Success@k
        in some papers, so it is refused. trec_eval has none.
    Source: ir_measures, https://ir-measur.es/

    float64[Q] in [0, 1], NaN where there is no such pair.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> pairs_in_order(graded_lists([1, 0, 1, None]), rel=1)
    array([0.75])
    """
    relevant = ranking.relevant(rel)
    others = ranking.retrieved - relevant.found
    wrong = total(relevant.query, (relevant.rank - relevant.nth).astype(np.float64), ranking.queries)
    pairs = relevant.found * others
    return np.where(pairs > 0, 1.0 - share(wrong, pairs), np.nan)


def reciprocal_rank(ranking: Ranking, *, rel: int, cutoff: int | None) -> Floats:
    """One over the rank of the first relevant document; its mean is known as MRR.

    Formula: RR = 1 / min{i : rel_i = 1}
    Symbols: rel_i is 1 where the document at rank i is relevant, else 0; R is the number of relevant documents.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: A cutoff beyond the list changes nothing.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: trec_eval knows no cutoff here; ir_measures' RR@k orders equal
        scores by document id, ascending, and is else the same.
    Source: E. M. Voorhees: The TREC-8 Question Answering Track Report, TREC 1999

    1 / rank of the first relevant document (within the cutoff), else 0, float64[Q] in [0, 1].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> reciprocal_rank(graded_lists([1, None, 0, 2], missed=[1]), rel=1, cutoff=None)
    array([1.])
    """
    relevant = ranking.relevant(rel)
    values = np.zeros(ranking.queries)
    hit = relevant.found > 0
    first = relevant.rank[relevant.start[:-1][hit]]
    values[hit] = 1.0 / first
    if cutoff is not None:
        values[values < 1.0 / cutoff] = 0.0
    return values


def average_precision(ranking: Ranking, *, rel: int, norm: str, cutoff: int | None) -> Floats:
    """Precision at the rank of each relevant document, averaged over the relevant ones. Its mean is MAP.

    Formula: AP@k = (sum_{i=1}^{k} rel_i · P@i) / R
    Symbols: rel_i is 1 where the document at rank i is relevant, else 0; R is the number of relevant documents.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: Without one, the whole list counts. A list shorter than k is not excused: the ranks that it
        lacks count as not relevant.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: Both compute norm=all; the other norms are known to neither.
    Source: C. Buckley, E. M. Voorhees: Evaluating Evaluation Measure Stability, SIGIR 2000

    Σ precision at the ranks of relevant documents / what `norm` names, float64[Q] in [0, 1].

    norm: all relevant documents; hits, those within the cutoff; min, min(all relevant, k).

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> average_precision(graded_lists([1, None, 0, 2], missed=[1]), rel=1, norm='all', cutoff=None)
    array([0.5])
    """
    relevant = ranking.relevant(rel)
    top = slice(None) if cutoff is None else relevant.rank <= cutoff
    summed = total(relevant.query[top], relevant.precision[top], ranking.queries)
    if norm == "hits":
        return share(summed, relevant.found if cutoff is None else relevant.within(cutoff))
    return share(
        summed, np.minimum(relevant.judged, cutoff) if norm == "min" and cutoff is not None else relevant.judged
    )


def average_precision_of_all(ranking: Ranking, *, rel: int) -> Floats:
    """AP with a geometric mean over queries, so that the worst queries weigh most.

    Formula: GMAP = exp(mean(ln(max(AP, 0.00001))))
    Symbols: rel_i is 1 where the document at rank i is relevant, else 0; R is the number of relevant documents.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: Under pooled judgments 0, and the query counts with 0.00001; under complete ones it is left
        out.
    Missing query: Scored as an empty list: it counts with 0.00001.
    Cutoff beyond the list: It takes no cutoff: the whole list counts.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: trec_eval computes the same and prints it for the run only; ir_measures does not name it.
    Source: S. E. Robertson: On GMAP and other transformations, CIKM 2006

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> average_precision_of_all(graded_lists([1, None, 0, 2], missed=[1]), rel=1)
    array([0.5])
    """
    return average_precision(ranking, rel=rel, norm="all", cutoff=None)


P = Family("P", "Precision at k", precision, (REL, JUDGED_ONLY), RANK_NEEDED, trec_eval=(at_cutoffs("P"),))
R = Family("R", "Recall at k", recall, (REL, JUDGED_ONLY), RANK_NEEDED, trec_eval=(at_cutoffs("recall"),))
RR = Family("RR", "Reciprocal rank", reciprocal_rank, (REL, JUDGED_ONLY), RANK, trec_eval="recip_rank")
AP = Family(
    "AP",
    "Average precision",
    average_precision,
    (
        REL,
        choice(
            "norm",
            ("all", "hits", "min"),
            "divide by all relevant documents, by those found within the cutoff, or by min(all relevant, k)",
        ),
        JUDGED_ONLY,
    ),
    RANK,
    trec_eval=(TrecEval("map"), at_cutoffs("map_cut")),
)

GMAP = Family(
    "GMAP",
    "Geometric mean of average precision",
    average_precision_of_all,
    (REL,),
    aggregation=GEOMETRIC_MEAN,
    trec_eval="gm_map",
)

FAMILIES = (
    AP,
    GMAP,
    RR,
    P,
    R,
    Family(
        "Success",
        "Success at k",
        success,
        (REL, JUDGED_ONLY),
        RANK_NEEDED,
        trec_eval=(at_cutoffs("success", values=(1, 5, 10)),),
    ),
    Family(
        "Accuracy",
        "Pairs in the right order",
        pairs_in_order,
        (REL,),
        uncut=(
            "it has two readings. Success@k is 1 where a relevant document is in the first k ranks; Accuracy, without "
            "a cutoff, is the share of pairs of a relevant and another document in the right order (ir_measures)"
        ),
        valueless="list no relevant document, or no other",
    ),
)
