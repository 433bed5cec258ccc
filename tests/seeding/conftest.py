"""The seeds, loaded once a session and engine, and scored by the real worker: the simulated campaign on SQLite only.

What its runs are worth does not hang on the engine, and scoring on PostgreSQL has its own tests in tests/worker,
tests/real and tests/browser.
"""

import datetime as dt
import shutil
from collections.abc import Iterator
from contextlib import closing
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
class Installation:
    """A database and store that hold the seeds.

    The first loading was cut off behind the worked examples, which were scored then.

    before  how many runs it had submitted
    seeded  what the second one said, which finished it
    """

    database: Database
    store: RunStore
    config: Config
    before: int
    seeded: seeding.Seeded

    @property
    def runs(self) -> int:
        return self.before + self.seeded.submitted


def _installed(url: str, folder: Path) -> Iterator[Installation]:
    with closing(Database.connect(url)) as database:
        store = RunStore(str(folder / "store"))
        config = Config(database_url=url, store_url=str(folder / "store"))
        examples = seeding.worked_examples()
        with database.write() as session:
            for plan in examples:
                load_campaign(session, plan)
        before = sum(submit_runs(database, store, plan) for plan in examples)
        drain(database, store, config)
        yield Installation(database, store, config, before, seeding.load(database, store, LOADED))


@pytest.fixture(scope="session")
def sqlite_installation(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder: Path = tmp_path_factory.mktemp("seeds")
    shutil.copyfile(migrated_sqlite, folder / "leaderboard.sqlite")
    for installation in _installed(f"sqlite:///{folder / 'leaderboard.sqlite'}", folder):
        drain(installation.database, installation.store, installation.config)
        yield installation


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
