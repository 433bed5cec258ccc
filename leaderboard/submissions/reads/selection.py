"""Which scored runs there are, and which may stand on boards.

Why a run can't be let stand, made primary, withdrawn or taken off the boards, in words: asked by the page that
offers it and by the service that does it.
"""

import functools
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, TypeVarTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, may_change_standing
from leaderboard.boards.models import Standing
from leaderboard.evaluations.models import Evaluation
from leaderboard.submissions import rules
from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.rules import RunChoice, ScoredRun, SetState, State
from leaderboard.teams.models import System
from leaderboard.worker.models import Scoring, ScoringSet
from leaderboard.worker.reads import IS_CURRENT

Columns = TypeVarTuple("Columns")

# Condition on scorings and their sets: whose figures boards show, or will, or showed where an import comes from.
IS_WANTED = sa.or_(ScoringSet.state != SetState.SUPERSEDED, Scoring.of_the_past)

# Condition on participations and submissions: of the run's team in its evaluation.
ITS_TEAMS_PART = sa.and_(
    Participation.team_id == Submission.team_id, Participation.evaluation_id == Submission.evaluation_id
)


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
            current.state.in_(rules.STANDING),
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


# The state of a submission in one word: withdrawn, hidden or disqualified, or else that of its scoring. Without one,
# because nothing is judged yet, it counts as queued.
SHOWN_STATE: sa.ColumnElement[str] = sa.case(
    (Submission.withdrawn_at.is_not(None), sa.literal_column(f"'{rules.WITHDRAWN}'")),
    (Submission.ruling.is_not(None), sa.cast(Submission.ruling, sa.String)),
    else_=sa.func.coalesce(sa.cast(Scoring.state, sa.String), sa.literal_column(f"'{State.QUEUED}'")),
)


def on_boards(submission: Any = Submission, at: Any = None) -> sa.ColumnElement[bool]:
    """Condition on submissions: neither withdrawn nor taken off by organisers, so that boards show what is scored.

    at  a moment: not by then
    """
    gone = submission.withdrawn_at.is_(None), submission.ruling.is_(None)
    if at is not None:
        gone = sa.or_(gone[0], submission.withdrawn_at > at), sa.or_(gone[1], submission.ruled_at > at)
    return sa.and_(*gone)


def has_its_place(at: Any = None) -> sa.ColumnElement[bool]:
    """Condition on scorings and their submissions: scored, and on boards or keeping its place. at: as `on_boards`."""
    return sa.and_(Scoring.state == State.SCORED, sa.or_(on_boards(at=at), Submission.holds_place))


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

    Joined are Scoring, Submission, ScoringSet and System. A row of Standing has its scoring's set. Asked for the set of
    the row alone, PostgreSQL begins with the rows: asked for both it read every scoring of the set.
    """
    selected = (
        sa.select(
            Submission.evaluation_id,
            Submission.id,
            Scoring.id,
            Submission.system_id,
            System.kind == rules.SystemKind.BASELINE,
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
    if standing is None:
        selected = selected.join(ScoringSet, ScoringSet.id == Scoring.scoring_set_id)
    else:
        of_row = sa.and_(ScoringSet.id == Standing.scoring_set_id, standing)
        selected = selected.join(Standing, Standing.scoring_id == Scoring.id).join(ScoringSet, of_row)
    return selected.outerjoin(Participation, ITS_TEAMS_PART).where(of_sets, has_its_place(at=at))


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


def standing_runs(session: Session, *which: sa.ColumnElement[bool]) -> Sequence[Submission]:
    """The runs that count for systems by the rule of primary runs, as their rows say it. which: conditions on Standing,
    ScoringSet and Submission"""
    rows = sa.select(Submission).join(Scoring).join(Standing, Standing.scoring_id == Scoring.id)
    rows = rows.join(ScoringSet, ScoringSet.id == Standing.scoring_set_id)
    return session.scalars(rows.where(IS_CURRENT, Standing.run_choice == RunChoice.PRIMARY, *which)).all()


ONLY_ORGANISERS = "only the organisers can change now which run counts for a system"


def select_refusal(session: Session, actor: Actor, run: Submission, now: datetime) -> str | None:
    """Why `actor` can't let the run stand for its system; None when they can."""
    evaluation = run.evaluation
    holders = holders_against(session, run)
    if refused := _choice_refusal(actor, evaluation, run, holders, now):
        return refused
    if evaluation.campaign.run_choice is RunChoice.PRIMARY and _stays_selected(session, run):
        return "This run counts for its system already."
    system, freed = session.get_one(System, run.system_id), [holder.id for holder in holders]
    return system_refusal(session, evaluation, system, run.late, chosen=run.id, freed=freed)


def primary_refusal(session: Session, actor: Actor, run: Submission, now: datetime) -> str | None:
    """Why `actor` can't make the run its team's primary one; None when they can."""
    evaluation = run.evaluation
    if refused := _choice_refusal(actor, evaluation, run, holders_against(session, run, primary=True), now):
        return refused
    if run.late:
        return "This run is late, and no late run is primary."
    if run.scored_at is None:
        return "This run is not scored yet; choose it once it is."
    if session.get_one(Participation, (run.team_id, run.evaluation_id)).primary_submission_id == run.id:
        return "This run is its team's primary run already."
    return None


