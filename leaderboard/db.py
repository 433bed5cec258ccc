"""The ground of all tables: base class, column types, the clock, sessions on both engines, and locks of rows."""

import importlib
import logging
import math
import os
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields
from datetime import UTC, datetime
from difflib import get_close_matches
from enum import StrEnum
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

import numpy as np
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import DeclarativeBase, InstrumentedAttribute, Session, mapped_column
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.sql.visitors import InternalTraversal

from leaderboard import numbers, private_files
from leaderboard.errors import BadInput, LeaderboardError, NoDatabase, NotFound, OtherBuild
from leaderboard.evaluations.rules import ScoringSettings
from leaderboard.metrics import Floats
from leaderboard.metrics.segments import Ints

NAMING = {
    "ix": "ix_%(column_0_N_label)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


ROWS_AT_ONCE = 500  # some have a vector of all queries
LISTED = 10  # names that a message lists
AS_COMMITTED = "opens a session beside this one"
READ_SO_FAR = "what was read in this session"
ONE_CONNECTION = {"pool_size": 1, "max_overflow": 0}
NO_TRANSACTION = {"isolation_level": "AUTOCOMMIT"}  # spares the messages that begin and end one
GLANCE = {"pool_size": 2, "max_overflow": 0, "pool_pre_ping": False, **NO_TRANSACTION}
CONNECTIONS = 10  # of one process
OTHERS = 4  # connections of a process that are not its pool's: one beside, two for glances, one that listens
# PostgreSQL's own bounds, in seconds. A process that was stopped in a transaction would hold up whoever waits for its
# locks, and a statement that nobody waits for any more would go on for ever.
STALLED = {"idle_in_transaction_session_timeout": 60.0}
SLOW = {"statement_timeout": 60.0}
NO_BOUNDS: Mapping[str, float] = {}
CONTENT = ("Could not decode to UTF-8", "malformed JSON")  # SQLite's words for what somebody else wrote
NO_STATISTICS = sa.text("EXISTS (SELECT FROM pg_class WHERE oid = to_regclass('standing') AND reltuples < 0)")
LIMIT_PASSED = "54"  # the class of PostgreSQL's codes
READ_ONLY = "25006"  # PostgreSQL's code: a standby, or a server that its operator has closed to writers
NO_SUCH = ("42P01", "42703")  # PostgreSQL's codes: no such table, no such column
NO_SUCH_IN_WORDS = ("no such table: ", "no such column: ", " has no column named ")  # SQLite's words for them
AGAIN_SECONDS = 10.0  # before a connection that listens is made anew
PATIENCE_SECONDS = 30.0  # of commands and workers; the site's is shorter

# What the pool would say of a connection that was cut, with a traceback: it is raised, too.
logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)

Json = sa.JSON().with_variant(JSONB(), "postgresql")


class UtcDateTime(sa.types.TypeDecorator[datetime]):
    """A moment. Naive values are refused; what comes back is in UTC.

    The migration that makes a column of moments has it take years from 1900 to 9998 only (`moment` in the first one).
    """

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"a moment needs its time zone: {value!r}")
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002  # SQLAlchemy's signature
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class PackedFloats(sa.types.TypeDecorator[Floats]):
    """A float64[positions], kept as eight little-endian bytes a position."""

    impl = sa.LargeBinary
    cache_ok = True
    VALUE: np.dtype[Any] = np.dtype("<f8")

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002  # SQLAlchemy's signature
        return value.astype(self.VALUE).tobytes()

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> Floats | None:  # noqa: ARG002  # SQLAlchemy's signature
        return None if value is None else np.frombuffer(value, self.VALUE)


class PackedInts(PackedFloats):
    """An int64[…], kept in the same way."""

    cache_ok = True
    VALUE = np.dtype("<i8")


def value_at(column: InstrumentedAttribute[Floats], position: int) -> sa.Function[Floats]:
    """The float64[1] at one position of a packed vector, read without the rest; float64[0] beyond its end."""
    size = PackedFloats.VALUE.itemsize
    return sa.func.substr(column, size * position + 1, size, type_=PackedFloats)


