"""The seeds, loaded and scored by the real worker, once a session and engine."""

import datetime as dt
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from leaderboard import seeding
from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.store import RunStore
from leaderboard.worker import drain
from tests.support.databases import Postgres

LOADED = dt.datetime(2026, 11, 20, 14, 5, tzinfo=dt.UTC)


@dataclass(frozen=True)
class Installation:
    """A database and store that hold the seeds; `seeded` is what loading said."""

    database: Database
    store: RunStore
    config: Config
    seeded: seeding.Seeded

    def score(self) -> None:
        drain(self.database, self.store, self.config)


def _installed(url: str, folder: Path) -> Iterator[Installation]:
    database = Database.connect(url)
    store = RunStore(str(folder / "store"))
    config = Config(database_url=url, store_url=str(folder / "store"))
    installation = Installation(database, store, config, seeding.load(database, store, LOADED))
    installation.score()
    yield installation
    database.close()


@pytest.fixture(scope="session")
def sqlite_installation(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder: Path = tmp_path_factory.mktemp("seeds")
    shutil.copyfile(migrated_sqlite, folder / "leaderboard.sqlite")
    yield from _installed(f"sqlite:///{folder / 'leaderboard.sqlite'}", folder)


@pytest.fixture(scope="session")
def postgresql_installation(
    postgres: Postgres, migrated_postgres: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    yield from _installed(postgres.create(migrated_postgres), tmp_path_factory.mktemp("seeds"))


@pytest.fixture
def installation(engine_name: str, request: pytest.FixtureRequest) -> Installation:
    """Two fixtures behind it: pytest would make one with parameters anew whenever the engine changes."""
    made: Installation = request.getfixturevalue(f"{engine_name}_installation")
    return made


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    """An empty one."""
    return RunStore(str(tmp_path / "store"))
