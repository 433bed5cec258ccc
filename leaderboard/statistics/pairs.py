"""Two systems on the same queries, and what a paired test says of them."""

from dataclasses import dataclass

import numpy as np

from leaderboard.metrics.ranking import Floats

__all__ = ["NO_PAIRS", "PairedTest", "Pairs", "pair"]

EQUAL = 1e-12  # relative: values that differ by less were computed in another order, not worse

NO_PAIRS = "no query has a value for both systems"


@dataclass(frozen=True, eq=False, slots=True)
class Pairs:
    """difference: float64[n], first − second on the queries where both have a value, exactly 0 for a tie.
    left_out: queries where at least one of them has none."""

    difference: Floats
    left_out: int


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A two-sided paired test.

    name       "randomisation", "t" or "wilcoxon"
    p          in (0, 1]: how probable a difference at least this large is when the two systems are alike; None when
               that can't be said, and then `reason` says why
    statistic  the mean difference, t, or the smaller sum of signed ranks
    queries    how many had a value for both systems; `left_out` how many had not
    exact      every arrangement was counted, rather than drawn or approximated
    resamples  arrangements drawn, with `seed`; None when none were
    """

    name: str
    p: float | None
    statistic: float | None
    queries: int
    left_out: int
    exact: bool = False
    resamples: int | None = None
    seed: int | None = None
    reason: str | None = None


def pair(first: Floats, second: Floats) -> Pairs:
    """The differences on common queries. first, second: float64[Q] in the same order, NaN where undefined."""
    if first.shape != second.shape:
        raise ValueError(f"paired values need the same queries; these are {first.shape} and {second.shape}")
    both = ~(np.isnan(first) | np.isnan(second))
    mine, theirs = first[both], second[both]
    difference = mine - theirs
    noise = EQUAL * np.maximum(np.abs(mine), np.abs(theirs))
    return Pairs(np.where(np.abs(difference) <= noise, 0.0, difference), int(np.count_nonzero(~both)))
