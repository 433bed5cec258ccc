"""The shared metric module: pure numpy, no files, no database. One registry; one module per family of measures.

ranking = Ranking(...)                    # a run joined with its judgments, all queries at once
measure = parse("nDCG@10")                # or trec_eval's ndcg_cut_10
evaluated = measure.evaluate(ranking)     # .values (float64, one per query), .mean, .count, .columns
"""

from leaderboard.metrics.aggregation import Columns, query_order
from leaderboard.metrics.families.detection import oracles, sweep
from leaderboard.metrics.measure import Evaluated, Family, Measure
from leaderboard.metrics.names import (
    AGREEMENTS,
    ALL_TREC,
    BUNDLES,
    GROUPS,
    NEW_IN_10,
    RUN_MEASURES,
    Printed,
    explain,
    parse,
    parse_agreements,
    parse_all,
    requested,
)
from leaderboard.metrics.ranking import Ranking, Setting, Subtopics
from leaderboard.metrics.segments import Bools, Floats, Ints

MEASURES_VERSION = "1.0"
