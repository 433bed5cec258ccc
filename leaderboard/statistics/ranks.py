"""Ranks and ties.

Pairs of the systems of a board: how their values differ, and what an exact test says of those that hardly vary.

Source: I. Waudby-Smith and A. Ramdas, Estimating Means of Bounded Random Variables by Betting, Journal of the Royal
Statistical Society B 86, 2024 (the exact test).

Stepping down: which pairs of systems differ by more than chance makes the largest of all pairs that are left differ.

The critical value is the quantile of the largest t over resamples of the queries, each pair divided by its own standard
error in that resample, and held against its own tail; pairs above it are told apart, and it is found again over the
others. `rank_sets` says why, and has the sources.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaderboard.metrics.measure import Direction
from leaderboard.metrics.segments import Bools, Floats, Ints
from leaderboard.statistics.intervals import students_t
from leaderboard.statistics.samples import CELLS, draws

TIE = 1e-12


def competition_ranks(means: Floats, direction: Direction) -> Ints:
    """The ranks on a board, best first: ties share a rank and the ranks after them are skipped (1-1-3).

    This is the one definition of a tie. In the order of the board, a mean ties with the one before it when the two
    differ by at most 1e-12, or by 1e-12 of the better one where that is larger than 1 in size: equal to twelve
    decimals below 1, to twelve significant digits above. The same values summed in another order differ in the
    sixteenth digit, so a rank decided there would be decided by rounding. Significant digits alone won't do near 0:
    AQWV is 1 minus two means, and where these add up to 1 what is left is rounding. Runs of a real evaluation that
    differ at all do so by more: one step of P_fa on one of 100 queries over a billion documents is 1e-11.

    Parameters
    ----------
    means: float64[S]. NaN (undefined) is last and shares the last rank; a board that gives no rank to an undefined mean
        leaves it out first.
    direction: the measure's own, "higher" or "lower" (is better).

    Returns int64[S], 1 is best, in the order of `means`. Raises ValueError for the direction "none": where neither
    end is better there is no rank.

    >>> import numpy as np
    >>> competition_ranks(np.array([0.5, 0.1 + 0.2, 0.3, 0.2]), "higher").tolist()
    [1, 2, 2, 4]
    >>> competition_ranks(np.array([0.5, 0.3, 0.2]), "lower").tolist()
    [3, 2, 1]
    """
    if direction == "none":
        raise ValueError("a measure without a direction has no ranks")
    rising = worst_last(means, direction)
    order = np.argsort(rising)  # not stable, which takes six times as long: equal ones share a rank
    ranks = np.empty(len(means), dtype=np.int64)
    ranks[order] = np.maximum.accumulate(np.where(opens_place(rising[order]), np.arange(1, len(means) + 1), 0))
    return ranks


def worst_last(means: Floats, direction: Direction) -> Floats:
    """Numbers that rise from the best mean to the worst; infinite for NaN."""
    return np.where(np.isnan(means), np.inf, means if direction == "lower" else -means)


def opens_place(rising: Floats) -> Bools:
    """Of numbers of `worst_last` in their order, which do not tie with the one before."""
    opens = np.ones(len(rising), dtype=bool)
    opens[1:] = rising[1:] > rising[:-1] + TIE * np.maximum(1.0, np.abs(rising[:-1]))
    return opens


def is_ahead(mean: float, other: float, direction: Direction) -> bool:
    """Whether of two means alone the first has rank 1 and the second rank 2, by the rule of `competition_ranks`.

    >>> is_ahead(0.3, 0.2, "higher"), is_ahead(0.1 + 0.2, 0.3, "higher"), is_ahead(0.3, 0.2, "lower")
    (True, False, False)
    """
    better, worse = (mean, other) if direction == "lower" else (-mean, -other)
    return worse > better + TIE * max(1.0, abs(better))


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


def step_down(pairs: Pairs, resamples: int, seed: int, alpha: float) -> tuple[Bools, float]:
    """(bool[P], which pairs are told apart; the last critical value)."""
    apart = np.zeros(len(pairs.first), dtype=bool)
    if not len(apart):
        return apart, 0.0
    weights = np.concatenate([block.astype(np.uint16) for block in draws(len(pairs.values), resamples, seed)])
    stretch = _stretch(pairs, weights)
    t, largest = pairs.t / stretch, _LargestT(pairs, stretch, weights, alpha)
    new = ~apart
    while new.any() and not apart.all():
        critical = largest.critical_value(~apart)
        new = ~apart & (t > critical * (1.0 + ROUNDING))  # t may be the very bound of a pair that has no part
        apart |= new
    return apart, critical


def _stretch(pairs: Pairs, weights: Counts) -> Floats:
    """float64[P], 1 at least: how many times as large as may be is the t that one resample in 200 exceeds.

    Few pairs have such a tail: those that may are found roughly, and for the others it is 1.
    """
    drawn = weights[:FOR_TAIL].astype(np.float64)
    at = min(len(drawn), math.ceil((1.0 - TAIL) * (len(drawn) + 1))) - 1
    stretch, with_gaps = np.ones(len(pairs.first)), bool((pairs.common < len(pairs.values)).any())
    may_be = heaviest(len(stretch)) * students_t(np.maximum(pairs.common - 1.0, 1.0), TAIL)
    parts = []
    for some in chunks(np.arange(len(stretch)), at_once(pairs.values)):
        roughly = _Moved(pairs, some, with_gaps=with_gaps, roughly=True)
        parts.append(some[roughly.how_often_above(drawn, may_be[some]) >= len(drawn) - at])
    heavy = np.concatenate(parts)
    for some in chunks(heavy, at_once(pairs.values, len(drawn))):
        t = _Moved(pairs, some, with_gaps=with_gaps).t(drawn)
        stretch[some] = np.maximum(1.0, np.partition(t, at, axis=0)[at] / may_be[some])
    return stretch


class _LargestT:
    """The largest t of every resample, each pair's over its stretch: of all pairs that are left, and of those that
    differ on more queries.

    At first all are computed roughly, as bounds. Without the pairs that were told apart, the largest t of a resample is
    at most what it was with them, so what is known from the step before bounds it too. Only the resamples that may
    decide the quantile, one in ten or so, are computed in full.

    levels  int64[L], rising: on how many queries pairs differ; the last one stands for all above SPARSE too
    bound   float64[B, L]: at least the largest t over the pairs that are left and differ on levels[l] queries or more
    """

    def __init__(self, pairs: Pairs, stretch: Floats, weights: Counts, alpha: float) -> None:
        self.pairs, self.stretch, self.weights = pairs, stretch, weights
        self.reach = pairs.largest_t / stretch
        self.level = np.minimum(pairs.differing, SPARSE + 1)
        self.levels = np.unique(self.level)
        self.order = math.ceil((1.0 - alpha) * (len(weights) + 1) - ROUNDING)  # the quantile among the B, from 1
        self.bound = self._computed(np.arange(len(weights)), np.ones(len(self.level), dtype=bool), roughly=True)

    def critical_value(self, left: Bools) -> float:
        """The lowest critical value that none of the pairs which it takes no account of can exceed.

        left: bool[P], the pairs not told apart yet: never one that an earlier call left out.
        """
        if self.order > len(self.weights):  # too few resamples to find such a quantile
            return math.inf
        exact = np.zeros(len(self.weights), dtype=bool)
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
        leaves_out = [self.reach[left & (self.level < level)].max(initial=0.0) for level in self.levels]
        return float(np.maximum(quantiles, leaves_out).min())

    def _computed(self, rows: Ints, left: Bools, *, roughly: bool = False) -> Floats:
        """float64[len(rows), L]: the largest t itself, of these resamples over the pairs that are left.

        roughly: a little more than that, in half the time
        """
        reach = np.zeros((len(rows), len(self.levels)))
        complete, plain = self.pairs.common == len(self.pairs.values), self.stretch == 1.0
        for (number, level), with_gaps, as_is in product(enumerate(self.levels), (False, True), (False, True)):
            group = np.flatnonzero(left & (self.level == level) & (complete != with_gaps) & (plain == as_is))
            for some in chunks(group, at_once(self.pairs.values)):
                moved = _Moved(self.pairs, some, with_gaps=with_gaps, roughly=roughly)
                stretch = None if as_is else self.stretch[some]
                for start in range(0, len(rows), DRAWS_AT_ONCE):
                    part = slice(start, start + DRAWS_AT_ONCE)
                    largest = moved.largest_t(self.weights[rows[part]].astype(np.float64), stretch)
                    np.maximum(reach[part, number], largest, out=reach[part, number])
        return np.maximum.accumulate(reach[:, ::-1], axis=1)[:, ::-1]


class _Moved:
    """How far resamples move the mean differences of some pairs, in standard errors of the resample itself.

    roughly: the same in half the time and never less: in float32, and as much more as its rounding may have taken. With
    Q queries a sum of products w · x is off by γ = (Q + 1) ε of the sum of |w · x| at most. By Cauchy's inequality that
    of the mean is at most √(n · squares), so the root of m² / s is off by γ, and by a factor of √(1 + γ) because of s.
    The slack is more than twice that.
    """

    def __init__(self, pairs: Pairs, some: Ints, *, with_gaps: bool, roughly: bool = False) -> None:
        kind: Any = np.float32 if roughly else np.float64
        own = differences_of(pairs.values, pairs.first[some], pairs.second[some])
        centred = (own - pairs.difference[some]) / pairs.error[some]
        centred[np.abs(centred) <= NO_SPREAD] = 0.0  # exactly the mean, but for rounding
        self.both = (~np.isnan(own)).astype(kind) if with_gaps else None
        centred = np.where(np.isnan(own), 0.0, centred) if with_gaps else centred
        self.centred, self.squares = centred.astype(kind), (centred**2).astype(kind)
        self.slack = 2.0 * (len(own) + 10) * float(np.finfo(kind).eps) if roughly else 0.0

    def largest_t(self, weights: Floats, stretch: Floats | None) -> Floats:
        """float64[b]: the largest t of each resample, each pair's over its stretch; weights: float64[b, Q]."""
        ratio, counts = self.ratio(weights)
        if self.both is None and stretch is None:
            return _t(self._bound(ratio.max(axis=1)), counts)
        t = _t(self._bound(ratio), counts)
        return np.asarray((t if stretch is None else t / stretch).max(axis=1))

    def _bound(self, ratio: Floats) -> Floats:
        """At least what it would be without rounding, where that counts."""
        if not self.slack:
            return ratio
        return (np.sqrt(ratio.astype(np.float64)) * (1.0 + self.slack) + self.slack) ** 2

    def t(self, weights: Floats) -> Floats:
        """float64[b, p]: t of each pair in each resample."""
        return _t(*self.ratio(weights))

    def how_often_above(self, weights: Floats, t: Floats) -> Ints:
        """int64[p]: in how many resamples the t of each pair may be above this one, float64[p]."""
        above = np.zeros(len(t), dtype=np.int64)
        for start in range(0, len(weights), DRAWS_AT_ONCE):
            ratio, counts = self.ratio(weights[start : start + DRAWS_AT_ONCE])
            root = np.sqrt(t**2 / (t**2 + np.maximum(counts - 1.0, 1.0)))
            least = np.maximum(0.0, root - self.slack) / (1.0 + self.slack)
            above += np.count_nonzero(ratio >= (least**2).astype(ratio.dtype), axis=0)
        return above

    def ratio(self, weights: Floats) -> tuple[Floats, Floats | float]:
        """(float64[b, p], what t rises with; how many queries of a resample count).

        With m the mean of the centred differences and s that of their squares, t² = (n − 1) m² / (s − m²), which rises
        with m² / s. Where a resample has no spread, m² / s is 1 and t is as good as infinite.
        """
        weights = weights.astype(self.centred.dtype, copy=False)
        ratio = weights @ self.centred
        ratio *= ratio
        squares = weights @ self.squares
        np.maximum(squares, np.finfo(squares.dtype).tiny, out=squares)  # where all are 0, so is the mean
        counts = float(weights.shape[1]) if self.both is None else np.maximum(weights @ self.both, 1.0)
        squares *= counts
        ratio /= squares
        return ratio, counts


def _t(ratio: Floats, counts: Floats | float) -> Floats:
    ratio = np.minimum(ratio, LARGEST_RATIO)
    t: Floats = np.sqrt(np.maximum(counts - 1.0, 1.0) * ratio / (1.0 - ratio))
    return t