class SettingsColumn(sa.types.TypeDecorator[ScoringSettings]):
    """ScoringSettings as JSON."""

    impl = Json
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002  # SQLAlchemy's signature
        return value.as_json()

    def process_result_value(self, value: Any, dialect: Dialect) -> ScoringSettings | None:  # noqa: ARG002  # SQLAlchemy's signature
        return None if value is None else ScoringSettings.from_json(value)


Key = Annotated[int, mapped_column(primary_key=True)]
Text = Annotated[str, mapped_column(sa.Text)]


class Base(DeclarativeBase):
    metadata = sa.MetaData(naming_convention=NAMING)
    type_annotation_map = {  # noqa: RUF012  # SQLAlchemy reads it from the class
        datetime: UtcDateTime(),
        dict[str, Any]: Json,
        list[Any]: Json,
        list[str]: Json,
        str: sa.Text(),
        Floats: PackedFloats(),
        Ints: PackedInts(),
        ScoringSettings: SettingsColumn(),
    }


def choice(kind: type[StrEnum], name: str) -> sa.Enum:
    """A column of one of `kind`'s values, kept as text under a check of that name (the same on both engines)."""
    return sa.Enum(
        kind,
        name=name,
        native_enum=False,
        create_constraint=True,
        validate_strings=True,
        length=32,
        values_callable=lambda members: [member.value for member in members],
    )


class clock(sa.sql.expression.ColumnElement[datetime]):  # noqa: N801  # reads as an SQL function
    """The database's own clock now, plus some seconds: `clock()`, `clock(30)`.

    Leases are compared by it, because the clocks of several hosts differ. On PostgreSQL it moves within a transaction.
    """

    type = UtcDateTime()
    # What a statement is known by whose compiled form is kept: compiling takes longer than running it.
    _traverse_internals = [("seconds", InternalTraversal.dp_string)]  # noqa: RUF012  # SQLAlchemy reads it from the class

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = float(seconds)


@compiles(clock, "postgresql")
def _clock_postgresql(element: clock, _compiler: Any, **_: Any) -> str:
    return f"(clock_timestamp() + interval '{element.seconds!r} seconds')"


@compiles(clock, "sqlite")
def _clock_sqlite(element: clock, _compiler: Any, **_: Any) -> str:
    # Six digits after the point, as SQLAlchemy writes moments: strftime gives three.
    return f"(strftime('%Y-%m-%d %H:%M:%f', 'now', '{element.seconds:+.3f} seconds') || '000')"


def unanswered(error: Exception) -> NoDatabase | None:
    """What we raise for an error that says that the database is away, locked or full, so that the same may work later,
    or that it lacks a table or a column, as one of another build does; every other one is about what it was asked to
    do, and will come again.

    PostgreSQL's class 54 says that a limit of its own was passed, which drivers count among the first kind, as SQLite's
    does with text and JSON that can't be read.
    """
    reason = " ".join(str(getattr(error, "orig", None) or error).split())
    if isinstance(error, sa.exc.TimeoutError):  # no connection of the pool was free
        return NoDatabase(reason)
    if not isinstance(error, sa.exc.DBAPIError):
        return None
    state = getattr(error.orig, "sqlstate", None) or ""
    if state in NO_SUCH or any(words in reason for words in NO_SUCH_IN_WORDS):
        return OtherBuild(reason)
    is_away = (
        error.connection_invalidated
        or state == READ_ONLY
        or reason.startswith("invalid connection option")  # in the database's URL
        or type(error.orig) is sqlite3.DatabaseError  # a file that is damaged or no database: no class of its own
        or (
            isinstance(error, (sa.exc.OperationalError, sa.exc.InterfaceError))
            and not state.startswith(LIMIT_PASSED)
            and not reason.startswith(CONTENT)
        )
    )
    return NoDatabase(reason) if is_away else None


def load_tables() -> None:
    """Imports the models of every subject, so that foreign keys and relationships find their tables."""
    for path in sorted(Path(__file__).parent.glob("*/models.py")):
        importlib.import_module(f"leaderboard.{path.parent.name}.models")


