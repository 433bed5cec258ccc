"""The events of the trail as they are stored, whatever became of their rows; and when it was last verified."""

import json
from collections.abc import Generator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.audit.models import Chain, Event
from leaderboard.audit.rules import event_hash
from leaderboard.frozen import frozen

CONTENT = ("at", "actor_id", "action", "subject", "subject_id", "facts", "state", "changed")  # what its hash is over


@frozen
class StoredEvent:
    """A row of the audit trail, as far as it can be read.

    hash, previous_hash  as they are stored
    event     what it says, in no session; None where that can't be read
    computed  the hash of what it says; empty where that can't be read
    problem   why it can't be
    """

    id: int
    hash: str
    previous_hash: str
    event: Event | None = None
    computed: str = ""
    problem: str = ""


def stored_events(
    session: Session, *where: sa.ColumnElement[bool], newest_first: bool = False
) -> Generator[StoredEvent]:
    """The events, in the order of their numbers. Close it when you stop before the end.

    Their columns are read as bare text and made into values one event at a time: SQL can insert an event with a date
    or a JSON that Python can't read, and it must not stand in the way of the others.
    """
    columns = Event.__table__.columns
    sqlite = session.get_bind().dialect.name == "sqlite"
    # SQLite takes any bytes for a text, and the driver fails on them; PostgreSQL's texts follow the connection's style.
    texts: dict[str, sa.ColumnElement[Any]] = {
        name: sa.cast(column, sa.LargeBinary() if sqlite else sa.Text()) for name, column in columns.items()
    }
    if not sqlite:
        texts["at"] = sa.func.to_char(sa.func.timezone("UTC", columns["at"]), "YYYY-MM-DD HH24:MI:SS.US")
    statement = (
        sa.select(Event.id.label("number"), *(text.label(name) for name, text in texts.items()))
        .where(*where)
        .order_by(Event.id.desc() if newest_first else Event.id)
        .execution_options(yield_per=100)
    )
    with closing(session.execute(statement)) as rows:
        for row in rows:
            yield _stored_event(row.number, row._mapping)  # SQLAlchemy's public name for a row by column


def _stored_event(number: int, said: Mapping[Any, Any]) -> StoredEvent:
    own, previous = (_text_of(said[name], "replace") for name in ("hash", "previous_hash"))
    try:
        at = datetime.fromisoformat(_text_of(said["at"]))
        event = Event(
            id=number,
            at=at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC),
            actor_id=None if said["actor_id"] is None else int(_text_of(said["actor_id"])),
            action=_text_of(said["action"]),
            subject=_text_of(said["subject"]),
            subject_id=int(_text_of(said["subject_id"])),
            **{name: json.loads(_text_of(said[name])) for name in ("facts", "state", "changed")},
            hash=own,
            previous_hash=previous,
        )
        computed = event_hash(previous, number, *(getattr(event, name) for name in CONTENT))
    except (ArithmeticError, RecursionError, ValueError) as error:
        return StoredEvent(number, own, previous, problem=f"{type(error).__name__}: {error}")
    return StoredEvent(number, own, previous, event, computed)


def _text_of(value: Any, errors: str = "strict") -> str:
    return value.decode(errors=errors) if isinstance(value, bytes) else str(value)


@frozen
class Verifications:
    """clean_at: the last one that found nothing; differed_at: the last one of all, when it found `differences`."""

    clean_at: datetime | None = None
    differed_at: datetime | None = None
    differences: int = 0


def verifications(session: Session) -> Verifications:
    """The outcomes that `leaderboard verify` left in the trail.

    An event that can't be read, that does not give its own hash or that says something else than a verification does is
    none: somebody else wrote it.
    """
    own = (Event.subject == Chain.__tablename__, Event.action == "verify")
    differed: tuple[datetime | None, int] = (None, 0)
    with closing(stored_events(session, *own, newest_first=True)) as events:
        for event in (stored.event for stored in events if stored.event and stored.computed == stored.hash):
            match event.facts:
                case {"clean": True}:
                    return Verifications(event.at, *differed)
                case {"clean": False, "differences": int(count)} if differed[0] is None:
                    differed = event.at, count
    return Verifications(None, *differed)
