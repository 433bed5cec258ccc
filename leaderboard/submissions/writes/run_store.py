"""Which run store is the database's own: both carry one id, so that no process keeps runs where others don't look."""

import secrets

import sqlalchemy as sa

from leaderboard.db import Database, exists
from leaderboard.store import RunStore
from leaderboard.submissions.models import Installation, Submission

FIRST = sa.text("INSERT INTO installation (id, store) VALUES (1, :store) ON CONFLICT DO NOTHING RETURNING store")


def bind(database: Database, store: RunStore) -> None:
    """Binds this process to its store, which has to be the database's own; a process that keeps runs does it first.

    A database that was never bound takes a new store, which it makes, or, without runs of its own, one that has an id.
    Raises OtherStore, and NoStore where the folder is none.
    """
    with database.read() as session:
        identity = session.scalar(sa.select(Installation.store))
    if identity is None:
        store.make()
        with database.write() as session:
            # Whoever comes second waits here until the first one's store has its id.
            if (new := session.scalar(FIRST, {"store": store.identity or secrets.token_hex(16)})) is not None:
                if store.identity is None:
                    store.identify(new)
                elif exists(session, Submission.id.is_not(None)):
                    store.require("")
            identity = session.scalars(sa.select(Installation.store)).one()
    store.require(identity)
    store.bound = identity
