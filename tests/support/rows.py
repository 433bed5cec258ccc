"""Everything that a database holds, to compare two of them: on either engine, to the last bit."""

from typing import Any

import numpy as np
import sqlalchemy as sa

from leaderboard.db import Base, Database


def every_row(database: Database) -> dict[str, list[str]]:
    """Each table's rows in their order, in words that tell any two values apart."""
    with database.read() as session:
        return {
            table.name: sorted(repr([_plain(value) for value in row]) for row in session.execute(sa.select(table)))
            for table in Base.metadata.sorted_tables
        }


def _plain(value: Any) -> Any:
    match value:
        case np.ndarray():
            return value.tobytes()
        case float():
            return value.hex()
        case dict():
            return {name: _plain(value[name]) for name in sorted(value)}
        case list():
            return [*map(_plain, value)]
    return value
