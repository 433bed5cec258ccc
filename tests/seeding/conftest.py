"""The seeds, loaded once a session and scored by the real worker: the worked examples on both engines, the simulated
campaign on SQLite only.

What its runs are worth does not hang on the engine, the demonstration is on SQLite, and `make trials` loads it on both.
Scoring on PostgreSQL has its own tests in tests/worker, tests/real and tests/browser.
"""

import datetime as dt
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from leaderboard import seeding
from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.seeding.loading import load_campaign, submit_runs
from leaderboard.store import RunStore
from leaderboard.worker import drain
from tests.support.databases import Postgres

LOADED = dt.datetime(2026, 11, 20, 14, 5, tzinfo=dt.UTC)


@dataclass(frozen=True)
class Examples:
    """A database and store that hold the worked examples; `before` counts their runs, which are scored."""

    database: Database
    store: RunStore
    config: Config
    before: int


@dataclass(frozen=True)
class Installation(Examples):
    """One that holds all seeds. Its first loading was cut off behind the worked examples.

    seeded  what the second one said, which finished it
    """

    seeded: seeding.Seeded

    @property
    def runs(self) -> int:
        return self.before + self.seeded.submitted


@contextmanager
def _examples(url: str, folder: Path) -> Iterator[Examples]:
    with closing(Database.connect(url)) as database:
        store = RunStore(str(folder / "store"))
        config = Config(database_url=url, store_url=str(folder / "store"))
        plans = seeding.worked_examples()
        with database.write() as session:
            for plan in plans:
                load_campaign(session, plan)
        before = sum(submit_runs(database, store, plan) for plan in plans)
        drain(database, store, config)
        yield Examples(database, store, config, before)


@pytest.fixture(scope="session")
def installation(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder: Path = tmp_path_factory.mktemp("seeds")
    shutil.copyfile(migrated_sqlite, folder / "leaderboard.sqlite")
    with _examples(f"sqlite:///{folder / 'leaderboard.sqlite'}", folder) as made:
        seeded = seeding.load(made.database, made.store, LOADED)
        drain(made.database, made.store, made.config)
        yield Installation(made.database, made.store, made.config, made.before, seeded)


@pytest.fixture(scope="session")
def postgresql_examples(
    postgres: Postgres, migrated_postgres: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Examples]:
    with _examples(postgres.create(migrated_postgres), tmp_path_factory.mktemp("seeds")) as made:
        yield made


@pytest.fixture
def examples(engine_name: str, request: pytest.FixtureRequest) -> Examples:
    """The fixtures of two engines: pytest would make one with parameters anew whenever the engine changes."""
    made: Examples = request.getfixturevalue("installation" if engine_name == "sqlite" else "postgresql_examples")
    return made


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    """An empty one."""
    return RunStore(str(tmp_path / "store"))
