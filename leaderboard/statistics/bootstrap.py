"""Bootstrap: queries drawn again with replacement, a system's mean for every draw, and the interval that follows.

Intervals, rank ranges and differences all resample the queries and call the measure's own aggregation on the weights,
the number of times that each query was drawn, because AQWV under `pfa_only` is no mean of values. The aggregations of
the metric module are computed for all resamples and systems at once, as matrix products; any other one is called once
a resample and system.

Source: B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993 (percentile interval); T. Sakai,
Evaluating Evaluation Metrics Based on the Bootstrap, SIGIR 2006.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.metrics.aggregation import (
    GEOMETRIC_FLOOR,
    GEOMETRIC_MEAN,
    MEAN,
    SUM,
    VALUE_OF_MEANS,
    Aggregation,
    Columns,
)
from leaderboard.metrics.ranking import Floats
from leaderboard.statistics.contributions import common, has_value
from leaderboard.statistics.defaults import CELLS, CONFIDENCE, RESAMPLES, SEED, check_resamples, tails
from leaderboard.statistics.paired import NO_PAIRS

__all__ = ["Interval", "difference_interval", "interval", "intervals", "percentile_interval", "resampled"]

ROUNDING = 1e-12
NO_VALUE = "no query has a value"


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean, or a difference of two means, with its confidence interval (equal tails).

    estimate, low, high  None when undefined; `reason` then says why. All three are equal where drawing queries changes
                         nothing (a single query, or equal values on all)
    confidence           0.95 for a 95 % interval
    queries              that the estimate is over
    resamples, seed      as drawn; resamples that leave the mean undefined are passed over
    """

    estimate: float | None
    low: float | None
    high: float | None
    confidence: float
    queries: int
    resamples: int
    seed: int
    reason: str | None = None


