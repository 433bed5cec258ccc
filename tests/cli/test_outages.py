"""Commands while the database or the run store is away, locked, full or read-only: one line, and no traceback."""

import resource
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from leaderboard.cli import database as opening
from leaderboard.submissions.rules import State
from leaderboard.worker.models import Scoring
from tests.cli.conftest import Command
from tests.support.databases import Postgres
from tests.support.outages import file_of
from tests.support.processes import free_port
from tests.support.world import RUN, World

COMMANDS = {
    "submit": [
        "submit", "small/2026", "run.txt", "--team", "northern-lights", "--new-system", "Owl", "--wait", "0",
        "--confirm",
    ],
    "user add": ["user", "add", "Grace", "--password-stdin"],
    "campaign list": ["campaign", "list"],
    "campaign add": ["campaign", "add", "large", "--title", "A large campaign", "--measures", "AP"],
    "rescore": ["rescore", "small/2026"],
    "verify": ["verify"],
    "worker": ["worker", "--once"],
    "serve": ["serve", "--port", "0"],
    "db upgrade": ["db", "upgrade"],
    "db current": ["db", "current"],
}  # fmt: skip
WRITING = ["submit", "user add", "campaign add", "rescore", "worker"]


@pytest.fixture
def world(world: World, tmp_path: Path) -> World:
    """The small campaign, with a run to submit."""
    (tmp_path / "run.txt").write_text(RUN)
    return world


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Commands that wait a fifth of a second for a lock, started where the run's file is."""
    monkeypatch.setattr(opening, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setenv("LEADERBOARD_SECRET_KEY", "a secret that only the tests know")
    monkeypatch.chdir(tmp_path)


def complains(command: Command, name: str, *words: str) -> None:
    """It ends with status 2 and says one line on standard error, with the words in it and no password."""
    done = command(*COMMANDS[name], text="a password of the tests\n")
    assert (done.status, done.out) == (2, ""), f"{name}: {done}"
    (line,) = done.err.splitlines()
    assert all(word in line for word in words), line
    assert "secret" not in line


def limit(pragma: str) -> Callable[..., None]:
    def set_it(connection: sa.engine.interfaces.DBAPIConnection, *_: object) -> None:
        connection.cursor().execute(pragma)

    return set_it


@contextmanager
def locked(world: World) -> Iterator[None]:
    """Somebody has every table for himself, from readers too."""
    if world.database.engine.dialect.name == "sqlite":
        world.database.close()
        with closing(sqlite3.connect(file_of(world), isolation_level=None)) as other:
            other.execute("PRAGMA journal_mode = DELETE")
            other.execute("BEGIN EXCLUSIVE")
            yield
        return
    with world.database.engine.connect() as connection:
        tables = ", ".join(f'"{name}"' for name in sa.inspect(connection).get_table_names())
        connection.exec_driver_sql(f"LOCK TABLE {tables} IN ACCESS EXCLUSIVE MODE")
        yield
        connection.rollback()


@contextmanager
def read_only(world: World) -> Iterator[None]:
    if world.database.engine.dialect.name == "sqlite":
        set_it = limit("PRAGMA query_only = 1")
        sa.event.listen(sa.Engine, "connect", set_it)
        yield
        sa.event.remove(sa.Engine, "connect", set_it)
        return
    name = world.database.engine.url.database
    with world.database.engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        connection.exec_driver_sql(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
        yield
        connection.exec_driver_sql("SET default_transaction_read_only = off")
        connection.exec_driver_sql(f'ALTER DATABASE "{name}" RESET default_transaction_read_only')


def test_a_locked_database_is_one_line_of_every_command(world: World, impatient: None, command: Command) -> None:
    with locked(world):
        for name in COMMANDS:
            complains(command, name, "does not answer")


def test_a_read_only_database_is_one_line_of_every_command_that_writes(
    world: World, impatient: None, command: Command
) -> None:
    assert command(*COMMANDS["submit"]).status == 0
    with read_only(world):
        for name in WRITING:
            complains(command, name, "does not answer")
        assert command(*COMMANDS["campaign list"]).status == 0
    assert command(*COMMANDS["campaign add"]).status == 0


@pytest.mark.parametrize("engine_name", ["sqlite"])  # nobody connects to the database that there is
@pytest.mark.parametrize("what", ["a server that is not there", "a file that is no database"])
def test_what_is_no_database_is_one_line_of_every_command(
    world: World, impatient: None, command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, what: str
) -> None:
    (tmp_path / "broken.sqlite").write_bytes(b"this was a database once " * 1000)
    server = f"postgresql://someone:secret@127.0.0.1:{free_port()}/leaderboard"
    url = server if "server" in what else f"sqlite:///{tmp_path / 'broken.sqlite'}"
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", url)
    for name in COMMANDS:
        complains(command, name, "does not answer")


@pytest.mark.parametrize("engine_name", ["sqlite"])  # what an engine says is tried in tests/test_migrate.py
def test_a_database_of_another_version_says_what_to_do(world: World, impatient: None, command: Command) -> None:
    with closing(sqlite3.connect(file_of(world), isolation_level=None)) as other:
        other.execute("UPDATE alembic_version SET version_num = '0999'")
    advice = "install the version that upgraded it"
    for name in COMMANDS:
        complains(command, name, "belongs to another version of this program: ", advice)


def test_a_full_disk_is_one_line_of_a_command_and_nothing_is_half_written(
    migrated_sqlite: Path, impatient: None, command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shutil.copyfile(migrated_sqlite, tmp_path / "own.sqlite")
    url = f"sqlite:///{tmp_path / 'own.sqlite'}"
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", url)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with closing(sqlite3.connect(tmp_path / "own.sqlite")) as other:
        other.execute("SELECT count(*) FROM campaign").fetchone()  # its log and index are there as long as this lasts
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
        try:
            complains(command, "campaign add", "does not answer")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert other.execute("SELECT count(*) FROM campaign").fetchone() == (0,)
    assert command(*COMMANDS["campaign add"]).status == 0


@pytest.mark.parametrize("engine_name", ["sqlite"])  # a store's matter
def test_a_store_that_can_not_be_written_is_one_line_of_the_commands_that_need_it(
    world: World, impatient: None, command: Command, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    store.rename(tmp_path / "elsewhere")
    store.write_text("a file where the folder was")
    for name in ("submit", "serve"):
        complains(command, name, "store of run files")
    store.unlink()
    (tmp_path / "elsewhere").rename(store)
    assert command(*COMMANDS["submit"]).status == 0
    store.rename(tmp_path / "elsewhere")
    store.write_text("a file where the folder was")
    complains(command, "worker", "is no run store: it has no leaderboard-run-store")  # and leaves what waits
    (waiting,) = world.all(sa.select(Scoring))
    assert (waiting.state, waiting.errors) == (State.QUEUED, 0)
    store.unlink()
    (tmp_path / "elsewhere").rename(store)
    assert command(*COMMANDS["worker"]).status == 0
    assert len(world.all(sa.select(sa.text("id")).select_from(sa.text("submission")))) == 1


@pytest.mark.parametrize("engine_name", ["postgresql"])
@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
@pytest.mark.parametrize("name", ["db upgrade", "db current", "serve", "worker"])
@pytest.mark.usefixtures("impatient")
def test_a_database_in_another_encoding_than_utf8_is_refused(
    command: Command, postgres: Postgres, monkeypatch: pytest.MonkeyPatch, encoding: str, name: str
) -> None:
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", postgres.create(options=f"ENCODING '{encoding}' LOCALE 'C'"))
    complains(command, name, f": it has the encoding {encoding}; make it with UTF8: createdb -E UTF8 -T template0")


@pytest.mark.parametrize("engine_name", ["postgresql"])
@pytest.mark.usefixtures("impatient")
def test_a_password_among_the_options_of_the_databases_address_is_not_printed(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"postgresql://board@127.0.0.1:{free_port()}/board"
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", f"{address}?password=secret&sslmode=disable")
    complains(command, "db current", f"{address.replace(':', '+psycopg:', 1)}?sslmode=disable does not answer")
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", f"{address}?password=secret&bogus=1")
    complains(command, "db current", ': invalid connection option "bogus"')
