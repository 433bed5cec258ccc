"""Which statements a site runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from flask import Flask


@contextmanager
def counted(app: Flask) -> Iterator[list[str]]:
    """The statements that the site runs in the block, without BEGIN and the like."""
    database = app.extensions["database"]
    engines = {database.engine, database.glance}
    ran: list[str] = []

    def note(_: Any, __: Any, statement: str, *___: Any) -> None:
        if statement.lstrip().upper().startswith(("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")):
            ran.append(statement)

    for engine in engines:
        sa.event.listen(engine, "before_cursor_execute", note)
    yield ran
    for engine in engines:
        sa.event.remove(engine, "before_cursor_execute", note)
