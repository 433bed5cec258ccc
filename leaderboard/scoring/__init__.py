"""Scores a run against judgments: the one place that decides order, ties, what counts as returned and what a query
that the run lacks is worth. It opens no file and knows no database.

judged = prepare(judgments, queries)                # once, for any number of runs
scored = score(run, judged, parse_all("AP nDCG@10"), Setting())
scored.results[measure].mean, .values               # values: float64, one for each of scored.queries
"""

from collections.abc import Mapping, Sequence

from leaderboard.formats import Run
from leaderboard.frozen import frozen
from leaderboard.metrics import Evaluated, Measure, Ranking, Setting
from leaderboard.scoring.joined_run import JoinedRun, crowded_queries, join, require_judgments_fit, require_run_fits
from leaderboard.scoring.judged_queries import JudgedQueries, Judging, prepare
from leaderboard.scoring.order import RankedLines, ReturnedBy, by_one_threshold, ranked_lines, returned, returned_by


@frozen
class Scored:
    """The figures of one run.

    queries  the Q queries that count, in the order of every measure's values
    results  measure -> its mean, and its value on each query, float64[Q]
    missing  those of them that the run lacks: each was scored as an empty list
    unknown  queries of the run that don't count; they were ignored
    crowded  queries for which the documents judged and listed are more than the collection has: its number is too low,
             or the run lists documents that it lacks. No more of them count as false alarms than the collection has
             documents that are not relevant
    ranking  what the measures were computed from
    """

    queries: tuple[str, ...]
    results: Mapping[Measure, Evaluated]
    missing: tuple[str, ...]
    unknown: tuple[str, ...]
    crowded: tuple[str, ...]
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
    """Computes every measure on one run.

    Parameters
    ----------
    run, judged, setting, threshold, depth, judged_only: as `join` takes them.
    measures: which to compute.
    name: what messages call the run.

    Raises BadInput when a measure needs something that the setting or the judgments lack, and when the judgments name
    more documents than the collection has; FileRejected when the run lists more for a query.

    Examples
    --------
    >>> import io
    >>> from leaderboard.formats import read_judgments, read_run
    >>> from leaderboard.metrics import parse_all
    >>> judged = prepare(read_judgments(io.BytesIO(b"q1 0 a 1\\nq2 0 b 1\\n")))
    >>> run = read_run(io.BytesIO(b"q1 Q0 x 1 0.9 tag\\nq1 Q0 a 2 0.8 tag\\n"))
    >>> scored = score(run, judged, parse_all("RR NumRet"))
    >>> {str(measure): result.mean for measure, result in scored.results.items()}
    {'RR': 0.25, 'NumRet': 2.0}
    >>> scored.missing
    ('q2',)
    """
    joined = join(run, judged, setting, threshold=threshold, depth=depth, judged_only=judged_only)
    ranking = joined.ranking
    crowded: tuple[str, ...] = ()
    documents = ranking.setting.documents
    needing = [measure for measure in measures if "documents" in measure.family.needs]
    if needing and documents is not None:
        require_judgments_fit(ranking, judged, documents, needing)
        require_run_fits(run, documents, depth, name)
        crowded = crowded_queries(ranking, judged, documents)
    results = {measure: measure.evaluate(ranking) for measure in measures}
    return Scored(judged.queries, results, joined.missing, joined.unknown, crowded, ranking)
