"""What of a board is not done yet: runs that wait, that are scored again, or that could not be scored."""

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.lookup import IS_WANTED, lost_in, on_boards
from leaderboard.models import IN_QUEUE, Board, Evaluation, Scoring, ScoringSet, Submission
from leaderboard.rules.settings import Subset
from leaderboard.rules.states import SetState, State

__all__ = ["ParkedRun", "of_worker", "parked_runs", "received_runs"]


@dataclass(frozen=True, slots=True)
class ParkedRun:
    """A run that could not be scored for a reason of ours. holds_up: a re-scoring waits for it, so the board is old."""

    submission_id: int
    reason: str
    holds_up: bool


def parked_runs(session: Session, evaluation: Evaluation) -> tuple[ParkedRun, ...]:
    """Failed runs of the current set and of one that is being made, each once."""
    holds_up = lost_in().where(ScoringSet.state == SetState.BUILDING).with_only_columns(Scoring.id)
    rows = session.execute(
        sa.select(Scoring, Scoring.id.in_(holds_up.correlate(None)))
        .join(ScoringSet)
        .join(Submission)
        .where(_has_failed(evaluation), on_boards())
        .order_by(Scoring.submission_id, ScoringSet.id)
    ).all()
    return tuple({one.submission_id: ParkedRun(one.submission_id, one.failure, holds) for one, holds in rows}.values())


def _has_failed(evaluation: Evaluation) -> sa.ColumnElement[bool]:
    """A condition on ScoringSet and Scoring."""
    return sa.and_(ScoringSet.evaluation_id == evaluation.id, IS_WANTED, Scoring.state == State.FAILED)


def of_worker(
    session: Session, evaluation: Evaluation, scoring_set: ScoringSet, measure: str, subset: Subset, organised: bool
) -> tuple[dict[str, Any] | None, int, int, bool]:
    """The figures of a board that the worker has computed, None before that; how many runs are queued or being scored
    in the current set, and in one that is building; for organisers whether `parked_runs` may find any. In one
    statement."""
    unfinished = (
        sa.select(sa.func.count())
        .select_from(Scoring)
        .join(ScoringSet, ScoringSet.id == Scoring.scoring_set_id)
        .join(Scoring.submission)
        .where(
            ScoringSet.evaluation_id == evaluation.id,
            ScoringSet.source == evaluation.official_source,
            on_boards(),
            sa.text(IN_QUEUE),  # by the queue's index, which has no scored run
        )
    )
    failed = sa.select(Scoring.id).join(ScoringSet).where(_has_failed(evaluation))
    of_board = Board.scoring_set_id == scoring_set.id, Board.measure == measure, Board.subset == subset
    row = session.execute(
        sa.select(
            sa.select(Board.figures).where(*of_board).scalar_subquery(),
            *(
                unfinished.where(ScoringSet.state == state).scalar_subquery()
                for state in (SetState.CURRENT, SetState.BUILDING)
            ),
            failed.exists() if organised else sa.false(),
        )
    ).one()
    return row[0], row[1], row[2], row[3]


def received_runs(session: Session, evaluation: Evaluation) -> int:
    """How many runs of the evaluation boards may show, scored or not."""
    return session.scalar(sa.select(sa.func.count()).where(Submission.evaluation_id == evaluation.id, on_boards())) or 0
