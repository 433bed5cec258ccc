"""The audit trail, and the present moment."""

import datetime as dt
from typing import Any

from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.db import Base
from leaderboard.models import Event

__all__ = ["present", "record"]


def present() -> dt.datetime:
    """Now, in UTC. Services take `now` where a caller may know better (a deadline counts from a request's start)."""
    return dt.datetime.now(dt.UTC)


def record(session: Session, actor: Actor, action: str, subject: Base, **facts: Any) -> None:
    """Adds to the audit trail that `actor` did `action` to `subject`, whose id must be known by now.

    Facts are what a reader of the trail would ask for; never a password, a token or a judgment.
    """
    session.flush()
    session.add(
        Event(
            at=present(),
            actor_id=actor.user_id,
            action=action,
            subject=subject.__tablename__,
            subject_id=subject.id,  # type: ignore[attr-defined]  # every table that is a subject has one
            facts=facts,
        )
    )
