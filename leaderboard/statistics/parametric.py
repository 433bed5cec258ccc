"""The paired t test.

Source: Student (W. S. Gosset), The Probable Error of a Mean, Biometrika 6, 1908.
"""

import math
import sys

import numpy as np

from leaderboard.metrics.ranking import Floats
from leaderboard.statistics.pairs import NO_PAIRS, PairedTest, pair

__all__ = ["paired_t", "spread"]

NAME = "t"
CONSTANT = 1e-12  # relative to the mean: a spread below it is rounding


def paired_t(first: Floats, second: Floats) -> PairedTest:
    """Two-sided t test of the mean difference, with n − 1 degrees of freedom.

    first, second: float64[Q] in the same order of queries, NaN where undefined. p is 1 when all queries tie, None on
    a single query or when every query differs by the same amount (there is no spread to hold the mean against).
    """
    pairs = pair(first, second)
    queries = len(pairs.difference)
    if queries == 0:
        return PairedTest(NAME, None, None, 0, pairs.left_out, reason=NO_PAIRS)
    if not pairs.difference.any():
        return PairedTest(NAME, 1.0, 0.0, queries, pairs.left_out)
    if queries == 1:
        return PairedTest(NAME, None, None, 1, pairs.left_out, reason="one query has no spread")
    deviation = spread(pairs.difference)
    if deviation == 0:
        reason = "every query differs by the same amount: there is no spread"
        return PairedTest(NAME, None, None, queries, pairs.left_out, reason=reason)
    statistic = float(pairs.difference.mean()) / (deviation / math.sqrt(queries))

    from scipy.special import stdtr  # here, because importing scipy takes longer than most commands run

    p = 2.0 * float(stdtr(queries - 1, -abs(statistic)))
    return PairedTest(NAME, min(1.0, max(p, sys.float_info.min)), statistic, queries, pairs.left_out)


def spread(difference: Floats) -> float:
    """The standard deviation (n − 1) of float64[n], n >= 2; exactly 0 when all are equal but for rounding."""
    deviation = float(np.std(difference, ddof=1))
    return 0.0 if deviation <= CONSTANT * abs(float(difference.mean())) else deviation
