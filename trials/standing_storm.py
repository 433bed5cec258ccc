"""Runs come in, are scored, chosen, withdrawn and ruled upon all at once, on both engines: which runs stand is right.

    python -m trials standing_storm --seconds 60 --workers 3 --actors 6 --seed 1

Worker processes score what several actors submit for a few systems of two teams; meanwhile the actors let runs stand,
make them primary, withdraw them, take them off the boards and put them back, boards are refreshed, and the whole
evaluation is scored again by other settings. Afterwards the rows that say which runs stand must be what the rule says
of all runs, the record must be in order, every run must be scored, and nobody may have met a deadlock.
"""

import argparse
import io
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, redirect_stdout
from functools import partial
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.audit.verify import one_moment, verify
from leaderboard.boards import writes as boards
from leaderboard.errors import LeaderboardError, Unavailable
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import Designation, Ruling, State
from leaderboard.submissions.writes import submissions
from leaderboard.teams import writes as systems, writes as teams
from leaderboard.teams.models import Team
from leaderboard.worker import queue
from leaderboard.worker.models import Scoring
from tests.support.processes import Process
from tests.support.shared import REPOSITORY
from tests.support.standing import standing_by_the_rule, standing_kept
from tests.support.world import World, build_world, run_text
from trials.faults import tell
from trials.installation import ENGINES, migrated_database

SYSTEMS = 3  # of each team: few, so that runs of one system meet
NEWEST = 40  # runs that an actor chooses among
SENT_SHARE = 0.3  # of what an actor does is to send a run
PAUSE_SECONDS = 0.2  # at most, between two things that one actor does: the workers should keep up
DOCUMENTS = (1000, 1001)  # two settings of the evaluation, in turn
REFRESH_SECONDS = 0.5
RESCORE_SECONDS = 3.0
FINISH_SECONDS = 600.0
LOOK_SECONDS = 0.2
TROUBLE = ("Traceback", "deadlock", "could not be")  # words of a worker's that are a fault


class Storm:
    """What goes on at once on one installation. `done` counts what was done, and what was refused as it should be."""

    def __init__(self, world: World, seed: int) -> None:
        self._world = world
        self._seed = seed
        self._runs: list[int] = []
        self.stop = threading.Event()
        self.done: Counter[str] = Counter()
        self.faults: list[str] = []
        with world.database.write() as session:
            owners = [world.team, teams.create_team(session, CONSOLE, "Southern lights").id]
            self._systems = [
                (owner, systems.create_system(session, CONSOLE, team, systems.NewSystem(f"System {team.id}.{one}")).id)
                for owner in owners
                for team in [session.get_one(Team, owner)]
                for one in range(SYSTEMS)
            ]

    def act(self, number: int) -> None:
        """One actor, until the storm stops: it sends a run, or does something to a recent one."""
        chance = random.Random(self._seed + number)
        to_runs: dict[str, Callable[[Session, Submission], object]] = {
            "let stand": lambda session, run: submissions.select_run(session, CONSOLE, run),
            "make primary": lambda session, run: submissions.make_primary(session, CONSOLE, run),
            "withdraw": lambda session, run: submissions.withdraw(session, CONSOLE, run),
            "take off": lambda session, run: submissions.hide_run(
                session, CONSOLE, run, Ruling.HIDDEN, "a storm", holds_place=chance.random() < 0.5
            ),
            "restore": lambda session, run: submissions.restore(session, CONSOLE, run),
        }
        while not self.stop.wait(chance.uniform(0, PAUSE_SECONDS)):
            recent = self._runs[-NEWEST:]
            if not recent or chance.random() < SENT_SHARE:
                self._try("submit", partial(self.send, chance))
            else:
                name, run = chance.choice(list(to_runs)), chance.choice(recent)
                self._try(name, partial(self._change, run, to_runs[name]))

    def refresh(self) -> None:
        """Refreshes boards all the time, as a worker does when the queue pauses."""
        while not self.stop.wait(REFRESH_SECONDS):
            self._try("refresh", self._refresh)

    def rescore(self) -> None:
        """Has the evaluation scored again every few seconds."""
        turn = 0
        while not self.stop.wait(RESCORE_SECONDS):
            turn += 1
            self._try("score again", partial(self._world.change_evaluation, documents=DOCUMENTS[turn % 2]))

    def send(self, chance: random.Random) -> None:
        """Submits a run of one of the systems."""
        owner, system_id = chance.choice(self._systems)
        upload = self._world.receive(run_text(chance.randrange(10_000)))
        with self._world.database.write() as session:
            into, kind = (self._world.evaluation, owner), chance.choice(list(Designation))
            run = submissions.submit(session, CONSOLE, *into, system=system_id, upload=upload, designation=kind)
        self._runs.append(run.id)

    def _change(self, run: int, change: Callable[[Session, Submission], object]) -> None:
        with self._world.database.write() as session:
            change(session, session.get_one(Submission, run))

    def _refresh(self) -> None:
        with self._world.database.read() as session:
            found = boards.due(session)
        for one in found:
            boards.refresh(self._world.database, one)

    def _try(self, name: str, do: Callable[[], object]) -> None:
        """A refusal is no fault; a database that does not answer is: so a deadlock looks."""
        try:
            do()
        except (Unavailable, sa.exc.SQLAlchemyError) as error:
            self.faults.append(f"{name}: {error!r} {getattr(error, 'reason', '')}")
        except LeaderboardError:
            self.done[f"{name}, refused"] += 1
        else:
            self.done[name] += 1


