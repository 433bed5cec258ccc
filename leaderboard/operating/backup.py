"""A whole installation in one file, and back: the rows of every table at one moment, and the files of the runs.

The file is a zip archive: `tables/NAME` (a line of JSON with the names of the columns, then one for each row),
`runs/ab/SHA256` (a run as received) and `manifest.json`. The rows are read first, in one transaction: run files are
only ever added, so that those which the rows name are all there afterwards, while the site goes on. Rows are written
the same on both engines, so that each restores what the other has: vectors as hexadecimal digits, moments in UTC.
Copies of ranked lists are left out: workers make them again.

The manifest has

    at, version, schema       when the rows were read, the build that wrote them, the revision of the tables
    store, store_id, earlier  the store's URL and id; the names of the backups that have the run files that are left
                              out, the latest first
    tables, last_ids          table -> SHA-256 of its lines, in the order in which tables refer to each other; table ->
                              the highest number that an id has had
    runs, held, lost          SHA-256 of each run file that the rows name; of those which this backup has, or those
                              before it; of those which the store lacked, or which were damaged
    added                     how many run files are in this one
"""

import hashlib
import json
import os
import shutil
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, cast
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import access, migrate
from leaderboard.audit.models import Chain, Event
from leaderboard.audit.verify import one_moment
from leaderboard.audit.writes import present, record
from leaderboard.db import ROWS_AT_ONCE, Base, Database, insert_many, locked
from leaderboard.errors import BadInput, Conflict, Damaged, NoStore
from leaderboard.generations.models import INSTALLATION
from leaderboard.generations.writes import raise_generations
from leaderboard.numbers import counted
from leaderboard.operating.models import WorkerSeen
from leaderboard.store import PIECE, RunStore, file_system
from leaderboard.store.runs import RUNS, run_name
from leaderboard.submissions.models import Installation, Submission
from leaderboard.submissions.writes.run_store import bind, take
from leaderboard.version import build

MANIFEST, TABLE = "manifest.json", "tables/{}"
RESTORED = "restore backup"  # the event
OWN_STORE = (
    "Two databases must never use one store: workers remove files that their own does not name. Name a new one in "
    "LEADERBOARD_STORE_URL or, where the old database is gone for good, use this one by --own-store"
)
NOT_EMPTY = "the database is not empty; name a new one in LEADERBOARD_DATABASE_URL"
FAST = 1  # level of compression
MOMENT = "%Y-%m-%d %H:%M:%S.%f"  # as SQLite keeps it
LARGEST_MANIFEST = 1 << 28  # bytes: of two million runs
KINDS: dict[str, type] = dict.fromkeys(("runs", "held", "lost", "earlier"), list)  # of the manifest
KINDS |= {"at": str, "version": str, "schema": str, "tables": dict, "last_ids": dict}
UNREADABLE = (BadZipFile, EOFError, KeyError, TypeError, ValueError, zlib.error)
LAST_IDS = {  # where the engine keeps the highest number that an id has had: rows may be removed
    "sqlite": "SELECT name, seq FROM sqlite_sequence",
    "postgresql": """SELECT replace(sequencename, '_id_seq', ''), last_value FROM pg_sequences
        WHERE schemaname = current_schema() AND last_value IS NOT NULL""",
}
GO_ON = {  # with higher ones
    "sqlite": "UPDATE sqlite_sequence SET seq = :last WHERE name = :table",
    "postgresql": "SELECT setval(pg_get_serial_sequence(quote_ident(:table), 'id'), :last)",
}
Tell = Callable[[int], None]
Manifest = dict[str, Any]


