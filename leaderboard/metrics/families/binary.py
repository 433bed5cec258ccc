"""Ranks, binary: a document is relevant or it is not, and the earlier the better; then precision at ranks and recalls
that depend on how many documents are relevant.

At the end: curves as columns, ready to be drawn, of precision over recall, and precision and recall over rank. The
detection curves (DET, value over threshold, the oracle of each query) are in `detection`. For the curve of one query
prepare the judgments of that query alone.
"""

from functools import partial

import numpy as np

from leaderboard.metrics import measure
from leaderboard.metrics.aggregation import GEOMETRIC_MEAN, mean
from leaderboard.metrics.ranking import Ranking, kept
from leaderboard.metrics.segments import Bools, Floats, Ints, running, share, total

RANK = measure.Parameter("cutoff", "int", "only the first k ranks count", low=1)
RANK_NEEDED = measure.Parameter("cutoff", "int", "only the first k ranks count", low=1, required=True)

at_cutoffs = partial(measure.TrecEval, takes="cutoff", values=(5, 10, 15, 20, 30, 100, 200, 500, 1000))

ELEVEN = tuple(step / 10 for step in range(11))
NORM = measure.choice(
    "norm",
    ("all", "hits", "min"),
    "divide by all relevant documents, by those found within the cutoff, or by min(all relevant, k)",
)
TIER_NORM = measure.choice(
    "norm", ("tier", "class"), "divide by the ranks looked at, or by the number of relevant documents"
)

binary = partial(measure.measured, "Ranks, binary")


def read_points(text: str) -> dict[str, measure.Value]:
    """trec_eval's .25,.5,.75 as our recall points."""
    return {"at": measure.read_value("{" + text + "}")}


@binary(
    "AP",
    "Average precision",
    measure.REL,
    NORM,
    measure.JUDGED_ONLY,
    cutoff=RANK,
    trec_eval=("map", at_cutoffs("map_cut")),
)
def average_precision(ranking: Ranking, rel: int, norm: str, cutoff: int | None) -> Floats:
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


@binary("GMAP", "Geometric mean of average precision", measure.REL, aggregation=GEOMETRIC_MEAN, trec_eval="gm_map")
def average_precision_of_all(ranking: Ranking, rel: int) -> Floats:
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
    return average_precision(ranking, rel, norm="all", cutoff=None)


@binary("RR", "Reciprocal rank", measure.REL, measure.JUDGED_ONLY, cutoff=RANK, trec_eval="recip_rank")
def reciprocal_rank(ranking: Ranking, rel: int, cutoff: int | None) -> Floats:
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


@binary("P", "Precision at k", measure.REL, measure.JUDGED_ONLY, cutoff=RANK_NEEDED, trec_eval=at_cutoffs("P"))
def precision(ranking: Ranking, rel: int, cutoff: int) -> Floats:
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


@binary("R", "Recall at k", measure.REL, measure.JUDGED_ONLY, cutoff=RANK_NEEDED, trec_eval=at_cutoffs("recall"))
def recall(ranking: Ranking, rel: int, cutoff: int) -> Floats:
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


@binary(
    "Success",
    "Success at k",
    measure.REL,
    measure.JUDGED_ONLY,
    cutoff=RANK_NEEDED,
    trec_eval=at_cutoffs("success", values=(1, 5, 10)),
)
def success(ranking: Ranking, rel: int, cutoff: int) -> Floats:
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


@binary(
    "Accuracy",
    "Pairs in the right order",
    measure.REL,
    uncut="; Success@k is 1 where a relevant document is in the first k ranks; Accuracy, without a cutoff, is the "
    "share of pairs of a relevant and another document in the right order (ir_measures)",
    valueless="list no relevant document, or no other",
)
def pairs_in_order(ranking: Ranking, rel: int) -> Floats:
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


@binary(
    "Rprec",
    "R-precision",
    measure.REL,
    measure.Parameter("mult", "float", "at this multiple of the relevant documents", 1.0, low=0.0, above=True),
    measure.JUDGED_ONLY,
    trec_eval=(
        "Rprec",
        measure.TrecEval("Rprec_mult", takes="mult", values=tuple(step / 5 for step in range(1, 11)), form="{:.2f}"),
    ),
)
def r_precision(ranking: Ranking, rel: int, mult: float) -> Floats:
    """Precision at the rank that equals the number of relevant documents, or a multiple of it.

    Formula: Rprec = P@⌈mult · R⌉
    Symbols: rel_i is 1 where the document at rank i is relevant, else 0; R is the number of relevant documents.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: A list shorter than that rank is not excused: the ranks that it lacks count as not relevant.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: trec_eval computes the same (it forgives 0.1 in rounding up); ir_measures has no
        multiples.
    Source: C. D. Manning, P. Raghavan, H. Schütze: Introduction to Information Retrieval, Cambridge University Press,
        2008, chapter 8

    Precision at rank ⌈mult · R⌉, float64[Q] in [0, 1]; 0 where nothing is relevant.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> r_precision(graded_lists([1, None, 0, 2], missed=[1]), rel=1, mult=1.0).round(4)
    array([0.3333])
    """
    relevant = ranking.relevant(rel)
    # trec_eval's way to round up: it lets 0.1 of a rank go.
    rank = (mult * relevant.judged + 0.9).astype(np.int64)
    return share(relevant.within(rank), rank)


