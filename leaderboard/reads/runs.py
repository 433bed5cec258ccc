"""The scored runs of sets as arrays: whose they are, without a row for each."""

from collections.abc import Iterable
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
        return len(np.unique(self.systems)) < len(self.systems)

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
    sets: Iterable[int],
    which: sa.ColumnElement[bool],
    *,
    standing: sa.ColumnElement[bool] | None = None,
    by_arrival: bool = False,
) -> dict[int, Runs]:
    """Id of a set -> its runs by a condition on Scoring and Submission; in one statement.

    standing    only those that stand for their systems by the rows of Standing with this condition
    by_arrival  in the order in which they were received (`rules.standings.arrival`); else in no order

    All numbers come in one text: a row for each run takes twice as long.
    """
    ids = list(sets)
    is_baseline = Submission.system_id.in_(sa.select(System.id).where(System.kind == SystemKind.BASELINE))
    marks = Submission.late, is_baseline, Submission.team_id.in_(actor.teams), ~on_boards()
    numbers: list[Any] = [Scoring.scoring_set_id, Submission.id, Scoring.id, Submission.system_id]
    numbers.append(sum(2**bit * sa.cast(mark, sa.Integer) for bit, mark in enumerate(marks)))
    if by_arrival:
        numbers.append(sa.func.row_number().over(order_by=(Submission.received_at, Submission.id)))
    runs = sa.select(*(number.label(f"number_{place}") for place, number in enumerate(numbers)))
    runs = runs.join_from(Submission, Scoring, Scoring.submission_id == Submission.id)
    if standing is not None:
        its_row = Standing.scoring_id == Scoring.id, Standing.scoring_set_id == Scoring.scoring_set_id
        runs = runs.join(Standing, sa.and_(*its_row, standing))
    found = runs.where(Scoring.scoring_set_id.in_(ids), Scoring.state == State.SCORED, which).subquery()
    of_run: sa.ColumnElement[str] = sa.cast(found.c[0], sa.String)
    for each in list(found.c)[1:]:
        of_run = of_run + "," + sa.cast(each, sa.String)
    text = session.scalar(sa.select(sa.func.aggregate_strings(of_run, ",")))
    table = np.fromstring(text, dtype=np.int64, sep=",") if text else np.zeros(0, dtype=np.int64)
    table = table.reshape(-1, len(numbers))
    if by_arrival:
        table = table[np.argsort(table[:, -1])]
    return {one: _runs(table[table[:, 0] == one]) for one in ids}


def _runs(table: Ints) -> Runs:
    _, submissions, scorings, systems, marks, *_ = np.ascontiguousarray(table.T)
    late, baseline, own, off_board = ((marks >> bit & 1).astype(bool) for bit in range(4))
    return Runs(submissions, scorings, systems, late, baseline, own, off_board)
