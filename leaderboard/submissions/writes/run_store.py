"""Which run store is the database's own: both carry one id, so that no process keeps runs where others don't look."""

import secrets

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.db import Database
from leaderboard.store import RunStore
from leaderboard.store.runs import OFFERED
from leaderboard.submissions.models import Installation

FIRST = sa.text("INSERT INTO installation (id, store) VALUES (1, :store) ON CONFLICT DO NOTHING RETURNING store")


def require_own(session: Session, store: RunStore) -> str | None:
    """The id of the database's own store, which this has to be; None for a database that was never bound to a store.

    Raises OtherStore, also where the folder is no store.
    """
    identity = session.scalar(sa.select(Installation.store))
    if identity is not None:
        store.require(identity)
    return identity


def take(session: Session, store: RunStore) -> None:
    """Has a database that was never bound take a new store, for good once the transaction is committed: the store is
    offered the id before, and gets it by `bind` behind it, so that either is taken again where a process ends between.
    """
    # Whoever comes second waits here until the first one's store was offered its id.
    new = session.scalar(FIRST, {"store": secrets.token_hex(16)})
    if new is not None and store.identity is None:
        store.identify(f"{new}{OFFERED}")
    require_own(session, store)


def bind(database: Database, store: RunStore) -> None:
    """Binds this process to its store, which has to be the database's own; a process that keeps runs does it first.

    A database that was never bound takes a new store, which it makes, and none that has an id: that is another
    database's, whose run files a worker of this one would sweep. Raises as `require_own`.
    """
    with database.read() as session:
        identity = require_own(session, store)
    if identity is None:
        store.place.make()
        with database.write() as session:
            take(session, store)
            identity = require_own(session, store)
    if identity is not None and store.identity is None:
        store.identify(identity)
    store.bound = identity
