"""The rank sets of a board, as a whole process: `python -m bench.rank_sets NAME SYSTEMS`.

The peer is the one matrix product that no way round such resampling does without: resamples × queries by queries ×
pairs. Both are measured with imports and with making the values, and both print how many resamples they took.
"""

import sys
from collections.abc import Callable

__all__ = ["BOARDS", "RANKERS"]

BOARDS = (143, 500)  # systems
QUERIES = 50
RESAMPLES = 10_000
SEED = 20191112
PAIRS_AT_ONCE = 20_000
DRAWS_AT_ONCE = 1_000


def ours(systems: int) -> int:
    """All of it: critical values, stepping down, the sets."""
    import leaderboard  # noqa: F401  # before numpy: BLAS in one thread, as in every command

    # isort: split
    import numpy as np

    from leaderboard.statistics.ranks import rank_sets

    draw = np.random.default_rng(SEED)
    hardness = draw.beta(0.6, 0.8, (QUERIES, 1))
    worse = 1.5 * np.linspace(0.0, 0.25, systems) * draw.random((QUERIES, 1))
    values = np.clip(hardness - worse + 0.12 * draw.normal(size=(QUERIES, systems)), 0.0, 1.0)
    return rank_sets(values, "higher", width=1.0, resamples=RESAMPLES).resamples


def product(systems: int) -> int:
    """The bare product, as many resamples as `ours` takes."""
    import leaderboard  # noqa: F401  # before numpy: BLAS in one thread, as ours

    # isort: split
    import numpy as np

    from leaderboard.statistics.ranks import draws_that_fit

    draw = np.random.default_rng(SEED)
    pairs = systems * (systems - 1) // 2
    resamples = draws_that_fit(pairs, QUERIES, RESAMPLES)
    differences = draw.random((QUERIES, PAIRS_AT_ONCE))
    weights = draw.integers(0, 3, (DRAWS_AT_ONCE, QUERIES)).astype(np.float64)
    for drawn in range(0, resamples, DRAWS_AT_ONCE):
        for some in range(0, pairs, PAIRS_AT_ONCE):
            weights[: resamples - drawn] @ differences[:, : pairs - some]
    return resamples


RANKERS: dict[str, Callable[[int], int]] = {"ours": ours, "product": product}

if __name__ == "__main__":
    print(RANKERS[sys.argv[1]](int(sys.argv[2])))
