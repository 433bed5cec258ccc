"""The threshold that brings the best value on queries that are judged already."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from leaderboard.baselines.lists import RankedList, as_run
from leaderboard.errors import BadInput
from leaderboard.formats import QueryRow
from leaderboard.formats.sanitise import shown
from leaderboard.metrics import Setting, sweep
from leaderboard.scoring import JudgedQueries, join


class Tuned(NamedTuple):
    """θ, +inf where returning nothing is best; the value it brings on the queries that it was tuned on, and how many
    these are.
    """

    theta: float
    qwv: float
    queries: int


def tune(lists: Sequence[RankedList], judged: JudgedQueries, setting: Setting, level: int = 1) -> Tuned:
    """The single θ that maximises the value of these lists, by the sweep that MQWV is found with.

    setting  with the number of documents and β
    level    the lowest relevant grade

    Raises BadInput where none of the queries has a value.

    >>> import io
    >>> import numpy as np
    >>> from leaderboard.formats import read_judgments
    >>> from leaderboard.scoring import prepare
    >>> judged = prepare(read_judgments(io.BytesIO(b"q 0 a 1")))
    >>> lists = [RankedList("q", np.array([b"a", b"b"], "S8"), np.array([2.5, 1.0]))]
    >>> tune(lists, judged, Setting(documents=10, beta=20.0))
    Tuned(theta=2.5, qwv=1.0, queries=1)
    """
    thresholds = sweep(join(as_run(lists), judged, setting).ranking, level)
    best = thresholds.best
    qwv = float(thresholds.qwv[best])
    if math.isnan(qwv):
        raise BadInput("no query to tune the threshold on has a relevant document; θ can't be found from these")
    return Tuned(float(thresholds.theta[best]), qwv, len(judged.queries))


def require_other_queries(run: Sequence[QueryRow], tuning: Sequence[QueryRow]) -> None:
    """Raises BadInput where a query that θ is tuned on is one of the run's, by its id or its text.

    >>> require_other_queries([QueryRow("q1", "fees", ())], [QueryRow("t1", "ships", ())])
    """
    ids, texts = {row.id for row in run}, {_key(row.text) for row in run}
    same = [row.id for row in tuning if row.id in ids or _key(row.text) in texts]
    if same:
        some = ", ".join(map(shown, same[:5])) + (", …" if len(same) > 5 else "")
        raise BadInput(
            f"{len(same):,} of the queries to tune the threshold on are queries of the run, by id or by text ({some}): "
            "θ would be tuned on what it is then judged by, which MQWV shows anyway. Leave them out; where two sets of "
            "queries only number alike, rename those of one"
        )


def _key(text: str) -> str:
    return " ".join(text.casefold().split())
