"""What becomes of runs and judgments that name more documents than the collection has (N_total).

Whether a run is refused for it depends on the run alone. If it depended on the judgments too, a team could find out by
submitting which documents are judged (docs/decisions/0009-a-refusal-does-not-depend-on-judgments.md).
"""

from collections.abc import Sequence

import numpy as np

from leaderboard.errors import BadInput, FileRejected, Problem
from leaderboard.formats import Run
from leaderboard.metrics import Bools, Ints, Measure, Ranking
from leaderboard.scoring.judged_queries import JudgedQueries

NAMED = 10  # queries that a message names


def require_run_fits(
    run: Run, documents: int | None, measures: Sequence[Measure], depth: int | None, name: str
) -> None:
    """Raises FileRejected when the run, called `name`, lists more documents for a query than the collection has.

    Only where one of the measures needs their number, and for every query of the run, judged or not.

    documents  N_total, None when it is not given
    depth      how many documents of each list count, None for all
    """
    if documents is None or not _needing(measures):
        return
    listed = np.bincount(run.query, minlength=len(run.queries))
    if depth is not None:
        listed = np.minimum(listed, depth)
    long = np.flatnonzero(listed > documents).tolist()
    if long:
        problems = [
            Problem(
                None,
                f"query {run.queries[query]} lists {listed[query]:,} documents, but the collection has {documents:,}",
            )
            for query in long[:NAMED]
        ]
        raise FileRejected(problems, len(long), name)


def require_judgments_fit(ranking: Ranking, judged: JudgedQueries, measures: Sequence[Measure]) -> None:
    """Raises BadInput when the judgments alone name more documents than the collection has, or leave no other one.

    Only where one of the measures needs N_total.
    """
    needing = _needing(measures)
    documents = ranking.setting.documents
    if not needing or documents is None:
        return
    judgments = np.diff(judged.judged_start)
    _require_judgments(
        judgments > documents, judgments, judged, f"judged documents, but the collection has {documents:,}"
    )
    for level in {measure.arguments.get("rel", 1) for measure in needing}:
        relevant = ranking.relevant(level).judged
        what = f"relevant documents of the collection's {documents:,}: no other is left, so P_fa is undefined"
        _require_judgments(relevant >= documents, relevant, judged, what)


def crowded_queries(ranking: Ranking, judged: JudgedQueries, measures: Sequence[Measure]) -> tuple[str, ...]:
    """The queries for which the documents judged and those listed are together more than the collection has.

    Then N_total is too low, or the run lists documents that the collection lacks. Only where one of the measures needs
    N_total. For whoever may see the judgments, since it tells of them.
    """
    documents = ranking.setting.documents
    if documents is None or not _needing(measures):
        return ()
    named = ranking.retrieved + np.diff(judged.judged_start) - np.diff(ranking.hit_start)
    return tuple(judged.queries[query] for query in np.flatnonzero(named > documents).tolist())


def _needing(measures: Sequence[Measure]) -> list[Measure]:
    return [measure for measure in measures if "documents" in measure.needs]


def _require_judgments(wrong: Bools, counts: Ints, judged: JudgedQueries, what: str) -> None:
    if wrong.any():
        query = int(np.argmax(wrong))
        raise BadInput(f"query {judged.queries[query]} has {counts[query]:,} {what}")
