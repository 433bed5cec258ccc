"""Sends hostile files by form, has them scored by a real worker, and says what went wrong: by rights nothing."""

import json
import os
import re
import threading
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import sqlalchemy as sa

from leaderboard.accounts.models import Attempt, User
from leaderboard.errors import TooLarge
from leaderboard.submissions.models import Arrival, Participation, PersonalUse, Submission
from leaderboard.submissions.rules import State
from leaderboard.teams.models import System
from leaderboard.web.app import create_app
from leaderboard.worker.loop import Worker
from leaderboard.worker.models import Scoring
from tests.support.hostile_files import HostileFile
from tests.support.processes import children
from tests.support.world import World, run_text
from tests.web.conftest import Reader

SECONDS_A_MILLION = 3.0  # of computing, for a file of fewer lines too
MOST_MEMORY = 1500 * 2**20
MOST_TOLD = 64 * 1024  # bytes of a rejection's row, and of its page
FORM = "/campaigns/small/2026/submit"
MOST_STEPS = 50


@dataclass
class Outcome:
    """What became of the files."""

    states: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")  # seconds of computing for a million lines, or for a file of fewer
    most_memory: tuple[int, str] = (0, "")  # bytes of the scoring process
    longest_row: tuple[int, str] = (0, "")
    longest_page: tuple[int, str] = (0, "")


def send_all(world: World, files: Iterable[HostileFile]) -> Outcome:
    """Sends each file, scores it, and looks at its row and its page. The worker lives through all of them."""
    outcome = Outcome()
    world.change_evaluation(daily_quota=None)
    app = create_app(replace(world.config, secret_key="a secret that only the tests know", secure_cookies=False))
    app.testing = True
    worker = Worker(world.database, world.store, world.config)
    with world.database.read() as session:
        reader = Reader(app.test_client(), session.get_one(User, world.ada.user_id))
    try:
        world.submit(run_text(0))
        _drain(worker)
        [system] = world.all(sa.select(System))  # one for all: a form that names hundreds would be a long page
        for number, file in enumerate(files):
            what = f"file {number}, {file.family}"
            answer = reader.send(
                FORM, file.content, filename=f"{number}.run", designation="contrastive",
                system=str(system.id), threshold="0",
            )  # fmt: skip
            _count(outcome, str(answer.status_code))
            if answer.status_code >= 429:
                outcome.faults.append(f"{what}: the form answers {answer.status}")
            address = answer.location or ""
            if not address.startswith("/submissions/"):
                # Refused before the queue, or waiting for a yes: the worker gets it past the form.
                page = reader.get(address) if address else answer.text
                _look_at_page(page.replace("\r\n", "\n"), what, outcome)  # a text area begins so
                try:
                    address = f"/submissions/{world.submit(file.content, system=system, threshold=0.0)}"
                except TooLarge:
                    continue
                finally:
                    forget_counts(world)
            _score(worker, file, what, outcome)
            forget_counts(world)
            _look(world, reader, address, what, outcome)
        last = world.submit(run_text(1))
        _drain(worker)
        if world.scoring(last).state is not State.SCORED:
            outcome.faults.append("a good run after all of them was not scored")
    finally:
        worker.close()
        app.extensions["database"].close()
    return outcome


def _drain(worker: Worker) -> None:
    for _ in range(MOST_STEPS):
        if not worker.step(threading.Event()):
            return


def forget_counts(world: World) -> None:
    """The limits on rejected, waiting and very many files are not what is tried: behind them no file would be read."""
    with world.database.write() as session:
        for table in (Participation, PersonalUse):
            session.execute(sa.update(table).values(rejected_today=0, used_today=0, used=0))
        for waiting in (Arrival, Attempt):
            session.execute(sa.delete(waiting))


def _score(worker: Worker, file: HostileFile, what: str, outcome: Outcome) -> None:
    before = _computed()
    worker.step(threading.Event())
    computed = {pid: seconds - before.get(pid, 0.0) for pid, seconds in _computed().items()}
    took = sum(computed.values()) / max(1.0, file.lines / 1e6)
    if before:  # starting the process is no file's doing
        outcome.slowest = max(outcome.slowest, (took, what))
        if took > SECONDS_A_MILLION:
            outcome.faults.append(f"{what}: {took:.1f} s of computing for a million lines")
    memory = max((_peak(pid) for pid in computed), default=0)
    outcome.most_memory = max(outcome.most_memory, (memory, what))
    if memory > MOST_MEMORY:
        outcome.faults.append(f"{what}: {memory:,} bytes of memory")


def _look(world: World, reader: Reader, address: str, what: str, outcome: Outcome) -> None:
    run = int(address.rpartition("/")[2])
    with world.database.read() as session:
        row = session.get_one(Submission, run)
        scoring = session.scalars(sa.select(Scoring).where(Scoring.submission_id == run)).one()
    _count(outcome, scoring.state.value)
    if scoring.state not in (State.SCORED, State.REJECTED):
        outcome.faults.append(f"{what}: {scoring.state.value}, {scoring.failure}")
    kept = json.dumps([row.problems, scoring.facts, scoring.missing, row.label, row.filename], ensure_ascii=False)
    told = len(json.dumps(row.problems))
    outcome.longest_row = max(outcome.longest_row, (told, what))
    if told >= MOST_TOLD:
        outcome.faults.append(f"{what}: {told:,} bytes of problems")
    # A file's own words are told as they are: only an odd number of \\ makes an escape of what follows.
    escaped = re.findall(r"(?<!\\)(?:\\\\)*(\\u(?:00[01]\w|d[89a-f]\w\w))", kept)
    if stray := {*escaped, *_stray(kept)}:
        outcome.faults.append(f"{what}: its row holds {stray}")
    _look_at_page(reader.get(address), what, outcome)


def _look_at_page(page: str, what: str, outcome: Outcome) -> None:
    outcome.longest_page = max(outcome.longest_page, (len(page.encode()), what))
    if len(page.encode()) >= MOST_TOLD:
        outcome.faults.append(f"{what}: a page of {len(page.encode()):,} bytes")
    if stray := _stray(page):
        outcome.faults.append(f"{what}: its page holds {stray}")


def _stray(text: str) -> set[str]:
    """Characters that steer and aren't seen, as code points."""
    return {f"U+{ord(one):04X}" for one in set(text) if unicodedata.category(one) in STEERING and one != "\n"}


STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def _count(outcome: Outcome, what: str) -> None:
    outcome.states[what] = outcome.states.get(what, 0) + 1


def _computed() -> dict[int, float]:
    """The processor time of each scoring process that this process has, by its id."""
    return {pid: _seconds(pid) for pid in children(os.getpid(), "worker.run_scorer")}


def _seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _peak(pid: int) -> int:
    """The most memory that a process has had, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
