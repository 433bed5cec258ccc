"""A small campaign to test with: three queries, a handful of judgments, one team, and runs made from text."""

import contextlib
import io
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from argon2 import PasswordHasher
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE, Actor, actor_of
from leaderboard.accounts import writes as credentials, writes as people
from leaderboard.accounts.writes import PasswordHash
from leaderboard.audit.writes import present
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign
from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Subset
from leaderboard.formats import Judgments, QueryRow, read_judgments, read_subtopic_judgments
from leaderboard.judgments import writes as judgments, writes as queries
from leaderboard.judgments.rules import JudgmentFiles
from leaderboard.store import Received, RunStore
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import SetState
from leaderboard.submissions.writes import submissions
from leaderboard.teams import writes as teams
from leaderboard.teams.models import System
from leaderboard.teams.writes import NewSystem
from leaderboard.worker import loop
from leaderboard.worker.loop import Worker
from leaderboard.worker.models import Score, Scoring, ScoringSet
from tests.support.databases import Filling, OwnDatabase
from tests.support.scoring import WorkerHere

PASSWORD = "a password of the tests"  # it opens nothing
QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
MEASURES = ["AQWV", "AP", "P@1"]

# q1: d1 relevant, d2 not; q2: d3 relevant; q3: nothing relevant.
QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 1\nq3 0 d4 0\n"
# q1 finds d1 second, q2 finds d3 first, q3 is missing.
RUN = "q1 Q0 d2 1 2.0 a-run\nq1 Q0 d1 2 1.0 a-run\nq2 Q0 d3 1 1.0 a-run\n"


def judged(text: str) -> Judgments:
    return read_judgments(io.BytesIO(text.encode()))


def run_file(store: RunStore, sha256: str) -> Path:
    """Where a store in a folder keeps a run's file."""
    return Path(store.url) / "runs" / sha256[:2] / sha256


def run_text(number: int) -> str:
    """A run unlike those of other numbers."""
    return f"q1 Q0 d{number + 100} 1 9.5 run-{number}\n{RUN.replace('a-run', f'run-{number}')}"


@dataclass
class World:
    """Ids of what was made; `ada` is the actor who owns the team, `eve` one who is in no team.

    worker  what scores: a worker with a scoring process, unless a fixture says otherwise
    """

    database: Database
    store: RunStore
    config: Config
    campaign: int
    evaluation: int
    team: int
    ada: Actor
    eve: Actor
    worker: type[Worker] = Worker
    _worker: Worker | None = None

    def drain(self) -> None:
        """Scores everything that waits, by one worker for the whole test."""
        self._worker = self._worker or self.worker(self.database, self.store, self.config)
        while self._worker.step(threading.Event()):
            pass

    def stuck_run(self, number: int = 1) -> tuple[int, Path]:
        """A run whose file is a pipe: scoring it goes on until somebody writes there. Returns its id and the pipe."""
        run = self.submit(run_text(number))
        path = run_file(self.store, self.scoring(run).submission.sha256)
        path.unlink()
        os.mkfifo(path)
        return run, path

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()

    def receive(self, text: str | bytes, filename: str = "run.txt") -> Received:
        return self.store.receive(io.BytesIO(text.encode() if isinstance(text, str) else text), filename)

    def submit(self, text: str | bytes = RUN, *, actor: Actor | None = None, **values: Any) -> int:
        """Submits a run of the team's, with a system of its own unless one is named; its id."""
        upload = values.pop("upload", None) or self.receive(text)
        with self.database.write() as session:
            count = session.scalar(sa.select(sa.func.count()).select_from(Submission))
            values.setdefault("system", NewSystem(f"System number {count}"))
            if isinstance(values["system"], System):
                values["system"] = values["system"].id
            into = values.pop("evaluation", self.evaluation)
            return submissions.submit(session, actor or self.ada, into, self.team, upload=upload, **values).id

    def change_evaluation(self, **changes: Any) -> None:
        with self.database.write() as session:
            evaluations.change_evaluation(session, CONSOLE, session.get_one(Evaluation, self.evaluation), **changes)

    def judge(self, text: str, *, subtopics: str | None = None, source: str | None = None) -> None:
        aspects = read_subtopic_judgments(io.BytesIO(subtopics.encode())) if subtopics is not None else None
        with self.database.write() as session:
            evaluation = session.get_one(Evaluation, self.evaluation)
            judgments.import_judgments(
                session, CONSOLE, evaluation, JudgmentFiles(judged(text), subtopics=aspects), source=source
            )

    def scoring(self, submission: int) -> Scoring:
        """The submission's scoring in the current set."""
        with self.database.read() as session:
            return session.scalars(
                sa.select(Scoring)
                .join(ScoringSet)
                .where(Scoring.submission_id == submission, ScoringSet.state == SetState.CURRENT)
                .options(sa.orm.joinedload(Scoring.submission))
            ).one()

    def scores(self, submission: int) -> list[Score]:
        return self.all(sa.select(Score).where(Score.scoring_id == self.scoring(submission).id))

    def mean(self, submission: int, scoring_set: int, measure: str) -> float | None:
        """The run's mean in a set, over all queries."""
        with self.database.read() as session:
            return session.scalars(
                sa.select(Score.mean)
                .join(Scoring)
                .where(
                    Scoring.submission_id == submission,
                    Scoring.scoring_set_id == scoring_set,
                    Score.measure == measure,
                    Score.subset == Subset.ALL,
                )
            ).one()

    def all(self, statement: sa.Select[Any]) -> list[Any]:
        with self.database.read() as session:
            return list(session.scalars(statement))

    @contextmanager
    def organising(self) -> Iterator[tuple[Session, Campaign, Evaluation]]:
        """A writing session with the campaign and the evaluation."""
        with self.database.write() as session:
            yield session, session.get_one(Campaign, self.campaign), session.get_one(Evaluation, self.evaluation)


