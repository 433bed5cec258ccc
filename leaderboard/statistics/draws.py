"""Draws of the queries with replacement: what intervals, rank sets and all other bootstraps are made of."""

from collections.abc import Iterator, Sequence

import numpy as np

from leaderboard.metrics.aggregation import Aggregation, Columns
from leaderboard.metrics.ranking import Floats
from leaderboard.statistics.contributions import has_value
from leaderboard.statistics.defaults import CELLS, RESAMPLES, SEED, check_resamples

__all__ = ["draws", "resampled"]


def draws(queries: int, resamples: int, seed: int, width: int = 1) -> Iterator[Floats]:
    """Matrices float64[b, Q] of how often each query was drawn, each row summing to Q; `resamples` rows in all.

    width: how many numbers a caller holds for each row, if that is more than Q; b is made so that all fit in CELLS. The
    rows are the same whatever b is.

    >>> import numpy as np
    >>> np.concatenate(list(draws(3, 4, SEED))).sum(axis=1).tolist()
    [3.0, 3.0, 3.0, 3.0]
    """
    generator = np.random.default_rng(seed)
    rows = max(1, CELLS // max(queries, width))
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        drawn = generator.integers(0, queries, (size, queries))
        drawn += np.arange(size)[:, np.newaxis] * queries
        counts = np.bincount(drawn.ravel(), minlength=size * queries)
        yield counts.reshape(size, queries).astype(np.float64)


def resampled(
    systems: Sequence[Columns], aggregation: Aggregation, *, resamples: int = RESAMPLES, seed: int = SEED
) -> Floats:
    """float64[resamples, S]: every system's mean over queries drawn with replacement, the same draws for all systems.

    systems: columns of each, float64[Q] with NaN where a query has no value. Queries on which no system has a value are
    never drawn. A system's means depend on the seed and the queries, not on which other systems stand beside it. NaN
    where a draw leaves the mean undefined. Raises BadInput for resamples below 1.

    >>> import numpy as np
    >>> from leaderboard.metrics.aggregation import MEAN
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
