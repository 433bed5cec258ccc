"""Everything that a board shows beyond the figures themselves, for one measure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from leaderboard.metrics.aggregation import MEAN, Aggregation, Columns
from leaderboard.metrics.measure import Direction
from leaderboard.statistics.bootstrap import Interval, percentile_interval
from leaderboard.statistics.columns import contributions, stated
from leaderboard.statistics.groups import leaders, letters
from leaderboard.statistics.ranks import RankRange, competition_ranks, rank_ranges
from leaderboard.statistics.resampling import LEVEL, RESAMPLES, SEED, resampled
from leaderboard.statistics.tukey import Tukey, tukey_hsd

__all__ = ["VERSION", "BoardFigures", "Standing", "board_figures"]

VERSION = 1  # of what as_json holds and how it is computed; figures stored with another one are computed anew

NO_DIRECTION = "neither more nor less of this is better, so there are no ranks"


@dataclass(frozen=True, slots=True)
class Standing:
    """One system on the board. ranks: None where the measure has no direction; letters: as `groups.letters`."""

    name: str
    interval: Interval
    ranks: RankRange | None
    letters: str


@dataclass(frozen=True, eq=False, slots=True)
class BoardFigures:
    """standings in the order given; leaders: the first system's name and those that can't be told apart from it, best
    first. `reason` says why a part is missing for the whole board; tukey is None where nothing is compared."""

    standings: tuple[Standing, ...]
    leaders: tuple[str, ...]
    tukey: Tukey | None
    level: float
    resamples: int
    seed: int
    reason: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain values for the `board` table; None where there is no figure, never NaN."""
        test = self.tukey
        return {
            "version": VERSION,
            "level": self.level,
            "resamples": self.resamples,
            "seed": self.seed,
            "reason": self.reason,
            "leaders": list(self.leaders),
            "tukey": None
            if test is None
            else {
                "queries": test.queries,
                "left_out": test.left_out,
                "resamples": test.resamples,
                "reason": test.reason,
            },
            "systems": {standing.name: _as_json(standing) for standing in self.standings},
        }


def board_figures(
    systems: Mapping[str, Columns],
    aggregation: Aggregation = MEAN,
    *,
    direction: Direction = "higher",
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    groups: bool = True,
) -> BoardFigures:
    """Interval and rank range of every system, and the groups that can't be told apart at `level`.

    systems: name -> columns, float64[Q] each and all over the same queries in the same order, NaN where a query has no
    value; aggregation and direction are the measure's own. Resamples and permutations both start from `seed`. Without
    `groups` the test of all pairs, by far the longest part on a large board, is left out, and so are leaders and
    letters. A measure of the whole run (MQWV) has none of this. Raises BadInput for a level outside (0, 1) or no
    resamples.
    """
    if not aggregation.has_interval:
        return BoardFigures((), (), None, level, resamples, seed, aggregation.name)
    columns = list(systems.values())
    drawn = resampled(columns, aggregation, resamples=resamples, seed=seed)
    values = np.array([aggregation.combine(each, None) for each in columns])
    intervals = [
        percentile_interval(value, drawn[:, place], queries=int(stated(each).sum()), level=level, seed=seed)
        for place, (value, each) in enumerate(zip(values.tolist(), columns, strict=True))
    ]
    names = tuple(systems)
    if direction == "none" or not names:
        standings = tuple(Standing(name, own, None, "") for name, own in zip(names, intervals, strict=True))
        return BoardFigures(standings, (), None, level, resamples, seed, NO_DIRECTION if names else None)

    lower = direction == "lower"
    ranges = rank_ranges(values, drawn, direction, level=level)
    if not groups:
        standings = tuple(Standing(*each, "") for each in zip(names, intervals, ranges, strict=True))
        return BoardFigures(standings, (), None, level, resamples, seed)
    added = np.stack([contributions(each, aggregation) for each in columns], axis=1)
    test = tukey_hsd(added, resamples=resamples, seed=seed)
    alike = letters(values, test.p, level, lower_is_better=lower)
    first = leaders(competition_ranks(values, direction), test.p, level)
    return BoardFigures(
        standings=tuple(map(Standing, names, intervals, ranges, alike)),
        leaders=tuple(names[place] for place in first),
        tukey=test,
        level=level,
        resamples=resamples,
        seed=seed,
    )


def _as_json(standing: Standing) -> dict[str, Any]:
    own, ranks = standing.interval, standing.ranks
    return {
        "value": own.value,
        "low": own.low,
        "high": own.high,
        "queries": own.queries,
        "rank": ranks.rank if ranks else None,
        "rank_low": ranks.low if ranks else None,
        "rank_high": ranks.high if ranks else None,
        "letters": standing.letters,
        "reason": own.reason,
    }
