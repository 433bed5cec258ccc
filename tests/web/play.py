"""The world of the pages' tests as a stage for changes: what is in it, by name, and what workers do."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import sqlalchemy as sa
from flask import Flask
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE, Actor, actor_of
from leaderboard.accounts.models import User
from leaderboard.campaigns.models import Campaign
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Subset
from leaderboard.generations.models import Generation
from leaderboard.store import Received
from leaderboard.submissions.models import Submission
from leaderboard.submissions.writes import submissions
from leaderboard.teams.models import System, Team
from leaderboard.teams.writes import NewSystem
from leaderboard.worker import queue
from leaderboard.worker.messages import MeasureScore, RunScores
from leaderboard.worker.models import Scoring
from tests.web.conftest import Reader, World


class Play:
    """The world of the pages' tests, by the names of what is in it."""

    def __init__(self, app: Flask, world: World, readers: dict[str, Reader]) -> None:
        self.app = app
        self.world = world
        self.database = world.database
        self.readers = readers
        self.runs: list[int] = []

    def campaign(self, session: Session, slug: str = "harbour") -> Campaign:
        return session.scalars(sa.select(Campaign).where(Campaign.slug == slug)).one()

    def evaluation(self, session: Session, slug: str = "2025") -> Evaluation:
        return session.scalars(sa.select(Evaluation).where(Evaluation.slug == slug)).one()

    def team(self, session: Session, slug: str = "alpha") -> Team:
        return session.scalars(sa.select(Team).where(Team.slug == slug)).one()

    def user(self, session: Session, name: str) -> User:
        return session.get_one(User, self.world.users[name].id)

    def actor(self, session: Session, name: str) -> Actor:
        return actor_of(session, self.world.users[name].id)

    def run(self, session: Session, place: int) -> Submission:
        return session.get_one(Submission, self.runs[place])

    def upload(self) -> Received:
        digest = f"{len(self.runs):064x}"
        return Received(digest, digest[32:], digest, 10, 10, "a.run")

    def submit(self, session: Session, system: System | NewSystem, **given: Any) -> None:
        evaluation, team = self.evaluation(session), self.team(session)
        made = submissions.submit(session, CONSOLE, evaluation, team, system=system, upload=self.upload(), **given)
        self.runs.append(made.id)

    def claim(self, session: Session) -> queue.Claim:
        session.execute(sa.update(Scoring).values(not_before=None))
        claim = queue.claim(session, "a worker", 60)
        assert claim is not None
        return claim

    def score(self, session: Session, mean: float) -> None:
        """Records the figures of the next run in the queue, as a worker does."""
        values = np.full(3, mean)
        measures = [(measure, subset) for measure in ("AP", "P@5") for subset in Subset]
        figures = tuple(MeasureScore(measure, subset, mean, 3, values) for measure, subset in measures)
        queue.settle(session, self.claim(session), RunScores(figures, (), (), 0.1))

    def score_all(self, session: Session) -> None:
        while queue.unfinished(session):
            self.score(session, 0.25)

    @contextmanager
    def keeping_nothing(self) -> Iterator[None]:
        cache = self.app.extensions["kept pages"]
        most, cache.most_bytes = cache.most_bytes, 0
        yield
        cache.most_bytes = most

    def generations(self) -> dict[int, int]:
        with self.database.read() as session:
            return {row.campaign_id: row.number for row in session.scalars(sa.select(Generation))}
