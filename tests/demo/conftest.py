"""The seeds, loaded once a session by `leaderboard demo` and scored by the real worker.

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
from leaderboard.campaigns.models import Campaign
from leaderboard.config import Config, folder
from leaderboard.db import Database
from leaderboard.demo import CampaignPlan
from leaderboard.evaluations.models import Evaluation
from leaderboard.store import RunStore
from tests.support.installed import Interrupted


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
    """A copy of the demonstration's folder."""
    copy = tmp_path_factory.mktemp("seeds") / "demo"
    shutil.copytree(interrupted.folder, copy)
    config = Config(database_url=f"sqlite:///{copy / 'leaderboard.sqlite'}", store_url=str(copy / "store"))
    with closing(Database.connect(config.database_url)) as database:
        sample = (copy / "sample-run.tsv").read_bytes()
        store = RunStore(config.store_url)
        yield Installation(database, store, config, interrupted.had_runs, interrupted.stopped, sample)


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    """An empty one."""
    return RunStore(str(tmp_path / "store"))
