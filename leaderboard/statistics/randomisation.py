"""The paired randomisation test: were the two systems alike, each query's two values could as well be swapped.

Source: R. A. Fisher, The Design of Experiments, 1935; M. D. Smucker, J. Allan and B. Carterette, A Comparison of
Statistical Significance Tests for Information Retrieval Evaluation, CIKM 2007. The p of a drawn sample counts the
observed arrangement too, so that it is never 0 and never too small (B. Phipson and G. K. Smyth, 2010).
"""

import numpy as np

from leaderboard.metrics.ranking import Floats
from leaderboard.statistics.pairs import NO_PAIRS, PairedTest, pair
from leaderboard.statistics.resampling import CELLS, RESAMPLES, SEED, check_draws

__all__ = ["randomisation_test"]

NAME = "randomisation"
EXACT_UP_TO = 20  # queries that differ: 2^19 arrangements, since two-sided the mirror image of each counts the same
NOISE = 1e-12  # of the sum of all differences


def randomisation_test(first: Floats, second: Floats, *, resamples: int = RESAMPLES, seed: int = SEED) -> PairedTest:
    """Two-sided test of the mean difference by swapping the systems on each query (flipping the difference's sign).

    first, second: float64[Q] in the same order of queries, NaN where undefined. Exact when at most 20 queries differ;
    else `resamples` arrangements are drawn. p does not depend on the order of the queries or of the two systems.
    """
    check_draws(resamples)
    pairs = pair(first, second)
    queries = len(pairs.difference)
    if queries == 0:
        return PairedTest(NAME, None, None, 0, pairs.left_out, reason=NO_PAIRS)
    # A query that ties stays a tie; the sign of the others is what is drawn, so only sizes matter. Sorted: the order of
    # the queries then has no say in which arrangements a seed draws.
    sizes = np.sort(np.abs(pairs.difference[pairs.difference != 0]))
    reached = abs(float(pairs.difference.sum())) - NOISE * float(sizes.sum())
    statistic = float(pairs.difference.mean())
    if len(sizes) <= EXACT_UP_TO:
        return PairedTest(NAME, _exact(sizes, reached), statistic, queries, pairs.left_out, exact=True)
    p = (1 + _drawn(sizes, reached, resamples, seed)) / (1 + resamples)
    return PairedTest(NAME, p, statistic, queries, pairs.left_out, resamples=resamples, seed=seed)


def _exact(sizes: Floats, reached: float) -> float:
    """The share of all arrangements whose sum is at least `reached` away from 0."""
    sums = sizes[:1] if len(sizes) else np.zeros(1)  # the first sign stands: its mirror image has the same distance
    for size in sizes[1:]:
        sums = np.concatenate((sums + size, sums - size))
    return float(np.count_nonzero(np.abs(sums) >= reached) / len(sums))


def _drawn(sizes: Floats, reached: float, resamples: int, seed: int) -> int:
    """How many of `resamples` arrangements have a sum at least `reached` away from 0."""
    generator = np.random.default_rng(seed)
    width = -(-len(sizes) // 8)  # bytes that hold one sign a query
    total = float(sizes.sum())
    count = 0
    rows = max(1, CELLS // len(sizes))
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        drawn = np.frombuffer(generator.bytes(size * width), dtype=np.uint8).reshape(size, width)
        positive = np.unpackbits(drawn, axis=1, count=len(sizes)).astype(np.float64)
        sums = 2.0 * (positive @ sizes) - total
        count += int(np.count_nonzero(np.abs(sums) >= reached))
    return count
