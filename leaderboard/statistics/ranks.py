"""Ranks, ties, and the range of ranks that a system takes when other queries like these are drawn.

Source for ranges: H. Goldstein and D. J. Spiegelhalter, League Tables and Their Limitations, JRSS A 159, 1996.
"""

from dataclasses import dataclass

import numpy as np

from leaderboard.metrics.measure import Direction
from leaderboard.metrics.ranking import Floats, Ints
from leaderboard.statistics.defaults import CONFIDENCE, tails

__all__ = ["RankRange", "competition_ranks", "rank_ranges"]

TIE = 1e-12


@dataclass(frozen=True, slots=True)
class RankRange:
    """rank: 1 is best, tied systems share it. low, high: the best and the worst rank of the range, which leaves at
    most half of 1 − confidence on either side; None for a system without a mean."""

    rank: int
    low: int | None
    high: int | None


def competition_ranks(means: Floats, direction: Direction) -> Ints:
    """The ranks on a board, best first: ties share a rank and the ranks after them are skipped (1-1-3).

    This is the one definition of a tie. In the order of the board, a mean ties with the one before it when the two
    differ by at most 1e-12, or by 1e-12 of the better one where that is larger than 1 in size: equal to twelve
    decimals below 1, to twelve significant digits above. The same values summed in another order differ in the
    sixteenth digit, so a rank decided there would be decided by rounding. Significant digits alone won't do near 0:
    AQWV is 1 minus two means, and where these add up to 1 what is left is rounding. Runs of a real evaluation that
    differ at all do so by more: one step of P_fa on one of 100 queries over a billion documents is 1e-11.

    Parameters
    ----------
    means: float64[..., S], the systems along the last axis; each row of a matrix is a board of its own. NaN (undefined)
        is last and shares the last rank; a board that gives no rank to an undefined mean leaves it out first.
    direction: the measure's own, "higher" or "lower" (is better).

    Returns int64[..., S], 1 is best, in the order of `means`. Raises ValueError for the direction "none": where neither
    end is better there is no rank.

    >>> import numpy as np
    >>> competition_ranks(np.array([0.5, 0.1 + 0.2, 0.3, 0.2]), "higher").tolist()
    [1, 2, 2, 4]
    >>> competition_ranks(np.array([0.5, 0.3, 0.2]), "lower").tolist()
    [3, 2, 1]
    """
    if direction == "none":
        raise ValueError("a measure without a direction has no ranks")
    rising = np.where(np.isnan(means), np.inf, means if direction == "lower" else -means)
    order = np.argsort(rising, axis=-1, kind="stable")
    rising = np.take_along_axis(rising, order, axis=-1)
    better = rising[..., :-1]
    opens = np.ones(means.shape, dtype=bool)
    opens[..., 1:] = rising[..., 1:] > better + TIE * np.maximum(1.0, np.abs(better))
    place = np.arange(1, means.shape[-1] + 1)
    ranks = np.empty(means.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, np.maximum.accumulate(np.where(opens, place, 0), axis=-1), axis=-1)
    return ranks


def rank_ranges(
    means: Floats, drawn: Floats, direction: Direction, *, confidence: float = CONFIDENCE
) -> tuple[RankRange, ...]:
    """The rank of each system and the range of its ranks in joint resamples, which always holds the rank itself.

    means: float64[S], NaN where undefined; drawn: float64[B, S], the means over resampled queries (`resampled`);
    direction: as `competition_ranks` takes it. Raises BadInput for a confidence outside (0, 1).

    >>> import numpy as np
    >>> drawn = np.array([[0.9, 0.5], [0.8, 0.6], [0.6, 0.7]])
    >>> rank_ranges(np.array([0.8, 0.6]), drawn, "higher")
    (RankRange(rank=1, low=1, high=2), RankRange(rank=2, low=1, high=2))
    """
    ends = tails(confidence)
    ranks = competition_ranks(means, direction)
    if not len(ranks):
        return ()
    low, high = np.quantile(competition_ranks(drawn, direction), ends, axis=0, method="inverted_cdf")
    return tuple(
        RankRange(int(rank), None, None)
        if np.isnan(mean)
        else RankRange(int(rank), int(min(best, rank)), int(max(worst, rank)))
        for mean, rank, best, worst in zip(means, ranks, low, high, strict=True)
    )