def interval(
    columns: Columns,
    aggregation: Aggregation = MEAN,
    *,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Interval:
    """The confidence interval of one system's mean.

    columns: float64[Q] each, NaN where undefined, as `Evaluated.columns` has them; aggregation: the measure's own
    (`measure.family.aggregation`). A measure of the whole run has no interval. Raises BadInput for a confidence outside
    (0, 1) or resamples below 1.

    >>> import numpy as np
    >>> found = interval((np.array([0.0, 1.0]),))  # drawn twice with replacement: 0, .5 or 1
    >>> found.estimate, found.low, found.high
    (0.5, 0.0, 1.0)
    """
    return intervals([columns], aggregation, confidence=confidence, resamples=resamples, seed=seed)[0]


def intervals(
    systems: Sequence[Columns],
    aggregation: Aggregation = MEAN,
    *,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[Interval, ...]:
    """The confidence interval of each system's mean, in their order, all from the same draws of queries.

    systems: each one's columns as `interval` takes them, over the same queries in the same order. Raises as `interval`
    does.

    >>> import numpy as np
    >>> [found.estimate for found in intervals([(np.array([0.0, 1.0]),), (np.array([0.5, np.nan]),)])]
    [0.5, 0.5]
    """
    queries = [int(has_value(columns).sum()) if columns else 0 for columns in systems]
    if not aggregation.has_interval:
        return tuple(
            Interval(None, None, None, confidence, size, resamples, seed, aggregation.name) for size in queries
        )
    drawn = resampled(systems, aggregation, resamples=resamples, seed=seed)
    return tuple(
        percentile_interval(aggregation.combine(columns, None), own, queries=size, confidence=confidence, seed=seed)
        for columns, own, size in zip(systems, drawn.T, queries, strict=True)
    )


def difference_interval(
    first: Columns,
    second: Columns,
    aggregation: Aggregation = MEAN,
    *,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Interval:
    """The confidence interval of first − second over their common queries, both means from the same draws of queries.

    first, second: columns as `interval` takes them, over the same queries in the same order. Raises as `interval` does.

    >>> import numpy as np
    >>> found = difference_interval((np.array([0.5, 0.75, 0.5]),), (np.array([0.25, 0.5, np.nan]),))
    >>> found.estimate, found.low, found.high, found.queries
    (0.25, 0.25, 0.25, 2)
    """
    if not aggregation.has_interval:
        return Interval(None, None, None, confidence, 0, resamples, seed, aggregation.name)
    systems = common(first, second)
    queries = int(has_value(systems[0]).sum())
    mean, other = (aggregation.combine(columns, None) for columns in systems)
    drawn = resampled(systems, aggregation, resamples=resamples, seed=seed)
    return percentile_interval(
        mean - other,
        drawn[:, 0] - drawn[:, 1],
        queries=queries,
        confidence=confidence,
        seed=seed,
        undefined=NO_PAIRS,
    )


def percentile_interval(
    estimate: float, drawn: Floats, *, queries: int, confidence: float, seed: int, undefined: str = NO_VALUE
) -> Interval:
    """The interval of `estimate` from its resamples, float64[B]; `undefined` is the reason where there is none.

    >>> import numpy as np
    >>> found = percentile_interval(0.5, np.linspace(0, 1, 101), queries=10, confidence=0.9, seed=1)
    >>> round(found.low, 9), round(found.high, 9)
    (0.05, 0.95)
    """
    ends = tails(confidence)
    defined = drawn[~np.isnan(drawn)]
    if math.isnan(estimate) or not len(defined):
        return Interval(None, None, None, confidence, queries, len(drawn), seed, undefined)
    low, high = (_without_rounding(float(end), estimate) for end in np.quantile(defined, ends))
    return Interval(estimate, low, high, confidence, queries, len(drawn), seed)


def _without_rounding(end: float, estimate: float) -> float:
    """The estimate itself where the end differs from it by rounding only."""
    return estimate if math.isclose(end, estimate, rel_tol=ROUNDING, abs_tol=ROUNDING) else end


def resampled(
    systems: Sequence[Columns], aggregation: Aggregation, *, resamples: int = RESAMPLES, seed: int = SEED
) -> Floats:
    """float64[resamples, S]: every system's mean over queries drawn with replacement, the same draws for all systems.

    systems: columns of each, float64[Q] with NaN where a query has no value. Queries on which no system has a value are
    never drawn. A system's means depend on the seed and the queries, not on which other systems stand beside it. NaN
    where a draw leaves the mean undefined. Raises BadInput for resamples below 1.

    >>> import numpy as np
    >>> resampled([(np.array([0.25, 0.25]),)], MEAN, resamples=3).tolist()
    [[0.25], [0.25], [0.25]]
    """
    check_resamples(resamples)
    if not systems:
        return np.empty((resamples, 0))
    drawable = np.any([has_value(columns) for columns in systems], axis=0)
    queries = int(drawable.sum())
    if queries == 0:
        return np.full((resamples, len(systems)), np.nan)
    kept = [tuple(column[drawable] for column in columns) for columns in systems]
    return np.concatenate([_weighted(aggregation, kept, weights) for weights in _draws(queries, resamples, seed)])


def _weighted(aggregation: Aggregation, systems: Sequence[Columns], weights: Floats) -> Floats:
    """float64[B, S]: what `aggregation.combine` gives for every row of weights (float64[B, Q]) and every system."""
    batched = BATCHED.get(aggregation)
    if batched is not None:
        columns = [np.stack(column, axis=1) for column in zip(*systems, strict=True)]
        return batched(weights, *columns)
    return np.array([[aggregation.combine(columns, row) for columns in systems] for row in weights])


def _draws(queries: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Matrices float64[b, Q] of how often each query was drawn, each row summing to Q."""
    generator = np.random.default_rng(seed)
    rows = max(1, CELLS // queries)
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        drawn = generator.integers(0, queries, (size, queries))
        drawn += np.arange(size)[:, np.newaxis] * queries
        counts = np.bincount(drawn.ravel(), minlength=size * queries)
        yield counts.reshape(size, queries).astype(np.float64)


def _means(weights: Floats, column: Floats) -> Floats:
    """float64[B, S] of weights float64[B, Q] and column float64[Q, S]: each mean over the queries that have a value."""
    defined = ~np.isnan(column)
    sizes = weights @ defined.astype(np.float64)
    sums = weights @ np.where(defined, column, 0.0)
    return np.divide(sums, sizes, out=np.full_like(sums, np.nan), where=sizes > 0)


def _geometric_means(weights: Floats, column: Floats) -> Floats:
    return np.exp(_means(weights, np.log(np.maximum(column, GEOMETRIC_FLOOR))))


def _values_of_means(weights: Floats, p_miss: Floats, weighted_p_fa: Floats) -> Floats:
    return 1.0 - _means(weights, p_miss) - _means(weights, weighted_p_fa)


# One entry for each aggregation of the metric module; a test holds them to `combine`, row by row.
BATCHED: dict[Aggregation, Callable[..., Floats]] = {
    MEAN: _means,
    SUM: np.matmul,
    GEOMETRIC_MEAN: _geometric_means,
    VALUE_OF_MEANS: _values_of_means,
}
