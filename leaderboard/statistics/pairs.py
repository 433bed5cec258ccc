"""Pairs of the systems of a board: how their values differ, and what an exact test says of those that hardly vary.

Source: I. Waudby-Smith and A. Ramdas, Estimating Means of Bounded Random Variables by Betting, Journal of the Royal
Statistical Society B 86, 2024 (the exact test).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from leaderboard.metrics.segments import Bools, Floats, Ints
from leaderboard.statistics.defaults import CELLS
from leaderboard.statistics.ranks import TIE

PAIRS_AT_ONCE = 2_048
STAKES = (0.25, 0.5, 0.75, 0.95)  # λ: large ones for pairs that differ by nearly the width, small ones for others
NO_SPREAD = 1e-9  # of the size of the differences: what is smaller is rounding


@dataclass(frozen=True, eq=False, slots=True)
class Pairs:
    """P pairs of systems that differ.

    values         float64[Q, S], NaN where undefined
    first, second  int64[P], places of the systems
    difference     float64[P], first's mean − second's over their common queries
    error          float64[P], its standard error; 0 without spread
    common         int64[P], on how many queries both have a value
    differing      int64[P], on how many of these the two differ
    varied         int64[P], on how many of these their difference is another one than the most frequent one
    exact          float64[P]: if the mean difference of all queries like these is 0, it is x or more with probability
                   1 / x at most; 0 without limits
    """

    values: Floats
    first: Ints
    second: Ints
    difference: Floats
    error: Floats
    common: Ints
    differing: Ints
    varied: Ints
    exact: Floats

    def kept(self, which: Bools) -> "Pairs":
        """Those of bool[P], ordered by the number of queries on which they differ."""
        places = np.flatnonzero(which)
        places = places[np.argsort(self.differing[places], kind="stable")]
        columns = (getattr(self, field.name)[places] for field in fields(self) if field.name != "values")
        return Pairs(self.values, *columns)

    @property
    def t(self) -> Floats:
        """float64[P], not negative."""
        return np.abs(self.difference) / self.error

    @property
    def largest_t(self) -> Floats:
        """float64[P]: what t can be at most, for a pair that differs on so many queries: infinite if on all."""
        same = self.common - self.differing
        reach = (self.common - 1) * self.differing
        largest: Floats = np.sqrt(np.divide(reach, same, out=np.full(len(same), np.inf), where=same > 0))
        return largest


def pairs_of(values: Floats, width: float) -> Pairs:
    """All pairs that differ on a query."""
    first, second = np.triu_indices(values.shape[1], 1)
    blocks = [np.empty((6, 0))]
    for some in chunks(np.arange(len(first)), at_once(values)):
        own = differences_of(values, first[some], second[some])
        both = ~np.isnan(own)
        common = both.sum(axis=0)
        varied = common - _most_frequent(own)
        own[~both] = 0.0
        mean = own.sum(axis=0) / np.maximum(common, 1)
        squares = np.where(both, (own - mean) ** 2, 0.0).sum(axis=0)
        squares[squares <= (NO_SPREAD**2) * (own**2).sum(axis=0)] = 0.0
        error = np.sqrt(squares / np.maximum(common * (common - 1), 1))
        blocks.append(
            np.stack([mean, error, common, np.count_nonzero(own, axis=0), varied, exact_evidence(own, width)])
        )
    difference, error, common, differing, varied, exact = np.concatenate(blocks, axis=1)
    counts = (common.astype(np.int64), differing.astype(np.int64), varied.astype(np.int64))
    return Pairs(values, first, second, difference, error, *counts, exact).kept(differing > 0)


def differences_of(values: Floats, first: Ints, second: Ints) -> Floats:
    """float64[Q, p], exactly 0 for a tie, NaN where one has no value."""
    mine, theirs = values[:, first], values[:, second]
    difference = mine - theirs
    noise = TIE * np.maximum(1.0, np.maximum(np.abs(mine), np.abs(theirs)))
    difference[np.abs(difference) <= noise] = 0.0
    return difference


def _most_frequent(differences: Floats) -> Ints:
    """int64[p]: how often the most frequent of the values of float64[Q, p] occurs, rounding apart; 0 without any."""
    rising = np.sort(differences, axis=0)  # NaN last
    starts = np.ones(rising.shape, dtype=bool)
    starts[1:] = ~(np.diff(rising, axis=0) <= TIE * np.maximum(1.0, np.abs(rising[1:])))
    row = np.arange(len(rising))[:, np.newaxis]
    lengths = row + 1 - np.maximum.accumulate(np.where(starts, row, 0), axis=0)
    longest: Ints = np.where(np.isnan(rising), 0, lengths).max(axis=0, initial=0)
    return longest


def exact_evidence(differences: Floats, width: float) -> Floats:
    """float64[p] of float64[Q, p], none beyond ± width: at least x with probability 1 / x at most, if their mean is 0.

    1 + λ · difference / width is never negative and its mean is 1, so the product over independent queries has the mean
    1 too; so have averages of such products, over several λ and both signs. The rest is Markov's inequality.
    """
    if not math.isfinite(width):
        return np.zeros(differences.shape[1])
    share = differences / max(width, float(np.abs(differences).max(initial=TIE)))
    products = [np.exp(np.log1p(sign * stake * share).sum(axis=0)) for stake in STAKES for sign in (1.0, -1.0)]
    average: Floats = np.stack(products).mean(axis=0)
    return average


def at_once(values: Floats, rows: int = 0) -> int:
    """How many pairs are worked on at once, so that their differences, and so many rows, fit in a quarter of CELLS."""
    return min(PAIRS_AT_ONCE, max(1, CELLS // 4 // max(1, len(values), rows)))


def chunks(places: Ints, size: int) -> Iterator[Ints]:
    """int64[n] in parts of that size, the last one of what is left.

    >>> import numpy as np
    >>> [part.tolist() for part in chunks(np.arange(5), 2)]
    [[0, 1], [2, 3], [4]]
    """
    for start in range(0, len(places), size):
        yield places[start : start + size]
