"""What quotas leave to a team or a person."""

import datetime as dt
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.models import (
    Arrival,
    Evaluation,
    Participation,
    PersonalUse,
    Submission,
)
from leaderboard.rules.quotas import Quota, day_of, quota_of, start_of

__all__ = ["personal_quota", "team_quotas"]


def team_quotas(
    session: Session, evaluation: Evaluation, team_ids: Sequence[int], now: dt.datetime, *, count_pending: bool = True
) -> dict[int, Quota]:
    """What each team has used of the evaluation's quotas.

    count_pending: files that arrive, or wait to be checked, count too. They are looked up first: one that takes its
    next step meanwhile is counted twice then, never missed.
    """
    arriving: dict[int, int] = {}
    unchecked: dict[int, int] = {}
    if count_pending:
        for counts, column, pending in (
            (arriving, Arrival.team_id, _arriving(evaluation, now)),
            (unchecked, Submission.team_id, _unchecked(evaluation, now)),
        ):
            found = sa.select(column, sa.func.count()).where(*pending, column.in_(team_ids)).group_by(column)
            counts.update(session.execute(found).all())
    rows = session.scalars(
        sa.select(Participation).where(
            Participation.evaluation_id == evaluation.id, Participation.team_id.in_(team_ids)
        )
    )
    used = {row.team_id: row for row in rows}
    return {
        team: quota_of(
            evaluation, used.get(team), now, unchecked=unchecked.get(team, 0), arriving=arriving.get(team, 0)
        )
        for team in team_ids
    }


def personal_quota(session: Session, evaluation: Evaluation, user_id: int, now: dt.datetime) -> Quota:
    """What one person has used of the evaluation's quotas over all of their teams."""
    arriving = session.scalar(sa.select(sa.func.count()).where(*_arriving(evaluation, now), Arrival.user_id == user_id))
    unchecked = session.scalar(
        sa.select(sa.func.count()).where(*_unchecked(evaluation, now), Submission.submitter_id == user_id)
    )
    used = session.get(PersonalUse, (user_id, evaluation.id))
    return quota_of(evaluation, used, now, unchecked=unchecked or 0, arriving=arriving or 0, of_person=True)


def _arriving(evaluation: Evaluation, now: dt.datetime) -> tuple[sa.ColumnElement[bool], ...]:
    """Files whose bytes are being read."""
    return Arrival.evaluation_id == evaluation.id, Arrival.expires_at > now


def _unchecked(evaluation: Evaluation, now: dt.datetime) -> tuple[sa.ColumnElement[bool], ...]:
    """Submissions of the day whose file was neither scored nor rejected nor given up yet."""
    return (
        Submission.evaluation_id == evaluation.id,
        Submission.received_at >= start_of(day_of(now)),
        Submission.charged.is_(True),
        Submission.scored_at.is_(None),
    )
