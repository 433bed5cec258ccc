"""What a refusal must leave behind: every row that was there, as it was."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from leaderboard.db import Base, Database


def every_row(database: Database) -> dict[str, list[str]]:
    """Table -> its rows in words, sorted; read by SQL of its own, past the models."""
    with database.engine.connect() as connection:
        return {
            table.name: sorted(repr(tuple(row)) for row in connection.exec_driver_sql(f'SELECT * FROM "{table.name}"'))
            for table in Base.metadata.sorted_tables
        }


@contextmanager
def refused(
    database: Database, error: type[Exception] | tuple[type[Exception], ...], table: str, match: str | None = None
) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """What is tried inside raises `error`, and changes nothing: `table` holds rows, and all tables hold what they held.

    Put it around the transaction, so that it looks once that is over.
    """
    before = every_row(database)
    assert before[table], f"there is no {table} that could be changed"
    with pytest.raises(error, match=match) as caught:
        yield caught
    assert every_row(database) == before
