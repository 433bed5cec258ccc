"""Curves as columns, ready to be drawn: precision over recall, and precision and recall over rank.

The detection curves (DET, value over threshold, the oracle of each query) are in `sweep`. For the curve of one query
ask for that of `ranking.of_query(number)`.
"""

from dataclasses import dataclass

import numpy as np

from leaderboard.metrics.aggregation import mean
from leaderboard.metrics.families.recall_levels import ELEVEN, interpolated
from leaderboard.metrics.measure import with_relevant
from leaderboard.metrics.ranking import Ranking
from leaderboard.metrics.segments import Bools, Floats, Ints, share


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
