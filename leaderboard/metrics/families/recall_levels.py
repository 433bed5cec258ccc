"""Ranks, binary: precision at ranks and recalls that depend on how many documents are relevant.

At the end: curves as columns, ready to be drawn, of precision over recall, and precision and recall over rank. The
detection curves (DET, value over threshold, the oracle of each query) are in `sweep`. For the curve of one query ask
for that of `ranking.of_query(number)`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from leaderboard.metrics.aggregation import mean
from leaderboard.metrics.families.binary import RANK_NEEDED, at_cutoffs
from leaderboard.metrics.measure import (
    JUDGED_ONLY,
    REL,
    Family,
    Parameter,
    TrecEval,
    Value,
    choice,
    read_value,
    with_relevant,
    write,
)
from leaderboard.metrics.ranking import Ranking
from leaderboard.metrics.segments import Bools, Floats, Ints, running, share

ELEVEN = tuple(step / 10 for step in range(11))


def r_precision(ranking: Ranking, *, rel: int, mult: float) -> Floats:
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


def interpolated(ranking: Ranking, rel: int, recall: float) -> Floats:
    """The highest precision at this recall or beyond, float64[Q] in [0, 1]; 0 where it is never reached."""
    relevant = ranking.relevant(rel)
    best = ranking.keep(
        ("best precision from here", rel),
        lambda: running(relevant.query, relevant.precision, np.maximum, backwards=True),
    )
    needed = np.maximum(documents_at(recall, relevant.judged, ranking.setting.compat), 1)
    reached = needed <= relevant.found
    values = np.zeros(ranking.queries)
    values[reached] = best[relevant.start[:-1][reached] + needed[reached] - 1]
    return values


def documents_at(recall: float, relevant: Ints, compat: int) -> Ints:
    """How many relevant documents a recall stands for: rounded to the nearest, or as trec_eval 9 rounds up."""
    exact = recall * relevant
    whole = np.trunc(exact + 0.9) if compat == 9 else np.floor(exact) + (exact % 1.0 >= 0.5)
    return np.asarray(whole, dtype=np.int64)


def interpolated_precision(ranking: Ranking, *, rel: int, cutoff: float) -> Floats:
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
    return interpolated(ranking, rel, cutoff)


def average_interpolated(ranking: Ranking, *, rel: int, at: tuple[float, ...]) -> Floats:
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
        summed += interpolated(ranking, rel, recall)
    return summed / len(at)


def relative_precision(ranking: Ranking, *, rel: int, cutoff: int) -> Floats:
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


def first_tier(ranking: Ranking, *, rel: int, norm: str) -> Floats:
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


def second_tier(ranking: Ranking, *, rel: int, norm: str) -> Floats:
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


def read_points(text: str) -> dict[str, Value]:
    """trec_eval's .25,.5,.75 as our recall points."""
    return {"at": read_value("{" + text + "}")}


def write_points(arguments: Mapping[str, Any]) -> str:
    return write(arguments["at"]).strip("{}")


TIER_NORM = choice("norm", ("tier", "class"), "divide by the ranks looked at, or by the number of relevant documents")

FAMILIES = (
    Family(
        "Rprec",
        "R-precision",
        r_precision,
        (
            REL,
            Parameter("mult", "float", 1.0, low=0.0, above=True, meaning="at this multiple of the relevant documents"),
            JUDGED_ONLY,
        ),
        trec_eval=(
            TrecEval("Rprec"),
            TrecEval("Rprec_mult", takes="mult", values=tuple(step / 5 for step in range(1, 11)), form="{:.2f}"),
        ),
    ),
    Family(
        "IPrec",
        "Interpolated precision at a recall",
        interpolated_precision,
        (REL, JUDGED_ONLY),
        Parameter(
            "cutoff", "float", low=0.0, high=1.0, required=True, example="0.5", meaning="the recall to be reached"
        ),
        trec_eval=(TrecEval("iprec_at_recall", takes="cutoff", values=ELEVEN, form="{:.2f}"),),
    ),
    Family(
        "IPrec11",
        "Interpolated precision averaged over recall points",
        average_interpolated,
        (REL, Parameter("at", "points", ELEVEN, low=0.0, high=1.0, meaning="the recall points")),
        trec_eval=(TrecEval("11pt_avg", read=read_points, write=write_points),),
    ),
    Family(
        "RelP",
        "Relative precision at k",
        relative_precision,
        (REL,),
        RANK_NEEDED,
        trec_eval=(at_cutoffs("relative_P"),),
    ),
    Family("FirstTier", "First tier", first_tier, (REL, TIER_NORM), of_returned=True),
    Family("SecondTier", "Second tier", second_tier, (REL, TIER_NORM), of_returned=True),
)


@dataclass(frozen=True, eq=False, slots=True)
class OverRecall:
    """recall float64[n], rising; precision float64[n], interpolated: the mean over queries, never rising."""

    recall: Floats
    precision: Floats


@dataclass(frozen=True, eq=False, slots=True)
class OverRank:
    """rank int64[n] = 1 … n; precision and recall float64[n]: P@rank and R@rank, means over queries."""

    rank: Ints
    precision: Floats
    recall: Floats


def over_recall(ranking: Ranking, rel: int = 1, points: tuple[float, ...] = ELEVEN) -> OverRecall:
    """The interpolated precision–recall curve at these recall points; NaN without queries that count.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> over_recall(graded_lists([1, 0, 1]), points=(0.5, 1.0)).precision.round(4)
    array([1.    , 0.6667])
    """
    counted = _counted(ranking, rel)
    columns = [interpolated(ranking, rel, point)[counted] for point in points]
    return OverRecall(np.array(points), np.array([mean(column) for column in columns]))


def over_rank(ranking: Ranking, rel: int = 1, depth: int | None = None) -> OverRank:
    """Precision and recall at each rank down to `depth` (None: the longest list).

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> over_rank(graded_lists([1, 0], missed=[1])).precision
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
    return OverRank(ranks, hits / ranks / queries, recall / queries)


def _counted(ranking: Ranking, rel: int) -> Bools:
    """bool[Q]: the queries whose precision and recall count in the means, as they do in those of P@k and R@k."""
    if ranking.undefined_without_relevant:
        return with_relevant(ranking, rel=rel)
    return np.ones(ranking.queries, np.bool_)
