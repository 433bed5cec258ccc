"""Stepping down: which pairs of systems differ by more than chance makes the largest of all pairs that are left differ.

The critical value is the quantile of the largest t over resamples of the queries, each pair divided by its own standard
error in that resample, and held against its own tail; pairs above it are told apart, and it is found again over the
others. `rank_sets` says why, and has the sources.
"""

import math

import numpy as np
from numpy.typing import NDArray

from leaderboard.metrics.ranking import Bools, Floats, Ints
from leaderboard.statistics.draws import draws
from leaderboard.statistics.intervals import students_t
from leaderboard.statistics.pairs import NO_SPREAD, Pairs, at_once, chunks, differences_of

__all__ = ["draws_that_fit", "step_down"]

Counts = NDArray[np.uint16]

TAIL = 0.005  # of a pair's own t in the resamples that lies beyond what it is held against
HEAVIEST = 1.25  # times Student's: tails up to there are left as they are, with up to FEW pairs
HEAVIER = 0.6  # more than that with ten times as many pairs, and again with a hundred times as many
FEW = 500  # pairs: 32 systems
FOR_TAIL = 2_000  # resamples at most that find it
SPARSE = 40  # a pair that differs on more queries than this takes part always: no resample leaves all of them out

WORK = 25_000_000_000  # pairs × queries × resamples at most: a larger board gets fewer resamples, never below LEAST
LEAST = 1_000
DRAWN = 20_000_000  # queries × resamples at most, 40 MB
DRAWS_AT_ONCE = 256
ROUNDING = 1e-9
LARGEST_RATIO = 1.0 - 1e-12


