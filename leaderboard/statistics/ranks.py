"""Ranks and ties.

Pairs of the systems of a board: how their values differ, and what an exact test says of those that hardly vary.

Source: I. Waudby-Smith and A. Ramdas, Estimating Means of Bounded Random Variables by Betting, Journal of the Royal
Statistical Society B 86, 2024 (the exact test).

Stepping down: which pairs of systems differ by more than chance makes the largest of all pairs that are left differ.

The critical value is the quantile of the largest t over resamples of the queries, each pair divided by its own standard
error in that resample, and held against its own tail; pairs above it are told apart, and it is found again over the
others. `rank_sets` says why, and has the sources.

Rank sets: which ranks each system of a board may have, all sets right at once with the board's confidence.

Every pair of systems is compared by t = the mean of its paired differences over their standard error. How large the
largest t of a board gets by chance is found by drawing the queries again: in each resample a pair's t is how far its
mean difference has moved, over the standard error in that same resample (studentised, so that a pair which varies a lot
takes nothing from the others). Pairs above the 95 % quantile of the largest are told apart. Then the quantile is found
again over the pairs that are left, until no further pair is told apart (stepping down). The chance of even one false
finding on the board is then about .05, however many pairs it has: what the simulations gave is in docs/statistics.md.

A system's rank set is [1 + how many are significantly better, S − how many are significantly worse].

Which system may be the best is asked of each alone: by how much the others may be ahead of it by chance when it is the
best. That takes one side of at most S − 1 comparisons, so its critical value is below that of all pairs, and it names
fewer systems than have 1 in their rank set. Whose set lacks 1 is never named, and whoever has the best mean always is.

A resample that lacks the few queries on which the differences of a pair mostly vary has hardly a standard error for
that pair, and its t there is very large. Four rules keep such pairs from taking away what can be said of others, as one
odd submission would otherwise do:

* Every pair is held against its own tail (a balanced bootstrap, Beran 1988). The t that one resample in 200 exceeds
  would be Student's for normal differences; where a pair's is more than 1.25 times as large (more where there are
  very many pairs, twice with 140 systems), all its t are divided by what it is too large by, in the resamples and as
  observed. So two systems that differ a little everywhere and a lot on one query need a larger t to be told apart, and
  others hardly do. (Without that quarter, tails that a sample shows too little of made false findings more often than
  promised: docs/statistics.md.)

* Systems that differ on fewer than 6 queries have no part in the resampling: even if all of 5 differences are in one
  direction, chance does that once in 16 times. Nor has a pair whose difference is one and the same on so many queries
  that a resample may hold next to none of the others. Of twenty near copies there are hundreds of such pairs, so they
  are counted together: all that have part may have such a resample once in 500.
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
Statistical Association 83, 1988; J. C. Hsu, Multiple Comparisons, Chapman and Hall 1996, chapter 4 (with the best); I.
Waudby-Smith and A. Ramdas, Estimating Means of Bounded Random Variables by Betting, Journal of the Royal Statistical
Society B 86, 2024 (the exact test).

What a board says beyond means, for one measure: intervals, rank sets, and which systems are better than every baseline.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import compress, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from leaderboard.metrics.aggregation import MEAN, VALUE_OF_MEANS, Aggregation, Columns, mean
from leaderboard.metrics.measure import Direction
from leaderboard.metrics.segments import Bools, Floats, Ints
from leaderboard.statistics import samples
from leaderboard.statistics.intervals import NO_LIMITS, Interval, intervals, students_t

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


PAIRS_AT_ONCE = 2_048
STAKES = (0.25, 0.5, 0.75, 0.95)  # λ: large ones for pairs that differ by nearly the width, small ones for others
NO_SPREAD = 1e-9  # of the size of the differences: what is smaller is rounding


class Pairs(NamedTuple):
    """P pairs of systems that differ.

    values         float64[Q, S], NaN where undefined
    first, second  int64[P], places of the systems
    difference     float64[P], first's mean − second's over their common queries
    error          float64[P], its standard error; 0 without spread
    common         float64[P], on how many queries both have a value
    differing      float64[P], on how many of these the two differ
    varied         float64[P], on how many of these their difference is another one than the most frequent one
    exact          float64[P]: if the mean difference of all queries like these is 0, it is x or more with probability
                   1 / x at most; 0 without limits
    """

    values: Floats
    first: Ints
    second: Ints
    difference: Floats
    error: Floats
    common: Floats
    differing: Floats
    varied: Floats
    exact: Floats

    def kept(self, which: Bools) -> "Pairs":
        """Those of bool[P], ordered by the number of queries on which they differ."""
        places = np.flatnonzero(which)
        places = places[np.argsort(self.differing[places], kind="stable")]
        columns: Any = (column[places] for column in self[1:])
        return Pairs(self.values, *columns)

    def better_and_worse(self, direction: Direction) -> tuple[Ints, Ints]:
        """int64[P] both, places of the systems."""
        wins = (self.difference > 0) == (direction == "higher")
        return np.where(wins, self.first, self.second), np.where(wins, self.second, self.first)

    @property
    def t(self) -> Floats:
        """float64[P], not negative."""
        return np.abs(self.difference) / self.error

    @property
    def largest_t(self) -> Floats:
        """float64[P]: what t can be at most, for a pair that differs on so many queries: infinite if on all."""
        reach, same = (self.common - 1) * self.differing, self.common - self.differing
        return np.asarray(np.sqrt(np.divide(reach, same, out=np.full(len(same), np.inf), where=same > 0)))


def pairs_of(values: Floats, width: float) -> Pairs:
    """All pairs that differ on a query."""
    first, second = np.triu_indices(values.shape[1], 1)
    blocks = [np.empty((6, 0))]
    for some in chunks(np.arange(len(first)), at_once(values)):
        own = differences_of(values, first[some], second[some])
        both = ~np.isnan(own)
        common = both.sum(axis=0)
        varied = common - samples.most_frequent(own)
        own[~both] = 0.0
        mean = own.sum(axis=0) / np.maximum(common, 1)
        squares = np.where(both, (own - mean) ** 2, 0.0).sum(axis=0)
        squares[squares <= (NO_SPREAD**2) * (own**2).sum(axis=0)] = 0.0
        error = np.sqrt(squares / np.maximum(common * (common - 1), 1))
        blocks.append(
            np.stack([mean, error, common, np.count_nonzero(own, axis=0), varied, exact_evidence(own, width)])
        )
    pairs = Pairs(values, first, second, *np.concatenate(blocks, axis=1))
    return pairs.kept(pairs.differing > 0)


def differences_of(values: Floats, first: Ints, second: Ints) -> Floats:
    """float64[Q, p], exactly 0 for a tie, NaN where one has no value."""
    mine, theirs = values[:, first], values[:, second]
    difference = mine - theirs
    noise = TIE * np.maximum(1.0, np.maximum(np.abs(mine), np.abs(theirs)))
    difference[np.abs(difference) <= noise] = 0.0
    return difference


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
    return min(PAIRS_AT_ONCE, max(1, samples.CELLS // 4 // max(1, len(values), rows)))


def chunks(rows: NDArray[Any], size: int) -> Iterator[NDArray[Any]]:
    """An array in parts of so many rows, the last one of what is left.

    >>> import numpy as np
    >>> [part.tolist() for part in chunks(np.arange(5), 2)]
    [[0, 1], [2, 3], [4]]
    """
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


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


def step_down(pairs: Pairs, stretch: Floats, weights: Counts, alpha: float) -> tuple[Bools, float]:
    """(bool[P], which pairs are told apart; the last critical value)."""
    apart = np.zeros(len(pairs.first), dtype=bool)
    if not len(apart):
        return apart, 0.0
    t, largest = pairs.t / stretch, _LargestT(pairs, stretch, weights, alpha)
    new = ~apart
    while new.any() and not apart.all():
        critical = largest.critical_value(~apart)
        new = ~apart & (t > critical * (1.0 + ROUNDING))  # t may be the very bound of a pair that has no part
        apart |= new
    return apart, critical


def may_be_best(
    system: int, direction: Direction, pairs: Pairs, stretch: Floats, weights: Counts, alpha: float
) -> bool:
    """Whether none of its rivals is ahead of a system by more than chance puts the farthest of them.

    pairs: of the ranked systems that are not told apart. The critical value is the larger of two quantiles over the
    resamples: of the largest lead of a rival, and of the system's own largest lead. In a small sample of skewed or few
    different values one of them alone comes out too low. It is never below Student's for one rival.
    """
    is_second = pairs.second == system
    own = is_second | (pairs.first == system)
    towards = np.where(is_second[own] == (direction == "higher"), 1.0, -1.0) / stretch[own]
    pairs = pairs.kept(own)
    lead = float((towards * pairs.difference / pairs.error).max(initial=0.0))
    if lead <= students_t(np.array(len(pairs.values) - 1.0), 2 * alpha):
        return True
    with_gaps = bool((pairs.common < len(pairs.values)).any())
    moved = _Moved(pairs, np.arange(len(towards)), with_gaps=with_gaps)
    leads = [moved.leads(some.astype(np.float64)) * towards for some in chunks(weights, DRAWS_AT_ONCE)]
    largest = np.concatenate([[each.max(axis=1), -each.min(axis=1)] for each in leads], axis=1)
    at = math.ceil((1.0 - alpha) * (len(weights) + 1) - ROUNDING) - 1
    return at >= len(weights) or lead <= np.partition(largest, at, axis=1)[:, at].max() * (1.0 + ROUNDING)


def _drawn(pairs: Pairs, resamples: int, seed: int) -> Counts:
    """uint16[B, Q], how often each resample has each query; B is 0 without pairs."""
    blocks = samples.draws(len(pairs.values), resamples, seed) if len(pairs.first) else ()
    none = np.zeros((0, len(pairs.values)), np.uint16)
    return np.concatenate([none, *(block.astype(np.uint16) for block in blocks)])


def _stretch(pairs: Pairs, weights: Counts) -> Floats:
    """float64[P], 1 at least: how many times as large as may be is the t that one resample in 200 exceeds.

    Few pairs have such a tail: those that may are found roughly, and for the others it is 1.
    """
    drawn = weights[:FOR_TAIL].astype(np.float64)
    at = min(len(drawn), math.ceil((1.0 - TAIL) * (len(drawn) + 1))) - 1
    stretch, with_gaps = np.ones(len(pairs.first)), bool((pairs.common < len(pairs.values)).any())
    may_be = heaviest(len(stretch)) * students_t(np.maximum(pairs.common - 1.0, 1.0), TAIL)
    parts = [np.zeros(0, dtype=np.int64)]
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

    levels  float64[L], rising: on how many queries pairs differ; the last one stands for all above SPARSE too
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

    def leads(self, weights: Floats) -> Floats:
        """float64[b, p]: t with its sign, positive where the first is farther ahead than in the sample."""
        ratio, counts = self.ratio(weights, signed=True)
        return np.copysign(_t(np.abs(ratio), counts), ratio)

    def how_often_above(self, weights: Floats, t: Floats) -> Ints:
        """int64[p]: in how many resamples the t of each pair may be above this one, float64[p]."""
        above = np.zeros(len(t), dtype=np.int64)
        for some in chunks(weights, DRAWS_AT_ONCE):
            ratio, counts = self.ratio(some)
            root = np.sqrt(t**2 / (t**2 + np.maximum(counts - 1.0, 1.0)))
            least = np.maximum(0.0, root - self.slack) / (1.0 + self.slack)
            above += np.count_nonzero(ratio >= (least**2).astype(ratio.dtype), axis=0)
        return above

    def ratio(self, weights: Floats, *, signed: bool = False) -> tuple[Floats, Floats | float]:
        """(float64[b, p], what t rises with; how many queries of a resample count). signed: with the sign of the mean.

        With m the mean of the centred differences and s that of their squares, t² = (n − 1) m² / (s − m²), which rises
        with m² / s. Where a resample has no spread, m² / s is 1 and t is as good as infinite.
        """
        weights = weights.astype(self.centred.dtype, copy=False)
        ratio = weights @ self.centred
        ratio *= np.abs(ratio) if signed else ratio
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


TOO_FEW = "{} queries are too few: ranks of other queries like these are said from {} on"
FEWEST_DIFFERENCES = 6
FEW_QUERIES = 8  # one in so many: on no more of them a resample's differences vary that says next to nothing of a pair
WITHOUT_SPREAD = 0.002  # of the resamples at most say so little of any pair that has part
FOR_EXACT_TEST = 0.1  # of the significance level


def has_spread(pairs: Pairs) -> Bools:
    """bool[P]: as many pairs as can be that share WITHOUT_SPREAD, each with its share of the resamples in which its
    differences vary on few queries only: those that most often vary on more."""
    from scipy.special import bdtr  # here, because most commands start without scipy

    queries = pairs.common.astype(np.int64)
    lacking = bdtr(queries // FEW_QUERIES, queries, pairs.varied / queries)
    shares, place, alike = np.unique(lacking, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(shares * alike) <= WITHOUT_SPREAD)[place])


def typical_deviation(pairs: Pairs, stretch: Floats) -> float:
    """How much the difference of two systems varies from query to query: the standard deviation that three in four
    pairs do not exceed, of those which a t test of one pair alone does not tell apart, or else of all.

    A pair of which t has to be larger than of others counts as one that varies as much more. The upper quartile, since
    systems that are farther apart vary more. Pairs that are far apart don't count, so that one disastrous run has no
    say. 0 without pairs.
    """
    close = pairs.t <= students_t(np.maximum(pairs.common - 1.0, 1.0), samples.ALPHA)
    deviations = stretch * pairs.error * np.sqrt(pairs.common)
    return float(np.quantile(deviations[close] if close.any() else deviations, 0.75)) if len(deviations) else 0.0


class RankSet(NamedTuple):
    """The ranks that one system may have, at the board's confidence.

    rank       on the board, 1 is best, ties share it; None for a system that the board does not rank, or without a mean
    low, high  the best and the worst rank of the set, which holds the rank itself: among the ranked systems, and for
               one that is not ranked the places that it would take among them. None without a mean
    """

    rank: int | None
    low: int | None
    high: int | None


class RankSets(NamedTuple):
    """What can be said of S systems at once.

    sets        of each system, in their order; empty where nothing can be said, and `reason` says why
    better      bool[S, S]: better[i, j] where i is significantly better than j
    best        bool[S]: which may be the best of the ranked ones; of each that is, right with probability CONFIDENCE
    critical    what t had to exceed in the last step (t of a pair with a heavy tail over how heavy it is); 0 where no
                pair was left to compare
    deviation   how much the difference of two ranked systems varies from query to query (`typical_deviation`)
    queries     on which at least two systems have a value
    resamples   as drawn; fewer than asked for on a very large board
    """

    sets: tuple[RankSet, ...]
    better: Bools
    best: Bools
    critical: float = 0.0
    deviation: float = 0.0
    queries: int = 0
    resamples: int = 0
    reason: str | None = None


def rank_sets(
    values: Floats,
    direction: Direction,
    *,
    means: Floats | None = None,
    ranked: Bools | None = None,
    width: float = math.inf,
    least: int = samples.LEAST_QUERIES,
    resamples: int = samples.RESAMPLES,
    seed: int = samples.SEED,
) -> RankSets:
    """The rank set of every system, all of them right at once with probability CONFIDENCE.

    values: float64[Q, S], what each query adds to each system's mean (`contributions`), NaN where a query has none. A
    pair is compared on the queries where both have a value, so a gap of one system takes nothing from others. means:
    float64[S], what the board ranks by, NaN where undefined; the means of `values` unless given. ranked: bool[S], False
    for baselines: these are compared like all others, but rank sets count ranked systems only, so that no baseline
    pushes a rank. width: the largest difference that two values can have. least: how many queries there must be
    (`least_queries`). direction: "higher" or "lower".

    The draws of the queries depend on `seed` and the number of queries on which at least two systems have a value, not
    on the systems; the order of the systems has no say. Equal systems never differ, and neither do two that differ by
    the same amount on every query, unless that amount is large against the width. Raises BadInput for resamples below
    1, ValueError for the direction "none".

    >>> import numpy as np
    >>> easy = np.linspace(0.0, 0.5, 20)
    >>> noise = np.tile([0.0, 0.02, 0.01, 0.03], 5)
    >>> found = rank_sets(np.stack([easy + noise, easy + 0.4, easy + noise[::-1]], axis=1), "higher", resamples=999)
    >>> [(each.rank, each.low, each.high) for each in found.sets]
    [(2, 2, 3), (1, 1, 1), (2, 2, 3)]
    """
    samples.check_resamples(resamples)
    means = np.array([mean(column) for column in values.T]) if means is None else means
    has_mean = ~np.isnan(means)
    values = values[np.count_nonzero(~np.isnan(values), axis=1) >= 2]
    queries = len(values)
    better = np.zeros((len(means), len(means)), dtype=bool)
    if queries < least and np.count_nonzero(has_mean) > 1:
        return RankSets((), better, np.zeros_like(has_mean), queries=queries, reason=TOO_FEW.format(queries, least))
    pairs = pairs_of(values, width)
    spent = FOR_EXACT_TEST * samples.ALPHA if math.isfinite(width) else 0.0
    apart = pairs.exact * spent >= max(1, len(pairs.first))
    resampled = pairs.kept((pairs.differing >= FEWEST_DIFFERENCES) & (pairs.error > 0) & ~apart)
    resampled, alpha = resampled.kept(has_spread(resampled)), samples.ALPHA - spent
    drawn = draws_that_fit(len(resampled.first), queries, resamples)
    weights = _drawn(resampled, drawn, seed)
    stretch = _stretch(resampled, weights)
    sure, critical = step_down(resampled, stretch, weights, alpha)
    for told_apart in (pairs.kept(apart), resampled.kept(sure)):
        better[told_apart.better_and_worse(direction)] = True
    counts = has_mean if ranked is None else has_mean & ranked
    sets = _sets(better, means, counts, direction)
    best = counts & np.array([own.low == 1 for own in sets])
    among = counts[resampled.first] & counts[resampled.second]
    deviation = typical_deviation(resampled.kept(among), stretch[among])
    rivals = direction, resampled.kept(among & ~sure), stretch[among & ~sure], weights, alpha
    for system in np.flatnonzero(best & np.array([own.rank != 1 for own in sets])).tolist():
        best[system] = may_be_best(system, *rivals)
    return RankSets(sets, better, best, critical, deviation, queries, drawn)


def _sets(better: Bools, means: Floats, counts: Bools, direction: Direction) -> tuple[RankSet, ...]:
    """counts: bool[S], the ranked systems that have a mean."""
    ranks = np.zeros(len(means), dtype=np.int64)
    ranks[counts] = competition_ranks(means[counts], direction)
    low = 1 + better[counts].sum(axis=0)
    high = counts.sum() + ~counts - better[:, counts].sum(axis=1)
    # Pairs are compared on their common queries: with gaps, a system may be better there and have the lower mean.
    low, high = np.where(counts, np.minimum(low, ranks), low), np.maximum(high, ranks)
    return tuple(
        RankSet(None, None, None) if math.isnan(mean) else RankSet(rank or None, best, worst)
        for mean, rank, best, worst in zip(*(each.tolist() for each in (means, ranks, low, high)), strict=True)
    )


class BoardStatistics(NamedTuple):
    """What is known of a board's systems, in the order given.

    intervals     name -> of its mean
    rank_sets     name -> its ranks; empty where nothing is said of ranks
    above         those that are significantly better than every baseline; empty without baselines
    best          those that may be the best of the ranked ones; empty where nothing is said of ranks
    ranks         how the sets were found, None where ranks were not asked for or the measure has none
    """

    intervals: Mapping[str, Interval]
    rank_sets: Mapping[str, RankSet]
    above: tuple[str, ...]
    best: tuple[str, ...]
    ranks: RankSets | None


def board_statistics(
    systems: Mapping[str, Columns],
    aggregation: Aggregation = MEAN,
    *,
    direction: Direction = "higher",
    baselines: Collection[str] = (),
    limits: tuple[float, float] = NO_LIMITS,
    least: samples.Least = samples.LEAST,
    resamples: int = samples.RESAMPLES,
    compare_pairs: bool = True,
) -> BoardStatistics:
    """Interval and rank set of every system, and which of them are better than all baselines.

    systems: name -> columns, float64[Q] each and all over the same queries in the same order, NaN where a query has no
    value; aggregation and direction are the measure's own, limits as `intervals` takes them, least as `least_queries`
    has it. baselines: those of the names that are compared with the others and not ranked. Without `compare_pairs` the
    rank sets, by far the longest part on a large board, are left out. A measure of the whole run has no rank sets,
    because it is not made of queries. Raises BadInput for resamples below 1.

    >>> import numpy as np
    >>> column = np.linspace(0.2, 0.6, 20)
    >>> found = board_statistics({"a": (column,), "b": (column**2,), "c": (column[::-1],)}, resamples=999)
    >>> [(name, each.rank, each.low, each.high) for name, each in found.rank_sets.items()]
    [('a', 1, 1, 2), ('b', 3, 3, 3), ('c', 1, 1, 2)]
    """
    columns = list(systems.values())
    own = intervals(columns, aggregation, limits=limits, least=least.for_interval, resamples=resamples)
    of_system = dict(zip(systems, own, strict=True))
    if direction == "none" or not compare_pairs or not systems or not aggregation.has_interval:
        return BoardStatistics(of_system, {}, (), (), None)
    ranked = np.array([name not in baselines for name in systems])
    ranks = rank_sets(
        np.stack([samples.contributions(each, aggregation) for each in columns], axis=1),
        direction,
        means=np.array([aggregation.combine(each, None) for each in columns]),
        ranked=ranked,
        width=_width(columns, aggregation, limits),
        least=least.for_ranks,
        resamples=resamples,
    )
    above = ranked & ~ranked.all() & ranks.better[:, ~ranked].all(axis=1)
    sets, best = dict(zip(systems, ranks.sets, strict=False)), compress(systems, ranks.best)
    return BoardStatistics(of_system, sets, tuple(compress(systems, above)), tuple(best), ranks)


def _width(systems: Sequence[Columns], aggregation: Aggregation, limits: tuple[float, float]) -> float:
    """The largest difference that two contributions to a mean can have; infinite where that is not known.

    limits: of the figure. AQWV's terms are scaled where one of them is defined on fewer queries (`contributions`).
    """
    if aggregation not in (MEAN, VALUE_OF_MEANS):
        return math.inf
    fewest = [np.min(np.count_nonzero(~np.isnan(columns), axis=1)) for columns in systems]
    scales = [samples.has_value(columns).sum() / max(1, own) for columns, own in zip(systems, fewest, strict=True)]
    return (limits[1] - limits[0]) * float(max(scales) if aggregation is VALUE_OF_MEANS else 1.0)
