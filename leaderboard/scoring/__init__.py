"""Scores a run against judgments: the one place that decides order, ties and missing queries. No files, no database.

judged = prepare(judgments, queries)                # once for many runs
scored = score(run, judged, parse_all("AP nDCG@10"), Setting())
scored.results[measure].mean, .values               # values: float64, one for each of scored.queries
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leaderboard.formats import Run
from leaderboard.metrics import Evaluated, Measure, Ranking, Setting
from leaderboard.scoring.collection_size import require_fit
from leaderboard.scoring.joined_run import JoinedRun, join
from leaderboard.scoring.judged_queries import JudgedQueries, Judging, prepare
from leaderboard.scoring.order import RankedLines, ranked_lines
from leaderboard.scoring.returned import ReturnedBy, returned, returned_by

__all__ = [
    "JoinedRun",
    "JudgedQueries",
    "Judging",
    "RankedLines",
    "ReturnedBy",
    "Scored",
    "join",
    "prepare",
    "ranked_lines",
    "returned",
    "returned_by",
    "score",
]


@dataclass(frozen=True, slots=True)
class Scored:
    """What a run reached.

    queries  those that count, in the order of every measure's values
    results  each measure's values over them and its mean
    missing  queries that count and that the run lacks: each was scored as an empty list
    unknown  queries of the run that don't count: ignored
    ranking  what the measures were computed from
    """

    queries: tuple[str, ...]
    results: Mapping[Measure, Evaluated]
    missing: tuple[str, ...]
    unknown: tuple[str, ...]
    ranking: Ranking


def score(
    run: Run,
    judged: JudgedQueries,
    measures: Sequence[Measure],
    setting: Setting | None = None,
    *,
    threshold: float | None = None,
    depth: int | None = None,
    judged_only: bool = False,
    name: str = "run",
) -> Scored:
    """Every measure of one run; the arguments are those of `join`, and what messages call the run.

    Raises BadInput for what a measure lacks and for judgments, FileRejected for a run, that don't fit the collection.
    """
    joined = join(run, judged, setting, threshold=threshold, depth=depth, judged_only=judged_only)
    require_fit(joined.ranking, judged, measures, name)
    results = {measure: measure.evaluate(joined.ranking) for measure in measures}
    return Scored(judged.queries, results, joined.missing, joined.unknown, joined.ranking)
