"""What a board says beyond means, for one measure: intervals, rank sets, and which systems may be the best."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.metrics.aggregation import MEAN, VALUE_OF_MEANS, Aggregation, Columns
from leaderboard.metrics.measure import Direction
from leaderboard.statistics.contributions import contributions, has_value
from leaderboard.statistics.defaults import CONFIDENCE, RESAMPLES, SEED
from leaderboard.statistics.intervals import NO_LIMITS, Interval, intervals
from leaderboard.statistics.least import LEAST, Least
from leaderboard.statistics.rank_sets import RankSet, RankSets, rank_sets


@dataclass(frozen=True, slots=True)
class SystemStatistics:
    """Of one system on the board. rank_set: None where nothing is said of ranks."""

    interval: Interval
    rank_set: RankSet | None


@dataclass(frozen=True, eq=False, slots=True)
class BoardStatistics:
    """What is known of a board's systems.

    systems       in the order given
    may_be_best   the ranked systems whose rank set holds 1, best first
    above         those that are significantly better than every baseline; empty without baselines
    ranks         how the sets were found, None where ranks were not asked for or the measure has none
    """

    systems: Mapping[str, SystemStatistics]
    may_be_best: tuple[str, ...]
    above: tuple[str, ...]
    ranks: RankSets | None
    confidence: float
    resamples: int
    seed: int


def board_statistics(
    systems: Mapping[str, Columns],
    aggregation: Aggregation = MEAN,
    *,
    direction: Direction = "higher",
    baselines: Collection[str] = (),
    limits: tuple[float, float] = NO_LIMITS,
    least: Least = LEAST,
    resamples: int = RESAMPLES,
    compare_pairs: bool = True,
) -> BoardStatistics:
    """Interval and rank set of every system, and which of them may be the best.

    systems: name -> columns, float64[Q] each and all over the same queries in the same order, NaN where a query has no
    value; aggregation and direction are the measure's own, limits as `intervals` takes them, least as `least_queries`
    has it. baselines: those of the names that are compared with the others and not ranked. Without `compare_pairs` the
    rank sets, by far the longest part on a large board, are left out. A measure of the whole run has no rank sets,
    because it is not made of queries. Raises BadInput for resamples below 1.

    >>> import numpy as np
    >>> column = np.linspace(0.2, 0.6, 20)
    >>> found = board_statistics({"a": (column,), "b": (column**2,), "c": (column[::-1],)}, resamples=999)
    >>> [(name, each.rank_set.rank, each.rank_set.low, each.rank_set.high) for name, each in found.systems.items()]
    [('a', 1, 1, 2), ('b', 3, 3, 3), ('c', 1, 1, 2)]
    >>> found.may_be_best
    ('a', 'c')
    """
    columns = list(systems.values())
    own = intervals(columns, aggregation, limits=limits, least=least.for_interval, resamples=resamples)
    if direction == "none" or not compare_pairs or not systems or not aggregation.has_interval:
        unranked = {name: SystemStatistics(each, None) for name, each in zip(systems, own, strict=True)}
        return BoardStatistics(unranked, (), (), None, CONFIDENCE, resamples, SEED)
    ranked = np.array([name not in baselines for name in systems])
    sets_of_ranks = rank_sets(
        np.stack([contributions(each, aggregation) for each in columns], axis=1),
        direction,
        means=np.array([aggregation.combine(each, None) for each in columns]),
        ranked=ranked,
        width=_width(columns, aggregation, limits),
        least=least.for_ranks,
        resamples=resamples,
    )
    names = tuple(systems)
    above = [] if ranked.all() else np.flatnonzero(ranked & sets_of_ranks.better[:, ~ranked].all(axis=1)).tolist()
    return BoardStatistics(
        systems={
            name: SystemStatistics(each, sets_of_ranks.sets[index] if sets_of_ranks.sets else None)
            for index, (name, each) in enumerate(zip(names, own, strict=True))
        },
        may_be_best=tuple(names[index] for index in sets_of_ranks.best),
        above=tuple(names[index] for index in above),
        ranks=sets_of_ranks,
        confidence=CONFIDENCE,
        resamples=resamples,
        seed=SEED,
    )


def _width(systems: Sequence[Columns], aggregation: Aggregation, limits: tuple[float, float]) -> float:
    """The largest difference that two contributions to a mean can have; infinite where that is not known.

    limits: of the figure. AQWV's terms are scaled where one of them is defined on fewer queries (`contributions`).
    """
    width = limits[1] - limits[0]
    if aggregation is MEAN:
        return width
    if aggregation is VALUE_OF_MEANS:
        defined = [[int(np.count_nonzero(~np.isnan(column))) for column in columns] for columns in systems]
        queries = [int(np.count_nonzero(has_value(columns))) for columns in systems]
        return width * max(total / max(1, min(own)) for total, own in zip(queries, defined, strict=True))
    return np.inf