class Database:
    """One engine, and connections beside it. `read()` and `write()` are the only ways to a session.

    The caller of `write()` owns the transaction: it commits when the block ends and rolls back when it raises. On
    SQLite it opens with BEGIN IMMEDIATE, since a transaction that reads first and writes later fails at once when
    another one wrote in between, whatever the busy timeout says.

    beside  an engine of the same database for `as_committed`, with one connection of its own: a transaction that waited
            for one of the engine's could wait for others that wait for it
    glance  an engine for single statements that need no transaction and may fail where a connection was cut: on
            PostgreSQL each then takes one message to the server, where a transaction on a checked connection takes four
    """

    def __init__(self, engine: sa.Engine, beside: sa.Engine, glance: sa.Engine | None = None) -> None:
        self.engine = engine
        self.glance = glance or engine
        self._beside = beside
        load_tables()
        self._writing = engine.execution_options(writing=True)

    @classmethod
    def connect(
        cls,
        url: str,
        *,
        patience_seconds: float = PATIENCE_SECONDS,
        must_exist: bool = False,
        program: str = "leaderboard",
        connections: int = CONNECTIONS,
        bounds: Mapping[str, float] = NO_BOUNDS,
    ) -> "Database":
        """Waits up to `patience_seconds` for others' locks, for a server and for a free connection.

        must_exist   a file of SQLite's is not made where it is missing
        program      what PostgreSQL lists the connections as, with the host and the process id
        connections  the most that this process has of PostgreSQL's; SQLite's are files, which bound nobody else
        bounds       of PostgreSQL's: `STALLED`, `SLOW`

        Raises BadInput when the URL is neither SQLite's nor PostgreSQL's.
        """
        try:
            parsed = sa.make_url(url)
        except (sa.exc.ArgumentError, ValueError):
            raise BadInput("the database URL can't be read; expected sqlite:///FILE or postgresql://…") from None
        if "@" in (parsed.host or ""):
            raise BadInput("the database URL can't be read; write @ in a password as %40")
        match parsed.get_backend_name():
            case "postgresql":
                name = f"{program} {socket.gethostname()[:30]}:{os.getpid()}"  # PostgreSQL cuts off behind 63 bytes
                parsed = parsed.set(drivername="postgresql+psycopg")
                engine = partial(_postgresql, parsed, name, patience_seconds, bounds)
                pool = {"pool_size": max(1, connections - OTHERS), "max_overflow": 0}
                return cls(*map(engine, (pool, ONE_CONNECTION | NO_TRANSACTION, GLANCE)))
            case "sqlite":
                engine = partial(_sqlite, parsed, patience_seconds, must_exist)
                return cls(engine({}), engine(ONE_CONNECTION))
            case other:
                raise BadInput(f"{other} is no database that is supported; use sqlite:///FILE or postgresql://…")

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Raises NoDatabase, as `write` does, when the database does not answer, is locked, full or read-only."""
        with answering(), Session(self.engine, expire_on_commit=False, info={READ_SO_FAR: {}}) as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        info = {AS_COMMITTED: lambda: Session(self._beside)}
        with answering(), Session(self._writing, expire_on_commit=False, info=info) as session, session.begin():
            yield session

    def gather_statistics(self) -> None:
        """Has PostgreSQL look at its tables where it has no statistics of them yet.

        It does so by itself some minutes after the first rows, or after a restored dump. Until then it plans pages of
        hundreds of runs as if there were one: of 500 systems they take a second, of more far longer.
        """
        if self.engine.dialect.name == "postgresql":
            with self.write() as session:
                if session.scalar(sa.select(NO_STATISTICS)):
                    session.execute(sa.text("ANALYZE"))

    def close(self) -> None:
        for engine in (self.engine, self._beside, self.glance):
            engine.dispose()


class Listener:
    """What PostgreSQL tells when a transaction has queued something or recorded an event, over a connection of its own
    (`migrations/versions/0006_who_waits_is_told.py`). SQLite tells nothing."""

    def __init__(self, database: Database) -> None:
        self._engine = database.glance
        self._connection: Any = None
        self._again = 0.0 if database.engine.dialect.name == "postgresql" else math.inf

    def notices(self, seconds: float) -> set[str] | None:
        """What was told since the last call, else within so many seconds. At once None where nobody tells: now look.

        A connection that was cut off is made anew AGAIN_SECONDS later, and None once more: what was told meanwhile is
        lost.
        """
        if time.monotonic() < self._again:
            return None
        try:
            if self._connection is None:
                self._connection = self._engine.raw_connection()
                self._connection.detach()  # the pool opens another one in its place
                self._connection.dbapi_connection.execute("LISTEN leaderboard")
                return None
            notices = self._connection.dbapi_connection.notifies(timeout=seconds, stop_after=1)
            return {notice.payload for notice in notices}
        except (sa.exc.DBAPIError, sa.exc.TimeoutError, self._engine.dialect.loaded_dbapi.Error):
            self.close()
            self._again = time.monotonic() + AGAIN_SECONDS
            return None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def read_so_far(session: Session, what: str) -> dict[Any, Any]:
    """What a session of `read()` has read of one kind so far, for whoever reads it to look at and to add to: several
    reads of one page need the same rows. Empty each time in any other session, where a row may change meanwhile.

    For rows only, as they are for everybody: nothing that depends on who asks, or when, may be put there.
    """
    so_far: dict[str, dict[Any, Any]] = session.info.get(READ_SO_FAR, {})
    return so_far.setdefault(what, {})


Snapshot = TypeVar("Snapshot")


def snapshot(kind: type[Snapshot], row: object, /, **more: Any) -> Snapshot:
    """A frozen dataclass made of a row: each of its fields is the row's attribute of that name, or stands in `more`."""
    names = [field.name for field in fields(kind) if field.name not in more]  # type: ignore[arg-type]  # a dataclass
    return kind(**{name: getattr(row, name) for name in names}, **more)


