"""p-values of several tests at once, corrected for their number."""

from collections.abc import Callable, Sequence

import numpy as np

from leaderboard.metrics.ranking import Floats

__all__ = ["benjamini_hochberg", "holm"]

Maybe = float | None


def holm(p: Sequence[Maybe]) -> tuple[Maybe, ...]:
    """Corrected p-values in the order given; below α, the chance of even one false finding is at most α.

    The i-th smallest of m is multiplied by m − i + 1, never falls below the one before, and is at most 1. A None (no
    test) stays None and is not counted in m. Source: S. Holm, A Simple Sequentially Rejective Multiple Test Procedure,
    Scandinavian Journal of Statistics 6, 1979.
    """
    return _corrected(p, lambda rising: np.maximum.accumulate(rising * np.arange(len(rising), 0, -1)))


def benjamini_hochberg(p: Sequence[Maybe]) -> tuple[Maybe, ...]:
    """Corrected p-values in the order given; of the findings below α, at most a share α is expected to be false.

    The i-th smallest of m is multiplied by m / i and never exceeds the one after. A None stays None and is not counted
    in m. Source: Y. Benjamini and Y. Hochberg, Controlling the False Discovery Rate, Journal of the Royal Statistical
    Society B 57, 1995.
    """

    def falling(rising: Floats) -> Floats:
        scaled = rising * len(rising) / np.arange(1, len(rising) + 1)
        return np.minimum.accumulate(scaled[::-1])[::-1]

    return _corrected(p, falling)


def _corrected(p: Sequence[Maybe], correct: Callable[[Floats], Floats]) -> tuple[Maybe, ...]:
    given = np.array([value for value in p if value is not None], dtype=np.float64)
    order = np.argsort(given, kind="stable")
    corrected = np.empty_like(given)
    corrected[order] = np.minimum(1.0, correct(given[order]))
    values = iter(corrected.tolist())
    return tuple(None if value is None else next(values) for value in p)
