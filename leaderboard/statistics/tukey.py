"""The randomised Tukey HSD test: all pairs of a board at once, held against the largest difference that chance makes.

Were all systems alike, each query's values could belong to any of them. So the values are permuted within every query,
again and again, and each time the difference between the best and the worst mean is kept; a pair that differs by more
than nearly all of those is told apart. At p <= .05 the chance of even one false finding on the whole board is then at
most .05, however many pairs it has.

Source: B. Carterette, Multiple Testing in Statistical Analysis of Systems-Based Information Retrieval Experiments,
ACM TOIS 30(1), 2012, algorithm 1; T. Sakai, Laboratory Experiments in Information Retrieval, Springer 2018, chapter 4.
"""

from dataclasses import dataclass

import numpy as np

from leaderboard.metrics.segments import Floats
from leaderboard.statistics.defaults import RESAMPLES, SEED, check_resamples

WORK = 100_000_000  # values permuted at most, about a second: a larger board gets fewer permutations, never below LEAST
LEAST = 1_000
ROUNDING = 1e-12  # of the largest value


@dataclass(frozen=True, eq=False, slots=True)
class Tukey:
    """All pairs of S systems.

    p            float64[S, S], symmetric, in (0, 1], 1 on the diagonal; NaN for a system that could not be compared
    queries      on which every compared system has a value; left_out: the other queries
    permutations drawn, from `seed`: as many as asked for, fewer on a very large board, 0 where nothing was compared
    reason       why nothing was compared, else None
    """

    p: Floats
    queries: int
    left_out: int
    permutations: int
    seed: int
    reason: str | None = None


def tukey_hsd(values: Floats, *, permutations: int = RESAMPLES, seed: int = SEED) -> Tukey:
    """Compares all systems with one another.

    values: float64[Q, S], NaN where a query has no value. A system without any value is not compared; a query that is
    undefined for one of the others is left out. p does not depend on the order of the systems. Raises BadInput for
    permutations below 1.

    >>> import numpy as np
    >>> two_systems = np.array([[0.5, 0.25], [0.75, 0.5], [1.0, 0.75]])
    >>> found = tukey_hsd(two_systems)  # with two systems the randomisation test, whose exact p is .25
    >>> found.queries, found.p.shape, bool(abs(found.p[0, 1] - 0.25) < 0.02)
    (3, (2, 2), True)
    """
    check_resamples(permutations)
    p = np.full((values.shape[1], values.shape[1]), np.nan)
    compared = np.flatnonzero(~np.all(np.isnan(values), axis=0))
    complete = ~np.any(np.isnan(values[:, compared]), axis=1)
    block = values[np.ix_(complete, compared)]
    queries = len(block) if len(compared) else 0
    left_out = len(values) - queries
    if len(compared) < 2 or queries == 0:
        reason = "no query has a value for every system" if len(compared) > 1 else "fewer than two systems have values"
        p[compared, compared] = 1.0
        return Tukey(p, queries, left_out, 0, seed, reason)
    drawn = max(min(permutations, LEAST), min(permutations, WORK // block.size))
    largest = _largest_differences(block, drawn, seed)
    means = block.mean(axis=0)
    apart = np.abs(means[:, np.newaxis] - means) - ROUNDING * np.abs(block).max()
    p[np.ix_(compared, compared)] = (1 + drawn - np.searchsorted(largest, apart)) / (1 + drawn)
    p[compared, compared] = 1.0
    return Tukey(p, queries, left_out, drawn, seed)


def _largest_differences(block: Floats, permutations: int, seed: int) -> Floats:
    """float64[permutations], rising: best less worst mean, each time with the values permuted within every query."""
    generator = np.random.default_rng(seed)
    sums = np.zeros((permutations, block.shape[1]))
    for row in np.sort(block, axis=1):  # sorted: the order of the systems has no say in what a seed draws
        sums += generator.permuted(np.broadcast_to(row, sums.shape), axis=1)
    return np.sort(np.ptp(sums, axis=1) / len(block))