def write_backup(
    database: Database, store: RunStore, path: Path, *, earlier: Path | None, files: bool, tell: Tell
) -> Manifest:
    """Writes the installation into a new file, and an event `backup` into the trail. The store must be bound.

    earlier  a backup whose run files are left out
    files    False: all run files are left out, since the store is kept in another way
    tell     is told how many more run files are done

    Raises Conflict where there is a file, OSError, NoDatabase and NoStore; nothing is left then.
    """
    if path.exists():
        raise Conflict(f"{path} is there already; name another file")
    left_out, chain_before = set[str](), list[str]()
    if earlier is not None:
        with reading(earlier) as (_, before):
            left_out, chain_before = {*before["held"]}, [earlier.name, *before["earlier"]]
    with NamedTemporaryFile(dir=path.parent, prefix=f"{path.name}.", suffix=".part", delete=False) as file:
        try:
            with ZipFile(file, "w", ZIP_DEFLATED, compresslevel=FAST) as archive:
                manifest = _add_rows(database, archive)
                manifest |= {"store": store.url, "earlier": chain_before, "held": [], "lost": []}
                for sha256 in manifest["runs"] if files else ():
                    is_there = sha256 in left_out or _add_run(store, archive, sha256)
                    manifest["held" if is_there else "lost"].append(sha256)
                    tell(1)
                manifest["added"] = len({*manifest["held"]} - left_out)
                archive.writestr(MANIFEST, json.dumps(manifest))
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).rename(path)
        finally:
            Path(file.name).unlink(missing_ok=True)
    if manifest["schema"] == migrate.newest():
        with database.write() as session:
            _note(session, "backup", manifest)
    return manifest


def _note(session: Session, action: str, manifest: Manifest) -> None:
    facts: dict[str, Any] = {name: len(manifest[name]) for name in ("runs", "held", "lost")}
    record(session, access.CONSOLE, action, locked(session, Chain, 1), read=manifest["at"], **facts)


def _add_rows(database: Database, archive: ZipFile) -> Manifest:
    """Adds the tables as they are at one moment; what the manifest says of them."""
    with database.read() as session:
        one_moment(session)
        connection = session.connection()
        tables = [table.name for table in Base.metadata.sorted_tables if sa.inspect(connection).has_table(table.name)]
        return {
            "at": present().isoformat(),
            "version": build(),
            "schema": migrate.current(database),  # may be that of an earlier version
            "store_id": session.scalar(sa.select(Installation.store)),
            "tables": {table: _add_table(archive, connection, table) for table in tables},
            "last_ids": dict(connection.execute(sa.text(LAST_IDS[connection.dialect.name])).all()),
            "runs": [*session.scalars(sa.select(Submission.sha256).distinct().order_by(Submission.sha256))],
        }


def _add_table(archive: ZipFile, connection: sa.Connection, table: str) -> str:
    """The SHA-256 of the lines."""
    names = [column["name"] for column in sa.inspect(connection).get_columns(table)]
    digest = hashlib.sha256()
    stored = sa.select(sa.table(table, *map(sa.column, names)))  # without types: as the engine has them
    with archive.open(TABLE.format(table), "w", force_zip64=True) as target:
        for row in chain([names], connection.execute(stored, execution_options={"yield_per": ROWS_AT_ONCE})):
            line = json.dumps([*row], default=_plain).encode() + b"\n"
            digest.update(line)
            target.write(line)
    return digest.hexdigest()


def _plain(value: Any) -> str:
    match value:
        case bytes():
            return value.hex()
        case datetime():
            return value.astimezone(UTC).strftime(MOMENT)
    return str(value)  # a day


