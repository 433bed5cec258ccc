"""Tells teams by mail that an evaluation closes soon."""

import datetime as dt

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.evaluations.models import Evaluation
from leaderboard.mail.rules import MailKind
from leaderboard.mail.writes.outbox import members_taking_part, put_wanted


def remind(session: Session, days: int, now: dt.datetime) -> None:
    """Puts a mail down for each member of the teams that take part in what closes within `days`, 0 for none.

    One mail a person and closing moment, however often this is called; another one where the moment is moved.
    """
    closing = session.scalars(
        sa.select(Evaluation)
        .where(Evaluation.closes_at > now, Evaluation.closes_at <= now + dt.timedelta(days=days))
        .order_by(Evaluation.id)
    )
    for evaluation in closing.all():
        put_wanted(
            session,
            MailKind.DEADLINE,
            members_taking_part(session, evaluation.id),
            once=f"of {evaluation.id} at {evaluation.closes_at:%Y-%m-%dT%H:%M:%S}",
            expires_at=evaluation.closes_at,
            evaluation=evaluation.id,
        )
