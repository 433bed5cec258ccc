"""Tests, intervals, corrections and rank ranges over per-query values: pure functions, no files, no database.

table = compare({"a": columns_a, "b": columns_b}, "a", measure.family.aggregation)      # a run against a baseline
figures = board_figures(systems, measure.family.aggregation, direction=measure.direction).as_json()

Columns are those of `Evaluated.columns`: float64[Q] over the queries in one order for all systems, NaN where a query
has no value. Whatever is drawn starts from a seed that stands in the result. What can't be said is None with a reason.
scipy is imported only when a t test is asked for.
"""

from leaderboard.statistics.board import VERSION, BoardFigures, Standing, board_figures
from leaderboard.statistics.bootstrap import Interval, difference_interval, interval, intervals
from leaderboard.statistics.columns import contributions
from leaderboard.statistics.comparison import Comparison, ComparisonTable, Corrected, compare
from leaderboard.statistics.corrections import benjamini_hochberg, holm
from leaderboard.statistics.effects import Effects, effect_sizes
from leaderboard.statistics.groups import leaders, letters
from leaderboard.statistics.pairs import PairedTest
from leaderboard.statistics.parametric import paired_t
from leaderboard.statistics.randomisation import randomisation_test
from leaderboard.statistics.ranks import RankRange, competition_ranks, rank_ranges
from leaderboard.statistics.resampling import LEVEL, RESAMPLES, SEED
from leaderboard.statistics.signed_ranks import wilcoxon
from leaderboard.statistics.tukey import Tukey, tukey_hsd

__all__ = [
    "LEVEL",
    "RESAMPLES",
    "SEED",
    "VERSION",
    "BoardFigures",
    "Comparison",
    "ComparisonTable",
    "Corrected",
    "Effects",
    "Interval",
    "PairedTest",
    "RankRange",
    "Standing",
    "Tukey",
    "benjamini_hochberg",
    "board_figures",
    "compare",
    "competition_ranks",
    "contributions",
    "difference_interval",
    "effect_sizes",
    "holm",
    "interval",
    "intervals",
    "leaders",
    "letters",
    "paired_t",
    "randomisation_test",
    "rank_ranges",
    "tukey_hsd",
    "wilcoxon",
]
