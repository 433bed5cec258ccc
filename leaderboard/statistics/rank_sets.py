"""Rank sets: which ranks each system of a board may have, all sets right at once with the board's confidence.

Every pair of systems is compared by t = the mean of its paired differences over their standard error. How large the
largest t of a board gets by chance is found by drawing the queries again: in each resample a pair's t is how far its
mean difference has moved, over the standard error in that same resample (studentised, so that a pair which varies a lot
takes nothing from the others). Pairs above the 95 % quantile of the largest are told apart. Then the quantile is found
again over the pairs that are left, until no further pair is told apart (stepping down). The chance of even one false
finding on the board is then about .05, however many pairs it has: what the simulations gave is in docs/statistics.md.

A system's rank set is [1 + how many are significantly better, S − how many are significantly worse]; the best system is
among those whose set holds 1.

A resample that lacks the few queries on which the differences of a pair mostly vary has hardly a standard error for
that pair, and its t there is very large. Four rules keep such pairs from taking away what can be said of others, as one
odd submission would otherwise do:

* Every pair is held against its own tail (a balanced bootstrap, Beran 1988). The t that one resample in 200 exceeds
  would be Student's for normal differences; where a pair's is more than 1.25 times as large, all its t are divided by
  what it is too large by, in the resamples and as observed. So two systems that differ a little everywhere and a lot
  on one query need a larger t to be told apart, and others hardly do. (Without that quarter, tails that a sample shows
  too little of made false findings more often than promised: docs/statistics.md.)

* Systems that differ on fewer than 6 queries have no part in the resampling: even if all of 5 differences are in one
  direction, chance does that once in 16 times. Nor has a pair whose difference is one and the same on nearly all
  queries, so that more than one resample in 200 holds none of the others.
* What such a pair still tells, where the measure has limits, an exact test says before: no difference lies beyond the
  width of the limits, so a mean of 0 makes a product of factors 1 + λ · difference / width large with a known
  probability only. A tenth of the significance level is spent on it, Bonferroni-corrected over all pairs. It finds that
  a run which returned nothing is worse than one that is nearly always right.
* A pair that differs on k of n queries has t <= √((n − 1) k / (n − k)), whatever the differences are. A pair that could
  not exceed the critical value anyway has no part in it (Tarone).

Sources: J. P. Romano and M. Wolf, Stepwise Multiple Testing as Formalized Data Snooping, Econometrica 73, 2005; M.
Mogstad, J. P. Romano, A. M. Shaikh and D. Wilhelm, Inference for Ranks, Review of Economic Studies 91, 2024; R. E.
Tarone, A Modified Bonferroni Method for Discrete Data, Biometrics 46, 1990; P. Hall, The Bootstrap and Edgeworth
Expansion, Springer 1992 (studentising); R. Beran, Balanced Simultaneous Confidence Sets, Journal of the American
Statistical Association 83, 1988; I. Waudby-Smith and A. Ramdas, Estimating Means of Bounded Random Variables by
Betting, Journal of the Royal Statistical Society B 86, 2024 (the exact test).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields

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
from leaderboard.statistics.intervals import students_t
from leaderboard.statistics.ranks import TIE, competition_ranks

__all__ = ["FEWEST_DIFFERENCES", "RankSet", "RankSets", "draws_that_fit", "rank_sets"]

Counts = NDArray[np.uint16]

FEWEST_DIFFERENCES = 6
WITHOUT_SPREAD = 0.005  # of the resamples at most, for a pair that has part
TAIL = 0.005  # of a pair's own t in the resamples that lies beyond what it is held against
HEAVIEST = 1.25  # times Student's: tails up to there are left as they are
FOR_TAIL = 2_000  # resamples at most that find it
SPARSE = 40  # a pair that differs on more queries than this takes part always: no resample leaves all of them out

WORK = 25_000_000_000  # pairs × queries × resamples at most: a larger board gets fewer resamples, never below LEAST
LEAST = 1_000
DRAWN = 20_000_000  # queries × resamples at most, 40 MB
PAIRS_AT_ONCE = 2_048
DRAWS_AT_ONCE = 256
ROUNDING = 1e-9
FOR_EXACT_TEST = 0.1  # of the significance level
STAKES = (0.25, 0.5, 0.75, 0.95)  # λ: large ones for pairs that differ by nearly the width, small ones for others
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
    critical    what t had to exceed in the last step (t of a pair with a heavy tail over how heavy it is); 0 where no
                pair was left to compare
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
    width: float = math.inf,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> RankSets:
    """The rank set of every system, all of them right at once with probability `confidence`.

    values: float64[Q, S], what each query adds to each system's mean (`contributions`), NaN where a query has none. A
    pair is compared on the queries where both have a value, so a gap of one system takes nothing from others. means:
    float64[S], what the board ranks by, NaN where undefined; the means of `values` unless given. ranked: bool[S], False
    for baselines: these are compared like all others, but rank sets count ranked systems only, so that no baseline
    pushes a rank. width: the largest difference that two values can have. direction: the measure's own, "higher" or
    "lower".

    The draws of the queries depend on `seed` and the number of queries on which at least two systems have a value, not
    on the systems; the order of the systems has no say. Equal systems never differ, and neither do two that differ by
    the same amount on every query, unless that amount is large against the width: there is no spread to hold it
    against. Raises BadInput for a confidence outside (0, 1) or resamples below 1, ValueError for the direction "none".

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
    pairs = _pairs(values, width)
    spent = FOR_EXACT_TEST * alpha if math.isfinite(width) else 0.0
    apart = pairs.exact * spent >= max(1, len(pairs.first))
    without_spread = (1.0 - pairs.varied / pairs.common) ** pairs.common
    has_part = (pairs.differing >= FEWEST_DIFFERENCES) & (without_spread <= WITHOUT_SPREAD) & (pairs.error > 0)
    resampled = pairs.kept(has_part & ~apart)
    drawn = draws_that_fit(len(resampled.first), queries, resamples)
    found, critical, steps = _step_down(resampled, drawn, seed, alpha - spent)
    certain, likely = pairs.kept(apart), resampled.kept(found)
    first, second, difference = (
        np.concatenate([certain.first, likely.first]),
        np.concatenate([certain.second, likely.second]),
        np.concatenate([certain.difference, likely.difference]),
    )
    wins = difference > 0 if direction == "higher" else difference < 0
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

    def kept(self, which: Bools) -> "_Pairs":
        """Those of bool[P], ordered by the number of queries on which they differ."""
        places = np.flatnonzero(which)
        places = places[np.argsort(self.differing[places], kind="stable")]
        columns = (getattr(self, one.name)[places] for one in fields(self) if one.name != "values")
        return _Pairs(self.values, *columns)

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


