"""Heartbeats of workers, and the wish that they end."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from leaderboard import __version__
from leaderboard.db import clock
from leaderboard.operating.models import WorkerSeen

LOOK_SECONDS = 30.0  # after which one of the waiting workers looks for what no event told of, such as a closing
GONE_SECONDS = 3600.0  # without a heartbeat, after which a worker is not coming back


def beat(connection: sa.Connection, name: str, has_work: sa.ColumnElement[bool]) -> tuple[bool, bool]:
    """Says that the worker is alive, on PostgreSQL in one statement.

    Gives whether it is to look for work, by `has_work` or because no worker did for LOOK_SECONDS, and whether it was
    asked to end.
    """
    others = sa.orm.aliased(WorkerSeen)
    looked = sa.exists().where(others.looked_at > clock(-LOOK_SECONDS))
    moments = dict.fromkeys(("seen_at", "looked_at"), clock())
    row = insert(WorkerSeen).values(name=name, version=__version__, **moments)
    seen = {"seen_at": clock(), "looked_at": sa.case((looked, WorkerSeen.looked_at), else_=clock())}
    row = row.on_conflict_do_update(index_elements=[WorkerSeen.name], set_=seen)
    is_turn = WorkerSeen.looked_at > clock(-0.5)  # as of this heartbeat: the last one was longer ago
    if connection.dialect.name == "postgresql":
        looks, drains = connection.execute(row.returning(sa.or_(is_turn, has_work), WorkerSeen.drains)).one()
        return looks, drains
    # Tables are not named in what SQLite returns, which has to be of one table therefore.
    looks, drains = connection.execute(row.returning(is_turn, WorkerSeen.drains)).one()
    return looks or bool(connection.scalar(sa.select(has_work))), drains


def forget(session: Session, name: str = "") -> None:
    """Takes away the worker of this name, which ends, and those that were killed."""
    is_gone = sa.or_(WorkerSeen.name == name, WorkerSeen.seen_at < clock(-GONE_SECONDS))
    session.execute(sa.delete(WorkerSeen).where(is_gone), execution_options={"synchronize_session": False})


def drain(session: Session) -> None:
    """Asks all workers to end after the run that each has in hand."""
    session.execute(sa.update(WorkerSeen).values(drains=True), execution_options={"synchronize_session": False})
