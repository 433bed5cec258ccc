"""θ from other, judged queries."""

import io
import math

import numpy as np
import pytest

from leaderboard.baselines.runs import RankedList, require_other_queries, tune
from leaderboard.errors import BadInput
from leaderboard.formats import QueryRow, read_judgments
from leaderboard.metrics import Setting
from leaderboard.scoring import prepare


def _list(query: str, **scores: float) -> RankedList:
    return RankedList(query, np.array([name.encode() for name in scores], "S8"), np.array(list(scores.values())))


def _judged(text: str):  # type: ignore[no-untyped-def]  # what prepare gives
    return prepare(read_judgments(io.BytesIO(text.encode())))


def test_the_threshold_brings_the_best_value() -> None:
    lists = [_list("t1", a=3.0, b=2.0, c=1.0), _list("t2", d=2.5, e=0.5)]
    tuned = tune(lists, _judged("t1 0 a 1\nt1 0 b 0\nt2 0 d 1\nt2 0 e 1\n"), Setting(documents=12, beta=2.0))
    # At 2.5 a and d are returned: (1 + 1/2) / 2. At 0.5 all are, with two false alarms of 11 others in one query.
    assert tuned.theta == 0.5
    assert tuned.qwv == pytest.approx(1 - 2 * (2 / 11) / 2)
    assert tuned.queries == 2
    dear = tune(lists, _judged("t1 0 a 1\nt2 0 d 1\nt2 0 e 1\n"), Setting(documents=12, beta=20.0))
    assert (dear.theta, dear.qwv) == (2.5, 0.75)


def test_returning_nothing_may_be_best() -> None:
    tuned = tune([_list("t", a=1.0)], _judged("t 0 b 1\n"), Setting(documents=3, beta=2.0))
    assert (tuned.theta, tuned.qwv) == (math.inf, 0.0)


def test_queries_without_a_relevant_document_tell_nothing() -> None:
    with pytest.raises(BadInput, match="no query to tune the threshold on has a relevant document"):
        tune([_list("t", a=1.0)], _judged("t 0 a 0\n"), Setting(documents=3, beta=2.0))


@pytest.mark.parametrize("other", [QueryRow("q1", "another text", ()), QueryRow("t1", "Harbour  FEES", ())])
def test_a_query_of_the_run_is_not_tuned_on(other: QueryRow) -> None:
    run = [QueryRow("q1", "harbour fees", ())]
    with pytest.raises(BadInput, match=f"by id or by text \\({other.id}\\)"):
        require_other_queries(run, [QueryRow("t0", "ships", ()), other])
    require_other_queries(run, [QueryRow("t0", "ships", ())])