@kept
def best_precision(ranking: Ranking, rel: int) -> Floats:
    """float64[n]: the highest precision at the rank of each relevant hit or below it."""
    relevant = ranking.relevant(rel)
    return running(relevant.query, relevant.precision, np.maximum, backwards=True)


def documents_at(recall: float, relevant: Ints, compat: int) -> Ints:
    """How many relevant documents a recall stands for: rounded to the nearest, or as trec_eval 9 rounds up."""
    exact = recall * relevant
    whole = np.trunc(exact + 0.9) if compat == 9 else np.floor(exact) + (exact % 1.0 >= 0.5)
    return np.asarray(whole, dtype=np.int64)


@binary(
    "IPrec",
    "Interpolated precision at a recall",
    measure.REL,
    measure.JUDGED_ONLY,
    cutoff=measure.Parameter(
        "cutoff", "float", "the recall to be reached", low=0.0, high=1.0, required=True, example="0.5"
    ),
    trec_eval=measure.TrecEval("iprec_at_recall", takes="cutoff", values=ELEVEN, form="{:.2f}"),
)
def interpolated_precision(ranking: Ranking, rel: int, cutoff: float) -> Floats:
    """The highest precision at any rank with at least this recall.

    Formula: IPrec@r = max{P@i : R@i ≥ r}
    Symbols: P@i and R@i are precision and recall at rank i.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: A recall that the list never reaches: 0.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: trec_eval 10 rounds r · R to the nearest whole document, trec_eval 9 cuts r · R + 0.9
        off; the evaluation's compatibility rule says which holds. ir_measures follows the trec_eval that it is built
        on.
    Source: C. D. Manning, P. Raghavan, H. Schütze: Introduction to Information Retrieval, Cambridge University Press,
        2008, chapter 8

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> interpolated_precision(graded_lists([1, None, 0, 2], missed=[1]), rel=1, cutoff=0.5)
    array([0.5])
    """
    relevant = ranking.relevant(rel)
    needed = np.maximum(documents_at(cutoff, relevant.judged, ranking.setting.compat), 1)
    reached = needed <= relevant.found
    values = np.zeros(ranking.queries)
    values[reached] = best_precision(ranking, rel)[relevant.start[:-1][reached] + needed[reached] - 1]
    return values


@binary(
    "IPrec11",
    "Interpolated precision averaged over recall points",
    measure.REL,
    measure.Parameter("at", "points", "the recall points", ELEVEN, low=0.0, high=1.0),
    trec_eval=measure.TrecEval("11pt_avg", read=read_points, example=".25,.5,.75"),
)
def average_interpolated(ranking: Ranking, rel: int, at: tuple[float, ...]) -> Floats:
    """The mean of interpolated precision at the recalls 0, 0.1, … 1: the area below the classic curve.

    Formula: IPrec11 = (sum_{r ∈ at} IPrec@r) / |at|
    Symbols: at is the set of recall points: 0, 0.1, … 1.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: Recalls that the list never reaches add 0.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: As IPrec: trec_eval 9 and 10 round recalls differently. ir_measures does not name it.
    Source: C. D. Manning, P. Raghavan, H. Schütze: Introduction to Information Retrieval, Cambridge University Press,
        2008, chapter 8

    The mean of interpolated precision over recall points, float64[Q] in [0, 1].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> ranking = graded_lists([1, None, 0, 2], missed=[1])
    >>> average_interpolated(ranking, rel=1, at=(0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)).round(4)
    array([0.6364])
    """
    summed = np.zeros(ranking.queries)
    for recall in reversed(at):
        summed += interpolated_precision(ranking, rel, recall)
    return summed / len(at)


@binary("RelP", "Relative precision at k", measure.REL, cutoff=RANK_NEEDED, trec_eval=at_cutoffs("relative_P"))
def relative_precision(ranking: Ranking, rel: int, cutoff: int) -> Floats:
    """Precision at k as a share of the best that is possible there.

    Formula: RelP@k = (sum_{i=1}^{k} rel_i) / min(k, R)
    Symbols: rel_i is 1 where the document at rank i is relevant, else 0; R is the number of relevant documents.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: A list shorter than k is not excused: the ranks that it lacks count as not relevant.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: trec_eval computes the same; ir_measures does not name it.
    Source: trec_eval, https://github.com/usnistgov/trec_eval

    Relevant in the top k / min(k, all relevant), float64[Q] in [0, 1].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> relative_precision(graded_lists([1, None, 0, 2], missed=[1]), rel=1, cutoff=2)
    array([0.5])
    """
    relevant = ranking.relevant(rel)
    return share(relevant.within(cutoff), np.minimum(relevant.judged, cutoff))


