"""Adding and locking rows in ways that hold when others do the same at the same moment."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from leaderboard.db import Base
from leaderboard.errors import LeaderboardError, NotFound

Row = TypeVar("Row", bound=Base)


def add_or_refuse(session: Session, row: Base, refusal: LeaderboardError) -> None:
    """Inserts `row`; raises `refusal` when a unique constraint is in its way (the transaction stays usable)."""
    with or_refuse(session, refusal):
        session.add(row)


@contextmanager
def or_refuse(session: Session, refusal: LeaderboardError) -> Iterator[None]:
    """As `add_or_refuse`, for whatever is done to rows within."""
    try:
        with session.begin_nested():
            yield
            session.flush()
    except sa.exc.IntegrityError as error:
        raise refusal from error


def insert_unless_there(session: Session, model: type[Base], **values: Any) -> None:
    """Inserts a row, or nothing where its key is taken. Waits for another transaction that is just inserting it."""
    dialect = session.get_bind().dialect.name
    insert = postgresql.insert(model) if dialect == "postgresql" else sqlite.insert(model)
    session.execute(insert.values(**values).on_conflict_do_nothing())


def lock_table(session: Session, model: type[Base]) -> None:
    """Lets nobody else write to the table until the transaction ends, where rows are counted and then added.

    SQLite's writing transactions exclude each other anyway.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(sa.text(f'LOCK TABLE "{model.__tablename__}" IN SHARE ROW EXCLUSIVE MODE'))


def locked(session: Session, model: type[Row], key: Any, *, shared: bool = False) -> Row:
    """The row as it stands now, locked until the transaction ends. Raises NotFound when it is gone.

    shared: others may hold it shared at the same moment, nobody may change it. SQLite's writing transactions exclude
    each other anyway.
    """
    clause: dict[str, bool] = {"read": True} if shared else {"key_share": True}
    row = session.get(model, key, with_for_update=clause, populate_existing=True)
    if row is None:
        raise NotFound
    return row
