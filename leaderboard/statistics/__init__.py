"""Tests, intervals, corrections and ranks over per-query values: pure functions, no files, no database.

    table = compare({"a": columns_a, "b": columns_b}, "a", measure.family.aggregation)
    board = board_statistics(systems, measure.family.aggregation, direction=measure.direction)

Columns are those of `Evaluated.columns`: float64[Q] over the queries in one order for all systems, NaN where a query
has no value. Whatever is drawn at random starts from a seed that stands in the result. What can't be said is None, and
`reason` says why. scipy.stats is imported only when two systems are compared (docs/decisions/0007-scipy.md).
"""

from leaderboard.statistics.board import BoardStatistics, SystemStatistics, board_statistics
from leaderboard.statistics.comparison import (
    Comparison,
    ComparisonTable,
    CorrectedTest,
    benjamini_hochberg,
    compare,
    holm,
)
from leaderboard.statistics.contributions import common, contributions
from leaderboard.statistics.defaults import CONFIDENCE, LEAST_QUERIES, RESAMPLES, SEED, affordable_resamples
from leaderboard.statistics.fragility import Fragility, fragility
from leaderboard.statistics.intervals import NO_LIMITS, Interval, difference_interval, intervals
from leaderboard.statistics.least import LEAST, Least, least_queries
from leaderboard.statistics.linked_years import Change, Effect, LinkedPart, change, linked_parts
from leaderboard.statistics.paired import Effects, PairedTest, effect_sizes, paired_t, randomisation_test, wilcoxon
from leaderboard.statistics.power import POWER, Detectable, detectable, detectable_by_pairs, power, queries_needed
from leaderboard.statistics.rank_sets import RankSet, RankSets, rank_sets
from leaderboard.statistics.ranks import competition_ranks, is_ahead
from leaderboard.statistics.swaps import SwapRate, swap_rates
from leaderboard.statistics.thresholds import ThresholdIntervals, threshold_intervals
from leaderboard.statistics.tukey import Tukey, tukey_hsd
