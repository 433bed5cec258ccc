"""Which scored runs there are, and which may stand on boards."""

import functools
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.boards.models import Standing
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.find import Columns
from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.rules.selection import ScoredRun, SystemKind
from leaderboard.submissions.rules.states import STANDING, SetState, State
from leaderboard.teams.models import System
from leaderboard.worker.models import Scoring, ScoringSet
from leaderboard.worker.reads.scoring_sets import IS_CURRENT

# Condition on scorings and their sets: whose figures boards show, or will, or showed where an import comes from.
IS_WANTED = sa.or_(ScoringSet.state != SetState.SUPERSEDED, Scoring.of_the_past)


@functools.cache  # a worker asks at every step, and making these aliases takes longer than asking
def lost_in() -> sa.Select[Scoring]:
    """Statement: failed scorings of a set (the one of the statement around it) that its evaluation's boards would miss.

    Their runs have figures in the set that stands for the same source of judgments. Not those whose stored file is
    damaged, as long as at least as many runs of the set are scored: a few damaged files hold nobody up, and many would
    empty the board. Not runs off the boards.
    """
    shown, current = sa.orm.aliased(Scoring), sa.orm.aliased(ScoringSet)
    other, entered = sa.orm.aliased(Scoring), sa.orm.aliased(Submission)
    balance = (  # scored runs, less those with a damaged file
        sa.select(sa.func.coalesce(sa.func.sum(sa.case((other.state == State.SCORED, 1), else_=-1)), 0))
        .join(entered, entered.id == other.submission_id)
        .where(
            other.scoring_set_id == Scoring.scoring_set_id,
            sa.or_(other.state == State.SCORED, sa.and_(other.state == State.FAILED, other.damaged)),
            on_boards(entered),
        )
        .correlate(Scoring)
        .scalar_subquery()
    )
    has_figures = (
        sa.select(shown.id)
        .join(current, current.id == shown.scoring_set_id)
        .where(
            shown.submission_id == Scoring.submission_id,
            shown.state == State.SCORED,
            current.state.in_(STANDING),
            current.source == ScoringSet.source,
        )
        .correlate(Scoring, ScoringSet)
        .exists()
    )
    return (
        sa.select(Scoring)
        .join(Submission)
        .where(
            Scoring.scoring_set_id == ScoringSet.id,
            Scoring.state == State.FAILED,
            sa.or_(~Scoring.damaged, balance < 0),
            on_boards(),
            has_figures,
        )
        .correlate(ScoringSet)
    )


def with_current_scoring(statement: sa.Select[*Columns]) -> sa.Select[*Columns]:
    """A statement on submissions, joined to the scoring of each in its evaluation's current set; NULL without one."""
    is_current = sa.and_(ScoringSet.evaluation_id == Submission.evaluation_id, ScoringSet.state == SetState.CURRENT)
    is_its = sa.and_(Scoring.submission_id == Submission.id, Scoring.scoring_set_id == ScoringSet.id)
    return statement.outerjoin(ScoringSet, is_current).outerjoin(Scoring, is_its)


def on_boards(submission: Any = Submission, at: Any = None) -> sa.ColumnElement[bool]:
    """Condition on submissions: neither withdrawn nor taken off by organisers, so that boards show what is scored.

    at  a moment: not by then
    """
    gone = submission.withdrawn_at.is_(None), submission.ruling.is_(None)
    if at is not None:
        gone = sa.or_(gone[0], submission.withdrawn_at > at), sa.or_(gone[1], submission.ruled_at > at)
    return sa.and_(*gone)


def has_its_place(scoring: Any = Scoring, submission: Any = Submission, at: Any = None) -> sa.ColumnElement[bool]:
    """Condition on scorings and their submissions: scored, and on boards or keeping its place. at: as `on_boards`."""
    return sa.and_(scoring.state == State.SCORED, sa.or_(on_boards(submission, at), submission.holds_place))


