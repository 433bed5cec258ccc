"""Every call that leaves the program, counted, one of which fails: those of the database's driver (connections,
statements, commits) and those that the run store makes of the file system or the bucket.

For processes that do one thing and end: nothing of it can be taken back. SQLAlchemy is given dialects that count, the
file system's calls are heard of by Python's own audit events, and none of our code is replaced.
"""

import errno
import os
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from enum import StrEnum
from pathlib import Path
from typing import Any, NoReturn

import obstore
import psycopg
from obstore.exceptions import GenericError
from sqlalchemy.dialects import registry

from tests.support.quick import PostgreSQL, SQLite

FILE_EVENTS = frozenset({"open", "os.chmod", "os.listdir", "os.mkdir", "os.remove", "os.rename", "os.scandir"})


class Fault(StrEnum):
    """What becomes of the call."""

    RAISE = "raises"  # it is not made
    LOSE = "is made, and its answer lost"
    KILL = "kills the process before"
    KILL_AFTER = "kills the process after"


class Calls:
    """The calls so far by name, in their order, and what fails: the call of that number, once."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.failing: tuple[int, Fault] | None = None
        self.counts = False
        self.files_below: tuple[str, ...] = ()  # folders of the store

    @contextmanager
    def call(self, name: str, refuse: Callable[[], None], lose: Callable[[], NoReturn]) -> Iterator[None]:
        """One call. refuse: makes it raise, by itself or when it is made; lose: raises after it was made"""
        fault = self._next(name)
        if fault is Fault.KILL:
            _die()
        if fault is Fault.RAISE:
            refuse()
        yield
        if fault is Fault.KILL_AFTER:
            _die()
        if fault is Fault.LOSE:
            lose()

    def _next(self, name: str) -> Fault | None:
        """Counts one; what is to become of it."""
        if not self.counts:
            return None
        self.made.append(name)
        number, fault = self.failing or (0, None)
        return fault if number == len(self.made) else None

    def call_of_file(self, name: str, path: Any) -> AbstractContextManager[None]:
        """One call of the file system; of another folder's files none that counts."""
        if not self.counts or not str(path).startswith(self.files_below):
            return nullcontext()
        return self.call(f"file {name}", _no_disk, _no_disk)

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Of Python's audit events: a call of the file system that is about to be made."""
        if event in FILE_EVENTS:
            with self.call_of_file(event.removeprefix("os."), arguments[0]):
                pass


CALLS = Calls()


def _die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still here")


def _no_disk() -> NoReturn:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def count_files() -> None:
    """Counts the calls of the file system that are about files of the store."""
    sys.addaudithook(CALLS.hear)
    flush, look = os.fsync, os.stat

    def fsync(handle: int) -> None:
        with CALLS.call_of_file("fsync", Path(f"/proc/self/fd/{handle}").readlink()):
            flush(handle)

    def stat(path: Any, **options: Any) -> os.stat_result:
        with CALLS.call_of_file("stat", path):
            return look(path, **options)

    os.fsync, os.stat = fsync, stat  # type: ignore[assignment]  # of these Python tells nobody


def count_objects() -> None:
    """Counts the requests to a bucket, each with those that obstore repeats of it."""
    for name in ("delete", "get_range", "head", "list", "put"):
        setattr(obstore, name, _counted(name, getattr(obstore, name)))


def _counted(name: str, ask: Callable[..., Any]) -> Callable[..., Any]:
    def counted(*arguments: Any, **options: Any) -> Any:
        with CALLS.call(f"bucket {name}", _no_service, _no_service):
            return ask(*arguments, **options)

    return counted


def _no_service() -> NoReturn:
    raise GenericError("error sending request: connection refused")


class _Counted:
    """The part of a dialect that makes the driver's calls. _call: counts one; _no_server: raises as the driver does"""

    supports_statement_cache = True
    _call: Any
    _no_server: Any

    def connect(self, *arguments: Any, **options: Any) -> Any:
        with CALLS.call("connect", self._no_server, self._no_server):
            return super().connect(*arguments, **options)  # type: ignore[misc]  # a dialect's, as all below

    def do_execute(self, cursor: Any, statement: str, *more: Any) -> None:
        with self._call(statement.split(maxsplit=1)[0], cursor.connection):
            super().do_execute(cursor, statement, *more)  # type: ignore[misc]  # the dialect's

    def do_executemany(self, cursor: Any, statement: str, *more: Any) -> None:
        with self._call(statement.split(maxsplit=1)[0], cursor.connection):
            super().do_executemany(cursor, statement, *more)  # type: ignore[misc]  # the dialect's

    def do_execute_no_params(self, cursor: Any, statement: str, *more: Any) -> None:
        with self._call(statement.split(maxsplit=1)[0], cursor.connection):
            super().do_execute_no_params(cursor, statement, *more)  # type: ignore[misc]  # the dialect's

    def do_commit(self, connection: Any) -> None:
        with self._call("COMMIT", connection):
            super().do_commit(connection)  # type: ignore[misc]  # the dialect's

    def do_rollback(self, connection: Any) -> None:
        with self._call("ROLLBACK", connection):
            super().do_rollback(connection)  # type: ignore[misc]  # the dialect's


class CountedSQLite(_Counted, SQLite):
    supports_statement_cache = True

    def _call(self, name: str, _: Any) -> Any:
        return CALLS.call(name, self._no_server, self._no_server)

    def _no_server(self) -> NoReturn:
        raise sqlite3.OperationalError("disk I/O error")


class CountedPostgreSQL(_Counted, PostgreSQL):
    supports_statement_cache = True

    def do_ping(self, connection: Any) -> Any:
        with self._call("ping", connection):
            return super().do_ping(connection)  # type: ignore[no-untyped-call]  # SQLAlchemy's

    def _call(self, name: str, connection: Any) -> Any:
        def lose() -> NoReturn:
            end(connection)
            raise psycopg.OperationalError("server closed the connection unexpectedly")

        return CALLS.call(name, lambda: end(connection), lose)

    def _no_server(self) -> NoReturn:
        raise psycopg.OperationalError("connection failed: Connection refused")


def end(connection: Any) -> None:
    """As a server does that is stopped: the connection is ended, which its holder learns by using it."""
    connection = getattr(connection, "driver_connection", connection)  # of the pool's: the driver's own
    if connection.closed:
        return
    process = connection.info.backend_pid
    with psycopg.connect(connection.info.dsn, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [process])


def count_statements() -> None:
    """Counts the driver's calls of every engine that is made from here on."""
    registry.register("sqlite", __name__, CountedSQLite.__name__)
    registry.register("postgresql.psycopg", __name__, CountedPostgreSQL.__name__)