def _pairs(values: Floats, width: float) -> _Pairs:
    """All pairs that differ on a query."""
    first, second = np.triu_indices(values.shape[1], 1)
    found = [np.empty((6, 0))]
    for some in _chunks(np.arange(len(first)), _at_once(values)):
        own = _differences(values, first[some], second[some])
        both = ~np.isnan(own)
        common = both.sum(axis=0)
        varied = common - _most_frequent(own)
        own[~both] = 0.0
        mean = own.sum(axis=0) / np.maximum(common, 1)
        squares = np.where(both, (own - mean) ** 2, 0.0).sum(axis=0)
        squares[squares <= (NO_SPREAD**2) * (own**2).sum(axis=0)] = 0.0
        error = np.sqrt(squares / np.maximum(common * (common - 1), 1))
        found.append(np.stack([mean, error, common, np.count_nonzero(own, axis=0), varied, _exact(own, width)]))
    difference, error, common, differing, varied, exact = np.concatenate(found, axis=1)
    counts = (common.astype(np.int64), differing.astype(np.int64), varied.astype(np.int64))
    return _Pairs(values, first, second, difference, error, *counts, exact).kept(differing > 0)


def _most_frequent(differences: Floats) -> Ints:
    """int64[p]: how often the most frequent of the values of float64[Q, p] occurs, rounding apart; 0 without any."""
    rising = np.sort(differences, axis=0)  # NaN last
    starts = np.ones(rising.shape, dtype=bool)
    starts[1:] = ~(np.diff(rising, axis=0) <= TIE * np.maximum(1.0, np.abs(rising[1:])))
    place = np.arange(len(rising))[:, np.newaxis]
    lengths = place + 1 - np.maximum.accumulate(np.where(starts, place, 0), axis=0)
    longest: Ints = np.where(np.isnan(rising), 0, lengths).max(axis=0, initial=0)
    return longest


