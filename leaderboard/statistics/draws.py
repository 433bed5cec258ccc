"""Draws of the queries with replacement: what intervals, rank sets and all other bootstraps are made of."""

from collections.abc import Iterator

import numpy as np

from leaderboard.metrics.segments import Floats
from leaderboard.statistics.defaults import CELLS, check_resamples


def draws(queries: int, resamples: int, seed: int, width: int = 1) -> Iterator[Floats]:
    """Matrices float64[b, Q] of how often each query was drawn, each row summing to Q; `resamples` rows in all.

    width: how many numbers a caller holds for each row, if that is more than Q; b is made so that all fit in CELLS. The
    rows are the same whatever b is. Raises BadInput for resamples below 1.

    >>> import numpy as np
    >>> np.concatenate(list(draws(3, 4, seed=1))).sum(axis=1).tolist()
    [3.0, 3.0, 3.0, 3.0]
    """
    check_resamples(resamples)
    generator = np.random.default_rng(seed)
    rows = max(1, CELLS // max(queries, width))
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        drawn = generator.integers(0, queries, (size, queries))
        drawn += np.arange(size)[:, np.newaxis] * queries
        counts = np.bincount(drawn.ravel(), minlength=size * queries)
        yield counts.reshape(size, queries).astype(np.float64)
