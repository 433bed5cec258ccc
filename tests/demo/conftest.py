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

from leaderboard.config import Config, folder
from leaderboard.db import Database
from leaderboard.demo import campaigns as seeding
from leaderboard.evaluations.models import Evaluation
from leaderboard.store import RunStore
from leaderboard.transfer.manifest import NAME, Manifest, read_manifest
from tests.support.installed import Interrupted


@dataclass(frozen=True)
class Installation:
    """All seeds, loaded by a demonstration that was cut off behind its first runs and started again.

    before  how many runs there were when it was cut off
    loaded  when all was there
    sample  the run for a visitor to submit that it wrote
    drawn   a folder with the simulated campaign as it was to be loaded
    """

    database: Database
    store: RunStore
    config: Config
    before: int
    loaded: dt.datetime
    sample: bytes
    latest: int
    drawn: Path

    @property
    def planned(self) -> set[tuple[str, str, str]]:
        """Campaign, evaluation and label of each run that was to be loaded."""
        return {
            (campaign.campaign.slug, evaluation.slug, run.label)
            for campaign in (*worked_examples(), read_manifest(self.drawn / NAME))
            for evaluation in campaign.evaluation
            for run in evaluation.run
        }


def worked_examples() -> list[Manifest]:
    """The manifests that come with the product."""
    return [read_manifest(path) for path in (folder("seeds") / "worked-examples").glob("*.toml")]


@pytest.fixture(scope="session")
def installation(interrupted: Interrupted, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """A copy of the demonstration's folder."""
    copy = tmp_path_factory.mktemp("seeds") / "demo"
    shutil.copytree(interrupted.folder, copy)
    config = Config(database_url=f"sqlite:///{copy / 'leaderboard.sqlite'}", store_url=str(copy / "store"))
    with closing(Database.connect(config.database_url)) as database:
        sample = (copy / "sample-run.tsv").read_bytes()
        store = RunStore(config.store_url)
        with database.read() as session:
            # When the demonstration was made at the turn of a year, that of its first start.
            harbour = Evaluation.campaign.has(slug=seeding.SimulatedCampaign.SLUG)
            newest = sa.select(sa.func.max(Evaluation.period_key)).where(harbour, Evaluation.draft.is_(False))
            latest = session.scalars(newest).one() or 0
        drawn = tmp_path_factory.mktemp("drawn")
        seeding.SimulatedCampaign(folder("seeds") / "harbour", latest, interrupted.stopped).write(drawn)
        had_runs, stopped = interrupted.had_runs, interrupted.stopped
        yield Installation(database, store, config, had_runs, stopped, sample, latest, drawn)


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    """An empty one."""
    return RunStore(str(tmp_path / "store"))
