"""What quotas leave to a team or a person."""

import datetime as dt
from collections.abc import Sequence
from typing import Any, TypedDict

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.evaluations.models import Evaluation
from leaderboard.submissions.models import Arrival, Participation, PersonalUse, StagedRun, Submission
from leaderboard.submissions.rules.quotas import Quota, day_of, quota_of, start_of


class _Held(TypedDict):
    arriving: int
    waiting: int
    waits_until: dt.datetime | None


NOTHING = _Held(arriving=0, waiting=0, waits_until=None)


def team_quotas(
    session: Session, evaluation: Evaluation, team_ids: Sequence[int], now: dt.datetime, *, count_pending: bool = True
) -> dict[int, Quota]:
    """What each team has used of the evaluation's quotas.

    count_pending: files that arrive, or wait to be checked, count too. They are looked up first: one that takes its
    next step meanwhile is counted twice then, never missed.
    """
    held: dict[int, _Held] = {}
    unchecked: dict[int, int] = {}
    if count_pending:
        held = _held(session, evaluation, now, Arrival.team_id, team_ids)
        found = sa.select(Submission.team_id, sa.func.count()).where(*_unchecked(evaluation, now))
        own = found.where(Submission.team_id.in_(team_ids)).group_by(Submission.team_id)
        unchecked.update(session.execute(own).all())
    rows = session.scalars(
        sa.select(Participation).where(
            Participation.evaluation_id == evaluation.id, Participation.team_id.in_(team_ids)
        )
    )
    used = {row.team_id: row for row in rows}
    return {
        team: quota_of(evaluation, used.get(team), now, unchecked=unchecked.get(team, 0), **held.get(team, NOTHING))
        for team in team_ids
    }


def personal_quota(session: Session, evaluation: Evaluation, user_id: int, now: dt.datetime) -> Quota:
    """What one person has used of the evaluation's quotas over all of their teams."""
    held = _held(session, evaluation, now, Arrival.user_id, [user_id]).get(user_id, NOTHING)
    unchecked = session.scalar(
        sa.select(sa.func.count()).where(*_unchecked(evaluation, now), Submission.submitter_id == user_id)
    )
    used = session.get(PersonalUse, (user_id, evaluation.id))
    return quota_of(evaluation, used, now, unchecked=unchecked or 0, **held, of_person=True)


def _held(
    session: Session, evaluation: Evaluation, now: dt.datetime, column: Any, keys: Sequence[int]
) -> dict[int, _Held]:
    """By team or by person: the files whose bytes are being read, and those that wait for a yes."""
    held = (
        sa.select(column, sa.func.count(), sa.func.count(StagedRun.id), sa.func.min(StagedRun.expires_at))
        .select_from(Arrival)
        .outerjoin(StagedRun, StagedRun.arrival_id == Arrival.id)
        .where(Arrival.evaluation_id == evaluation.id, Arrival.expires_at > now, column.in_(keys))
        .group_by(column)
    )
    return {
        key: _Held(arriving=arriving, waiting=waiting, waits_until=until)
        for key, arriving, waiting, until in session.execute(held)
    }


def _unchecked(evaluation: Evaluation, now: dt.datetime) -> tuple[sa.ColumnElement[bool], ...]:
    """Submissions of the day whose file was neither scored nor rejected nor given up yet."""
    return (
        Submission.evaluation_id == evaluation.id,
        Submission.received_at >= start_of(day_of(now)),
        Submission.charged.is_(True),
        Submission.scored_at.is_(None),
    )
