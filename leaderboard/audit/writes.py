"""The audit trail, and the present moment."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any
from weakref import WeakKeyDictionary

import sqlalchemy as sa
from sqlalchemy.orm import Session, SessionTransaction

from leaderboard.access import Actor
from leaderboard.audit.audited_tables import change_of, name_of, states_of, things_of
from leaderboard.audit.models import Chain, Event
from leaderboard.audit.rules import event_hash
from leaderboard.db import Base, as_committed
from leaderboard.generations.writes import campaign_of, is_shown, raise_generations
from leaderboard.submissions.writes.selection import note_selection, settle_selection

WAITING = "events that wait for the commit"
SHOWN = "campaigns whose pages show what was changed"
BEFORE = "how many events waited when each open savepoint was made"


_REPLAYED: ContextVar[datetime | None] = ContextVar("replayed", default=None)


def present() -> datetime:
    """Now, in UTC. Services take `now` where a caller may know better (a deadline counts from a request's start)."""
    return _REPLAYED.get() or datetime.now(UTC)


@contextmanager
def replaying(moment: datetime) -> Iterator[None]:
    """Within the block it is that moment of the past: an import does again what was done then. The trail says when it
    did so."""
    token = _REPLAYED.set(moment)
    try:
        yield
    finally:
        _REPLAYED.reset(token)


def is_replay() -> bool:
    """Whether what happens now is an import's replay of the past."""
    return _REPLAYED.get() is not None


def assign(row: Base, **values: Any) -> list[str]:
    """Gives a row these values; the names of those that were others before. Where there are none there is no event."""
    changed = [name for name, value in values.items() if getattr(row, name) != value]
    for name in changed:
        setattr(row, name, values[name])
    return changed


def record(
    session: Session, actor: Actor, action: str, subject: Base, *, about: Sequence[Base] = (), **facts: Any
) -> None:
    """Adds to the audit trail that `actor` did `action` to `subject`, whose id must be known by now.

    about  other rows that it changes, which the event carries the state of too

    Facts are what a reader of the trail would ask for; never a password, a token or a judgment. The event is written
    when the transaction is committed: it hangs on the one before it, so events are added one at a time, and a
    transaction that took its turn earlier would keep all others waiting. It carries what the rows that it is about hold
    by then (`audit/audited_tables.py`), and what of it was otherwise before the transaction: what somebody had changed
    past this program is not taken over unseen.
    """
    session.flush()
    _shown(session).add(campaign_of(session, subject, action))
    event = {
        "actor_id": actor.user_id,
        "action": action,
        "subject": subject.__tablename__,
        "subject_id": subject.id,  # type: ignore[attr-defined]  # every table that is a subject has one
        "facts": facts,
    }
    things = [thing for row in (subject, *about) for thing in things_of(row)]
    session.info.setdefault(WAITING, []).append((event, things))


def _shown(session: Session) -> set[int | None]:
    """The campaigns whose generations rise at the commit; None among them stands for no page."""
    shown: set[int | None] = session.info.setdefault(SHOWN, set())
    return shown


@sa.event.listens_for(Session, "after_flush")
def _note_what_shows(session: Session, _: object) -> None:
    """Raises generations for what is changed without an event too, and notes whose standing may have changed."""
    for row in (*session.new, *session.dirty, *session.deleted):
        note_selection(session, row)
        if is_shown(row):
            _shown(session).add(campaign_of(session, row))


@sa.event.listens_for(Session, "after_transaction_create")
def _note_savepoint(session: Session, transaction: SessionTransaction) -> None:
    if transaction.nested:
        session.info.setdefault(BEFORE, WeakKeyDictionary())[transaction] = len(session.info.get(WAITING, ()))


@sa.event.listens_for(Session, "after_soft_rollback")
def _drop_undone(session: Session, undone: SessionTransaction) -> None:
    """What was undone to a savepoint has no event."""
    if undone.nested:
        del session.info.get(WAITING, [])[session.info[BEFORE][undone] :]


@sa.event.listens_for(Session, "before_commit")
def _write(session: Session) -> None:
    """Writes the events that wait, and raises the generations. That of a savepoint is no commit."""
    if session.in_nested_transaction():
        return
    session.flush()
    waiting = session.info.get(WAITING, [])
    shown = _shown(session)
    if not waiting and not shown:
        return
    # The last lock of the transaction, so that nobody waits for the others who hold it.
    chain = session.execute(sa.select(Chain.events, Chain.head).with_for_update()).one()
    settle_selection(session)
    raise_generations(session, (campaign for campaign in shown if campaign is not None))
    shown.clear()
    number, head = chain.events, chain.head
    all_things = dict.fromkeys(thing for _, things in waiting for thing in things)
    # In this order: what somebody else commits between the two is in `committed` only, and is told from our own change.
    after = states_of(session, all_things)
    with as_committed(session) as committed_session:
        committed = states_of(committed_session, all_things)
    for event, things in waiting:
        state = {name: after[name] for name in map(name_of, things)}
        changed = {name: change_of(committed[name], now) for name, now in state.items() if committed[name] != now}
        committed |= state  # for the transaction's next event about it
        content = {"at": present(), **event, "state": state, "changed": changed}
        number, previous = number + 1, head
        head = event_hash(previous, number, *content.values())
        session.execute(sa.insert(Event).values(id=number, previous_hash=previous, hash=head, **content))
    waiting.clear()
