"""Kills workers at random while runs are scored, on both engines: nothing may be lost or recorded twice.

    python -m trials.kill_storm --seconds 60 --workers 3 --seed 1

Runs are submitted all the time; about once a second a worker, or the process that reads files for it, is killed with
SIGKILL (sometimes SIGTERM) and another one is started in its place. After the storm the workers finish what is left.
Every run must then have been scored exactly once, with the right figures, or have failed because the process that read
it was killed three times: the worker can't tell that from a file that can't be scored.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.audit.models import Event
from leaderboard.errors import NotFound
from leaderboard.submissions.models import Participation
from leaderboard.submissions.rules import State
from leaderboard.worker.models import Score, Scoring
from leaderboard.worker.queue import MOST_ERRORS
from tests.support.processes import Process
from tests.support.shared import REPOSITORY
from tests.support.world import World, build_world
from trials.faults import tell
from trials.installation import ENGINES, migrated_database

LINES = 200_000  # of a run, unless told: some tenths of a second of work
RANKS = 50
SUBMIT_SECONDS = 0.5
KILL_SECONDS = (0.3, 1.5)  # between two kills
BUSY_SHARE = 0.8  # of the kills are aimed at a worker with a job
BUSY_WAIT_SECONDS = 2.0
LEASE_SECONDS = 2
FINISH_SECONDS = 600.0
LOOK_SECONDS = 0.5
FIGURES_OF_A_RUN = 8  # three measures and Judged@10, over two subsets


class Fleet:
    """A fixed number of workers, each a process of its own."""

    def __init__(self, world: World, size: int, chance: random.Random) -> None:
        self._environment = {
            **os.environ,
            "PYTHONPATH": str(REPOSITORY),
            "LEADERBOARD_DATABASE_URL": world.config.database_url,
            "LEADERBOARD_STORE_URL": world.store.url,
            "LEADERBOARD_LEASE_SECONDS": str(LEASE_SECONDS),
        }
        self._world = world
        self._chance = chance
        self._workers = [self._start() for _ in range(size)]
        self.kills: Counter[str] = Counter()
        self.failures: list[str] = []

    def _start(self) -> Process:
        return Process([sys.executable, "-m", "leaderboard", "worker"], env=self._environment)

    def strike(self) -> None:
        """Kills one worker or its child process: mostly of a worker that is scoring, if one is."""
        busy = [worker for worker in self._workers if worker.pid in self._busy()]
        worker = self._chance.choice(busy if busy and self._chance.random() < BUSY_SHARE else self._workers)
        kind = self._chance.choices(["worker, SIGKILL", "worker, SIGTERM", "child, SIGKILL"], weights=[4, 1, 1])[0]
        target = next(_children(worker.pid), None) if kind.startswith("child") else worker.pid
        if target is None:
            return
        try:
            os.kill(target, signal.SIGTERM if kind.endswith("TERM") else signal.SIGKILL)
        except ProcessLookupError:
            return
        self.kills[f"{kind}{', at work' if worker in busy else ''}"] += 1
        if kind == "worker, SIGKILL":
            worker.wait(seconds=FINISH_SECONDS)

    def _busy(self) -> set[int]:
        """Process ids of the workers that are scoring, after a short wait for one. Their names are HOST:PID:RANDOM."""
        deadline = time.monotonic() + BUSY_WAIT_SECONDS
        while time.monotonic() < deadline:
            names = self._world.all(sa.select(Scoring.worker).where(Scoring.state == State.SCORING))
            found = {int(name.split(":")[1]) for name in names} & {worker.pid for worker in self._workers}
            if found:
                return found
        return set()

    def fill_up(self) -> None:
        """Replaces each worker that has ended. One that was not killed is a fault."""
        for place, worker in enumerate(self._workers):
            if worker.returncode is None:
                continue
            # While it is still being loaded, SIGTERM ends it at once.
            if worker.returncode not in (0, -signal.SIGKILL, -signal.SIGTERM):
                self.failures.append(f"a worker ended with {worker.returncode}: {worker.output[-2000:]}")
            worker.close()
            self._workers[place] = self._start()

    def stop(self) -> None:
        for worker in self._workers:
            if worker.returncode is None:
                worker.terminate()
            worker.close()


def _children(pid: int) -> Iterator[int]:
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(status.read_text().rpartition(")")[2].split()[1]) == pid:
                yield int(status.parent.name)
        except FileNotFoundError:
            continue


def storm(world: World, seconds: float, workers: int, lines: int, chance: random.Random) -> list[str]:
    """Runs the storm on one engine and prints its figures; returns every fault found afterwards."""
    stop = threading.Event()
    submitted: list[int] = []

    def keep_submitting() -> None:
        while not stop.wait(SUBMIT_SECONDS):
            submitted.append(world.submit(run_text(len(submitted), lines), actor=CONSOLE))  # it waits for no worker

    submitter = threading.Thread(target=keep_submitting)
    fleet = Fleet(world, workers, chance)
    started = time.monotonic()
    try:
        submitter.start()
        while time.monotonic() - started < seconds:
            stop.wait(chance.uniform(*KILL_SECONDS))
            fleet.strike()
            fleet.fill_up()
        stop.set()
        submitter.join()
        calm = time.monotonic()
        while _unfinished(world) and time.monotonic() - calm < FINISH_SECONDS:
            time.sleep(LOOK_SECONDS)
            fleet.fill_up()
        finished = time.monotonic() - calm
    finally:
        stop.set()
        submitter.join()
        fleet.stop()
    scorings = world.all(sa.select(Scoring))
    print(f"  {len(submitted)} runs in {seconds:.0f} s, {sum(fleet.kills.values())} kills: {dict(fleet.kills)}")
    print(f"  states: {dict(Counter(row.state.value for row in scorings))}")
    print(f"  finished {finished:.1f} s after the last kill")
    for column in ("attempt", "lost_leases", "errors"):
        print(f"  {column}: {dict(sorted(Counter(getattr(row, column) for row in scorings).items()))}")
    return [*fleet.failures, *faults_of(world, submitted, lines)]


def run_text(number: int, lines: int) -> str:
    """A run that finds q1's relevant document at rank 1 + number % 50, and q2's first."""
    rank = 1 + number % RANKS
    of_q1 = [
        f"q1 Q0 {'d1' if at == rank else f'x{number}-{at}'} {at} {lines - at} run-{number}" for at in range(1, lines)
    ]
    return "\n".join([*of_q1, f"q2 Q0 d3 1 1.0 run-{number}", ""])


def _unfinished(world: World) -> int:
    with world.database.read() as session:
        waiting = sa.select(sa.func.count()).where(Scoring.state.in_([State.QUEUED, State.SCORING]))
        return session.scalar(waiting) or 0


def faults_of(world: World, submitted: list[int], lines: int) -> Iterator[str]:
    """What is not as it would be without the kills."""
    rows = world.all(sa.select(Scoring))
    if sorted(row.submission_id for row in rows) != sorted(submitted):
        yield f"{len(submitted)} runs were submitted and {len(rows)} scorings are there"
    for row in rows:
        if row.state is State.FAILED and row.errors == MOST_ERRORS:
            continue  # its child was killed three times: it failed, as it should
        if row.state is not State.SCORED:
            yield f"submission {row.submission_id} is {row.state.value}: {row.failure}"
        elif (listed := _listed(world, row.submission_id)) != lines - 1:
            yield f"the ranked list of submission {row.submission_id} has {listed} lines"
    recorded = Counter(event.subject_id for event in world.all(sa.select(Event).where(Event.action == "score")))
    yield from (f"submission {run} was recorded {times} times" for run, times in recorded.items() if times != 1)
    (participation,) = world.all(sa.select(Participation))
    given_up = sum(row.state is State.FAILED for row in rows)
    if participation.used != len(submitted) - given_up:
        yield f"the quota counts {participation.used} runs of {len(submitted)}, {given_up} of them failed"
    yield from _wrong_figures(world, {row.id: submitted.index(row.submission_id) for row in rows})


def _wrong_figures(world: World, number_of: dict[int, int]) -> Iterator[str]:
    """Faults in the means. `number_of` maps a scoring to the number of its run."""
    scores = world.all(sa.select(Score))
    per_scoring = Counter(score.scoring_id for score in scores)
    if set(per_scoring.values()) != {FIGURES_OF_A_RUN}:
        yield f"figures of a run: {Counter(per_scoring.values())}, not {FIGURES_OF_A_RUN} each"
    for score in scores:
        expected = (1 / (1 + number_of[score.scoring_id] % RANKS) + 1 + 0) / 3  # q3 has nothing relevant
        if score.measure == "AP" and abs((score.mean or 0) - expected) > 1e-12:
            yield f"run {number_of[score.scoring_id]} has AP {score.mean}, not {expected}"


def _listed(world: World, submission: int) -> int:
    """How many lines of q1 the stored list has."""
    try:
        return len(world.store.ranked_list(submission, 10, 0))
    except NotFound:
        return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m trials.kill_storm", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="of storm on each engine (default: 60)")
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--lines", type=int, default=LINES, help=f"of a run (default: {LINES:,})")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", choices=ENGINES, help="this one only")
    given = parser.parse_args(arguments)
    faults = []
    for engine in [given.engine] if given.engine else ENGINES:
        print(f"{engine}, {given.workers} workers, seed {given.seed}", flush=True)
        with (
            tempfile.TemporaryDirectory() as folder,
            migrated_database(engine, Path(folder)) as (_, database),
        ):
            world = build_world(database, Path(folder))
            world.change_evaluation(documents=given.lines)
            found = storm(world, given.seconds, given.workers, given.lines, random.Random(given.seed))
        faults += found
        tell(found)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
