"""Runs that wait for their sender's yes: the file is here, and something about it is most likely a slip.

A staged run holds the place in the quotas that its file held while it came, and its file counts among the person's
rejected ones until the yes: else files could be sent again and again and never be counted. It is gone half an hour
later, as is the note of which submission a yes has made of it, and before anything opens that closing makes public:
whoever says yes has not seen it.
"""

import datetime as dt
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.errors import Conflict, NotFound
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import closed_from
from leaderboard.store import Received
from leaderboard.submissions.models import Arrival, StagedRun, Submission
from leaderboard.submissions.rules import Designation
from leaderboard.submissions.writes import submissions
from leaderboard.teams.models import System, Team
from leaderboard.teams.writes import NewSystem

STAGED_SECONDS = 30 * 60


@dataclass(frozen=True, slots=True)
class SentRun:
    """A run as it was sent.

    system   the id of one of the team's, or the name of a new one
    details  what is said of it, as JSON: those of `submissions.SubmissionDetails` that a sender gives
    """

    team_id: int
    system: int | str
    upload: Received
    details: Mapping[str, Any]

    def submit(self, session: Session, actor: Actor, evaluation: Evaluation, **moments: Any) -> Submission:
        """Submits the run. moments: as `submissions.submit` takes them, with `place` and `key`."""
        team = session.get_one(Team, self.team_id)
        named = self.system
        system = NewSystem(named) if isinstance(named, str) else session.get_one(System, named)
        details = {**self.details, "designation": Designation(self.details["designation"]), **moments}
        return submissions.submit(session, actor, evaluation, team, system=system, upload=self.upload, **details)


def stage(
    session: Session,
    actor: Actor,
    evaluation: Evaluation,
    sent: SentRun,
    *,
    begun_at: dt.datetime,
    received_at: dt.datetime,
    place: int | None,
    now: dt.datetime,
) -> StagedRun:
    """Keeps a run until its sender says yes. The caller has seen that it could be submitted.

    Raises Conflict where the moment is over in which a yes would do.

    place  that the file held while it came
    now    the present moment
    """
    end = closed_from(evaluation)
    expires_at = now + dt.timedelta(seconds=STAGED_SECONDS)
    if end is not None and received_at < end:
        expires_at = min(expires_at, end)
    if expires_at <= now:
        raise Conflict(f"{evaluation.title} has closed while the file came.")
    if actor.user_id is None:
        raise NotFound("only an account has runs that wait for a yes")
    submissions.count_unused_file(session, evaluation, actor.user_id, received_at, None)
    if place is not None:
        session.execute(sa.update(Arrival).where(Arrival.id == place).values(expires_at=expires_at))
    staged = StagedRun(
        user_id=actor.user_id,
        team_id=sent.team_id,
        evaluation_id=evaluation.id,
        arrival_id=place,
        sha256=sent.upload.sha256,
        upload=asdict(sent.upload),
        given={"system": sent.system, **sent.details},
        begun_at=begun_at,
        received_at=received_at,
        expires_at=expires_at,
    )
    session.add(staged)
    session.flush()
    return staged


def confirm(session: Session, actor: Actor, evaluation: Evaluation, staged_id: int, now: dt.datetime) -> Submission:
    """Submits a run that waited, as it was sent; a second yes gives what the first one made.

    Raises NotFound for none of theirs, Conflict for one that was taken back, and what `submit` does.
    """
    staged = _own(session, actor, evaluation, staged_id, now)
    if staged.submission_id is not None:
        return session.get_one(Submission, staged.submission_id)
    if staged.taken_back:
        raise Conflict("You took this run back to the form to change it: submit it there.")
    moments = {"begun_at": staged.begun_at, "received_at": staged.received_at, "decided_at": now}
    submission = _sent(staged).submit(session, actor, evaluation, place=staged.arrival_id, **moments)
    staged.submission_id = submission.id
    return submission


def discard(session: Session, actor: Actor, evaluation: Evaluation, staged_id: int, now: dt.datetime) -> None:
    """Gives up a run that waited; its file is swept like any that was never submitted.

    Raises NotFound, and Conflict for one that was submitted.
    """
    session.delete(_released(session, actor, evaluation, staged_id, now))


def take_back(session: Session, actor: Actor, evaluation: Evaluation, staged_id: int, now: dt.datetime) -> SentRun:
    """Gives up the place of a run that waited, and tells what was sent, for the form in which its sender changes it.

    It waits no longer. Asked once more, by a page that is loaded again, it tells the same until its time is over.
    Raises NotFound, and Conflict for one that was submitted.
    """
    staged = _released(session, actor, evaluation, staged_id, now)
    staged.arrival_id, staged.taken_back = None, True
    return _sent(staged)


def _released(session: Session, actor: Actor, evaluation: Evaluation, staged_id: int, now: dt.datetime) -> StagedRun:
    staged = _own(session, actor, evaluation, staged_id, now)
    if staged.submission_id is not None:
        raise Conflict("This run was submitted: withdraw it in place of giving it up.")
    submissions.release_quota(session, staged.arrival_id)
    return staged


def sweep_pending(session: Session, now: dt.datetime) -> int:
    """Removes the runs whose time for a yes is over; returns how many of them waited in vain."""
    columns = StagedRun.submission_id, StagedRun.taken_back
    over = session.execute(sa.delete(StagedRun).where(StagedRun.expires_at <= now).returning(*columns)).all()
    return sum(submission is None and not taken_back for submission, taken_back in over)


def _sent(staged: StagedRun) -> SentRun:
    details = dict(staged.given)
    return SentRun(staged.team_id, details.pop("system"), Received(**staged.upload), details)


def _own(session: Session, actor: Actor, evaluation: Evaluation, staged_id: int, now: dt.datetime) -> StagedRun:
    staged = session.scalar(
        sa.select(StagedRun)
        .where(
            StagedRun.id == staged_id,
            StagedRun.user_id == actor.user_id,
            StagedRun.evaluation_id == evaluation.id,
            StagedRun.expires_at > now,
        )
        .with_for_update()
    )
    if staged is None:
        raise NotFound("No run of yours waits to be confirmed here: it was submitted, discarded, or its time is over.")
    return staged
