"""Stretches [first, last) of a long column: searching many at once, and listing all of their places."""

from collections.abc import Callable

import numpy as np

from leaderboard.metrics import Bools, Ints

__all__ = ["first_where", "stretches"]


def first_where(holds: Callable[[Ints, Ints], Bools], first: Ints, last: Ints) -> Ints:
    """int64[n]: the first place of each stretch from which on `holds` is true; its end where that is nowhere.

    holds  (places, stretches) -> bool[n]; within a stretch false before some place and true from there on
    """
    low, high = first.copy(), last.copy()
    open_ = np.flatnonzero(low < high)
    while len(open_):
        middle = (low[open_] + high[open_]) // 2
        true = holds(middle, open_)
        high[open_[true]] = middle[true]
        low[open_[~true]] = middle[~true] + 1
        open_ = open_[low[open_] < high[open_]]
    return low


def stretches(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """(stretch, place), int64[n] each: every place of the stretches, one after the other."""
    length = last - first
    stretch = np.repeat(np.arange(len(first)), length)
    return stretch, np.arange(len(stretch)) - np.repeat(np.cumsum(length) - length, length) + first[stretch]
