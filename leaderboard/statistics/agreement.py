"""How far two sources of judgments agree: Cohen's κ, unweighted or weighted, with an interval over queries.

κ = 1 − D / E, where D is how far the two are apart on average, and E how far they would be if each kept its shares of
grades and gave them at random. Documents of one query hang together, so the interval leaves out whole queries, one
after the other (the jackknife), with Student's t, on the scale of atanh(κ), which has no ends. Percentiles of resampled
queries held the truth less often (docs/statistics.md).

Sources: J. Cohen, A Coefficient of Agreement for Nominal Scales, Educational and Psychological Measurement 20, 1960;
Weighted Kappa, Psychological Bulletin 70, 1968; J. N. Arvesen, Jackknifing U-statistics, Annals of Mathematical
Statistics 40, 1969.
"""

from typing import NamedTuple

import numpy as np

from leaderboard.metrics.segments import Floats, Ints
from leaderboard.statistics.intervals import students_t
from leaderboard.statistics.samples import ALPHA, LEAST_QUERIES


class Kappa(NamedTuple):
    """κ, −1 to 1: 1 where all is the same, 0 as by chance; None where both give one and the same grade only. low, high:
    its 95 % interval; None below LEAST_QUERIES queries, and where nothing varies from query to query."""

    value: float | None
    low: float | None = None
    high: float | None = None


def distances(grades: Ints, level: int) -> dict[str, Floats]:
    """float64[G, G] each: how far two grades are apart, by what is compared: `relevant`, whether a grade is at least
    `level`; `linear`, `quadratic`, how far one is above the other, or the square of that. grades: int64[G].

    >>> import numpy as np
    >>> [apart[0].tolist() for apart in distances(np.array([0, 1, 2]), 1).values()]
    [[0.0, 1.0, 1.0], [0.0, 1.0, 2.0], [0.0, 1.0, 4.0]]
    """
    relevant, steps = grades >= level, np.abs(np.subtract.outer(grades, grades)).astype(float)
    return {"relevant": (relevant[:, np.newaxis] != relevant) * 1.0, "linear": steps, "quadratic": steps**2}


def kappa(tables: Ints, distance: Floats) -> Kappa:
    """tables: int64[Q, G, G], of each query how many documents got the first grade from the one and the second from
    the other. distance: float64[G, G], 0 on the diagonal.

    >>> import numpy as np
    >>> round(kappa(np.array([[[20, 5], [10, 15]]]), np.array([[0.0, 1.0], [1.0, 0.0]])).value, 12)
    0.4
    """
    tables = tables[tables.any(axis=(1, 2))]
    queries, whole = len(tables), tables.sum(axis=0)
    value = float(_kappas(whole, distance))
    if not np.isfinite(value):
        return Kappa(None)
    with np.errstate(divide="ignore", invalid="ignore"):
        without = np.arctanh(_kappas(whole - tables, distance))
        error = np.sqrt((queries - 1) / queries * ((without - without.mean()) ** 2).sum())
    if queries < LEAST_QUERIES or not np.isfinite(error) or not error:
        return Kappa(value)
    half = float(students_t(np.array(queries - 1.0), ALPHA)) * error
    low, high = np.tanh(np.arctanh(value) + np.array([-half, half]))
    return Kappa(value, float(low), float(high))


def _kappas(tables: Ints, distance: Floats) -> Floats:
    """float64[...] of int64[..., G, G]; NaN where chance leaves no distance."""
    rows, columns, documents = tables.sum(axis=-1), tables.sum(axis=-2), tables.sum(axis=(-2, -1))
    apart = (tables * distance).sum(axis=(-2, -1))
    by_chance = np.einsum("...i,...j,ij->...", rows, columns, distance) / np.maximum(documents, 1)
    return np.where(by_chance > 0, 1 - apart / np.where(by_chance > 0, by_chance, 1), np.nan)
