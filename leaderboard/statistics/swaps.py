"""How often two sets of queries disagree about the order of two systems: the swap rate, against the sets' size.

Two sets without a query in common are drawn again and again from the queries that are there. Each gives every pair of
systems a difference of means; where the two differences have opposite signs, the pair is swapped. Two sets of n queries
need 2n, so this tells what an evaluation with half as many queries or fewer would have been worth. Where the two sets
use up all queries, one has what the other lacks, and the rate is somewhat too high: it errs on the careful side.

Sources: E. M. Voorhees and C. Buckley, The Effect of Topic Set Size on Retrieval Experiment Error, SIGIR 2002;
T. Sakai, Evaluating Evaluation Metrics Based on the Bootstrap, SIGIR 2006.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.metrics.segments import Floats, Ints
from leaderboard.statistics.defaults import CELLS, SEED, check_resamples
from leaderboard.statistics.ranks import TIE

DRAWS = 200  # of two sets, for every size
SIZES = (5, 10, 20, 50, 100, 200, 500, 1000, 2000)  # of each set, as far as two of them fit
AT_MOST = 0.05  # the swap rate of a difference that can be relied on, as in the sources
BINS = 40  # of differences, each a tenth of a standard error wide: the last one is open
PER_ERROR = 10
LEAST_IN_BIN = 50  # pairs and draws: a share of fewer is chance


@dataclass(frozen=True, slots=True)
class SwapRate:
    """What two sets of `size` queries each disagree on.

    rate        the share of pairs and draws in which the two systems change order, in [0, 1]; a tie is no swap
    difference  of means on one set from which on at most 5 % of pairs are in the other order on the other set (the
                lower end of the first bin after which no bin has more); None where there is no such bin
    draws, seed  as drawn
    """

    size: int
    rate: float
    difference: float | None
    draws: int
    seed: int


def swap_rates(
    values: Floats, deviation: float, *, sizes: Sequence[int] = SIZES, draws: int = DRAWS, seed: int = SEED
) -> tuple[SwapRate, ...]:
    """The swap rate for each size of which two sets fit into the queries.

    values: float64[Q, S], each system's `contributions`, NaN where a query has no value (a pair of which a set has no
    value is left out of that draw). deviation: standard deviation of a difference of two systems from query to query
    (`Detectable.deviation`), which sets the width of the bins. Empty for fewer than two systems, and for a deviation of
    0. Raises BadInput for draws below 1.

    >>> import numpy as np
    >>> better, worse = np.array([0.5, 0.9] * 10), np.array([0.4, 0.7] * 10)
    >>> [(found.size, found.rate) for found in swap_rates(np.stack([better, worse], axis=1), 0.05)]
    [(5, 0.0), (10, 0.0)]
    """
    check_resamples(draws)
    queries = np.flatnonzero(~np.isnan(values).all(axis=1))
    if values.shape[1] < 2 or deviation <= 0:
        return ()
    own = values[queries]
    return tuple(_of_size(own, size, deviation, draws, seed) for size in sizes if 2 * size <= len(queries))


def _of_size(values: Floats, size: int, deviation: float, draws: int, seed: int) -> SwapRate:
    generator = np.random.default_rng(seed)  # the draws of a size depend on seed and queries, not on the systems
    queries, systems = values.shape
    better, worse = np.triu_indices(systems, 1)
    width = deviation / np.sqrt(size) / PER_ERROR
    total = 0
    pairs, swapped = np.zeros(BINS, dtype=np.int64), np.zeros(BINS, dtype=np.int64)
    rows = max(1, CELLS // max(len(better), queries))
    for start in range(0, draws, rows):
        number = min(rows, draws - start)
        order = generator.permuted(np.tile(np.arange(queries), (number, 1)), axis=1)
        first, second = (_means(values, order[:, part]) for part in (slice(size), slice(size, 2 * size)))
        difference, again = (means[:, better] - means[:, worse] for means in (first, second))
        counted = ~np.isnan(difference) & ~np.isnan(again)
        total += int(np.count_nonzero(counted))
        counted &= (
            np.abs(difference) > TIE
        )  # a tie has no order that could be swapped, and would make small ones look safe
        bins = np.minimum(np.abs(difference[counted]) / width, BINS - 1).astype(np.int64)
        turned = (difference * again < 0) & (np.abs(again) > TIE)
        pairs += np.bincount(bins, minlength=BINS)
        swapped += np.bincount(bins[turned[counted]], minlength=BINS)
    rate = float(swapped.sum() / total) if total else 0.0
    relied_on = _first_reliable(pairs, swapped)
    return SwapRate(size, rate, None if relied_on is None else float(relied_on * width), draws, seed)


def _means(values: Floats, chosen: Ints) -> Floats:
    """float64[B, S]: the means over the chosen queries, int64[B, n]; NaN where a system has no value on any."""
    weights = np.zeros((len(chosen), len(values)))
    np.put_along_axis(weights, chosen, 1.0, axis=1)
    there = ~np.isnan(values)
    sums, sizes = weights @ np.where(there, values, 0.0), weights @ there.astype(np.float64)
    return np.divide(sums, sizes, out=np.full_like(sums, np.nan), where=sizes > 0)


def _first_reliable(pairs: Ints, swapped: Ints) -> int | None:
    """The first bin that has pairs enough and follows the last one with more than the share AT_MOST swapped. The open
    bin does not count: systems that are apart by far fill it, and would tell of a difference that no other pair has."""
    enough = (pairs >= LEAST_IN_BIN)[:-1]
    too_often = enough & (swapped > AT_MOST * pairs)[:-1]
    after = int(np.flatnonzero(too_often)[-1]) + 1 if too_often.any() else 0
    reliable = np.flatnonzero(enough[after:])
    return after + int(reliable[0]) if len(reliable) else None
