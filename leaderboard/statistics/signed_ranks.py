"""Wilcoxon's signed rank test: the differences count by the rank of their size, not by the size.

Source: F. Wilcoxon, Individual Comparisons by Ranking Methods, Biometrics Bulletin 1, 1945; W. J. Conover, Practical
Nonparametric Statistics, 1999, for ties.
"""

import math
import sys

import numpy as np

from leaderboard.metrics.ranking import Floats, Ints
from leaderboard.statistics.pairs import NO_PAIRS, PairedTest, pair
from leaderboard.statistics.resampling import comparable

__all__ = ["wilcoxon"]

NAME = "wilcoxon"
EXACT_UP_TO = 300  # queries that differ; above, the normal distribution is as good and far faster


def wilcoxon(first: Floats, second: Floats) -> PairedTest:
    """Two-sided signed rank test; queries that tie are left out of the ranking, as Wilcoxon did.

    first, second: float64[Q] in the same order of queries, NaN where undefined. Sizes that are equal share the mean of
    their ranks. p is exact, with shared ranks too, when at most 300 queries differ, else from the normal distribution
    without continuity correction; 1 when all queries tie.
    """
    pairs = pair(first, second)
    queries = len(pairs.difference)
    if queries == 0:
        return PairedTest(NAME, None, None, 0, pairs.left_out, reason=NO_PAIRS)
    difference = pairs.difference[pairs.difference != 0]
    doubled = _doubled_ranks(np.abs(difference))
    positive = int(doubled[difference > 0].sum())
    total = int(doubled.sum())
    away = abs(2 * positive - total)
    exact = len(difference) <= EXACT_UP_TO
    p = _exact(doubled, away) if exact else _normal(doubled, away)
    statistic = min(positive, total - positive) / 2
    return PairedTest(NAME, min(1.0, max(p, sys.float_info.min)), statistic, queries, pairs.left_out, exact=exact)


def _doubled_ranks(sizes: Floats) -> Ints:
    """int64[n]: twice the rank of each size, a whole number for shared ranks as well."""
    _, place, count = np.unique(comparable(sizes), return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (2 * last - count + 1)[place]


def _exact(doubled: Ints, away: int) -> float:
    """The probability that 2 · (sum of positive ranks) is at least `away` from the total, when each sign is a coin."""
    total = int(doubled.sum())
    chance = np.zeros(total + 1)  # chance[s]: that the ranks so far give the sum s
    chance[0] = 1.0
    for rank in doubled:
        chance[rank:] = (chance[rank:] + chance[: total + 1 - rank]) / 2
        chance[:rank] /= 2
    return float(chance[np.abs(2 * np.arange(total + 1) - total) >= away].sum())


def _normal(doubled: Ints, away: int) -> float:
    """The same from the normal distribution; the variance of a sum of coins counts shared ranks as they are."""
    return math.erfc(away / math.sqrt(2.0 * float(np.sum(doubled.astype(np.float64) ** 2))))