def as_committed(session: Session) -> AbstractContextManager[Session]:
    """A session that sees what others have committed, and nothing of what `session`, one of `write()`, has written.

    Call it only under a lock that one transaction holds at a time: it has one connection.
    """
    opened: AbstractContextManager[Session] = session.info[AS_COMMITTED]()
    return opened


def _postgresql(
    url: sa.URL, name: str, patience_seconds: float, bounds: Mapping[str, float], more: Mapping[str, Any]
) -> sa.Engine:
    options: dict[str, Any] = {
        "pool_pre_ping": True,
        "pool_recycle": 1800,
        "pool_timeout": patience_seconds,
        "hide_parameters": True,  # values of rows in the log's tracebacks
        "use_native_hstore": False,  # a type that no table has; each engine would look for it
        "connect_args": {
            "connect_timeout": max(2, round(patience_seconds)),  # libpq takes less than 2 for 2
            "tcp_user_timeout": round(1000 * patience_seconds),
            "application_name": name,
            "keepalives_idle": 30,  # of one that listens a firewall would forget
        },
    }
    engine = sa.create_engine(url, **{**options, **more})
    sa.event.listen(engine, "first_connect", _require_utf8, insert=True)  # before SQLAlchemy reads a text
    sa.event.listen(engine, "connect", partial(_set_bounds, {"lock_timeout": patience_seconds, **bounds}))
    return engine


def _sqlite(url: sa.URL, patience_seconds: float, must_exist: bool, pool: Mapping[str, int]) -> sa.Engine:
    wait = {"pool_timeout": patience_seconds, "connect_args": {"timeout": patience_seconds}}
    engine = sa.create_engine(url, hide_parameters=True, **wait, **pool)
    file = Path(url.database or "")
    sa.event.listen(engine, "do_connect", partial(_prepare_file, file, must_exist))
    if must_exist:
        sa.event.listen(engine, "checkout", partial(_same_file, file))
    sa.event.listen(engine, "connect", _set_up_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_file(file: Path, must_exist: bool, *_: object) -> None:
    """Before each connection: it would make the file as the umask says, and SQLite's own files beside it follow it.

    must_exist: refuses to connect where the file is missing, which SQLite would make empty.
    """
    if must_exist and not file.exists():
        raise sqlite3.OperationalError("its file is missing; `leaderboard db upgrade` makes a new one")
    try:
        if file.parent.is_dir():
            private_files.private_file(file)
            for ending in ("-wal", "-shm"):
                private_files.tighten(file.with_name(file.name + ending))
    except OSError as error:  # as SQLite itself would say it, for `answering`
        raise sqlite3.OperationalError(str(error)) from error


@contextmanager
def answering() -> Iterator[None]:
    """Raises NoDatabase when the database does not answer in this block, is locked, full or read-only, and OtherBuild
    when it lacks a table or a column."""
    try:
        yield
    except (sa.exc.TimeoutError, sa.exc.DBAPIError) as error:
        if (ours := unanswered(error)) is None:
            raise
        raise ours from error


def _require_utf8(connection: Any, _: ConnectionPoolEntry) -> None:
    """Names and texts are in every language. Raises NoDatabase."""
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        connection.close()
        raise NoDatabase(f"it has the encoding {encoding}; make it with UTF8: createdb -E UTF8 -T template0")


def _set_bounds(bounds: Mapping[str, float], connection: Any, _: ConnectionPoolEntry) -> None:
    """Has PostgreSQL give up waiting for another's lock after so long, and what else it bounds."""
    connection.execute("; ".join(f"SET {name} = {round(1000 * seconds)}" for name, seconds in bounds.items()))
    connection.commit()


def _same_file(file: Path, _: Any, entry: ConnectionPoolEntry, __: Any) -> None:
    """Refuses a pooled connection whose file was taken away or replaced: it would go on with the old one."""
    try:
        status = file.stat()
        identity = status.st_dev, status.st_ino
    except OSError:
        identity = None
    if entry.info.setdefault("file", identity) != identity:
        raise sa.exc.DisconnectionError("the database's file is another one")


PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = FULL",  # a receipt that was given survives a power cut
    "foreign_keys = ON",
    "recursive_triggers = ON",  # REPLACE deletes rows; without this it does so past every DELETE trigger
)