def draws_that_fit(pairs: int, queries: int, resamples: int) -> int:
    """How many resamples are drawn for so many pairs and queries: those asked for, or as many as take some 20 seconds.

    >>> draws_that_fit(10_153, 50, 10_000), draws_that_fit(124_750, 50, 10_000)
    (10000, 4008)
    """
    return min(resamples, max(LEAST, min(WORK // max(1, pairs * queries), DRAWN // max(1, queries))))


def heaviest(pairs: int) -> float:
    """How heavy a pair's tail may be, times Student's, before it is shortened.

    The more pairs there are, the farther out lies what the largest of them reaches by chance, and the more of it comes
    from tails that are somewhat heavy. Shortened, these would leave too low a critical value for pairs whose tail is
    as heavy and of which the sample shows too little. And of so many pairs those of one odd run move the quantile less.

    >>> [round(heaviest(pairs), 2) for pairs in (45, 500, 9_730, 124_750)]
    [1.25, 1.25, 2.02, 2.69]
    """
    return HEAVIEST + HEAVIER * max(0.0, math.log10(max(1, pairs) / FEW))


def step_down(pairs: Pairs, resamples: int, seed: int, alpha: float) -> tuple[Bools, float, int]:
    """(bool[P], which pairs are told apart; the last critical value; in how many steps)."""
    apart = np.zeros(len(pairs.first), dtype=bool)
    if not len(apart):
        return apart, 0.0, 0
    weights = _weights(len(pairs.values), resamples, seed)
    stretch = _stretch(pairs, weights)
    t, largest = pairs.t / stretch, _LargestT(pairs, stretch, weights, alpha)
    steps, new = 0, ~apart
    while new.any() and not apart.all():
        critical = largest.critical_value(~apart)
        new = ~apart & (t > critical * (1.0 + ROUNDING))  # t may be the very bound of a pair that has no part
        apart |= new
        steps += 1
    return apart, critical, steps


def _stretch(pairs: Pairs, weights: Counts) -> Floats:
    """float64[P], 1 at least: how many times as large as may be is the t that one resample in 200 exceeds."""
    drawn = weights[:FOR_TAIL].astype(np.float64)
    place = min(len(drawn), math.ceil((1.0 - TAIL) * (len(drawn) + 1))) - 1
    found = np.ones(len(pairs.first))
    plain, with_gaps = np.ones(len(pairs.first)), bool((pairs.common < len(pairs.values)).any())
    normal = students_t(np.maximum(pairs.common - 1.0, 1.0), TAIL)
    for some in chunks(np.arange(len(found)), at_once(pairs.values, len(drawn))):
        own = _Moved(pairs, some, plain[some], with_gaps=with_gaps)
        found[some] = np.partition(own.t(drawn), place, axis=0)[place]
    return np.maximum(1.0, found / (heaviest(len(found)) * normal))


class _LargestT:
    """The largest t of every resample, each pair's over its stretch: of all pairs that are left, and of those that
    differ on more queries.

    Without the pairs that were told apart, the largest t of a resample is at most what it was with them. So what is
    known from the step before bounds it, and only the resamples that may still decide the quantile are computed again.

    levels  int64[L], rising: on how many queries pairs differ; the last one stands for all above SPARSE too
    bound   float64[B, L]: at least the largest t over the pairs that are left and differ on levels[l] queries or more
    """

    def __init__(self, pairs: Pairs, stretch: Floats, weights: Counts, alpha: float) -> None:
        self.pairs, self.stretch, self.weights = pairs, stretch, weights
        self.reach = pairs.largest_t / stretch
        self.level = np.minimum(pairs.differing, SPARSE + 1)
        self.levels = np.unique(self.level)
        self.order = math.ceil((1.0 - alpha) * (len(weights) + 1) - ROUNDING)  # the quantile among the B, from 1
        self.bound = self._computed(np.arange(len(weights)), np.ones(len(self.level), dtype=bool))

    def critical_value(self, left: Bools) -> float:
        """The lowest critical value that none of the pairs which it takes no account of can exceed.

        left: bool[P], the pairs not told apart yet: never one that an earlier call left out.
        """
        if self.order > len(self.weights):  # too few resamples to find such a quantile
            return math.inf
        exact = np.full(len(self.weights), left.all())
        more = 2 * (len(self.weights) - self.order + 1)
        while True:
            quantiles = np.partition(self.bound, self.order - 1, axis=0)[self.order - 1]
            unsure = self.bound[~exact].max(axis=0, initial=0.0)
            if np.all((quantiles > unsure) | (unsure == 0.0)):
                break
            decisive = np.where(exact, 0.0, (self.bound / np.maximum(quantiles, ROUNDING)).max(axis=1))
            some = np.argsort(-decisive, kind="stable")[:more]
            self.bound[some] = self._computed(some, left)
            exact[some] = True
            more *= 2
        leaves_out = [self.reach[left & (self.level < one)].max(initial=0.0) for one in self.levels]
        return float(np.maximum(quantiles, leaves_out).min())

    def _computed(self, rows: Ints, left: Bools) -> Floats:
        """float64[len(rows), L]: the largest t itself, of these resamples over the pairs that are left."""
        found = np.zeros((len(rows), len(self.levels)))
        complete = self.pairs.common == len(self.pairs.values)
        for place, level in enumerate(self.levels):
            for with_gaps in (False, True):
                group = np.flatnonzero(left & (self.level == level) & (complete != with_gaps))
                for some in chunks(group, at_once(self.pairs.values)):
                    own = _Moved(self.pairs, some, self.stretch[some], with_gaps=with_gaps)
                    for start in range(0, len(rows), DRAWS_AT_ONCE):
                        part = slice(start, start + DRAWS_AT_ONCE)
                        largest = own.largest_t(self.weights[rows[part]].astype(np.float64))
                        np.maximum(found[part, place], largest, out=found[part, place])
        return np.maximum.accumulate(found[:, ::-1], axis=1)[:, ::-1]


class _Moved:
    """How far resamples move the mean differences of some pairs, in standard errors of the resample itself."""

    def __init__(self, pairs: Pairs, some: Ints, stretch: Floats, *, with_gaps: bool) -> None:
        own = differences_of(pairs.values, pairs.first[some], pairs.second[some])
        centred = (own - pairs.difference[some]) / pairs.error[some]
        centred[np.abs(centred) <= NO_SPREAD] = 0.0  # exactly the mean, but for rounding
        self.both = (~np.isnan(own)).astype(np.float64) if with_gaps else None
        self.centred = np.where(np.isnan(own), 0.0, centred) if with_gaps else centred
        self.squares = self.centred**2
        self.stretch = stretch

    def largest_t(self, weights: Floats) -> Floats:
        """float64[b]: the largest t of each resample, each over its stretch; weights: float64[b, Q]."""
        ratio, counts = self._ratio(weights)
        if self.both is None and (self.stretch == 1.0).all():
            return _t(ratio.max(axis=1), counts)
        largest: Floats = (_t(ratio, counts) / self.stretch).max(axis=1)
        return largest

    def t(self, weights: Floats) -> Floats:
        """float64[b, p]: t of each pair in each resample."""
        return _t(*self._ratio(weights))

    def _ratio(self, weights: Floats) -> tuple[Floats, Floats | float]:
        """(float64[b, p], what t rises with; how many queries of a resample count).

        With m the mean of the centred differences and s that of their squares, t² = (n − 1) m² / (s − m²), which rises
        with m² / s. Where a resample has no spread, m² / s is 1 and t is as good as infinite.
        """
        ratio = weights @ self.centred
        ratio *= ratio
        squares = weights @ self.squares
        np.maximum(squares, np.finfo(np.float64).tiny, out=squares)  # where all are 0, so is the mean
        counts = float(weights.shape[1]) if self.both is None else np.maximum(weights @ self.both, 1.0)
        squares *= counts
        ratio /= squares
        return ratio, counts


def _t(ratio: Floats, counts: Floats | float) -> Floats:
    ratio = np.minimum(ratio, LARGEST_RATIO)
    t: Floats = np.sqrt(np.maximum(counts - 1.0, 1.0) * ratio / (1.0 - ratio))
    return t


def _weights(queries: int, resamples: int, seed: int) -> Counts:
    """uint16[resamples, queries]: how often each query was drawn."""
    return np.concatenate([block.astype(np.uint16) for block in draws(queries, resamples, seed)])