@binary("FirstTier", "First tier", measure.REL, TIER_NORM, of_returned=True)
def first_tier(ranking: Ranking, rel: int, norm: str) -> Floats:
    """The share of hits among as many ranks as there are relevant documents.

    Formula: FirstTier = (sum_{i=1}^{d} rel_i) / d, d = min(|returned|, R)
    Symbols: rel_i is 1 where the document at rank i is relevant, else 0; R is the number of relevant documents.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff. With norm=tier a list shorter than the tier is excused, with norm=class
        not.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: Neither has it.
    Source: P. Shilane, P. Min, M. Kazhdan, T. Funkhouser: The Princeton Shape Benchmark, Shape Modeling International
        2004 (norm=class)

    Hits in as many ranks as there are relevant documents, float64[Q] in [0, 1].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> first_tier(graded_lists([1, None, 0, 2], missed=[1]), rel=1, norm='tier').round(4)
    array([0.3333])
    """
    return tier(ranking, rel, norm, 1)


@binary("SecondTier", "Second tier", measure.REL, TIER_NORM, of_returned=True)
def second_tier(ranking: Ranking, rel: int, norm: str) -> Floats:
    """The share of hits among twice as many ranks as there are relevant documents.

    Formula: SecondTier = (sum_{i=1}^{d} rel_i) / d, d = min(|returned|, 2 · R)
    Symbols: rel_i is 1 where the document at rank i is relevant, else 0; R is the number of relevant documents.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff. With norm=tier a list shorter than the tier is excused, with norm=class
        not.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: Neither has it.
    Source: P. Shilane, P. Min, M. Kazhdan, T. Funkhouser: The Princeton Shape Benchmark, Shape Modeling International
        2004 (norm=class)

    Hits in twice as many ranks as there are relevant documents, float64[Q] in [0, 1].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> second_tier(graded_lists([1, None, 0, 2], missed=[1]), rel=1, norm='tier')
    array([0.5])
    """
    return tier(ranking, rel, norm, 2)


def tier(ranking: Ranking, rel: int, norm: str, times: int) -> Floats:
    relevant = ranking.relevant(rel)
    depth = np.minimum(ranking.returned, times * relevant.judged)
    return share(relevant.within(depth), relevant.judged if norm == "class" else depth)


def over_recall(ranking: Ranking, rel: int = 1) -> dict[str, Floats]:
    """The interpolated precision–recall curve at the recalls 0, 0.1, … 1; NaN without queries that count.

    recall float64[11], rising; precision float64[11], interpolated: the mean over queries, never rising.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> over_recall(graded_lists([1, 0, 1]))["precision"][::5].round(4)
    array([1.    , 1.    , 0.6667])
    """
    counted = _counted(ranking, rel)
    precision = [mean(interpolated_precision(ranking, rel, recall)[counted]) for recall in ELEVEN]
    return {"recall": np.array(ELEVEN), "precision": np.array(precision)}


def over_rank(ranking: Ranking, rel: int = 1, depth: int | None = None) -> dict[str, Floats | Ints]:
    """Precision and recall at each rank down to `depth` (None: the longest list).

    rank int64[n] = 1 … n; precision and recall float64[n]: P@rank and R@rank, means over queries.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> over_rank(graded_lists([1, 0], missed=[1]))["precision"]
    array([1. , 0.5])
    """
    relevant = ranking.relevant(rel)
    last = int(ranking.retrieved.max(initial=0)) if depth is None else depth
    within = relevant.rank <= last
    at, query = relevant.rank[within], relevant.query[within]
    each = share(np.ones(ranking.queries), relevant.judged)
    ranks = np.arange(1, last + 1)
    hits = np.cumsum(np.bincount(at, minlength=last + 1)[1:])
    recall = np.cumsum(np.bincount(at, weights=each[query], minlength=last + 1)[1:])
    queries = np.float64(np.count_nonzero(_counted(ranking, rel)) or np.nan)
    return {"rank": ranks, "precision": hits / ranks / queries, "recall": recall / queries}


def _counted(ranking: Ranking, rel: int) -> Bools:
    """bool[Q]: the queries whose precision and recall count in the means, as they do in those of P@k and R@k."""
    if ranking.undefined_without_relevant:
        return measure.with_relevant(ranking, rel=rel)
    return np.ones(ranking.queries, np.bool_)
