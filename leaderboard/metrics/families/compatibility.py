"""Ranks, graded: how much a list looks like the ideal list that is nearest to it."""

import numpy as np

from leaderboard.metrics.measure import Family
from leaderboard.metrics.parameters import Parameter
from leaderboard.metrics.ranking import Ranking
from leaderboard.metrics.segments import Floats, Ints, share, total


def compatibility(ranking: Ranking, *, p: float, normalize: str) -> Floats:
    """Rank-biased overlap of the list with the ideal list that is nearest to it.

    Formula: Compat = (sum_{i=1}^{n} p^{i − 1} · |top_i ∩ ideal_i| / i) / (sum_{i=1}^{n} p^{i − 1} · |ideal_i| / i)
    Symbols: top_i are the first i documents of the list, ideal_i those of the ideal one: all relevant documents, the
        highest grades first, equal grades in the order of the list; n is the length of the longer of the two. With
        normalize=False the denominator is the sum of p^{i − 1}, as if the ideal list did not end.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff: the whole list counts, and ranks that it lacks add no document.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: ir_measures' Compat is the same, except that it orders equal scores by document id
        ascending, and relevant documents that the list lacks as if they had the score 0, so before those with a
        negative score. trec_eval has none.
    Source: C. L. A. Clarke, A. Vtyurina, M. D. Smucker: Assessing Top-k Preferences, ACM Transactions on Information
        Systems 39 (3), 2021

    Overlap with the nearest ideal list, float64[Q] in [0, 1].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> compatibility(graded_lists([1, None, 0, 2], missed=[1]), p=0.5, normalize="True").round(4)
    array([0.2147])
    """
    relevant = ranking.relevant(1)
    length = np.maximum(ranking.retrieved, relevant.judged)
    step = np.cumprod(np.concatenate(([1.0], np.full(int(length.max(initial=0)), p))))  # p^0, p^1, …
    weight = step[:-1] / np.arange(1, len(step))
    # A document in both lists counts from the rank on at which both have shown it.
    worth = np.concatenate(([0.0], np.cumsum(weight)))
    shown = np.maximum(relevant.rank, _place_in_ideal(ranking))
    overlap = total(relevant.query, worth[length[relevant.query]] - worth[shown - 1], ranking.queries)
    if normalize == "False":
        return share(overlap, np.concatenate(([0.0], np.cumsum(step[:-1])))[length])
    judged = np.flatnonzero(ranking.judged_grade >= 1)
    query, position = ranking.judged_query[judged], ranking.judged_place[judged]
    return share(overlap, total(query, worth[length[query]] - worth[position - 1], ranking.queries))


def _place_in_ideal(ranking: Ranking) -> Ints:
    """int64[n]: the rank in the ideal list of each relevant hit, in the order of `ranking.relevant(1)`."""
    relevant = ranking.relevant(1)
    grade = ranking.grade[ranking.grade >= 1]
    by_grade = np.lexsort((relevant.rank, -grade, relevant.query))
    query, grade = relevant.query[by_grade], grade[by_grade]
    # Places of a query's judgments are numbered by falling grade: where a grade begins among them, and how many of its
    # documents the list has shown before this one.
    span = int(ranking.judged_grade.max(initial=0)) + 1
    key = query * span - grade
    begins = np.searchsorted(ranking.judged_query * span - np.maximum(ranking.judged_grade, 0), key)
    before = np.arange(len(key)) - np.searchsorted(key, key)
    position = np.empty(len(key), np.int64)
    position[by_grade] = begins - ranking.judged_start[query] + before + 1
    return position


COMPAT = Family(
    name="Compat",
    title="Compatibility",
    compute=compatibility,
    parameters=(
        Parameter("p", "float", 0.95, low=0.0, high=1.0, meaning="how much the ranks further down count"),
        Parameter(
            "normalize",
            "choice",
            "True",
            choices=("True", "False"),
            meaning="whether the ideal list itself reaches 1 although it ends",
        ),
    ),
)

FAMILIES = (COMPAT,)