def storm(world: World, seconds: float, workers: int, actors: int, seed: int) -> list[str]:
    """Runs the storm on one engine and prints its figures; returns every fault."""
    made = Storm(world, seed)
    environment = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        "LEADERBOARD_DATABASE_URL": world.config.database_url,
        "LEADERBOARD_STORE_URL": world.store.url,
    }
    with ExitStack() as stack:
        command = [sys.executable, "-m", "leaderboard", "worker"]
        processes = [stack.enter_context(Process(command, env=environment)) for _ in range(workers)]
        made.send(random.Random(seed))
        _wait(world)  # until the first worker has begun
        with ThreadPoolExecutor(actors + 2) as pool:
            going = [pool.submit(made.act, number) for number in range(actors)]
            going += [pool.submit(made.refresh), pool.submit(made.rescore)]
            made.stop.wait(seconds)
            made.stop.set()
            for one in going:
                one.result()
        calm = time.monotonic()
        _wait(world)
        finished = time.monotonic() - calm
        said = "".join(process.output for process in processes)
        with redirect_stdout(io.StringIO()):  # what the workers said, told below where it is a fault
            stack.close()
    print(f"  {dict(sorted(made.done.items()))}")
    print(f"  scorings: {dict(Counter(row.state.value for row in world.all(sa.select(Scoring))))}")
    print(f"  finished {finished:.1f} s after the storm")
    return [
        *made.faults,
        *(line for line in said.splitlines() if any(word in line for word in TROUBLE)),
        *_wrong(world),
    ]


def _wait(world: World) -> None:
    """Until nothing waits to be scored."""
    deadline = time.monotonic() + FINISH_SECONDS
    while time.monotonic() < deadline:
        with world.database.read() as session:
            if not queue.unfinished(session):
                return
        time.sleep(LOOK_SECONDS)


def _wrong(world: World) -> Iterator[str]:
    """What is not as it should be once all is quiet."""
    kept, by_rule = standing_kept(world.database), standing_by_the_rule(world.database)
    print(f"  {len(by_rule)} runs stand")
    for row in sorted(kept ^ by_rule):
        yield f"stands {'by the rows' if row in kept else 'by the rule'} only (set, way, system, late, scoring): {row}"
    for scoring in world.all(sa.select(Scoring).where(Scoring.state != State.SCORED)):
        yield f"scoring {scoring.id} is {scoring.state.value}: {scoring.failure}"
    with world.database.read() as session:
        one_moment(session)
        for one in verify(session).differences:
            yield f"{one.where}: {one.what}: {one.stored}, not {one.expected}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m trials standing_storm", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="of storm on each engine (default: 60)")
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--actors", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", choices=ENGINES, help="this one only")
    given = parser.parse_args(arguments)
    faults = []
    for engine in [given.engine] if given.engine else ENGINES:
        print(f"{engine}, {given.workers} workers, {given.actors} actors, seed {given.seed}", flush=True)
        with (
            tempfile.TemporaryDirectory() as folder,
            migrated_database(engine, Path(folder)) as (_, database),
            closing(build_world(database, Path(folder))) as world,
        ):
            found = storm(world, given.seconds, given.workers, given.actors, given.seed)
        faults += found
        tell(found)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
