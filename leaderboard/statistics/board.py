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
  would be Student's for normal differences; where a pair's is more than 1.25 times as large (more where there are
  very many pairs, twice with 140 systems), all its t are divided by what it is too large by, in the resamples and as
  observed. So two systems that differ a little everywhere and a lot on one query need a larger t to be told apart, and
  others hardly do. (Without that quarter, tails that a sample shows too little of made false findings more often than
  promised: docs/statistics.md.)

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

What a board says beyond means, for one measure: intervals, rank sets, and which systems are better than every baseline.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from leaderboard.metrics.aggregation import MEAN, VALUE_OF_MEANS, Aggregation, Columns, mean
from leaderboard.metrics.measure import Direction
from leaderboard.metrics.segments import Bools, Floats
from leaderboard.statistics import samples
from leaderboard.statistics.intervals import NO_LIMITS, Interval, intervals
from leaderboard.statistics.ranks import competition_ranks, draws_that_fit, pairs_of, step_down

FEWEST_DIFFERENCES = 6
WITHOUT_SPREAD = 0.005  # of the resamples at most, for a pair that has part
FOR_EXACT_TEST = 0.1  # of the significance level


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
    critical    what t had to exceed in the last step (t of a pair with a heavy tail over how heavy it is); 0 where no
                pair was left to compare
    queries     on which at least two systems have a value
    resamples   as drawn; fewer than asked for on a very large board
    """

    sets: tuple[RankSet, ...]
    better: Bools
    critical: float = 0.0
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
        reason = f"{queries} queries are too few: ranks of other queries like these are said from {least} on"
        return RankSets((), better, queries=queries, reason=reason)
    pairs = pairs_of(values, width)
    spent = FOR_EXACT_TEST * samples.ALPHA if math.isfinite(width) else 0.0
    apart = pairs.exact * spent >= max(1, len(pairs.first))
    without_spread = (1.0 - pairs.varied / pairs.common) ** pairs.common
    has_part = (pairs.differing >= FEWEST_DIFFERENCES) & (without_spread <= WITHOUT_SPREAD) & (pairs.error > 0)
    resampled = pairs.kept(has_part & ~apart)
    drawn = draws_that_fit(len(resampled.first), queries, resamples)
    sure, critical = step_down(resampled, drawn, seed, samples.ALPHA - spent)
    for told_apart in (pairs.kept(apart), resampled.kept(sure)):
        wins = told_apart.difference > 0 if direction == "higher" else told_apart.difference < 0
        first, second = told_apart.first, told_apart.second
        better[np.where(wins, first, second), np.where(wins, second, first)] = True
    counts = has_mean if ranked is None else has_mean & ranked
    return RankSets(_sets(better, means, counts, direction), better, critical, queries, drawn)


def _sets(better: Bools, means: Floats, counts: Bools, direction: Direction) -> tuple[RankSet, ...]:
    """counts: bool[S], the ranked systems that have a mean."""
    ranks = np.zeros(len(means), dtype=np.int64)
    ranks[counts] = competition_ranks(means[counts], direction)
    low = 1 + better[counts].sum(axis=0)
    high = counts.sum() + ~counts - better[:, counts].sum(axis=1)
    # Pairs are compared on their common queries: with gaps, a system may be better there and have the lower mean.
    low, high = np.where(counts, np.minimum(low, ranks), low), np.where(counts, np.maximum(high, ranks), high)
    return tuple(
        RankSet(None, None, None) if math.isnan(mean) else RankSet(rank or None, best, worst)
        for mean, rank, best, worst in zip(*(each.tolist() for each in (means, ranks, low, high)), strict=True)
    )


class BoardStatistics(NamedTuple):
    """What is known of a board's systems, in the order given.

    intervals     name -> of its mean
    rank_sets     name -> its ranks; empty where nothing is said of ranks
    above         those that are significantly better than every baseline; empty without baselines
    ranks         how the sets were found, None where ranks were not asked for or the measure has none
    """

    intervals: Mapping[str, Interval]
    rank_sets: Mapping[str, RankSet]
    above: tuple[str, ...]
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
        return BoardStatistics(of_system, {}, (), None)
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
    return BoardStatistics(
        of_system, dict(zip(systems, ranks.sets, strict=False)), tuple(compress(systems, above)), ranks
    )


def _width(systems: Sequence[Columns], aggregation: Aggregation, limits: tuple[float, float]) -> float:
    """The largest difference that two contributions to a mean can have; infinite where that is not known.

    limits: of the figure. AQWV's terms are scaled where one of them is defined on fewer queries (`contributions`).
    """
    if aggregation not in (MEAN, VALUE_OF_MEANS):
        return math.inf
    fewest = [np.min(np.count_nonzero(~np.isnan(columns), axis=1)) for columns in systems]
    scales = [samples.has_value(columns).sum() / max(1, own) for columns, own in zip(systems, fewest, strict=True)]
    return (limits[1] - limits[0]) * float(max(scales) if aggregation is VALUE_OF_MEANS else 1.0)
