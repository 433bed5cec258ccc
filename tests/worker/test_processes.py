"""Workers as an installation runs them: processes of their own, stopped, killed and started again."""

import os
import signal
import sys
import threading
from pathlib import Path

import pytest
import sqlalchemy as sa

from leaderboard.audit.models import Event
from leaderboard.submissions.rules import State
from leaderboard.worker import loop as worker
from leaderboard.worker import queue
from leaderboard.worker.models import Scoring
from tests.support.processes import Process
from tests.support.shared import REPOSITORY
from tests.support.waiting import wait_until
from tests.support.world import World, run_text

SECONDS = 60.0
LEASE_SECONDS = 2


def _worker(world: World) -> Process:
    environment = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        "LEADERBOARD_DATABASE_URL": world.config.database_url,
        "LEADERBOARD_STORE_URL": world.store.url,
        "LEADERBOARD_LEASE_SECONDS": str(LEASE_SECONDS),
    }
    return Process([sys.executable, "-m", "leaderboard", "worker"], env=environment, cwd=Path(world.store.url).parent)


def _wait_for_state(world: World, run: int, state: State) -> None:
    wait_until(lambda: world.scoring(run).state is state, f"{state.value} (it is {world.scoring(run).state.value})")


def _children(pid: int) -> list[int]:
    """Processes whose parent this is."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except FileNotFoundError:
            continue
        if int(fields[1]) == pid:
            found.append(int(status.parent.name))
    return found


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("engine_name", ["sqlite"])  # on PostgreSQL the kill storm of `test_trials` does so
def test_a_worker_that_is_killed_in_the_middle_loses_nothing_and_another_finishes(world: World) -> None:
    run, pipe = world.stuck_run()
    with _worker(world) as first:
        _wait_for_state(world, run, State.SCORING)
        by_first = world.scoring(run).worker
        children = _children(first.pid)
        os.kill(first.pid, signal.SIGKILL)
        first.wait(seconds=SECONDS)
        wait_until(lambda: not any(map(_runs, children)), "its child ends with it")
    assert len(children) == 1
    assert world.scoring(run).state is State.SCORING  # nobody knows yet
    pipe.unlink()
    world.receive(run_text(1))
    with _worker(world):
        _wait_for_state(world, run, State.SCORED)
    scoring = world.scoring(run)
    assert (scoring.attempt, scoring.lost_leases, scoring.errors) == (2, 1, 0)
    assert scoring.worker != by_first
    assert len(scoring.scores) == 6  # three measures over two subsets
    assert len(world.all(sa.select(Scoring))) == 1
    assert len(world.all(sa.select(Event).where(Event.action == "score"))) == 1


@pytest.mark.parametrize("engine_name", ["postgresql"])  # leases run by the database's clock, here its server's
def test_a_worker_that_is_alive_keeps_its_job_however_long_it_takes(world: World) -> None:
    run, pipe = world.stuck_run()
    with _worker(world), _worker(world):
        _wait_for_state(world, run, State.SCORING)
        lease = world.scoring(run).lease_until
        assert lease is not None
        # Long after the first lease would have run out, by the leases themselves ...
        wait_until(
            lambda: (world.scoring(run).lease_until or lease).timestamp() > lease.timestamp() + 2 * LEASE_SECONDS,
            "its lease is renewed",
        )
        assert world.scoring(run).attempt == 1
        pipe.write_text(run_text(1))
        _wait_for_state(world, run, State.SCORED)
    assert (world.scoring(run).attempt, world.scoring(run).lost_leases) == (1, 0)


@pytest.mark.parametrize("engine_name", ["sqlite"])  # signals are between it and the system
def test_a_stop_finishes_a_job_that_is_nearly_done(world: World) -> None:
    run, pipe = world.stuck_run()
    with _worker(world) as process:
        _wait_for_state(world, run, State.SCORING)
        os.kill(process.pid, signal.SIGTERM)
        process.wait_for_output("stopping on SIGTERM", seconds=SECONDS)
        pipe.write_text(run_text(1))
        assert process.wait(seconds=SECONDS) == 0
    assert world.scoring(run).state is State.SCORED


@pytest.mark.parametrize("engine_name", ["sqlite"])
def test_a_stop_hands_a_long_job_back_at_no_cost(world: World) -> None:
    run, _ = world.stuck_run()
    with _worker(world) as process:
        _wait_for_state(world, run, State.SCORING)
        children = _children(process.pid)
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(seconds=SECONDS) == 0
        assert "handed back" in process.output
    scoring = world.scoring(run)
    assert (scoring.state, scoring.errors, scoring.lost_leases) == (State.QUEUED, 0, 0)
    assert not any(map(_runs, children))


@pytest.mark.parametrize("engine_name", ["sqlite"])
def test_a_worker_whose_child_is_killed_goes_on_with_another_and_stops_with_it_when_idle(world: World) -> None:
    run, pipe = world.stuck_run()
    with _worker(world) as process:
        _wait_for_state(world, run, State.SCORING)
        (child,) = _children(process.pid)
        os.kill(child, signal.SIGKILL)
        _wait_for_state(world, run, State.QUEUED)
        pipe.unlink()
        world.receive(run_text(1))
        other = world.submit(run_text(2))
        _wait_for_state(world, other, State.SCORED)
        (second,) = _children(process.pid)
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(seconds=SECONDS) == 0
    assert child != second
    assert not any(map(_runs, (child, second)))
    scoring = world.scoring(run)
    assert scoring.errors == 1
    assert scoring.failure == "the scoring process was ended by SIGKILL"


@pytest.mark.parametrize("engine_name", ["postgresql"])  # SQLite has no connections to drop
def test_a_database_that_drops_every_connection_ends_no_worker(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "PATIENCE_SECONDS", 0.1)
    monkeypatch.setattr(queue, "RETRY_SECONDS", 0.1)
    run, pipe = world.stuck_run()
    drop = sa.text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                   " AND pid <> pg_backend_pid()")  # fmt: skip
    stop = threading.Event()
    working = threading.Thread(target=worker.run, args=(world.config, stop))
    working.start()
    try:
        wait_until(lambda: world.scoring(run).state is State.SCORING, "it is claimed")
        world.database.engine.dispose()
        with world.database.read() as session:
            session.execute(drop)
        pipe.write_text(run_text(1))
        _wait_for_state(world, run, State.SCORED)
        other = world.submit(run_text(2))
        _wait_for_state(world, other, State.SCORED)
        assert working.is_alive()
    finally:
        stop.set()
        working.join(SECONDS)
    assert not working.is_alive()
