"""The seeds, loaded once a session: all of them by `leaderboard demo`, scored by the real worker; some of the worked
examples on PostgreSQL too, scored in this process.

What the simulated campaign's runs are worth does not hang on the engine, the demonstration is on SQLite, and `make
trials` loads it on both. Scoring on PostgreSQL has its own tests in tests/worker, tests/real and tests/browser.
"""

import datetime as dt
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
import sqlalchemy as sa

from leaderboard import demo as seeding
from leaderboard.boards import writes as boards
from leaderboard.campaigns.models import Campaign
from leaderboard.config import Config, folder
from leaderboard.db import Database
from leaderboard.demo.loading import CampaignPlan, load_campaign, submit_runs
from leaderboard.evaluations.models import Evaluation
from leaderboard.store import RunStore
from tests.support.databases import Postgres
from tests.support.installed import Interrupted
from tests.support.scoring import drain_here

# What figures are worth does not hang on the engine: there it is enough that boards show several runs and values that
# lack, of measures of both kinds.
ON_POSTGRESQL = ("grades", "aqwv-exclude")
# Boards whose intervals and rank sets are worked out. For all of them, under every measure, that takes longer than all
# the tests here, and most look at means and ranks only, which go by the runs' own figures.
DERIVED = 8


@dataclass(frozen=True)
class Installation:
    """All seeds, loaded by a demonstration that was cut off behind its first runs and started again.

    before  how many runs there were when it was cut off
    loaded  when all was there
    sample  the run for a visitor to submit that it wrote
    """

    database: Database
    store: RunStore
    config: Config
    before: int
    loaded: dt.datetime
    sample: bytes

    @property
    def latest(self) -> int:
        """The year that takes runs; when the demonstration was made at the turn of a year, that of its first start."""
        with self.database.read() as session:
            harbour = sa.select(Campaign.id).where(Campaign.slug == seeding.SimulatedCampaign.SLUG).scalar_subquery()
            years = sa.select(sa.func.max(Evaluation.period_key)).where(Evaluation.campaign_id == harbour)
            return session.scalars(years).one() or 0

    def plans(self) -> tuple[CampaignPlan, ...]:
        """All that was to be loaded."""
        harbour = seeding.SimulatedCampaign(folder("seeds") / "harbour", self.latest, self.loaded)
        return (*seeding.worked_examples(), harbour.plan())

    @property
    def runs(self) -> int:
        """How many runs these hold."""
        return sum(len(evaluation.runs) for plan in self.plans() for evaluation in plan.evaluations)


@pytest.fixture(scope="session")
def installation(interrupted: Interrupted, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """A copy of the demonstration's folder, with what boards keep of some primary measures."""
    copy = tmp_path_factory.mktemp("seeds") / "demo"
    shutil.copytree(interrupted.folder, copy)
    config = Config(database_url=f"sqlite:///{copy / 'leaderboard.sqlite'}", store_url=str(copy / "store"))
    with closing(Database.connect(config.database_url)) as database:
        sample = (copy / "sample-run.tsv").read_bytes()
        store = RunStore(config.store_url)
        with database.read() as session:
            primary_first = boards.due(session)
        for due in primary_first[:DERIVED]:
            assert boards.refresh(database, due)
        yield Installation(database, store, config, interrupted.had_runs, interrupted.stopped, sample)


@pytest.fixture(scope="session")
def postgresql_examples(
    postgres: Postgres, migrated_postgres: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    url, store_url = postgres.create(migrated_postgres), str(tmp_path_factory.mktemp("seeds") / "store")
    with closing(Database.connect(url)) as database:
        store = RunStore(store_url)
        names = [f"worked-examples-{name}" for name in ON_POSTGRESQL]
        plans = [plan for plan in seeding.worked_examples() if plan.slug in names]
        assert len(plans) == len(names)
        with database.write() as session:
            for plan in plans:
                load_campaign(session, plan)
        for plan in plans:
            submit_runs(database, store, plan)
        drain_here(database, store, Config(database_url=url, store_url=store_url))
        yield database


@pytest.fixture
def examples(engine_name: str, request: pytest.FixtureRequest) -> Database:
    """The fixtures of two engines: pytest would make one with parameters anew whenever the engine changes."""
    if engine_name == "sqlite":
        made: Installation = request.getfixturevalue("installation")
        return made.database
    examples: Database = request.getfixturevalue("postgresql_examples")
    return examples


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    """An empty one."""
    return RunStore(str(tmp_path / "store"))
