"""What a board says beyond means, for one measure: intervals, rank ranges, and which systems may be the best."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from leaderboard.metrics.aggregation import MEAN, Aggregation, Columns
from leaderboard.metrics.measure import Direction
from leaderboard.statistics.contributions import contributions
from leaderboard.statistics.defaults import CONFIDENCE, RESAMPLES, SEED
from leaderboard.statistics.draws import resampled
from leaderboard.statistics.intervals import NO_LIMITS, Interval, intervals
from leaderboard.statistics.ranks import RankRange, competition_ranks, rank_ranges
from leaderboard.statistics.tukey import Tukey, leaders, tukey_hsd

__all__ = ["BoardStatistics", "SystemStatistics", "board_statistics"]


@dataclass(frozen=True, slots=True)
class SystemStatistics:
    """Of one system on the board. rank_range: None where the measure has no direction."""

    interval: Interval
    rank_range: RankRange | None


@dataclass(frozen=True, eq=False, slots=True)
class BoardStatistics:
    """systems: in the order given; none for a measure of the whole run. leaders: the first system and those that can't
    be told apart from it, best first. tukey: the test that says so, None where it was not made."""

    systems: Mapping[str, SystemStatistics]
    leaders: tuple[str, ...]
    tukey: Tukey | None
    confidence: float
    resamples: int
    seed: int


def board_statistics(
    systems: Mapping[str, Columns],
    aggregation: Aggregation = MEAN,
    *,
    direction: Direction = "higher",
    limits: tuple[float, float] = NO_LIMITS,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    compare_pairs: bool = True,
) -> BoardStatistics:
    """Interval and rank range of every system, and those that can't be told apart from the first at `confidence`.

    systems: name -> columns, float64[Q] each and all over the same queries in the same order, NaN where a query has no
    value; aggregation and direction are the measure's own, limits as `intervals` takes them. Resamples and permutations
    both start from `seed`. Without `compare_pairs` the test of all pairs, by far the longest part on a large board, is
    left out, and so are leaders. Raises BadInput for a confidence outside (0, 1) or resamples below 1.

    >>> import numpy as np
    >>> found = board_statistics({"a": (np.array([0.5, 1.0]),), "b": (np.array([0.25, 0.5]),)})
    >>> [(name, each.interval.estimate, each.rank_range.rank) for name, each in found.systems.items()]
    [('a', 0.75, 1), ('b', 0.375, 2)]
    >>> found.leaders  # two queries tell nothing apart
    ('a', 'b')
    """
    if not aggregation.has_interval:
        return BoardStatistics({}, (), None, confidence, resamples, seed)
    columns = list(systems.values())
    drawn = resampled(columns, aggregation, resamples=resamples, seed=seed)
    means = np.array([aggregation.combine(each, None) for each in columns])
    own = intervals(columns, aggregation, limits=limits, confidence=confidence, resamples=resamples, seed=seed)
    if direction == "none" or not systems:
        unranked = {name: SystemStatistics(each, None) for name, each in zip(systems, own, strict=True)}
        return BoardStatistics(unranked, (), None, confidence, resamples, seed)
    ranges = rank_ranges(means, drawn, direction, confidence=confidence)
    ranked = dict(zip(systems, map(SystemStatistics, own, ranges), strict=True))
    if not compare_pairs:
        return BoardStatistics(ranked, (), None, confidence, resamples, seed)
    values = np.stack([contributions(each, aggregation) for each in columns], axis=1)
    test = tukey_hsd(values, permutations=resamples, seed=seed)
    names = tuple(systems)
    first = tuple(names[place] for place in leaders(competition_ranks(means, direction), test.p, confidence))
    return BoardStatistics(ranked, first, test, confidence, resamples, seed)
