"""Rank sets: which ranks each system of a board may have, all sets right at once with the board's confidence.

Every pair of systems is compared by t = the mean of its paired differences over their standard error. How large the
largest t of a board gets by chance is found by drawing the queries again: in each resample a pair's t is how far its
mean difference has moved, over the standard error in that same resample (studentised, so that a pair which varies a lot
takes nothing from the others). Pairs above the 95 % quantile of the largest are told apart. Then the quantile is found
again over the pairs that are left, until no further pair is told apart (stepping down). The chance of even one false
finding on the board is then about .05, however many pairs it has: what the simulations gave is in docs/statistics.md.

A system's rank set is [1 + how many are significantly better, S − how many are significantly worse]; the best system is
among those whose set holds 1. Two rules keep pairs of which nothing can be said from taking away what can be said of
others:

* Systems that differ on fewer than 6 queries are never told apart. Were all of 5 differences in the same direction,
  chance alone would make that with probability 1/16, more than .05.
* A pair that differs on k of n queries has t <= √((n − 1) k / (n − k)), whatever the differences are. So a pair that
  could not exceed the critical value anyway has no part in it (Tarone). Without this, one submission that differs from
  another on a few queries would raise the critical value of everybody: a resample without those queries has no standard
  error for that pair.

Sources: J. P. Romano and M. Wolf, Stepwise Multiple Testing as Formalized Data Snooping, Econometrica 73, 2005; M.
Mogstad, J. P. Romano, A. M. Shaikh and D. Wilhelm, Inference for Ranks, Review of Economic Studies 91, 2024; R. E.
Tarone, A Modified Bonferroni Method for Discrete Data, Biometrics 46, 1990; P. Hall, The Bootstrap and Edgeworth
Expansion, Springer 1992 (studentising).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaderboard.metrics.measure import Direction
from leaderboard.metrics.ranking import Bools, Floats, Ints
from leaderboard.statistics.defaults import (
    CELLS,
    CONFIDENCE,
    LEAST_QUERIES,
    RESAMPLES,
    SEED,
    check_resamples,
    significance,
)
from leaderboard.statistics.draws import draws
from leaderboard.statistics.ranks import TIE, competition_ranks

__all__ = ["FEWEST_DIFFERENCES", "RankSet", "RankSets", "draws_that_fit", "rank_sets"]

Counts = NDArray[np.uint16]

FEWEST_DIFFERENCES = 6
SPARSE = 40  # a pair that differs on more queries than this takes part always: no resample leaves all of them out

WORK = 25_000_000_000  # pairs × queries × resamples at most: a larger board gets fewer resamples, never below LEAST
LEAST = 1_000
DRAWN = 20_000_000  # queries × resamples at most, 40 MB
PAIRS_AT_ONCE = 2_048
DRAWS_AT_ONCE = 256
ROUNDING = 1e-9
NO_SPREAD = 1e-9  # of the size of the differences: what is smaller is rounding
LARGEST_RATIO = 1.0 - 1e-12


@dataclass(frozen=True, slots=True)
class RankSet:
    """The ranks that one system may have, at the board's confidence.

    rank       on the board, 1 is best, ties share it; None for a system that the board does not rank, or without a mean
    low, high  the best and the worst rank of the set, which holds the rank itself: among the ranked systems, and for
               one that is not ranked the places that it would take among them. None without a mean
    """

    rank: int | None
    low: int | None
    high: int | None


@dataclass(frozen=True, eq=False, slots=True)
class RankSets:
    """What can be said of S systems at once.

    sets        of each system, in their order; empty where nothing can be said, and `reason` says why
    better      bool[S, S]: better[i, j] where i is significantly better than j
    best        places of the ranked systems whose set holds rank 1, best first; empty where nothing can be said
    critical    what t had to exceed in the last step; 0 where no pair was left to compare
    steps       how often the critical value was found
    queries     on which at least two systems have a value
    resamples, seed  as drawn; fewer than asked for on a very large board
    """

    sets: tuple[RankSet, ...]
    better: Bools
    best: tuple[int, ...]
    critical: float
    steps: int
    queries: int
    confidence: float
    resamples: int
    seed: int
    reason: str | None = None


def rank_sets(
    values: Floats,
    direction: Direction,
    *,
    means: Floats | None = None,
    ranked: Bools | None = None,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> RankSets:
    """The rank set of every system, all of them right at once with probability `confidence`.

    values: float64[Q, S], what each query adds to each system's mean (`contributions`), NaN where a query has none. A
    pair is compared on the queries where both have a value, so a gap of one system takes nothing from others. means:
    float64[S], what the board ranks by, NaN where undefined; the means of `values` unless given. ranked: bool[S], False
    for baselines: these are compared like all others, but rank sets count ranked systems only, so that no baseline
    pushes a rank. direction: the measure's own, "higher" or "lower".

    The draws of the queries depend on `seed` and the number of queries on which at least two systems have a value, not
    on the systems; the order of the systems has no say. Equal systems never differ, and neither do two that differ by
    the same amount on every query: as with a t test, there is no spread to hold that amount against. Raises BadInput
    for a confidence outside (0, 1) or resamples below 1, ValueError for the direction "none".

    >>> import numpy as np
    >>> easy = np.linspace(0.0, 0.5, 20)
    >>> noise = np.tile([0.0, 0.02, 0.01, 0.03], 5)
    >>> found = rank_sets(np.stack([easy + noise, easy + 0.4, easy + noise[::-1]], axis=1), "higher", resamples=999)
    >>> [(each.rank, each.low, each.high) for each in found.sets], found.best
    ([(2, 2, 3), (1, 1, 1), (2, 2, 3)], (1,))
    """
    check_resamples(resamples)
    alpha = significance(confidence)
    systems = values.shape[1]
    ranked = np.ones(systems, dtype=bool) if ranked is None else ranked
    means = _means(values) if means is None else means
    places = _places(means, ranked, direction)
    values = values[np.count_nonzero(~np.isnan(values), axis=1) >= 2]
    queries = len(values)
    better = np.zeros((systems, systems), dtype=bool)
    if queries < LEAST_QUERIES and np.count_nonzero(~np.isnan(means)) > 1:
        reason = f"{queries} queries are too few: ranks of other queries like these are said from {LEAST_QUERIES} on"
        return RankSets((), better, (), 0.0, 0, queries, confidence, 0, seed, reason)
    pairs = _pairs(values)
    drawn = draws_that_fit(len(pairs.first), queries, resamples)
    apart, critical, steps = _step_down(pairs, drawn, seed, alpha)
    wins = pairs.difference[apart] > 0 if direction == "higher" else pairs.difference[apart] < 0
    first, second = pairs.first[apart], pairs.second[apart]
    better[np.where(wins, first, second), np.where(wins, second, first)] = True
    sets = _sets(places, means, better)
    order = np.argsort(np.where(places > 0, places, systems + 1), kind="stable")
    best = tuple(int(place) for place in order if sets[place].rank is not None and sets[place].low == 1)
    return RankSets(sets, better, best, critical, steps, queries, confidence, drawn, seed)


def draws_that_fit(pairs: int, queries: int, resamples: int) -> int:
    """How many resamples are drawn for so many pairs and queries: those asked for, or as many as take some 20 seconds.

    >>> draws_that_fit(10_153, 50, 10_000), draws_that_fit(124_750, 50, 10_000)
    (10000, 4008)
    """
    return min(resamples, max(LEAST, min(WORK // max(1, pairs * queries), DRAWN // max(1, queries))))


def _weights(queries: int, resamples: int, seed: int) -> Counts:
    """uint16[resamples, queries]: how often each query was drawn."""
    return np.concatenate([block.astype(np.uint16) for block in draws(queries, resamples, seed)])


def _means(values: Floats) -> Floats:
    """The mean of each column; NaN without any value."""
    defined = ~np.isnan(values)
    counts = defined.sum(axis=0)
    sums = np.where(defined, values, 0.0).sum(axis=0)
    means: Floats = np.divide(sums, counts, out=np.full(values.shape[1], np.nan), where=counts > 0)
    return means


def _places(means: Floats, ranked: Bools, direction: Direction) -> Ints:
    """int64[S]: each one's rank among the ranked systems that have a mean, 0 for all others."""
    places = np.zeros(len(means), dtype=np.int64)
    counts = ranked & ~np.isnan(means)
    places[counts] = competition_ranks(means[counts], direction)
    return places


