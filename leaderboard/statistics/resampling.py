"""Drawing queries again, and a measure's figure for every draw.

Interval, rank range and difference all resample the queries and call the measure's own aggregate on the weights, the
number of times that each query was drawn: AQWV under `pfa_only` is no mean of values. The aggregates of the registry
are computed for all resamples and systems at once, as matrix products; any other one is called once a resample.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from leaderboard.errors import BadInput
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
from leaderboard.statistics.columns import stated

__all__ = ["LEVEL", "RESAMPLES", "SEED", "alpha", "check_draws", "comparable", "figures", "resampled", "tails"]

LEVEL = 0.95
RESAMPLES = 10_000
SEED = 1  # any fixed number will do: it is shown beside every figure that depends on it

CELLS = 2**22  # numbers in the largest matrix held at once: 32 MB
DIGITS = 12  # figures that agree to so many digits are equal: sums in another order differ in the sixteenth


def resampled(
    systems: Sequence[Columns], aggregation: Aggregation, *, resamples: int = RESAMPLES, seed: int = SEED
) -> Floats:
    """float64[resamples, S]: every system's figure on queries drawn with replacement, the same draw for all systems.

    systems: each float64[Q] columns, NaN where a query has no value. Queries on which no system has anything are never
    drawn. A system's figures depend on seed and queries, not on which other systems stand beside it. NaN where a draw
    leaves the figure undefined.
    """
    check_draws(resamples)
    if not systems:
        return np.empty((resamples, 0))
    drawable = np.any([stated(columns) for columns in systems], axis=0)
    queries = int(drawable.sum())
    if queries == 0:
        return np.full((resamples, len(systems)), np.nan)
    kept = [tuple(column[drawable] for column in columns) for columns in systems]
    return np.concatenate([figures(aggregation, kept, weights) for weights in _draws(queries, resamples, seed)])


def figures(aggregation: Aggregation, systems: Sequence[Columns], weights: Floats) -> Floats:
    """float64[B, S]: what `aggregation.combine` gives for every row of weights (float64[B, Q]) and every system."""
    batched = BATCHED.get(aggregation)
    if batched is not None:
        columns = [np.stack(column, axis=1) for column in zip(*systems, strict=True)]
        return batched(weights, *columns)
    return np.array([[aggregation.combine(columns, row) for columns in systems] for row in weights])


def comparable(values: Floats) -> Floats:
    """The values as shares of the largest, to DIGITS digits: for comparing, so that no tie hangs on a sum's order."""
    largest = np.max(np.abs(values), initial=0.0, where=~np.isnan(values))
    return np.round(values / largest, DIGITS) if largest > 0 else values


def tails(level: float) -> tuple[float, float]:
    """The quantiles that leave out equal tails: .025 and .975 for .95. Raises BadInput unless 0 < level < 1."""
    tail = alpha(level) / 2
    return tail, 1.0 - tail


def alpha(level: float) -> float:
    """1 − level, as it is written: .05 for .95. Raises BadInput unless 0 < level < 1."""
    if not 0 < level < 1:
        raise BadInput(f"a confidence level lies between 0 and 1, like 0.95; this one is {level}")
    return round(1.0 - level, DIGITS)


def check_draws(resamples: int) -> None:
    """Raises BadInput unless resamples >= 1."""
    if resamples < 1:
        raise BadInput(f"at least one resample is needed; this asks for {resamples}")


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