def has_choice(session: Session, evaluation: Evaluation, scoring_set: ScoringSet) -> bool:
    """Whether a system that is ranked has several runs that may stand for it, scored in that set of its evaluation."""
    several = (
        sa.select(Submission.system_id)
        .join(Scoring, Scoring.submission_id == Submission.id)
        .join(System, System.id == Submission.system_id)
        .where(
            Submission.evaluation_id == evaluation.id,
            Scoring.scoring_set_id == scoring_set.id,
            has_its_place(),
            Submission.late.is_(False),
            System.kind != SystemKind.BASELINE,
        )
        .group_by(Submission.system_id)
        .having(sa.func.count() > 1)
        .limit(1)
    )
    return session.scalar(several) is not None


def select_scored_runs(
    *more: Any,
    of_sets: sa.ColumnElement[bool] = IS_CURRENT,
    standing: sa.ColumnElement[bool] | None = None,
    at: sa.ColumnElement[Any] | None = None,
) -> sa.Select[*tuple[Any, ...]]:
    """Selects the fields of `ScoredRun`, then `more`, of every scored run of a current set that has its place.

    of_sets   a condition on ScoringSet: of which sets instead
    standing  only those that stand for their systems, by the rows of Standing with this condition
    at        a moment: as runs were chosen, withdrawn and taken off by then

    A run that was withdrawn or taken off by organisers has lost it, unless it holds it: then it is among them, marked.

    Joined are Scoring, Submission, ScoringSet and System.
    """
    of_team = sa.and_(
        Participation.team_id == Submission.team_id, Participation.evaluation_id == Submission.evaluation_id
    )
    selected = (
        sa.select(
            Submission.evaluation_id,
            Submission.id,
            Scoring.id,
            Submission.system_id,
            System.kind == SystemKind.BASELINE,
            sa.func.coalesce(Participation.primary_submission_id == Submission.id, sa.false()),
            Submission.late,
            Submission.received_at,
            Submission.scored_at,
            Submission.chosen_at if at is None else sa.case((Submission.chosen_at <= at, Submission.chosen_at)),
            sa.type_coerce(~on_boards(at=at), sa.Boolean),  # else 0 or 1 on SQLite
            *more,
        )
        .join(Submission, Submission.id == Scoring.submission_id)
        .join(System, System.id == Submission.system_id)
    )
    return with_sets(selected, standing).outerjoin(Participation, of_team).where(of_sets, has_its_place(at=at))


def with_sets(
    scorings: sa.Select[*tuple[Any, ...]], standing: sa.ColumnElement[bool] | None
) -> sa.Select[*tuple[Any, ...]]:
    """Joins ScoringSet to a statement on Scoring; `standing`, a condition on Standing, leaves those that stand by it.

    A row of Standing has its scoring's set. Asked for the set of the row alone, PostgreSQL begins with the rows: asked
    for both it read every scoring of the set.
    """
    if standing is None:
        return scorings.join(ScoringSet, ScoringSet.id == Scoring.scoring_set_id)
    of_row = sa.and_(ScoringSet.id == Standing.scoring_set_id, standing)
    return scorings.join(Standing, Standing.scoring_id == Scoring.id).join(ScoringSet, of_row)


def scored_runs(
    session: Session, *which: sa.ColumnElement[bool], of_sets: sa.ColumnElement[bool] = IS_CURRENT
) -> dict[int, list[ScoredRun]]:
    """The runs of `select_scored_runs` by the id of their scoring set, in the order of their scorings.

    which  conditions on ScoringSet, Submission, System or Scoring
    """
    runs: dict[int, list[ScoredRun]] = {}
    statement = select_scored_runs(Scoring.scoring_set_id, of_sets=of_sets).where(*which).order_by(Scoring.id)
    for *run, scoring_set_id in session.execute(statement):
        runs.setdefault(scoring_set_id, []).append(ScoredRun(*run))
    return runs