def _sets(places: Ints, means: Floats, better: Bools) -> tuple[RankSet, ...]:
    counts = places > 0
    found = []
    for place, own in enumerate(places):
        if np.isnan(means[place]):
            found.append(RankSet(None, None, None))
            continue
        rank = int(own) if own else None
        low = 1 + int(np.count_nonzero(better[counts, place]))
        high = int(np.count_nonzero(counts)) + (not own) - int(np.count_nonzero(better[place, counts]))
        # Pairs are compared on their common queries: with gaps, a system may be better there and have the lower mean.
        found.append(RankSet(rank, min(low, rank or low), max(high, rank or high)))
    return tuple(found)


@dataclass(frozen=True, eq=False, slots=True)
class _Pairs:
    """The P pairs of systems that take part: those with at least FEWEST_DIFFERENCES differences, and a spread.

    values         float64[Q, S], NaN where undefined
    first, second  int64[P], places of the systems, ordered by `differing`
    difference     float64[P], first's mean − second's over their common queries
    error          float64[P], its standard error
    differing      int64[P], on how many queries the two differ
    common         int64[P], on how many both have a value
    """

    values: Floats
    first: Ints
    second: Ints
    difference: Floats
    error: Floats
    differing: Ints
    common: Ints

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


def _differences(values: Floats, first: Ints, second: Ints) -> Floats:
    """float64[Q, p], exactly 0 for a tie, NaN where one has no value."""
    mine, theirs = values[:, first], values[:, second]
    difference = mine - theirs
    noise = TIE * np.maximum(1.0, np.maximum(np.abs(mine), np.abs(theirs)))
    difference[np.abs(difference) <= noise] = 0.0
    return difference


