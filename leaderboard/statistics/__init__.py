"""Tests, intervals, corrections and ranks over per-query values: pure functions, no files, no database.

    table = compare({"a": columns_a, "b": columns_b}, "a", measure.family.aggregation)
    board = board_statistics(systems, measure.family.aggregation, direction=measure.direction)

Columns are those of `Evaluated.columns`: float64[Q] over the queries in one order for all systems, NaN where a query
has no value. Whatever is drawn at random starts from a seed that stands in the result. What can't be said is None, and
`reason` says why. scipy.stats is imported only when two systems are compared (docs/decisions/0007-scipy.md).
"""

from leaderboard.statistics.agreement import Kappa, distances, kappa
from leaderboard.statistics.comparison import (
    POWER,
    ComparisonTable,
    Detectable,
    Effects,
    PairedTest,
    SwapRate,
    compare,
    detectable_by_pairs,
    effect_sizes,
    randomisation_test,
    swap_rates,
)
from leaderboard.statistics.fragility import fragility
from leaderboard.statistics.intervals import NO_LIMITS, Interval, difference_interval, intervals, threshold_intervals
from leaderboard.statistics.ranks import board_statistics, competition_ranks
from leaderboard.statistics.samples import (
    CONFIDENCE,
    LEAST_QUERIES,
    RESAMPLES,
    SEED,
    affordable_resamples,
    common,
    contributions,
    least_queries,
)
