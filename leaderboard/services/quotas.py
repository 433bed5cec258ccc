"""Quotas: taken on the locked row of a team in an evaluation, given back when a run is rejected or failed."""

import datetime as dt

from sqlalchemy.orm import Session

from leaderboard.errors import QuotaSpent
from leaderboard.models import Evaluation, Participation, Submission
from leaderboard.rules.quotas import day_of, quota_of
from leaderboard.services.locking import insert_unless_there, locked

__all__ = ["give_back", "take"]


def take(session: Session, evaluation: Evaluation, team_id: int, now: dt.datetime) -> Participation:
    """Counts one submission; raises QuotaSpent, with when it resets, where none is left.

    The row stays locked until the transaction ends: others who submit for the team wait, and then count again.
    """
    insert_unless_there(
        session,
        Participation,
        team_id=team_id,
        evaluation_id=evaluation.id,
        day=day_of(now),
        used_today=0,
        rejected_today=0,
        used=0,
    )
    participation = locked(session, Participation, (team_id, evaluation.id))
    # A request that began before midnight and comes after one from after it counts for the new day.
    now = max(now, dt.datetime.combine(participation.day, dt.time(), dt.UTC))
    state = quota_of(evaluation, participation, now)
    if state.spent is not None:
        raise QuotaSpent(state.spent)
    if participation.day != day_of(now):
        participation.day, participation.used_today, participation.rejected_today = day_of(now), 0, 0
    participation.used_today += 1
    participation.used += 1
    return participation


def give_back(session: Session, submission: Submission, *, rejected: bool) -> None:
    """Returns what a run cost, once, because its file was rejected or its scoring failed for good."""
    if not submission.charged:
        return
    submission.charged = False
    participation = locked(session, Participation, (submission.team_id, submission.evaluation_id))
    participation.used -= 1
    if participation.day == day_of(submission.received_at):
        participation.used_today -= 1
        if rejected:
            participation.rejected_today += 1
