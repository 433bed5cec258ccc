"""Intervals of MQWV and of MQWV − AQWV: the best threshold is found anew in every draw of the queries.

The threshold that is best on these queries is not the one that is best on all queries like these, and how far off it
is belongs in the interval. So each draw gets its own best threshold; the figure at it, less the figure of the sample,
is divided by its own standard error at that threshold, as in the symmetric bootstrap-t of `intervals`. The standard
error is that of the value at the threshold found: to first order a best threshold that moves a little changes nothing,
since the value is flat where it is highest. But MQWV − AQWV may be made of little else than that movement, where the
decisions are nearly the best ones. So half of the width is never less than how far the figure itself moves in 19 of 20
draws, made wider by as much as Student's t is wider than the normal distribution.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from leaderboard.metrics.aggregation import Columns
from leaderboard.metrics.families.detection import AQWV
from leaderboard.metrics.families.sweep import losses_at, promising_thresholds
from leaderboard.metrics.ranking import Ranking
from leaderboard.metrics.segments import Bools, Floats, Ints
from leaderboard.statistics.contributions import has_value
from leaderboard.statistics.defaults import CONFIDENCE, RESAMPLES, SEED, check_resamples, significance
from leaderboard.statistics.draws import draws
from leaderboard.statistics.intervals import (
    ALWAYS_THE_SAME,
    EQUAL,
    NO_VALUE,
    ROUNDING,
    WIDEST_LONG_TAILS,
    Interval,
    Part,
    means_and_variances,
    standard_errors,
    students_t,
    too_few,
)
from leaderboard.statistics.least import least_queries

MOST_CELLS = 2**22  # thresholds × queries: with 300 queries 14,000 thresholds, with 7,000 the best 600
WORK = 4_000_000_000  # thresholds × queries × draws, less than a second
LEAST_RESAMPLES = 500
AT_ONCE = 256  # thresholds
ROWS_AT_ONCE = 512  # draws: with as many thresholds a megabyte, which stays near the processor


@dataclass(frozen=True, slots=True)
class ThresholdIntervals:
    """maximum: of MQWV; lost: of MQWV − AQWV, what a better threshold would have brought."""

    maximum: Interval
    lost: Interval


def threshold_intervals(
    ranking: Ranking,
    rel: int = 1,
    *,
    one_threshold: bool = False,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> ThresholdIntervals:
    """The intervals of one run's MQWV and MQWV − AQWV. Needs scores, documents and β, as these measures do.

    one_threshold: whether a single θ gives the run's decisions, so that MQWV − AQWV is never below 0. Other decisions
    may be better than any single θ.

    Fewer resamples are drawn where thresholds × queries are many; how many stands in the result. None where `intervals`
    has none. Raises BadInput for resamples below 1.

    >>> from leaderboard.metrics.ranking import Setting, graded_lists
    >>> ranking = graded_lists([1, 0], missed=[1], setting=Setting(documents=102, beta=20.0))
    >>> found = threshold_intervals(ranking).maximum
    >>> found.low, found.queries  # one query
    (None, 1)
    """
    check_resamples(resamples)
    actual = AQWV(rel=rel).evaluate(ranking).columns
    counts = has_value(actual)
    queries = int(counts.sum())
    actual = tuple(column[counts] for column in actual)
    thetas = promising_thresholds(ranking, rel, most=MOST_CELLS // max(1, ranking.queries))
    work = max(1, len(thetas) * queries)
    resamples = min(resamples, max(LEAST_RESAMPLES, WORK // work))
    empty = Interval(None, None, None, CONFIDENCE, queries, resamples, seed)
    fewest = min(int(np.count_nonzero(~np.isnan(column))) for column in actual)
    least = least_queries(AQWV(rel=rel), ranking.setting).for_interval
    if fewest < least:
        none = replace(empty, reason=too_few(fewest, least) if fewest else NO_VALUE)
        return ThresholdIntervals(none, none)

    weights = _weights(queries, resamples, seed)
    best = _best(ranking, rel, thetas, counts, weights)
    places = np.unique(best)
    columns_at = _at(ranking, rel, thetas[places], counts)
    at_best = {
        int(threshold): tuple(column[:, [number]] for column in columns_at) for number, threshold in enumerate(places)
    }
    nothing = tuple(np.zeros_like(column) for column in actual)
    gained, lost = (_figure(at_best, best, taken_off, weights) for taken_off in (nothing, actual))
    return ThresholdIntervals(  # a value is 1 less what is lost
        _interval(gained, 1.0 + float(gained.values[0]), empty, (0.0, 1.0), EQUAL),
        _interval(
            lost,
            float(lost.values[0]),
            empty,
            (0.0 if one_threshold else -math.inf, math.inf),
            ALWAYS_THE_SAME,
        ),
    )


@dataclass(slots=True)
class _Figure:
    """values, errors: float64[B + 1], the figure and its standard error, of the sample itself, then in each draw;
    freedom: its degrees in the sample."""

    values: Floats
    errors: Floats
    freedom: Floats


def _figure(at_best: Mapping[int, Columns], best: Ints, taken_off: Columns, weights: Floats) -> _Figure:
    """The losses `taken_off` less those at the best threshold of each draw.

    at_best: place of a threshold -> the losses at it; best: int64[B + 1], the places
    """
    values, errors, freedom = np.empty(len(best)), np.empty(len(best)), np.empty(0)
    for threshold, columns in at_best.items():
        rows = np.flatnonzero(best == threshold)
        terms = tuple((-column + own[:, None]) for column, own in zip(columns, taken_off, strict=True))
        away, variance = means_and_variances([Part.of(term) for term in terms], weights[rows])
        values[rows] = away[:, 0] + sum(float(np.nanmean(term)) for term in terms)
        errors[rows] = np.sqrt(variance[:, 0])
        if threshold == best[0]:
            freedom = standard_errors(terms)[1]
    return _Figure(values, errors, freedom)


def _interval(
    figure: _Figure, estimate: float, empty: Interval, limits: tuple[float, float], without_spread: str
) -> Interval:
    """empty: the interval without its figures; without_spread: why there is none where every query says the same"""
    values, errors = figure.values, figure.errors
    if not errors[0] > ROUNDING:
        return replace(empty, estimate=estimate, reason=without_spread)
    alpha = significance(empty.confidence)
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.abs(values[1:] - values[0]) / errors[1:]
    distance[np.isnan(distance)] = np.inf
    at = min(math.ceil((1.0 - alpha) * (empty.resamples + 1)), empty.resamples) - 1
    students, normal = float(students_t(figure.freedom, alpha)[0]), NormalDist().inv_cdf(1 - alpha / 2)
    moved = float(np.quantile(np.abs(values[1:] - values[0]), 1 - alpha))
    factor = min(float(np.partition(distance, at)[at]), WIDEST_LONG_TAILS * students)
    half = max(factor * float(errors[0]), moved * students / normal * math.sqrt(empty.queries / (empty.queries - 1)))
    return replace(empty, estimate=estimate, low=max(estimate - half, limits[0]), high=min(estimate + half, limits[1]))


@lru_cache(maxsize=1)  # the runs of an evaluation, which are scored one after the other, have the same
def _weights(queries: int, resamples: int, seed: int) -> Floats:
    """float64[resamples + 1, Q], not to be written to: the sample itself, then the draws."""
    weights: Floats = np.concatenate([np.ones((1, queries)), *draws(queries, resamples, seed)])
    weights.setflags(write=False)
    return weights


def _at(ranking: Ranking, rel: int, thetas: Floats, counts: Bools) -> Columns:
    return tuple(column[counts] for column in losses_at(ranking, thetas, rel))


def _best(ranking: Ranking, rel: int, thetas: Floats, counts: Bools, weights: Floats) -> Ints:
    """int64[B]: the place of the best threshold for each row of weights; the strictest where several are."""
    best, highest = np.zeros(len(weights), dtype=np.int64), np.full(len(weights), -np.inf)
    for start in range(0, len(thetas), AT_ONCE):
        columns = _at(ranking, rel, thetas[start : start + AT_ONCE], counts)
        left_out, *others = (np.isnan(column[:, 0]) for column in columns)
        if all(np.array_equal(left_out, other) for other in others):
            columns = (np.sum(columns, axis=0),)  # means over the same queries: the mean of the sum, half of the work
        for first in range(0, len(weights), ROWS_AT_ONCE):
            rows = slice(first, first + ROWS_AT_ONCE)
            values = _values(columns, weights[rows])
            # The first of those that tie, whatever rounding makes of the tie: another machine adds up in another order.
            threshold = np.argmax(values >= values.max(axis=1, keepdims=True) - ROUNDING, axis=1)
            own = values[np.arange(len(threshold)), threshold]
            better = own > highest[rows] + ROUNDING
            best[rows][better] = start + threshold[better]
            highest[rows][better] = own[better]
    return best


def _values(columns: Columns, weights: Floats) -> Floats:
    """float64[B, T]: what `VALUE_OF_MEANS` gives, faster: a query counts at all thresholds or at none."""
    values: Floats = np.ones((len(weights), columns[0].shape[1]))
    undefined = np.zeros(len(weights), dtype=np.bool_)
    for column in columns:
        there = ~np.isnan(column[:, 0])
        drawn = weights[:, there]
        sums = drawn.sum(axis=1, keepdims=True)
        undefined |= sums[:, 0] == 0
        means = drawn @ column[there]
        means /= np.where(sums == 0, 1.0, sums)
        values -= means
    values[undefined] = -np.inf
    return values
