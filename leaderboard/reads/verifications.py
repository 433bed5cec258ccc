"""What an organiser may know of verifications: when the record was last found in order."""

import datetime as dt
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from leaderboard.lookup import stored_events
from leaderboard.models import Chain, Event

__all__ = ["Verifications", "verifications"]


@dataclass(frozen=True, slots=True)
class Verifications:
    """clean_at: the last one that found nothing; differed_at: the last one of all, when it found `differences`."""

    clean_at: dt.datetime | None
    differed_at: dt.datetime | None
    differences: int


def verifications(session: Session) -> Verifications:
    """The outcomes that `leaderboard verify` left in the trail.

    An event that can't be read, that does not give its own hash or that says something else than a verification does is
    none: somebody else wrote it.
    """
    own = (Event.subject == Chain.__tablename__, Event.action == "verify")
    last = None
    with closing(stored_events(session, *own, newest_first=True)) as events:
        for stored in events:
            if stored.event is None or stored.computed != stored.hash or not _is_outcome(stored.event.facts):
                continue
            last = last or stored.event
            if stored.event.facts["clean"]:
                return _told(stored.event, last)
    return _told(None, last)


def _is_outcome(facts: Any) -> bool:
    return (
        isinstance(facts, dict) and isinstance(facts.get("clean"), bool) and isinstance(facts.get("differences"), int)
    )


def _told(clean: Event | None, last: Event | None) -> Verifications:
    differs = last is not None and not last.facts["clean"]
    return Verifications(
        clean_at=clean.at if clean is not None else None,
        differed_at=last.at if last is not None and differs else None,
        differences=last.facts["differences"] if last is not None and differs else 0,
    )