def _exact(differences: Floats, width: float) -> Floats:
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


def _at_once(values: Floats, rows: int = 0) -> int:
    """How many pairs are worked on at once, so that their differences, and so many rows, fit in a quarter of CELLS."""
    return min(PAIRS_AT_ONCE, max(1, CELLS // 4 // max(1, len(values), rows)))


def _step_down(pairs: _Pairs, resamples: int, seed: int, alpha: float) -> tuple[Bools, float, int]:
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


def _stretch(pairs: _Pairs, weights: Counts) -> Floats:
    """float64[P], 1 at least: how many times as large as may be is the t that one resample in 200 exceeds."""
    drawn = weights[:FOR_TAIL].astype(np.float64)
    place = min(len(drawn), math.ceil((1.0 - TAIL) * (len(drawn) + 1))) - 1
    found = np.ones(len(pairs.first))
    plain, with_gaps = np.ones(len(pairs.first)), bool((pairs.common < len(pairs.values)).any())
    normal = students_t(np.maximum(pairs.common - 1.0, 1.0), TAIL)
    for some in _chunks(np.arange(len(found)), _at_once(pairs.values, len(drawn))):
        own = _Moved(pairs, some, plain[some], with_gaps=with_gaps)
        found[some] = np.partition(own.t(drawn), place, axis=0)[place]
    return np.maximum(1.0, found / (HEAVIEST * normal))


class _LargestT:
    """The largest t of every resample, each pair's over its stretch: of all pairs that are left, and of those that
    differ on more queries.

    Without the pairs that were told apart, the largest t of a resample is at most what it was with them. So what is
    known from the step before bounds it, and only the resamples that may still decide the quantile are computed again.

    levels  int64[L], rising: on how many queries pairs differ; the last one stands for all above SPARSE too
    bound   float64[B, L]: at least the largest t over the pairs that are left and differ on levels[l] queries or more
    """

    def __init__(self, pairs: _Pairs, stretch: Floats, weights: Counts, alpha: float) -> None:
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
                for some in _chunks(group, _at_once(self.pairs.values)):
                    own = _Moved(self.pairs, some, self.stretch[some], with_gaps=with_gaps)
                    for start in range(0, len(rows), DRAWS_AT_ONCE):
                        part = slice(start, start + DRAWS_AT_ONCE)
                        largest = own.largest_t(self.weights[rows[part]].astype(np.float64))
                        np.maximum(found[part, place], largest, out=found[part, place])
        return np.maximum.accumulate(found[:, ::-1], axis=1)[:, ::-1]


class _Moved:
    """How far resamples move the mean differences of some pairs, in standard errors of the resample itself."""

    def __init__(self, pairs: _Pairs, some: Ints, stretch: Floats, *, with_gaps: bool) -> None:
        own = _differences(pairs.values, pairs.first[some], pairs.second[some])
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


def _chunks(places: Ints, size: int) -> Iterator[Ints]:
    for start in range(0, len(places), size):
        yield places[start : start + size]
