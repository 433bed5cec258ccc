"""A worker that scores in the process of its test, for tests that ask what becomes of a run and not what scores it.

Starting a scoring process, which imports what the test has imported already, takes longer than most tests. Everything
else is the worker's own: it claims, records and refreshes boards, and each job and each reply goes through the words of
the pipe. What the process adds, its bounds and its deaths, is the subject of `tests/worker`, where a worker has one.
"""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.formats import Limits
from leaderboard.store import RunStore
from leaderboard.worker.loop import Worker
from leaderboard.worker.messages import Job, LeaveTeamsOut, Reply, read_message, write_message
from leaderboard.worker.run_scorer import RunScorer

PAUSE_SECONDS = 0.05


class _ScoringHere:
    """In place of the worker's scoring process: what that does, in this one."""

    is_alive = True

    def __init__(self, worker: "WorkerHere", scorer: RunScorer) -> None:
        self._worker = worker
        self._scorer = scorer
        self._reply = ""

    def ask(self, job: Job | LeaveTeamsOut) -> None:
        reply = self._scorer.answer(read_message(write_message(job)), 0)
        self._reply = write_message(self._worker.told(reply))

    def reply(self, _seconds: float) -> Any:
        return read_message(self._reply)

    def kill(self) -> None:
        pass


class WorkerHere(Worker):
    """The worker with its loop, its records and its boards, but without a second process."""

    def __init__(self, database: Database, store: RunStore, config: Config, **options: Any) -> None:
        super().__init__(database, store, config, **options)
        scorer = RunScorer(database, store, Limits(expanded_bytes=config.text_bytes))
        self._here = _ScoringHere(self, scorer)

    def _ready_child(self) -> Any:
        return self._here

    def told(self, reply: Reply) -> Reply:
        """The reply as it is recorded."""
        return reply


def drain_here(database: Database, store: RunStore, config: Config) -> None:
    """Scores everything that waits, and refreshes its boards."""
    with closing(WorkerHere(database, store, config)) as worker:
        while worker.step(threading.Event()):
            pass


@contextmanager
def working_here(config: Config) -> Iterator[None]:
    """Scores what is submitted while the block runs, by a worker in another thread; at its end nothing waits."""
    stop = threading.Event()

    def work() -> None:
        store = RunStore(config.store_url, config)
        with closing(Database.connect(config.database_url)) as database:
            worker = WorkerHere(database, store, config)
            while worker.step(threading.Event()) or not stop.wait(PAUSE_SECONDS):
                pass
            while worker.step(threading.Event()):  # submitted since the last look
                pass

    working = threading.Thread(target=work)
    working.start()
    try:
        yield
    finally:
        stop.set()
        working.join()