def system_refusal(
    session: Session,
    evaluation: Evaluation,
    system: System,
    late: bool,
    *,
    chosen: int | None = None,
    freed: Collection[int] = (),
) -> str | None:
    """Why nobody can choose which of a system's runs in time, or late, stands, in words; None when one can.

    chosen  the id of the run that shall stand, which is no reason against itself
    freed   runs off the boards that would hold their places no longer
    """
    choice = evaluation.campaign.run_choice
    if choice is not RunChoice.PRIMARY:
        return f"In this campaign the {choice.value} run of each system counts for it."
    primary = primary_run(session, *of_team(system.team_id, evaluation.id), Submission.id.not_in(freed))
    if late or primary is None or primary.system_id != system.id or primary.id == chosen:  # no late run is primary
        return None
    how = "submit this one as primary" if chosen is None else "make this one primary"
    return f"{system.name}'s primary run, {primary.name}, counts for it; {how} to replace it."


def of_team(team_id: int, evaluation_id: int) -> tuple[sa.ColumnElement[bool], ...]:
    """Conditions on submissions: of a team to an evaluation."""
    return Submission.team_id == team_id, Submission.evaluation_id == evaluation_id


def primary_run(session: Session, *which: sa.ColumnElement[bool]) -> Submission | None:
    """Of a team's submissions to an evaluation its primary run; None without one. which: conditions on Submission.

    It is the one submitted last of those that were submitted as primary, came in time and have been scored, whenever
    that was. One that was withdrawn or taken off by organisers is left out, unless it holds its place, which so stays
    empty.
    """
    counts = sa.or_(on_boards(), Submission.holds_place), ~Submission.late, Submission.scored_at.is_not(None)
    submitted = sa.select(Submission).where(*which, *counts, Submission.designation == rules.Designation.PRIMARY)
    return session.scalar(submitted.order_by(Submission.id.desc()).limit(1))


def holders_against(session: Session, run: Submission, *, primary: bool = False) -> Sequence[Submission]:
    """The runs off the boards that hold their places against this one: of its system, or as primary one."""
    same = Submission.system_id == run.system_id
    if primary:
        same = sa.or_(same, Submission.designation == rules.Designation.PRIMARY)
    own = of_team(run.team_id, run.evaluation_id)
    holders = sa.select(Submission).where(same, *own, Submission.late == run.late, Submission.holds_place)
    return session.scalars(holders).all()


def contenders(session: Session, run: Submission) -> list[ScoredRun]:
    """The scored runs of the run's system, in time as it is or late as it is, of which one stands on the boards."""
    return [scored for of_set in scored_runs(session, *_of_its_place(run)).values() for scored in of_set]


def _of_its_place(run: Submission) -> tuple[sa.ColumnElement[bool], ...]:
    of_system = Submission.system_id == run.system_id, Submission.evaluation_id == run.evaluation_id
    return *of_system, Submission.late == run.late


def selected_by_order(runs: Sequence[ScoredRun]) -> ScoredRun | None:
    """The one of a system's runs that stands by the order of its runs alone; None of none."""
    return rules.selected_run(runs, RunChoice.PRIMARY, lambda _: None, "none") if runs else None


def standing_names(session: Session, run: Submission) -> dict[str, str]:
    """By name, what a decision on the run may change: its team's primary run and, where teams choose it, the run that
    stands for its system."""
    primary = primary_run(session, *of_team(run.team_id, run.evaluation_id))
    names = {"The team's primary run": primary.name if primary else "none"}
    if run.evaluation.campaign.run_choice is RunChoice.PRIMARY:
        stands = selected_by_order(contenders(session, run))
        shown = stands is not None and not stands.off_board and session.get_one(Submission, stands.submission_id)
        names[f"The run that counts for {run.system.name}"] = shown.name if shown else "none"
    return names


def _stays_selected(session: Session, run: Submission) -> bool:
    """Whether the run stands for its system, and no run that was chosen since will once it is scored."""
    stands = selected_by_order(contenders(session, run))
    if stands is None or stands.submission_id != run.id:
        return False
    waiting = *_of_its_place(run), Submission.scored_at.is_(None), on_boards()
    chosen = session.scalar(sa.select(sa.func.max(Submission.chosen_at)).where(*waiting))
    return chosen is None or (run.chosen_at is not None and chosen <= run.chosen_at)


def _choice_refusal(
    actor: Actor, evaluation: Evaluation, run: Submission, holders: Sequence[Submission], now: datetime
) -> str | None:
    """Why nobody, or not this actor, chooses the run. holders: those that hold their places against it."""
    if run.withdrawn_at is not None:
        return "This run was withdrawn."
    if run.ruling is not None:
        return f"This run is {run.ruling.value}: it is on no board."
    if not may_change_standing(actor, evaluation, now):
        return f"{evaluation.title} has closed: {ONLY_ORGANISERS}."
    ruled = [holder.name for holder in holders if holder.ruling is not None]
    if ruled and not actor.may_organise(evaluation.campaign_id):
        return f"The organisers took {ruled[0]} off the boards and keep its place empty; ask them."
    return None
