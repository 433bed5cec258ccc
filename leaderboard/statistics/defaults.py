"""Confidence level, number of resamples and seed: what every procedure takes unless told otherwise, and the checks."""

import math
from typing import NamedTuple

from leaderboard.errors import BadInput

__all__ = [
    "CELLS", "CONFIDENCE", "LEAST_QUERIES", "RESAMPLES", "SEED", "Least", "check_resamples", "least_queries",
    "significance", "tails",
]  # fmt: skip

CONFIDENCE = 0.95
RESAMPLES = 10_000
SEED = 1  # any fixed number will do: it is shown beside every figure that depends on it

LEAST_QUERIES = 5  # fewer say next to nothing of their own spread: simulated, 95 % intervals cover far less

# Under AQWV with a large β one query in twenty may cost a run more than all others together. A sample that lacks it
# shows nothing of it, so no procedure that looks at the sample alone can be right: what helps is more queries. How many
# was found by simulation (docs/statistics.md).
COSTLY = 60.0
LEAST_WHERE_COSTLY = 25
LEAST_FOR_RANKS_WHERE_COSTLY = 100

CELLS = 2**22  # numbers in the largest matrix held at once: 32 MB


class Least(NamedTuple):
    """How many queries are needed. for_interval: for an interval; for_ranks: for rank sets."""

    for_interval: int
    for_ranks: int


def least_queries(lowest: float) -> Least:
    """How many queries a measure needs, whose figures are 1 at best and may be as low as that; −inf: without a limit.

    >>> least_queries(0.0), least_queries(-999.9)
    (Least(for_interval=5, for_ranks=5), Least(for_interval=25, for_ranks=100))
    """
    if math.isinf(lowest) or lowest >= -COSTLY:
        return Least(LEAST_QUERIES, LEAST_QUERIES)
    return Least(LEAST_WHERE_COSTLY, LEAST_FOR_RANKS_WHERE_COSTLY)


def significance(confidence: float) -> float:
    """The significance level α = 1 − confidence. Raises BadInput unless 0 < confidence < 1.

    >>> significance(0.95)
    0.05
    """
    if not 0 < confidence < 1:
        raise BadInput(f"a confidence level lies between 0 and 1, like 0.95; this one is {confidence}")
    return round(1.0 - confidence, 12)  # 1 − .95 is .050000000000000044 in float64


def tails(confidence: float) -> tuple[float, float]:
    """The quantiles between which that share lies, with equal tails. Raises BadInput unless 0 < confidence < 1.

    >>> tails(0.95)
    (0.025, 0.975)
    """
    tail = significance(confidence) / 2
    return tail, 1.0 - tail


def check_resamples(resamples: int) -> None:
    """Raises BadInput unless resamples >= 1.

    >>> check_resamples(10_000)
    """
    if resamples < 1:
        raise BadInput(f"at least one resample is needed; this asks for {resamples}")
