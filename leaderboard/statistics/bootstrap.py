"""Bootstrap: queries drawn again with replacement, a system's mean for every draw, and the interval that follows.

Intervals, rank ranges and differences all resample the queries and call the measure's own aggregation on the weights,
the number of times that each query was drawn, because AQWV under `pfa_only` is no mean of values.

Source: B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993 (percentile interval); T. Sakai,
Evaluating Evaluation Metrics Based on the Bootstrap, SIGIR 2006.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.metrics.aggregation import MEAN, Aggregation, Columns
from leaderboard.metrics.ranking import Floats
from leaderboard.statistics.contributions import common, has_value
from leaderboard.statistics.defaults import CELLS, CONFIDENCE, RESAMPLES, SEED, check_resamples, tails
from leaderboard.statistics.paired import NO_PAIRS

__all__ = ["Interval", "difference_interval", "draws", "intervals", "intervals_from", "resampled"]

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


def intervals(
    systems: Sequence[Columns],
    aggregation: Aggregation = MEAN,
    *,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[Interval, ...]:
    """The confidence interval of each system's mean, in their order, all from the same draws of queries.

    systems: each one's columns, float64[Q] with NaN where undefined, as `Evaluated.columns` has them, all over the same
    queries in the same order; aggregation: the measure's own (`measure.family.aggregation`). A measure of the whole run
    has no interval. Raises BadInput for a confidence outside (0, 1) or resamples below 1.

    >>> import numpy as np
    >>> first, second = intervals([(np.array([0.0, 1.0]),), (np.array([0.5, np.nan]),)])
    >>> first.estimate, first.low, first.high  # two queries drawn with replacement: 0, .5 or 1
    (0.5, 0.0, 1.0)
    >>> second.estimate, second.queries
    (0.5, 1)
    """
    if not aggregation.has_interval:
        return tuple(
            Interval(None, None, None, confidence, _queries(columns), resamples, seed, aggregation.name)
            for columns in systems
        )
    drawn = resampled(systems, aggregation, resamples=resamples, seed=seed)
    return intervals_from(drawn, systems, aggregation, confidence=confidence, seed=seed)


def intervals_from(
    drawn: Floats, systems: Sequence[Columns], aggregation: Aggregation, *, confidence: float, seed: int
) -> tuple[Interval, ...]:
    """The same from resamples that are there already: float64[B, S], as `resampled` gives them.

    >>> import numpy as np
    >>> systems = [(np.array([0.25, 0.25]),)]
    >>> (found,) = intervals_from(resampled(systems, MEAN), systems, MEAN, confidence=0.9, seed=SEED)
    >>> found.low, found.high
    (0.25, 0.25)
    """
    return tuple(
        _interval(aggregation.combine(columns, None), own, queries=_queries(columns), confidence=confidence, seed=seed)
        for columns, own in zip(systems, drawn.T, strict=True)
    )


def _queries(columns: Columns) -> int:
    """How many queries have a value."""
    return int(has_value(columns).sum()) if columns else 0


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

    first, second: columns as `intervals` takes them. Raises as it does.

    >>> import numpy as np
    >>> found = difference_interval((np.array([0.5, 0.75, 0.5]),), (np.array([0.25, 0.5, np.nan]),))
    >>> found.estimate, found.low, found.high, found.queries
    (0.25, 0.25, 0.25, 2)
    """
    if not aggregation.has_interval:
        return Interval(None, None, None, confidence, 0, resamples, seed, aggregation.name)
    systems = common(first, second)
    mean, other = (aggregation.combine(columns, None) for columns in systems)
    drawn = resampled(systems, aggregation, resamples=resamples, seed=seed)
    return _interval(
        mean - other,
        drawn[:, 0] - drawn[:, 1],
        queries=_queries(systems[0]),
        confidence=confidence,
        seed=seed,
        undefined=NO_PAIRS,
    )


def _interval(
    estimate: float, drawn: Floats, *, queries: int, confidence: float, seed: int, undefined: str = NO_VALUE
) -> Interval:
    """The interval of `estimate` from its resamples, float64[B]; `undefined` is the reason where there is none."""
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
    columns = tuple(np.stack(column, axis=1)[drawable] for column in zip(*systems, strict=True))
    return np.concatenate([aggregation.combine(columns, weights) for weights in draws(queries, resamples, seed)])


def draws(queries: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Matrices float64[b, Q] of how often each query was drawn, each row summing to Q; `resamples` rows in all.

    >>> import numpy as np
    >>> np.concatenate(list(draws(3, 4, SEED))).sum(axis=1).tolist()
    [3.0, 3.0, 3.0, 3.0]
    """
    generator = np.random.default_rng(seed)
    rows = max(1, CELLS // queries)
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        drawn = generator.integers(0, queries, (size, queries))
        drawn += np.arange(size)[:, np.newaxis] * queries
        counts = np.bincount(drawn.ravel(), minlength=size * queries)
        yield counts.reshape(size, queries).astype(np.float64)
