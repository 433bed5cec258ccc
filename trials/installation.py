"""A whole installation for a trial: a migrated database, the site and a worker, on one engine."""

import io
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from leaderboard import migrate
from leaderboard.db import Database
from leaderboard.submissions.rules import State
from leaderboard.worker.models import Scoring
from tests.support.postgres import postgres_server
from tests.support.site import Site, running_site

__all__ = ["ENGINES", "Installation", "installation", "migrated_database"]

ENGINES = ("sqlite", "postgresql")
LOOK_SECONDS = 0.2
ANSWER_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Installation:
    """`folder` is where everything is written to."""

    site: Site
    database: Database
    folder: Path

    def read(self, path: str) -> tuple[bytes, float]:
        """A page, and the seconds that it took. Raises urllib.error.URLError for anything but success."""
        start = time.perf_counter()
        with urllib.request.urlopen(f"{self.site.url}{path}", timeout=ANSWER_SECONDS) as response:
            body: bytes = response.read()
        return body, time.perf_counter() - start

    def not_scored(self, seconds: float) -> int:
        """How many runs are not scored once none waits any more, or after so many seconds."""
        deadline = time.monotonic() + seconds
        while True:
            with self.database.read() as session:
                states = session.scalars(sa.select(Scoring.state)).all()
            waiting = any(state in (State.QUEUED, State.SCORING) for state in states)
            if not waiting or time.monotonic() > deadline:
                return sum(state is not State.SCORED for state in states)
            time.sleep(LOOK_SECONDS)


@contextmanager
def migrated_database(engine: str, folder: Path) -> Iterator[tuple[str, Database]]:
    """An empty database with its tables, and its URL."""
    with ExitStack() as stack:
        url = f"sqlite:///{folder / 'trial.sqlite'}"
        if engine == "postgresql":
            url = stack.enter_context(postgres_server())
        database = Database.connect(url)
        stack.callback(database.close)
        migrate.upgrade(database)
        yield url, database


@contextmanager
def installation(engine: str, *, processes: int = 2, workers: int = 1) -> Iterator[Installation]:
    """A running site of so many processes and its workers, removed at the end. Their output is printed only when the
    trial fails.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url, database = stack.enter_context(migrated_database(engine, folder))
        site = stack.enter_context(running_site(url, folder, processes=processes, workers=workers))
        yield Installation(site, database, folder)
        with redirect_stdout(io.StringIO()):
            stack.close()
