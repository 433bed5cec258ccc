"""Both engines for every test that touches tables: migrated once, copied for each test.

The schema is only ever made by the migrations. A test gets a copy of a database that was migrated once in its
session: a file's copy on SQLite, `CREATE DATABASE … TEMPLATE …` on PostgreSQL.
"""

import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from leaderboard import migrate
from leaderboard.db import Database
from tests.support.postgres import postgres_server

POSTGRES_VARIABLE = "LEADERBOARD_TEST_POSTGRES_URL"


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A real PostgreSQL: LEADERBOARD_TEST_POSTGRES_URL's, whose account may create databases, else our own.

    With xdist every worker has its own server: it is up in a second, and nothing is shared between processes.
    """
    if given := os.environ.get(POSTGRES_VARIABLE):
        yield given
        return
    with postgres_server() as url:
        yield url


class Postgres:
    """Databases on one server, made from a migrated template or empty."""

    def __init__(self, url: str) -> None:
        self._url = sa.make_url(url).set(drivername="postgresql+psycopg")
        self._engine = sa.create_engine(self._url, isolation_level="AUTOCOMMIT")
        self._made: list[str] = []

    def create(self, template: str = "template0") -> str:
        """The URL of a new database."""
        name = f"leaderboard_test_{uuid.uuid4().hex}"
        self._run(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        self._made.append(name)
        return self._url.set(drivername="postgresql", database=name).render_as_string(hide_password=False)

    def drop(self, url: str) -> None:
        name = str(sa.make_url(url).database)
        self._run(f'DROP DATABASE "{name}" WITH (FORCE)')
        self._made.remove(name)

    def close(self) -> None:
        for name in self._made:
            self._run(f'DROP DATABASE "{name}" WITH (FORCE)')
        self._engine.dispose()

    def _run(self, statement: str) -> None:
        with self._engine.connect() as connection:
            connection.exec_driver_sql(statement)


@pytest.fixture(scope="session")
def postgres(postgres_url: str) -> Iterator[Postgres]:
    server = Postgres(postgres_url)
    yield server
    server.close()


@pytest.fixture(scope="session")
def migrated_postgres(postgres: Postgres) -> str:
    """The name of a template database with the newest schema and no row."""
    url = postgres.create()
    _migrate(url)
    return str(sa.make_url(url).database)


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the newest schema and no row."""
    file = tmp_path_factory.mktemp("sqlite") / "migrated.sqlite"
    _migrate(f"sqlite:///{file}")
    return file


def _migrate(url: str) -> None:
    database = Database.connect(url)
    try:
        migrate.upgrade(database)
    finally:
        database.close()  # PostgreSQL copies only a template that nobody is connected to


@pytest.fixture(params=["sqlite", "postgresql"])
def engine_name(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def new_database_url(engine_name: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], str]]:
    """Makes databases without any table, for the tests of the migrations themselves."""
    if engine_name == "sqlite":
        yield lambda: f"sqlite:///{tmp_path / uuid.uuid4().hex}.sqlite"
        return
    postgres: Postgres = request.getfixturevalue("postgres")
    made: list[str] = []

    def create() -> str:
        made.append(postgres.create())
        return made[-1]

    yield create
    for url in made:
        postgres.drop(url)


@pytest.fixture
def database_url(engine_name: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a migrated, empty database of this test's own, once for each engine."""
    if engine_name == "sqlite":
        file = tmp_path / "leaderboard.sqlite"
        shutil.copyfile(request.getfixturevalue("migrated_sqlite"), file)
        yield f"sqlite:///{file}"
        return
    postgres: Postgres = request.getfixturevalue("postgres")
    url = postgres.create(request.getfixturevalue("migrated_postgres"))
    yield url
    postgres.drop(url)


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A migrated, empty database of this test's own, once for each engine."""
    database = Database.connect(database_url)
    yield database
    database.close()