def _pairs(values: Floats) -> _Pairs:
    first, second = np.triu_indices(values.shape[1], 1)
    difference, error = np.zeros(len(first)), np.zeros(len(first))
    differing, common = np.zeros(len(first), dtype=np.int64), np.zeros(len(first), dtype=np.int64)
    for start in range(0, len(first), PAIRS_AT_ONCE):
        some = slice(start, start + PAIRS_AT_ONCE)
        own = _differences(values, first[some], second[some])
        both = ~np.isnan(own)
        own[~both] = 0.0
        size = both.sum(axis=0)
        mean = own.sum(axis=0) / np.maximum(size, 1)
        squares = np.where(both, (own - mean) ** 2, 0.0).sum(axis=0)
        squares[squares <= (NO_SPREAD**2) * (own**2).sum(axis=0)] = 0.0
        difference[some], common[some], differing[some] = mean, size, (own != 0).sum(axis=0)
        error[some] = np.sqrt(squares / np.maximum(size * (size - 1), 1))
    kept = np.flatnonzero((differing >= FEWEST_DIFFERENCES) & (error > 0))
    kept = kept[np.argsort(differing[kept], kind="stable")]
    return _Pairs(
        values, first[kept], second[kept], difference[kept], error[kept], differing[kept], common[kept]
    )  # fmt: skip


def _step_down(pairs: _Pairs, resamples: int, seed: int, alpha: float) -> tuple[Bools, float, int]:
    """(bool[P], which pairs are told apart; the last critical value; in how many steps)."""
    apart = np.zeros(len(pairs.first), dtype=bool)
    if not len(apart):
        return apart, 0.0, 0
    t, largest = pairs.t, _LargestT(pairs, _weights(len(pairs.values), resamples, seed), alpha)
    steps, new = 0, ~apart
    while new.any() and not apart.all():
        critical = largest.critical_value(~apart)
        new = ~apart & (t > critical * (1.0 + ROUNDING))  # t may be the very bound of a pair that has no part
        apart |= new
        steps += 1
    return apart, critical, steps


class _LargestT:
    """The largest t of every resample: over all pairs that are left, and over those that differ on more queries.

    Without the pairs that were told apart, the largest t of a resample is at most what it was with them. So what is
    known from the step before bounds it, and only the resamples that may still decide the quantile are computed again.

    levels  int64[L], rising: on how many queries pairs differ; the last one stands for all above SPARSE too
    bound   float64[B, L]: at least the largest t over the pairs that are left and differ on levels[l] queries or more
    """

    def __init__(self, pairs: _Pairs, weights: Counts, alpha: float) -> None:
        self.pairs, self.weights = pairs, weights
        self.reach = pairs.largest_t
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
                for some in _chunks(group, min(PAIRS_AT_ONCE, max(1, CELLS // 4 // len(self.pairs.values)))):
                    own = _Moved(self.pairs, some, with_gaps)
                    for start in range(0, len(rows), DRAWS_AT_ONCE):
                        part = slice(start, start + DRAWS_AT_ONCE)
                        largest = own.largest_t(self.weights[rows[part]].astype(np.float64))
                        np.maximum(found[part, place], largest, out=found[part, place])
        return np.maximum.accumulate(found[:, ::-1], axis=1)[:, ::-1]


class _Moved:
    """How far resamples move the mean differences of some pairs, in standard errors of the resample itself."""

    def __init__(self, pairs: _Pairs, some: Ints, with_gaps: bool) -> None:
        own = _differences(pairs.values, pairs.first[some], pairs.second[some])
        centred = (own - pairs.difference[some]) / pairs.error[some]
        centred[np.abs(centred) <= NO_SPREAD] = 0.0  # exactly the mean, but for rounding
        self.both = (~np.isnan(own)).astype(np.float64) if with_gaps else None
        self.centred = np.where(np.isnan(own), 0.0, centred) if with_gaps else centred
        self.squares = self.centred**2

    def largest_t(self, weights: Floats) -> Floats:
        """float64[b], of each resample; weights: float64[b, Q].

        With m the mean of the centred differences and s that of their squares, t² = (n − 1) m² / (s − m²), which rises
        with m² / s. Where a resample has no spread, m² / s is 1 and t is as good as infinite.
        """
        ratio = weights @ self.centred
        ratio *= ratio
        squares = weights @ self.squares
        np.maximum(squares, np.finfo(np.float64).tiny, out=squares)  # where all are 0, so is the mean
        if self.both is None:
            queries = float(weights.shape[1])
            ratio /= squares
            return _t(ratio.max(axis=1) / queries, queries)
        counts = np.maximum(weights @ self.both, 1.0)
        largest: Floats = _t(ratio / (squares * counts), counts).max(axis=1)
        return largest


def _t(ratio: Floats, counts: Floats | float) -> Floats:
    ratio = np.minimum(ratio, LARGEST_RATIO)
    t: Floats = np.sqrt(np.maximum(counts - 1.0, 1.0) * ratio / (1.0 - ratio))
    return t


def _chunks(places: Ints, size: int) -> Iterator[Ints]:
    for start in range(0, len(places), size):
        yield places[start : start + size]
