"""What an organiser may know of verifications: when the record was last found in order."""

import datetime as dt
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.models import Chain, Event

__all__ = ["Verifications", "verifications"]


@dataclass(frozen=True, slots=True)
class Verifications:
    """clean_at: the last one that found nothing; differed_at: the last one of all, when it found `differences`."""

    clean_at: dt.datetime | None
    differed_at: dt.datetime | None
    differences: int


def verifications(session: Session) -> Verifications:
    """The outcomes that `leaderboard verify` left in the trail."""
    own = (
        sa.select(Event.at, Event.facts)
        .where(Event.subject == Chain.__tablename__, Event.action == "verify")
        .order_by(Event.id.desc())
        .limit(1)
    )
    last = session.execute(own).one_or_none()
    clean = session.execute(own.where(Event.facts["clean"].as_boolean())).one_or_none()
    differs = last is not None and not last.facts["clean"]
    return Verifications(
        clean_at=clean.at if clean is not None else None,
        differed_at=last.at if last is not None and differs else None,
        differences=last.facts["differences"] if last is not None and differs else 0,
    )