def new_account(name: str, email: str | None = None) -> people.NewAccount:
    """An account to be made, with the password of the tests hashed at the lowest cost."""
    return people.NewAccount(name, PasswordHash(QUICK.hash(PASSWORD)), email)


def add_senders(database: Database, count: int) -> list[str]:
    """Accounts with a team each, since one person's files are bounded: their names."""
    names = [f"Sender {number}" for number in range(count)]
    with database.write() as session:
        for name in names:
            user = people.create_user(session, CONSOLE, new_account(name))
            session.flush()
            teams.create_team(session, actor_of(session, user.id), f"Team of {name}")
    return names


def signed_in(session: Session, user_id: int) -> str:
    """A session of the account as a log-in starts it: what the cookie holds under `_user_id`."""
    return credentials.start_session(session, user_id, present())


def fill(database: Database, qrels: str | None) -> dict[str, Any]:
    """Makes the campaign; the fields of a World that this decides."""
    with database.write() as session:
        ada = people.create_user(session, CONSOLE, new_account("Ada", "ada@example.org")).id
        eve = people.create_user(session, CONSOLE, new_account("Eve")).id
        team = teams.create_team(session, actor_of(session, ada), "Northern lights").id
        campaign = campaigns.create_campaign(
            session, CONSOLE, "small", "A small campaign", measures=MEASURES, primary_measure="AQWV", beta=20
        )
        evaluation = evaluations.create_evaluation(
            session, CONSOLE, campaign, "2026", "The year 2026", "2026", documents=1000, daily_quota=None
        )
        queries.import_queries(session, CONSOLE, evaluation, [QueryRow(f"q{n}", f"text {n}", ()) for n in (1, 2, 3)])
        if qrels is not None:
            judgments.import_judgments(session, CONSOLE, evaluation, JudgmentFiles(judged(qrels)))
        made = {"campaign": campaign.id, "evaluation": evaluation.id, "team": team}
    with database.read() as session:
        return {**made, "ada": actor_of(session, ada), "eve": actor_of(session, eve)}


def _world(database: Database, folder: Path, made: dict[str, Any], **settings: Any) -> World:
    url = database.engine.url.render_as_string(hide_password=False)
    config = Config(database_url=url, **{"store_url": str(folder / "store"), **settings})
    return World(database, RunStore(config.store_url), config, **made)


def build_world(database: Database, folder: Path, *, qrels: str | None = QRELS, **settings: Any) -> World:
    """Makes the campaign; `settings` are the configuration's. Without `qrels` nothing is judged yet."""
    return _world(database, folder, fill(database, qrels), **settings)


@pytest.fixture
def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords hashed the same way at the lowest cost: for tests that don't look at how long guessing takes."""
    monkeypatch.setattr(credentials, "hasher", QUICK)
    monkeypatch.setattr(credentials, "OF_NOBODY", QUICK.hash("no password"))


@pytest.fixture
def scores_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has `leaderboard worker` score in the process that it is called in: for tests that ask what becomes of runs."""
    monkeypatch.setattr(loop, "Worker", WorkerHere)


@pytest.fixture(scope="session")
def fill_world() -> Filling:
    """Puts into a database what `world` begins with."""
    return partial(fill, qrels=QRELS)


@pytest.fixture
def world(
    database: Database,
    own_database: OwnDatabase,
    fill_world: Filling,
    tmp_path: Path,
    store_url: str,
    quick_hashes: None,
) -> Iterator[World]:
    """A small campaign with one team, on both engines. Its runs are scored in this process."""
    with contextlib.closing(_world(database, tmp_path, own_database.known, store_url=store_url)) as world:
        world.worker = WorkerHere
        yield world
