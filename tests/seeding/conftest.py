"""The seeds, loaded and scored by the real worker, once a session and engine."""

import datetime as dt
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


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def installation(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder: Path = tmp_path_factory.mktemp("seeds")
    if request.param == "sqlite":
        url = f"sqlite:///{folder / 'leaderboard.sqlite'}"
        (folder / "leaderboard.sqlite").write_bytes(request.getfixturevalue("migrated_sqlite").read_bytes())
    else:
        postgres: Postgres = request.getfixturevalue("postgres")
        url = postgres.create(request.getfixturevalue("migrated_postgres"))
    database = Database.connect(url)
    store = RunStore(str(folder / "store"))
    config = Config(database_url=url, store_url=str(folder / "store"))
    installation = Installation(database, store, config, seeding.load(database, store, LOADED))
    installation.score()
    yield installation
    database.close()


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    """An empty one."""
    return RunStore(str(tmp_path / "store"))
