"""Refuses judgments and runs that name more documents than the collection has.

Measures that need the collection's size would come out negative or beyond their range.
"""

from collections.abc import Sequence

import numpy as np

from leaderboard.errors import BadInput, FileRejected, Problem
from leaderboard.metrics import Bools, Ints, Measure, Ranking
from leaderboard.scoring.judged_queries import JudgedQueries

__all__ = ["require_fit"]

NAMED = 10  # queries that a message names


def require_fit(ranking: Ranking, judged: JudgedQueries, measures: Sequence[Measure], name: str) -> None:
    """Checks for each query that the documents judged and listed are no more than the collection has (N_total).

    Only where one of the measures needs N_total. Raises BadInput when the judgments alone name too many; FileRejected,
    which calls the run `name`, when they and the run together do.
    """
    needing = [measure for measure in measures if "documents" in measure.needs]
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
    hits = np.diff(ranking.hit_start)
    named = ranking.retrieved + judgments - hits
    crowded = np.flatnonzero(named > documents)
    if len(crowded):
        problems = [
            Problem(
                None,
                f"query {judged.queries[place]} lists {ranking.retrieved[place]:,} documents; with the "
                f"{judgments[place] - hits[place]:,} judged ones that it lacks these are {named[place]:,}, but the "
                f"collection has {documents:,}",
            )
            for place in crowded[:NAMED].tolist()
        ]
        raise FileRejected(problems, len(crowded), name)


def _require_judgments(wrong: Bools, counts: Ints, judged: JudgedQueries, what: str) -> None:
    if wrong.any():
        place = int(np.argmax(wrong))
        raise BadInput(f"query {judged.queries[place]} has {counts[place]:,} {what}")