def _set_up_sqlite(connection: sqlite3.Connection, _: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # the driver must not open transactions of its own
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: sa.Connection) -> None:
    writing = connection.get_execution_options().get("writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


Row = TypeVar("Row", bound=Base)


def add_or_refuse(session: Session, row: Base, refusal: LeaderboardError) -> None:
    """Inserts `row`, or raises as `or_refuse` does."""
    with or_refuse(session, refusal):
        session.add(row)


@contextmanager
def or_refuse(session: Session, refusal: LeaderboardError) -> Iterator[None]:
    """Raises `refusal` when a constraint is in the way of what is done within (the transaction stays usable)."""
    try:
        with session.begin_nested():
            yield
            session.flush()
    except sa.exc.IntegrityError as error:
        raise refusal from error


def exists(session: Session, *conditions: sa.ColumnElement[bool]) -> bool:
    """Whether there is a row of which all of these are true."""
    return bool(session.scalar(sa.select(sa.exists().where(*conditions))))


def missing(
    session: Session,
    what: str,
    name: str,
    column: InstrumentedAttribute[str],
    *among: sa.ColumnElement[bool],
    within: str = "",
) -> NoReturn:
    """Raises NotFound that suggests the nearest names, or lists the first few when none is near."""
    names = list(session.scalars(sa.select(column).distinct().where(*among).order_by(column)))
    near = " or ".join(get_close_matches(name, names))
    hint = f"; did you mean {near}?" if near else f"; known are {numbers.first_of(names, LISTED)}" if names else ""
    raise NotFound(f"there is no {what} {name!r}{within}{hint}")


def insert_unless_there(session: Session, model: type[Base], **values: Any) -> None:
    """Inserts a row, or nothing where its key is taken. Waits for another transaction that is just inserting it."""
    session.execute(insert(model).values(**values).on_conflict_do_nothing())  # which SQLite writes alike


def insert_many(
    connection: sa.Connection, table: sa.TableClause, columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    """Inserts many rows, each the values of the columns: on PostgreSQL by COPY, in a quarter of the time."""
    if connection.dialect.name != "postgresql":
        values = (dict(zip(columns, row, strict=True)) for row in rows)
        while batch := list(islice(values, ROWS_AT_ONCE)):
            connection.execute(sa.insert(table), batch)
        return
    names = ", ".join(f'"{column}"' for column in columns)
    try:
        driver: Any = connection.connection.dbapi_connection
        with driver.cursor() as cursor, cursor.copy(f'COPY "{table.name}" ({names}) FROM STDIN') as copy:
            for row in rows:
                copy.write_row(row)
    except connection.dialect.loaded_dbapi.Error as error:  # as SQLAlchemy would raise it, for `answering`
        base = connection.dialect.loaded_dbapi.Error
        raise sa.exc.DBAPIError.instance("COPY", None, error, base, dialect=connection.dialect) from error


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
