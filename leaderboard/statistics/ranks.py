"""Ranks and ties."""

import numpy as np

from leaderboard.metrics.measure import Direction
from leaderboard.metrics.segments import Bools, Floats, Ints

TIE = 1e-12


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
    rising = worst_last(means, direction)
    order = np.argsort(rising, axis=-1)  # not stable, which takes six times as long: equal ones share a rank
    opens = opens_place(np.take_along_axis(rising, order, axis=-1))
    rank = np.arange(1, means.shape[-1] + 1)
    ranks = np.empty(means.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, np.maximum.accumulate(np.where(opens, rank, 0), axis=-1), axis=-1)
    return ranks


def worst_last(means: Floats, direction: Direction) -> Floats:
    """Numbers that rise from the best mean to the worst; infinite for NaN."""
    return np.where(np.isnan(means), np.inf, means if direction == "lower" else -means)


def opens_place(rising: Floats) -> Bools:
    """Of numbers of `worst_last` in their order along the last axis, which do not tie with the one before."""
    better = rising[..., :-1]
    opens = np.ones(rising.shape, dtype=bool)
    opens[..., 1:] = rising[..., 1:] > better + TIE * np.maximum(1.0, np.abs(better))
    return opens


def is_ahead(mean: float, other: float, direction: Direction) -> bool:
    """Whether of two means alone the first has rank 1 and the second rank 2, by the rule of `competition_ranks`.

    >>> is_ahead(0.3, 0.2, "higher"), is_ahead(0.1 + 0.2, 0.3, "higher"), is_ahead(0.3, 0.2, "lower")
    (True, False, False)
    """
    better, worse = (mean, other) if direction == "lower" else (-mean, -other)
    return worse > better + TIE * max(1.0, abs(better))
