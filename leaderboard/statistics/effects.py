"""How large a difference is, beside whether it is there.

Source: T. Sakai, Laboratory Experiments in Information Retrieval, Springer 2018, chapter 5; N. Cliff, Dominance
Statistics, Psychological Bulletin 114, 1993.
"""

from dataclasses import dataclass

import numpy as np

from leaderboard.metrics.aggregation import mean
from leaderboard.metrics.ranking import Floats
from leaderboard.statistics.pairs import NO_PAIRS, pair
from leaderboard.statistics.parametric import spread

__all__ = ["Effects", "effect_sizes"]


@dataclass(frozen=True, slots=True)
class Effects:
    """What the second system's place being taken by the first changes.

    difference     mean of first − second over common queries; None without any
    d_z            that mean in standard deviations of the differences (paired Cohen's d); None on a single query or
                   when every query differs by the same amount; 0 when all tie
    dominance      (better − worse) / queries in [−1, 1], Cliff's delta within pairs; None without common queries
    better, worse, tied   queries on which the first system is better than, worse than, as good as the second
    left_out       queries where at least one of them has no value
    """

    difference: float | None
    d_z: float | None
    dominance: float | None
    better: int
    worse: int
    tied: int
    left_out: int
    reason: str | None = None

    @property
    def queries(self) -> int:
        return self.better + self.worse + self.tied


def effect_sizes(first: Floats, second: Floats, *, lower_is_better: bool = False) -> Effects:
    """Effect sizes of first over second, float64[Q] each in the same order of queries, NaN where undefined.

    `difference` and `d_z` keep the sign of first − second; better, worse and `dominance` follow the measure's
    direction.
    """
    pairs = pair(first, second)
    difference = pairs.difference
    queries = len(difference)
    if queries == 0:
        return Effects(None, None, None, 0, 0, 0, pairs.left_out, NO_PAIRS)
    above, below = int(np.count_nonzero(difference > 0)), int(np.count_nonzero(difference < 0))
    better, worse = (below, above) if lower_is_better else (above, below)
    return Effects(
        difference=mean(difference),
        d_z=_d_z(difference),
        dominance=(better - worse) / queries,
        better=better,
        worse=worse,
        tied=queries - better - worse,
        left_out=pairs.left_out,
    )


def _d_z(difference: Floats) -> float | None:
    if not difference.any():
        return 0.0
    deviation = spread(difference) if len(difference) > 1 else 0.0
    return float(difference.mean()) / deviation if deviation else None
