"""Bootstrap intervals: how far the figure would have moved, had other queries like these been asked.

Source: B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993 (percentile interval); T. Sakai,
Evaluating Evaluation Metrics Based on the Bootstrap, SIGIR 2006.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.metrics.aggregation import MEAN, Aggregation, Columns
from leaderboard.metrics.ranking import Floats
from leaderboard.statistics.columns import common, stated
from leaderboard.statistics.pairs import NO_PAIRS
from leaderboard.statistics.resampling import LEVEL, RESAMPLES, SEED, resampled, tails

__all__ = ["Interval", "difference_interval", "interval", "intervals", "percentile_interval"]

EQUAL = 1e-12
NO_VALUE = "no query has a value"


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with the range that holds its resamples at `level`, equal tails left out.

    value, low, high  None when undefined; `reason` then says why. low = high = value where the queries leave no doubt
                      (one query, or all values equal)
    level             as given, 0.95 for 95 %
    queries           that the figure runs over
    resamples, seed   drawn, of which those that leave the figure undefined are passed over
    """

    value: float | None
    low: float | None
    high: float | None
    level: float
    queries: int
    resamples: int
    seed: int
    reason: str | None = None


def interval(
    columns: Columns,
    aggregation: Aggregation = MEAN,
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Interval:
    """The interval of one system's figure.

    columns: float64[Q] each, NaN where undefined, as `Evaluated.columns` has them; aggregation: the measure's own
    (`measure.family.aggregation`). Raises BadInput for a level outside (0, 1) or no resamples.
    """
    return intervals([columns], aggregation, level=level, resamples=resamples, seed=seed)[0]


def intervals(
    systems: Sequence[Columns],
    aggregation: Aggregation = MEAN,
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[Interval, ...]:
    """The interval of each system's figure, in their order, all from the same draws of queries.

    systems: columns of each as `interval` takes them, all over the same queries. Raises as `interval` does.
    """
    queries = [int(stated(columns).sum()) if columns else 0 for columns in systems]
    if not aggregation.has_interval:
        return tuple(Interval(None, None, None, level, size, resamples, seed, aggregation.name) for size in queries)
    drawn = resampled(systems, aggregation, resamples=resamples, seed=seed)
    return tuple(
        percentile_interval(aggregation.combine(columns, None), own, queries=size, level=level, seed=seed)
        for columns, own, size in zip(systems, drawn.T, queries, strict=True)
    )


def difference_interval(
    first: Columns,
    second: Columns,
    aggregation: Aggregation = MEAN,
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Interval:
    """The interval of first − second on their common queries, both figures from the same draws of queries."""
    if not aggregation.has_interval:
        return Interval(None, None, None, level, 0, resamples, seed, aggregation.name)
    systems = common(first, second)
    queries = int(stated(systems[0]).sum())
    figure, other = (aggregation.combine(columns, None) for columns in systems)
    drawn = resampled(systems, aggregation, resamples=resamples, seed=seed)
    return percentile_interval(
        figure - other, drawn[:, 0] - drawn[:, 1], queries=queries, level=level, seed=seed, without=NO_PAIRS
    )


def percentile_interval(
    value: float, drawn: Floats, *, queries: int, level: float, seed: int, without: str = NO_VALUE
) -> Interval:
    """The interval of `value` from its resamples, float64[B]; `without` is the reason given when it is undefined."""
    ends = tails(level)
    defined = drawn[~np.isnan(drawn)]
    if math.isnan(value) or not len(defined):
        return Interval(None, None, None, level, queries, len(drawn), seed, without)
    low, high = (_settled(float(end), value) for end in np.quantile(defined, ends))
    return Interval(value, low, high, level, queries, len(drawn), seed)


def _settled(end: float, value: float) -> float:
    """The value itself where the end differs from it by rounding only."""
    return value if math.isclose(end, value, rel_tol=EQUAL, abs_tol=EQUAL) else end
