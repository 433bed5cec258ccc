"""The worker, which scores the runs that wait. Any number of them may work on one database."""

import contextlib
import logging
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType

from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.errors import NoDatabase, NoStore, Unavailable
from leaderboard.store import Caps, RunStore
from leaderboard.worker.housekeeping import remove_orphans, renew_sets
from leaderboard.worker.loop import Worker

POLL_SECONDS = 1.0  # between two looks at an empty queue
QUIET_SECONDS = 2.0  # before boards are refreshed: whoever waits for each run before sending the next is quicker
PATIENCE_SECONDS = 5.0  # before a database or a store that does not answer is asked again
MOST_REFUSALS = 5  # of the scoring process, one after the other, before the worker gives up
HOUSEKEEPING_SECONDS = 3600.0
log = logging.getLogger("leaderboard.worker.run")


def run(config: Config, stop: threading.Event | None = None, once: bool = False) -> None:
    """Works until `stop` is set (without one: until SIGTERM or SIGINT), or, with `once`, until nothing waits."""
    database = Database.connect(config.database_url, must_exist=True)
    store = RunStore(config.store_url, Caps(config.upload_bytes, config.text_bytes), must_exist=True)
    worker = Worker(database, store, config, quiet_seconds=0.0 if once else QUIET_SECONDS)
    with contextlib.closing(database), contextlib.closing(worker), _stopping(stop) as stop:
        log.info("worker %s is waiting for work", worker.name)
        kept_house = -HOUSEKEEPING_SECONDS
        refusals = 0
        renewed = False
        while not stop.is_set():
            try:
                if not renewed:
                    renew_sets(database)
                    renewed = True
                more = worker.step(stop)
                refusals = 0
                if more:
                    continue
                if once:
                    break
                if time.monotonic() - kept_house > HOUSEKEEPING_SECONDS:
                    kept_house = time.monotonic()
                    remove_orphans(database, store)
                stop.wait(POLL_SECONDS)
            except (NoDatabase, NoStore) as error:
                if once:
                    raise
                log.warning("%s (%s)", error, error.reason)
                stop.wait(PATIENCE_SECONDS)
            except Unavailable as error:
                refusals += 1
                if once or refusals == MOST_REFUSALS:
                    raise
                log.warning("%s", error)
                stop.wait(PATIENCE_SECONDS)
        log.info("worker %s stopped", worker.name)


def drain(database: Database, store: RunStore, config: Config) -> int:
    """Scores everything that waits, as a worker process would; returns how many steps that took."""
    steps = 0
    with contextlib.closing(Worker(database, store, config)) as worker:
        while worker.step(threading.Event()):
            steps += 1
    return steps


@contextlib.contextmanager
def _stopping(stop: threading.Event | None) -> Iterator[threading.Event]:
    """Gives the event that stops the worker: `stop`, or else a new one that SIGTERM and SIGINT set within the block."""
    if stop is not None:
        yield stop
        return
    made = threading.Event()

    def set_it(number: int, _: FrameType | None) -> None:
        log.info("stopping on %s", signal.Signals(number).name)
        made.set()

    before = {number: signal.signal(number, set_it) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield made
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
