"""Ranks, and the range of ranks that a system takes when other queries like these are drawn.

Source for ranges: H. Goldstein and D. J. Spiegelhalter, League Tables and Their Limitations, JRSS A 159, 1996.
"""

from dataclasses import dataclass

import numpy as np

from leaderboard.metrics.ranking import Floats, Ints
from leaderboard.statistics.resampling import LEVEL, comparable, tails

__all__ = ["RankRange", "competition_ranks", "rank_ranges"]


@dataclass(frozen=True, slots=True)
class RankRange:
    """rank: 1 is best, equal figures share it. low, high: the best and the worst rank of the range, which leaves at
    most half of what `level` leaves on either side; None for a system without a figure."""

    rank: int
    low: int | None
    high: int | None


def competition_ranks(values: Floats, *, lower_is_better: bool = False) -> Ints:
    """int64[..., S]: ranks along the last axis as on a board. Equal values share a rank and the next is skipped
    (1-1-3), values that agree to twelve digits of the largest are equal, and NaN comes last (all share that rank)."""
    values = comparable(values)
    ascending = np.where(np.isnan(values), np.inf, values if lower_is_better else -values)
    order = np.argsort(ascending, axis=-1, kind="stable")
    sorted_values = np.take_along_axis(ascending, order, axis=-1)
    place = np.arange(1, values.shape[-1] + 1)
    opens = np.ones(values.shape, dtype=bool)
    opens[..., 1:] = sorted_values[..., 1:] != sorted_values[..., :-1]
    ranks = np.empty(values.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, np.maximum.accumulate(np.where(opens, place, 0), axis=-1), axis=-1)
    return ranks


def rank_ranges(
    values: Floats, drawn: Floats, *, lower_is_better: bool = False, level: float = LEVEL
) -> tuple[RankRange, ...]:
    """The rank of each of values (float64[S]) and the range of its ranks in joint resamples (float64[B, S])."""
    ends = tails(level)
    ranks = competition_ranks(values, lower_is_better=lower_is_better)
    if not len(ranks):
        return ()
    every = competition_ranks(drawn, lower_is_better=lower_is_better)
    low, high = np.quantile(every, ends, axis=0, method="inverted_cdf")
    return tuple(
        RankRange(int(rank), None, None) if np.isnan(value) else RankRange(int(rank), int(best), int(worst))
        for value, rank, best, worst in zip(values, ranks, low, high, strict=True)
    )
