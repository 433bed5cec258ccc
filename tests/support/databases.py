"""Both engines for every test that touches tables: migrated once, copied for each test.

The schema is only ever made by the migrations. A test gets a copy of a database that was migrated once in its
session: a file's copy on SQLite, `CREATE DATABASE … TEMPLATE …` on PostgreSQL. What `world` and `field` begin with is
put into one once, too, by the same services, and copied with it.
"""

import os
import pickle
import shutil
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from leaderboard import migrate
from leaderboard.db import Database
from tests.support.postgres import postgres_server

POSTGRES_VARIABLE = "LEADERBOARD_TEST_POSTGRES_URL"
LEFT_FOR_NOW = 4  # databases of PostgreSQL's that tests are done with, before the first of them is dropped

# How names of fixtures that give a filling begin. A test's database holds what the one that it asks for puts there.
FILLS = "fill_"
# Fills a migrated database, and returns what a test has to know of it.
Filling = Callable[[Database], Any]


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
        self._left: deque[str] = deque()

    def create(self, template: str = "template0", options: str = "") -> str:
        """The URL of a new database. options: more of CREATE DATABASE."""
        name = f"leaderboard_test_{uuid.uuid4().hex}"
        # Copying files takes half the time of copying through the log, which is PostgreSQL's own choice.
        self._run(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY FILE_COPY {options}')
        self._made.append(name)
        return self._url.set(drivername="postgresql", database=name).render_as_string(hide_password=False)

    def drop(self, url: str) -> None:
        """At once, with the connections that there are."""
        self._drop(str(sa.make_url(url).database))

    def leave(self, url: str) -> None:
        """Some tests later it is dropped: now, every fourth drop would wait a tenth of a second, as long as PostgreSQL
        sleeps when a connection that was just closed has not ended yet."""
        self._left.append(str(sa.make_url(url).database))
        if len(self._left) > LEFT_FOR_NOW:
            self._drop(self._left.popleft())

    def close(self) -> None:
        for name in list(self._made):
            self._drop(name)
        self._engine.dispose()

    def _drop(self, name: str) -> None:
        self._run(f'DROP DATABASE "{name}" WITH (FORCE)')
        self._made.remove(name)

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
    with closing(Database.connect(url)) as database:  # PostgreSQL copies only a template that nobody is connected to
        migrate.upgrade(database)


@dataclass(frozen=True, slots=True)
class Template:
    """A filled database, by its file or its name; known: what its filling returned, pickled, for each test its own."""

    place: str
    known: bytes


@pytest.fixture(scope="session")
def templates() -> dict[tuple[str, Filling], Template]:
    """Those that were filled so far: engine and filling -> template."""
    return {}


@dataclass(frozen=True, slots=True)
class OwnDatabase:
    """One test's database; known: what the filling returned that put something there, None in an empty one."""

    url: str
    known: Any


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
        postgres.leave(url)


@pytest.fixture
def own_database(
    engine_name: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    templates: dict[tuple[str, Filling], Template],
) -> Iterator[OwnDatabase]:
    """A migrated database of this test's own, once for each engine."""
    postgres: Postgres | None = request.getfixturevalue("postgres") if engine_name == "postgresql" else None
    migrated = request.getfixturevalue(f"migrated_{'sqlite' if postgres is None else 'postgres'}")

    def copy(template: str | Path, folder: Path) -> str:
        if postgres is not None:
            return postgres.create(str(template))
        file = folder / "leaderboard.sqlite"
        shutil.copyfile(template, file)
        return f"sqlite:///{file}"

    def filled(fill: Filling) -> Template:
        url = copy(migrated, tmp_path_factory.mktemp("filled"))
        with closing(Database.connect(url)) as database:
            known = pickle.dumps(fill(database))
            with database.write() as session:  # each copy has a run store of its own
                session.execute(sa.text("DELETE FROM installation"))
            return Template(str(database.engine.url.database), known)

    template, known = migrated, None
    asked = [name for name in request.fixturenames if name.startswith(FILLS)]
    if len(asked) > 1:
        raise RuntimeError(f"{request.node.nodeid} asks for {' and '.join(asked)}: one database can't begin with both")
    if asked:
        key = (engine_name, request.getfixturevalue(asked[0]))
        if key not in templates:
            templates[key] = filled(key[1])
        template, known = templates[key].place, pickle.loads(templates[key].known)
    url = copy(template, tmp_path)
    yield OwnDatabase(url, known)
    if postgres is not None:
        postgres.leave(url)


@pytest.fixture
def database_url(own_database: OwnDatabase) -> str:
    """The URL of a migrated database of this test's own, once for each engine: empty, or what `world` begins with."""
    return own_database.url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """The same, connected."""
    with closing(Database.connect(database_url)) as database:
        yield database
