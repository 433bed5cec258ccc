"""Waiting for something to become true: looked at again and again, up to a deadline."""

import threading
import time
from collections.abc import Callable

from leaderboard.db import Database

SECONDS = 60.0
LOOK_SECONDS = 0.05


def wait_until(condition: Callable[[], bool], what: str, seconds: float = SECONDS) -> None:
    """Returns once `condition()` holds; AssertionError that names `what` when it does not in time."""
    pause = threading.Event()
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        pause.wait(LOOK_SECONDS)


def waits(database: Database) -> bool:
    """Whether somebody waits for a lock; of SQLite, whose writers take turns, nothing can be said."""
    if database.engine.dialect.name == "sqlite":
        return True
    with database.engine.connect() as connection:
        own = "(SELECT oid FROM pg_database WHERE datname = current_database())"
        locks = f"SELECT count(*) FROM pg_stat_activity WHERE datid = {own} AND wait_event_type = 'Lock'"
        return bool(connection.exec_driver_sql(locks).scalar())
