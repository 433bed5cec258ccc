"""Which systems can't be told apart: the leader's group, and letters for the whole board.

A pair is told apart when its p is at most 1 − level.
"""

import numpy as np

from leaderboard.metrics.ranking import Floats, Ints
from leaderboard.statistics.resampling import alpha

__all__ = ["leaders", "letters"]


def leaders(ranks: Ints, p: Floats, level: float) -> tuple[int, ...]:
    """The places of the first system and of all that can't be told apart from it, best first.

    ranks: int64[S], 1 is best; p: float64[S, S] of all pairs, NaN where a pair was not compared. Equal ranks keep their
    order. Empty when no system was compared.
    """
    order = [int(place) for place in np.argsort(ranks, kind="stable") if not np.isnan(p[place, place])]
    return tuple(place for place in order if p[order[0], place] > alpha(level))


def letters(means: Floats, p: Floats, level: float, *, lower_is_better: bool = False) -> tuple[str, ...]:
    """For each system its groups, like "a" or "b c": two systems that share a letter can't be told apart.

    means: float64[S]; p: float64[S, S], NaN where a pair was not compared (such a system gets ""). The best system's
    group is "a". All pairs are held against one critical difference, so a group is a stretch of the board without gaps.
    """
    compared = np.flatnonzero(~np.isnan(np.diagonal(p)))
    order = compared[np.argsort(means[compared] if lower_is_better else -means[compared], kind="stable")]
    alike = p[np.ix_(order, order)] > alpha(level)
    groups: list[list[str]] = [[] for _ in means]
    reached, group = -1, 0
    for first in range(len(order)):
        last = int(np.flatnonzero(alike[first])[-1])
        if last > reached:  # else the stretch lies within the one before
            for place in order[first : last + 1]:
                groups[place].append(_letter(group))
            reached, group = last, group + 1
    return tuple(" ".join(names) for names in groups)


def _letter(group: int) -> str:
    """a to z, then aa, ab …"""
    before, letter = divmod(group, 26)
    return (_letter(before - 1) if before else "") + chr(ord("a") + letter)
