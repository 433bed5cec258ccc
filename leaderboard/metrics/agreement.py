"""Agreement between two rankings: of two runs on a query, or of two leaderboards.

Each function takes two arrays of item ids in rank order. Where items may tie (systems with equal means), `scores` holds
the score of each item, in the same order, for both lists.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from leaderboard.metrics.segments import Floats

__all__ = [
    "Agreed",
    "Items",
    "kendall_distance",
    "kendall_tau",
    "rank_biased_overlap",
    "spearman_rho",
    "tau_ap",
]

Items = NDArray[Any]
Scores = tuple[Floats, Floats]

ROWS_AT_ONCE = 1 << 22  # comparisons held in memory at a time


class Agreed(NamedTuple):
    """value: the agreement, NaN when undefined. items: how many items it was computed over."""

    value: float
    items: int


def common(first: Items, second: Items, cutoff: int | None, scores: Scores | None) -> tuple[Floats, Floats]:
    """The places of the items in both lists, in the order of the first list; from scores, equal scores place equal."""
    first, second = np.asarray(first)[:cutoff], np.asarray(second)[:cutoff]
    _, here, there = np.intersect1d(first, second, assume_unique=True, return_indices=True)
    order = np.argsort(here)
    here, there = here[order], there[order]
    if scores is None:
        return here.astype(np.float64), there.astype(np.float64)
    return -np.asarray(scores[0], dtype=np.float64)[here], -np.asarray(scores[1], dtype=np.float64)[there]


def pairs(x: Floats, y: Floats) -> tuple[int, int]:
    """(concordant, discordant) pairs; a pair that is tied in either is neither."""
    concordant = discordant = 0
    rows = max(1, ROWS_AT_ONCE // max(len(x), 1))
    for start in range(0, len(x), rows):
        stop = start + rows
        product = np.sign(x[start:stop, None] - x[None, :]) * np.sign(y[start:stop, None] - y[None, :])
        concordant += int(np.count_nonzero(product > 0))
        discordant += int(np.count_nonzero(product < 0))
    return concordant // 2, discordant // 2


def kendall_distance(first: Items, second: Items, *, cutoff: int | None = None) -> Agreed:
    """Discordant pairs / all pairs of the items in both (top k) lists: 0 same order, 1 reversed."""
    x, y = common(first, second, cutoff, None)
    n = len(x)
    return Agreed(pairs(x, y)[1] / (n * (n - 1) / 2) if n > 1 else math.nan, n)


def kendall_tau(first: Items, second: Items, *, scores: Scores | None = None) -> Agreed:
    """tau-b of the items in both lists, in [−1, 1]; undefined below 2 items or where one list ties them all."""
    x, y = common(first, second, None, scores)
    n = len(x)
    concordant, discordant = pairs(x, y)
    untied = [n * (n - 1) // 2 - tied_pairs(each) for each in (x, y)]
    product = untied[0] * untied[1]
    return Agreed((concordant - discordant) / math.sqrt(product) if product else math.nan, n)


def tied_pairs(x: Floats) -> int:
    sizes = np.unique(x, return_counts=True)[1]
    return int((sizes * (sizes - 1) // 2).sum())


def spearman_rho(first: Items, second: Items, *, cutoff: int | None = None, scores: Scores | None = None) -> Agreed:
    """Pearson correlation of the ranks among the items in both lists, tied ones at their average rank; in [−1, 1]."""
    x, y = (average_ranks(each) for each in common(first, second, cutoff, scores))
    dx, dy = x - x.mean() if len(x) else x, y - y.mean() if len(y) else y
    spread = math.sqrt(float(dx @ dx) * float(dy @ dy))
    return Agreed(float(dx @ dy) / spread if spread else math.nan, len(x))


def average_ranks(x: Floats) -> Floats:
    """1 for the smallest; equal values share the mean of their ranks."""
    _, place, sizes = np.unique(x, return_inverse=True, return_counts=True)
    last = np.cumsum(sizes)
    return np.asarray((last - (sizes - 1) / 2.0)[place], dtype=np.float64)


def rank_biased_overlap(first: Items, second: Items, *, p: float = 0.9) -> Agreed:
    """RBO, extrapolated from lists that may differ in length, in [0, 1]; undefined for two empty lists."""
    short, long = sorted((np.asarray(first), np.asarray(second)), key=len)
    s, n = len(short), len(long)
    if not n:
        return Agreed(math.nan, 0)
    _, here, there = np.intersect1d(short, long, assume_unique=True, return_indices=True)
    if not s:
        return Agreed(0.0, 0)
    depth = np.arange(1, n + 1)
    # An item is in both lists from the deeper of its two places on.
    overlap = np.cumsum(np.bincount(np.maximum(here, there), minlength=n))
    weight = p**depth
    beyond = depth[s:]
    seen = float(np.sum(overlap / depth * weight))
    unseen = float(np.sum(overlap[s - 1] * (beyond - s) / (s * beyond) * weight[s:]))
    tail = (overlap[-1] - overlap[s - 1]) / n + overlap[s - 1] / s
    return Agreed(float((1 - p) / p * (seen + unseen) + tail * p**n), len(here))


def tau_ap(first: Items, second: Items) -> Agreed:
    """AP correlation of the second list with the first, the reference, over the items in both; in [−1, 1].

    Errors near the top of the second list cost most.
    """
    reference, place = common(first, second, None, None)
    n = len(place)
    if n < 2:
        return Agreed(math.nan, n)
    listed = reference[np.argsort(place)]
    above = np.array([np.count_nonzero(listed[:i] < listed[i]) for i in range(1, n)])
    return Agreed(float(2.0 * np.mean(above / np.arange(1, n)) - 1.0), n)
