"""Why a run can't be let stand, made primary, withdrawn or taken off the boards, in words: asked by the page that
offers it and by the service that does it.
"""

import datetime as dt
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Self

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, may_change_standing
from leaderboard.evaluations.models import Evaluation
from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.reads.scored_runs import on_boards, scored_runs
from leaderboard.submissions.rules.selection import Designation, RunChoice, ScoredRun, primary_run, standing_run
from leaderboard.submissions.rules.states import Ruling
from leaderboard.teams.models import System

ONLY_ORGANISERS = "which run stands for a system is now for the organisers to change"


@dataclass(frozen=True, slots=True)
class Entered:
    """A submission as `primary_run` looks at it, so that a change can be thought through."""

    id: int
    system_id: int
    designation: Designation
    late: bool
    scored_at: dt.datetime | None
    withdrawn_at: dt.datetime | None
    ruling: Ruling | None
    holds_place: bool

    @classmethod
    def of(cls, run: Submission, *, gives_up: bool = False) -> Self:
        """The submission as it is; gives_up: once it holds its place no longer."""
        holds = run.holds_place and not gives_up
        return cls(
            run.id, run.system_id, run.designation, run.late, run.scored_at, run.withdrawn_at, run.ruling, holds
        )  # fmt: skip


def withdrawal_refusal(run: Submission) -> str | None:
    """Why nobody can withdraw the run; None when its team and organisers can."""
    return "This run was withdrawn already." if run.withdrawn_at is not None else None


def take_off_refusal(run: Submission) -> str | None:
    """Why nobody can take the run off the boards; None when organisers can."""
    if run.withdrawn_at is not None:
        return "This run was withdrawn: it is on no board."
    if run.ruling is not None:
        return f"This run is {run.ruling.value} already; put it back first."
    return None


def stand_refusal(session: Session, actor: Actor, run: Submission, now: dt.datetime) -> str | None:
    """Why `actor` can't let the run stand for its system; None when they can."""
    evaluation = session.get_one(Evaluation, run.evaluation_id)
    refused = _choice_refusal(actor, evaluation, run, now)
    if refused is not None:
        return refused
    holders = holders_against(session, run)
    system = session.get_one(System, run.system_id)
    refused = _kept_place(actor, evaluation, holders) or system_refusal(
        session, evaluation, system, run.late, chosen=run.id, freed={one.id for one in holders}
    )
    return refused or ("This run stands for its system already." if _goes_on_standing(session, run) else None)


def primary_refusal(session: Session, actor: Actor, run: Submission, now: dt.datetime) -> str | None:
    """Why `actor` can't make the run its team's primary one; None when they can."""
    evaluation = session.get_one(Evaluation, run.evaluation_id)
    refused = _choice_refusal(actor, evaluation, run, now)
    if refused is not None:
        return refused
    if run.late:
        return "This run is late, and no late run is primary."
    if run.scored_at is None:
        return "This run is not scored yet; choose it once it is."
    if session.get_one(Participation, (run.team_id, run.evaluation_id)).primary_submission_id == run.id:
        return "This run is its team's primary run already."
    return _kept_place(actor, evaluation, holders_against(session, run, primary=True))


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
    freed   the runs that would hold their places no longer
    """
    choice = evaluation.campaign.run_choice
    if choice is not RunChoice.PRIMARY:
        return f"In this campaign the {choice.value} run of each system stands for it."
    if late:  # no late run is primary
        return None
    runs = session.scalars(
        sa.select(Submission).where(
            Submission.team_id == system.team_id,
            Submission.evaluation_id == evaluation.id,
            Submission.designation == Designation.PRIMARY,
        )
    ).all()
    found = primary_run(Entered.of(one, gives_up=one.id in freed) for one in runs)
    primary = next((one for one in runs if one.id == found), None)
    if primary is None or primary.system_id != system.id or primary.id == chosen:
        return None
    how = "submit this one as primary" if chosen is None else "make this one primary"
    return f"{system.name}'s primary run, {primary.name}, stands for it; {how} to replace it."


def holders_against(session: Session, run: Submission, *, primary: bool = False) -> Sequence[Submission]:
    """The runs off the boards that hold their places against this one: of its system, or as primary one."""
    same = Submission.system_id == run.system_id
    if primary:
        same = sa.or_(same, Submission.designation == Designation.PRIMARY)
    return session.scalars(
        sa.select(Submission).where(
            same,
            Submission.team_id == run.team_id,
            Submission.evaluation_id == run.evaluation_id,
            Submission.late == run.late,
            Submission.holds_place,
        )
    ).all()


def contenders(session: Session, run: Submission) -> list[ScoredRun]:
    """The scored runs of the run's system, in time as it is or late as it is, of which one stands on the boards."""
    of_place = (
        Submission.system_id == run.system_id,
        Submission.evaluation_id == run.evaluation_id,
        Submission.late == run.late,
    )
    return [one for of_set in scored_runs(session, *of_place).values() for one in of_set]


def stands_by_order(runs: Sequence[ScoredRun]) -> ScoredRun:
    """The one of a system's runs (one or more) that stands by the order of its runs alone."""
    return standing_run(runs, RunChoice.PRIMARY, lambda _: None, "none")


def _goes_on_standing(session: Session, run: Submission) -> bool:
    """Whether the run stands for its system, and no run that was chosen since will once it is scored."""
    runs = contenders(session, run)
    if not runs or stands_by_order(runs).submission_id != run.id:
        return False
    chosen_since = sa.select(Submission.id).where(
        Submission.system_id == run.system_id,
        Submission.evaluation_id == run.evaluation_id,
        Submission.late == run.late,
        Submission.scored_at.is_(None),
        Submission.chosen_at > (run.chosen_at or dt.datetime.min.replace(tzinfo=dt.UTC)),
        on_boards(),
    )
    return session.scalar(chosen_since.limit(1)) is None


def _choice_refusal(actor: Actor, evaluation: Evaluation, run: Submission, now: dt.datetime) -> str | None:
    """Why nobody, or not this actor, chooses the run."""
    if run.withdrawn_at is not None:
        return "This run was withdrawn."
    if run.ruling is not None:
        return f"This run is {run.ruling.value}: it is on no board."
    if not may_change_standing(actor, evaluation, now):
        return f"{evaluation.title} has closed: {ONLY_ORGANISERS}."
    return None


def _kept_place(actor: Actor, evaluation: Evaluation, holders: Sequence[Submission]) -> str | None:
    kept = next((holder for holder in holders if holder.ruling is not None), None)
    if kept is None or actor.may_organise(evaluation.campaign_id):
        return None
    return f"The organisers took {kept.name} off the boards and keep its place empty; ask them."