def _add_run(store: RunStore, archive: ZipFile, sha256: str) -> bool:
    """Adds a run file; False where the store lacks it, or has other bytes."""
    try:
        with store.reading(sha256) as path, path.open("rb") as source:
            if hashlib.file_digest(source, "sha256").hexdigest() != sha256:
                return False
            source.seek(0)
            with archive.open(run_name(sha256), "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target, PIECE)
    except Damaged:
        return False
    return True


@contextmanager
def reading(path: Path) -> Iterator[tuple[ZipFile, Manifest]]:
    """A backup. Raises OSError, and BadInput for a file that is none, or not whole."""
    with ExitStack() as opened:
        try:
            archive = opened.enter_context(ZipFile(path))
            if archive.getinfo(MANIFEST).file_size > LARGEST_MANIFEST:
                raise ValueError(f"{MANIFEST} is too large")
            manifest = json.loads(archive.read(MANIFEST))
            if not isinstance(manifest, dict) or {name: type(manifest.get(name)) for name in KINDS} != KINDS:
                raise ValueError(f"{MANIFEST} is none of this program's")
        except UNREADABLE as error:
            raise BadInput(f"{path} is no backup of a leaderboard, or not all of one: {error}") from error
        yield archive, manifest


@contextmanager
def _verified(archive: ZipFile, name: str, sha256: str) -> Iterator[Any]:
    """A file of a backup, read once already and compared with its hash. Raises BadInput where it is damaged."""
    try:
        with archive.open(name) as file:
            if hashlib.file_digest(cast(Any, file), "sha256").hexdigest() != sha256:
                raise ValueError(f"{name} should have the SHA-256 {sha256}")
            file.seek(0)
            yield file
    except UNREADABLE as error:
        raise BadInput(f"{archive.filename} is damaged: {error}") from error


def restore(
    database: Database,
    store: RunStore,
    manifest: Manifest,
    archives: Sequence[ZipFile],
    tell: Tell,
    *,
    own_store: bool = False,
    incomplete: bool = False,
) -> list[str]:
    """Fills an empty database and a new store from a backup, and brings the tables to this version.

    archives    that of the manifest, and behind it backups which have run files that it leaves out
    tell        is told how many more run files are done
    own_store   the store may be the backup's own: its files are verified, and what it lacks is put there
    incomplete  run files that are damaged in all archives are left out

    Returns the SHA-256 of the run files that are missing then.

    Tables, rows and the event come in one transaction, at whose end nothing is lacking: a restore that was interrupted
    before begins again from the start, and behind it finds that all is there.

    Raises BadInput for a damaged backup, or one that lacks run files, Conflict where the database is not empty or the
    store is another's, NoDatabase and NoStore.
    """
    if _is_restored(database, manifest):
        bind(database, store)
        return [sha256 for sha256 in manifest["runs"] if not _is_sound(store, sha256)]
    if manifest["schema"] not in migrate.REVISIONS:
        raise BadInput(f"the backup is of version {manifest['version']}: restore it with that version, or a later one")
    if (revision := migrate.current(database)) not in (None, manifest["schema"]):
        raise Conflict(f"the database is at revision {revision}, the backup at {manifest['schema']}: name a new one")
    is_same_store = _is_own(store, manifest, own_store)
    lacking, lost = [sha256 for sha256 in manifest["runs"] if not _is_sound(store, sha256)], {*manifest["lost"]}
    _require_runs(archives, manifest, {*lacking} - lost)
    tell(len(manifest["runs"]) - len(lacking))
    with database.write() as session:
        migrate.upgrade(database, manifest["schema"], within=session.connection())
        _fill(session.connection(), archives[0], manifest, is_same_store=is_same_store)
        missing = list[str]()
        for sha256 in lacking:
            if not _put(store, archives, sha256):
                missing.append(sha256)
            tell(1)
        if not incomplete and (damaged := [sha256 for sha256 in missing if sha256 not in lost]):
            files = f"{counted(len(damaged), 'run file')} damaged in the backup: {', '.join(damaged)}"
            raise BadInput(f"{files}. Name another one that has them by --with, or leave them out by --incomplete")
        migrate.upgrade(database, within=session.connection())
        # Pages that a site has kept, in this database's place before, are none of this one.
        raise_generations(session, [INSTALLATION], by=int(present().timestamp() * 1000))
        session.execute(sa.delete(WorkerSeen))  # they work elsewhere, if at all
        take(session, store)
        _note(session, RESTORED, manifest)
    bind(database, store)
    return missing


def _is_own(store: RunStore, manifest: Manifest, may_be: bool) -> bool:
    """Whether the store is the backup's own. Raises Conflict where it may not be, or is another's."""
    identity = store.identity
    if identity not in (None, manifest["store_id"]):
        raise Conflict(f"{store.url} is the store of another database; name a new one in LEADERBOARD_STORE_URL")
    if identity is not None and not may_be:
        raise Conflict(f"{store.url} is the store of the installation that was backed up. {OWN_STORE}")
    return identity is not None


def _require_runs(archives: Sequence[ZipFile], manifest: Manifest, lacking: Collection[str]) -> None:
    """Raises BadInput where a run file that is lacking is in none of the backups."""
    names = {name for archive in archives for name in archive.namelist()}
    if absent := sum(run_name(sha256) not in names for sha256 in lacking):
        read = {Path(str(archive.filename)).name for archive in archives}
        before = " and ".join(name for name in manifest["earlier"] if name not in read) or "the backup that has them"
        where = f"name {before} by --with, or use {manifest['store']} by --own-store"
        raise BadInput(f"{counted(absent, 'run file')} left out of this backup: {where}")


def not_named(store: RunStore, manifest: Manifest) -> list[str]:
    """Names of the run files of a store that a backup does not name, as those which were received after it."""
    named = {run_name(sha256) for sha256 in manifest["runs"]}
    return [name for name, _ in store.place.names(RUNS) if name not in named]


def _is_restored(database: Database, manifest: Manifest) -> bool:
    """Whether the database is as a restore of this backup left it: that is the last event. Raises Conflict where it has
    others."""
    if migrate.current(database) != migrate.newest():
        return False
    with database.read() as session:
        event = session.scalar(sa.select(Event).order_by(Event.id.desc()).limit(1))
    if event is not None and (event.action != RESTORED or event.facts["read"] != manifest["at"]):
        raise Conflict(NOT_EMPTY)
    return event is not None


def _is_sound(store: RunStore, sha256: str) -> bool:
    """Whether the store has this run file."""
    try:
        with store.open_run(sha256):
            return True
    except (Damaged, NoStore):  # a new store has no folder of runs
        return False


def _fill(connection: sa.Connection, archive: ZipFile, manifest: Manifest, *, is_same_store: bool) -> None:
    """Puts the rows into empty tables, past the triggers. A new store gets another id, by `bind`."""
    if connection.dialect.name == "sqlite":
        triggers = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").all()
        off = ["PRAGMA defer_foreign_keys = ON", *(f"DROP TRIGGER {name}" for name, _ in triggers)]
        on = [definition for _, definition in triggers]
    else:
        off = ["SET LOCAL timezone = 'UTC'"]
        off += [f'ALTER TABLE "{table}" DISABLE TRIGGER USER' for table in manifest["tables"]]
        on = [statement.replace("DISABLE", "ENABLE") for statement in off]
    for statement in off:
        connection.exec_driver_sql(statement)
    if {*sa.inspect(connection).get_table_names()} - {migrate.VERSION} != {*manifest["tables"]}:
        raise BadInput(f"{archive.filename} is damaged: it has other tables than revision {manifest['schema']}")
    connection.execute(sa.delete(Chain))  # the one row that migrations put there
    for table, sha256 in manifest["tables"].items():
        if connection.scalar(sa.select(sa.exists().select_from(sa.table(table)))):
            raise Conflict(NOT_EMPTY)
        if table != Installation.__tablename__ or is_same_store:
            _restore_table(connection, archive, table, sha256)
    for table, last in manifest["last_ids"].items():
        connection.execute(sa.text(GO_ON[connection.dialect.name]), {"table": table, "last": last})
    for statement in on:
        connection.exec_driver_sql(statement)


def _restore_table(connection: sa.Connection, archive: ZipFile, table: str, sha256: str) -> None:
    types = {column["name"]: column["type"] for column in sa.inspect(connection).get_columns(table)}
    with _verified(archive, TABLE.format(table), sha256) as lines:
        names = json.loads(next(lines))
        are_bytes = [isinstance(types[name], sa.LargeBinary) for name in names]
        rows = ([*map(_stored, json.loads(line), are_bytes)] for line in lines)
        insert_many(connection, sa.table(table, *map(sa.column, names)), names, rows)
    if connection.dialect.name == "postgresql" and "id" in names:  # SQLite goes on behind the highest by itself
        highest = connection.scalar(sa.select(sa.func.max(sa.column("id"))).select_from(sa.table(table)))
        connection.execute(sa.text(GO_ON["postgresql"]), {"table": table, "last": highest})


def _stored(value: Any, is_bytes: bool) -> Any:
    """A value of a line as both engines take it."""
    if is_bytes and value is not None:
        return bytes.fromhex(value)
    return json.dumps(value) if isinstance(value, dict | list) else value


def _put(store: RunStore, archives: Sequence[ZipFile], sha256: str) -> bool:
    """Puts a run file into the store, from the first backup in which it is whole; False where there is none."""
    for archive in archives:
        with suppress(BadInput), _verified(archive, run_name(sha256), sha256) as source, store.incoming() as path:
            with file_system(), path.open("wb") as target:
                shutil.copyfileobj(source, target, PIECE)
            store.place.put(path, run_name(sha256))
            return True
    return False
