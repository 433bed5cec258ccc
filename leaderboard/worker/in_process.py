"""Scores runs in this process, for a command that brings many in: without bounds on memory and time.

The runs are an organiser's own files. They are claimed as any worker claims them, so that workers may score beside it,
and what a killed command leaves behind goes back to the queue when its lease ends.
"""

import os
import secrets
import socket
import time

from sqlalchemy.orm import Session

from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.formats import Limits
from leaderboard.services import queue
from leaderboard.services.queue import Claim
from leaderboard.store import RunStore
from leaderboard.worker.child_program import answer
from leaderboard.worker.loop import recorded
from leaderboard.worker.messages import Job, Reply
from leaderboard.worker.run_scorer import RunScorer

__all__ = ["InProcess"]

LOOK_SECONDS = 0.2  # between two looks at a run that somebody else has claimed


class InProcess:
    """One scorer for each scoring set, kept ready between runs."""

    def __init__(self, database: Database, store: RunStore, config: Config) -> None:
        self.name = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._database = database
        self._store = store
        self._config = config
        self._scorers: dict[int, RunScorer] = {}

    def claim(self, session: Session, submission_id: int) -> Claim | None:
        """Takes a run's next waiting scoring, where there is one; in the transaction that submits it, if you like."""
        return queue.claim(session, self.name, self._config.lease_seconds, submission_id)

    def wait_and_claim(self, submission_id: int) -> Claim | None:
        """The same, after whoever holds one of its scorings has finished, or lost its lease; None when all are done."""
        while True:
            with self._database.write() as session:
                queue.sweep(session)
                claim = self.claim(session, submission_id)
                if claim is not None or not queue.unfinished(session, submission_id=submission_id):
                    return claim
            time.sleep(LOOK_SECONDS)

    def score(self, claim: Claim) -> tuple[Reply, Claim | None]:
        """Scores a claimed run and records what came of it; gives that, and the run's next waiting scoring, claimed."""
        scorer = self._scorers.get(claim.scoring_set_id)
        if scorer is None:
            scorer = RunScorer(self._database, self._store, Limits(expanded_bytes=self._config.text_bytes))
            self._scorers[claim.scoring_set_id] = scorer
        reply = answer(scorer, Job(claim.submission_id, claim.scoring_set_id), 0, lambda _: None)
        with self._database.write() as session:
            recorded(session, claim, reply)
            return reply, self.claim(session, claim.submission_id)
