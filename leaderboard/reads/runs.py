"""The scored runs of sets as arrays: whose they are, without a row for each."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.lookup import on_boards
from leaderboard.metrics.ranking import Bools, Ints
from leaderboard.models import Scoring, Standing, Submission, System
from leaderboard.rules.standings import SystemKind
from leaderboard.rules.states import State

__all__ = ["Runs", "load_runs"]


@dataclass(frozen=True, slots=True)
class Runs:
    """own: whether a run is of a team of the reader's. off_board: whether it only keeps its place (`ScoredRun`)."""

    submissions: Ints
    scorings: Ints
    systems: Ints
    late: Bools
    baseline: Bools
    own: Bools
    off_board: Bools

    @property
    def has_several(self) -> bool:
        """Whether a system has more than one of them."""
        ordered = np.sort(self.systems)
        return bool((ordered[1:] == ordered[:-1]).any())

    def at(self, which: Bools | Ints) -> "Runs":
        """Those of them that a mask says, or that stand at these places."""
        return Runs(
            self.submissions[which],
            self.scorings[which],
            self.systems[which],
            self.late[which],
            self.baseline[which],
            self.own[which],
            self.off_board[which],
        )


def load_runs(
    session: Session,
    actor: Actor,
    sets: Collection[int],
    which: sa.ColumnElement[bool],
    *,
    standing: sa.ColumnElement[bool] | None = None,
    by_arrival: bool = False,
) -> dict[int, Runs]:
    """Id of a set -> its runs by a condition on Scoring and Submission; in one statement.

    standing    only those that stand for their systems by the rows of Standing with this condition
    by_arrival  in the order in which they were received (`rules.standings.arrival`); else in no order

    Each of their numbers comes in one text for a set: a row for each run takes twice as long.
    """
    of_set: Any = Scoring.scoring_set_id
    marks = [Submission.late, ~on_boards(), *([Submission.team_id.in_(actor.teams)] if actor.teams else [])]
    mark = sum(2**bit * sa.cast(one, sa.Integer) for bit, one in enumerate(marks))
    numbers: list[Any] = [Submission.id, Scoring.id, Submission.system_id, mark]
    runs = sa.select().join_from(Submission, Scoring, Scoring.submission_id == Submission.id)
    if standing is not None:
        its_row = Standing.scoring_id == Scoring.id, Standing.scoring_set_id == of_set
        runs = runs.join(Standing, sa.and_(*its_row, standing))
    runs = runs.where(of_set.in_(list(sets)), Scoring.state == State.SCORED, which)
    if by_arrival:
        numbers.append(sa.func.row_number().over(order_by=(Submission.received_at, Submission.id)))
        named = (number.label(f"number_{place}") for place, number in enumerate(numbers))
        inner = runs.add_columns(of_set.label("of_set"), *named).subquery()
        (of_set, *numbers), runs = inner.c, sa.select()
    baselines = sa.select(_as_text(System.id)).where(System.kind == SystemKind.BASELINE).scalar_subquery()
    texts = (_as_text(number) for number in numbers)
    found = dict.fromkeys(sets, _runs(np.zeros((len(numbers), 0), dtype=np.int64), _read("")))
    for set_id, of_baselines, *of_runs in session.execute(runs.add_columns(of_set, baselines, *texts).group_by(of_set)):
        table = np.stack([_read(text) for text in of_runs])
        found[set_id] = _runs(table[:, np.argsort(table[-1])] if by_arrival else table, _read(of_baselines or ""))
    return found


def _as_text(number: Any) -> sa.ColumnElement[str]:
    return sa.func.aggregate_strings(sa.cast(number, sa.String), ",")


def _read(text: str) -> Ints:
    return np.fromstring(text, dtype=np.int64, sep=",") if text else np.zeros(0, dtype=np.int64)


def _runs(table: Ints, baselines: Ints) -> Runs:
    submissions, scorings, systems, marks, *_ = table
    late, off_board, own = (marks & 2**bit > 0 for bit in range(3))
    return Runs(submissions, scorings, systems, late, np.isin(systems, baselines), own, off_board)
