"""How many queries a measure needs before anything is said of other queries like these.

Under P_fa, and under AQWV with a large β, one query in twenty may cost a run more than all others together; so may a
query on which nothing is found under a geometric mean. A sample that lacks it shows nothing of it, so no procedure that
looks at the sample alone can be right: what helps is more queries. How many was found by simulation
(docs/statistics.md).
"""

from typing import NamedTuple

from leaderboard.metrics.aggregation import GEOMETRIC_MEAN
from leaderboard.metrics.measure import Measure
from leaderboard.metrics.ranking import Setting
from leaderboard.statistics.defaults import LEAST_QUERIES


class Least(NamedTuple):
    """How many queries are needed. for_interval: for an interval; for_ranks: for rank sets."""

    for_interval: int
    for_ranks: int


LEAST = Least(LEAST_QUERIES, LEAST_QUERIES)
WHERE_COSTLY = Least(25, 150)
OF_LOGARITHMS = Least(LEAST_QUERIES, 150)
COSTLY = 50.0  # β: with more than that, what false alarms cost outweighs all else
VALUES = ("Value", "AQWV", "MQWV")  # not OQWV: its θ is chosen query by query, so none costs anything


def least_queries(measure: Measure, setting: Setting) -> Least:
    """How many queries the measure needs in an evaluation with that setting.

    >>> from leaderboard.metrics import parse
    >>> least_queries(parse("AQWV"), Setting(beta=20.0)), least_queries(parse("AQWV"), Setting(beta=999.9))
    (Least(for_interval=5, for_ranks=5), Least(for_interval=25, for_ranks=150))
    >>> least_queries(parse("Pfa"), Setting(beta=20.0)), least_queries(parse("GMAP"), Setting())
    (Least(for_interval=25, for_ranks=150), Least(for_interval=5, for_ranks=150))
    """
    family = measure.family
    if family.aggregation is GEOMETRIC_MEAN:
        return OF_LOGARITHMS
    costly = family.unit == "false alarms" or (family.name in VALUES and (setting.beta or 0.0) > COSTLY)
    return WHERE_COSTLY if costly else LEAST
