"""What an organiser may know of verifications: when the record was last found in order."""

import datetime as dt
from contextlib import closing
from dataclasses import dataclass

from sqlalchemy.orm import Session

from leaderboard.audit.events import stored_events
from leaderboard.audit.models import Chain, Event


@dataclass(frozen=True, slots=True)
class Verifications:
    """clean_at: the last one that found nothing; differed_at: the last one of all, when it found `differences`."""

    clean_at: dt.datetime | None = None
    differed_at: dt.datetime | None = None
    differences: int = 0


def verifications(session: Session) -> Verifications:
    """The outcomes that `leaderboard verify` left in the trail.

    An event that can't be read, that does not give its own hash or that says something else than a verification does is
    none: somebody else wrote it.
    """
    own = (Event.subject == Chain.__tablename__, Event.action == "verify")
    differed: tuple[dt.datetime | None, int] = (None, 0)
    with closing(stored_events(session, *own, newest_first=True)) as events:
        for event in (stored.event for stored in events if stored.event and stored.computed == stored.hash):
            match event.facts:
                case {"clean": True}:
                    return Verifications(event.at, *differed)
                case {"clean": False, "differences": int(count)} if differed[0] is None:
                    differed = event.at, count
    return Verifications(None, *differed)
