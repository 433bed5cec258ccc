"""Workers as an installation runs them: processes of their own, stopped, killed and started again."""

import os
import signal
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa

from leaderboard.audit.models import Event
from leaderboard.operating.models import WorkerSeen
from leaderboard.submissions.rules import State
from leaderboard.worker.models import Scoring
from tests.support.processes import Process, children
from tests.support.shared import REPOSITORY
from tests.support.waiting import wait_until
from tests.support.world import World, run_text

SECONDS = 60.0
LEASE_SECONDS = 2


def _worker(world: World, *options: str) -> Process:
    environment = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        "LEADERBOARD_DATABASE_URL": world.config.database_url,
        "LEADERBOARD_STORE_URL": world.store.url,
        "LEADERBOARD_LEASE_SECONDS": str(LEASE_SECONDS),
    }
    return Process(
        [sys.executable, "-m", "leaderboard", "worker", *options], env=environment, cwd=Path(world.store.url).parent
    )


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _wait_for_state(world: World, run: int, state: State) -> None:
    wait_until(lambda: world.scoring(run).state is state, f"{state.value} (it is {world.scoring(run).state.value})")


@pytest.mark.parametrize("engine_name", ["sqlite"])  # on PostgreSQL the kill storm of `test_trials` does so
def test_a_killed_worker_loses_nothing_another_finishes_and_hands_a_long_job_back_when_stopped(world: World) -> None:
    run, pipe = world.stuck_run()
    with _worker(world) as first:
        _wait_for_state(world, run, State.SCORING)
        by_first = world.scoring(run).worker
        scorers = children(first.pid)
        os.kill(first.pid, signal.SIGKILL)
        first.wait(seconds=SECONDS)
        wait_until(lambda: not any(map(_runs, scorers)), "its child ends with it")
    assert len(scorers) == 1
    assert world.scoring(run).state is State.SCORING  # nobody knows yet
    pipe.unlink()
    world.receive(run_text(1))
    with _worker(world) as second:
        _wait_for_state(world, run, State.SCORED)
        long, _ = world.stuck_run(2)
        _wait_for_state(world, long, State.SCORING)
        scorers = children(second.pid)
        os.kill(second.pid, signal.SIGTERM)
        assert second.wait(seconds=SECONDS) == 0
        assert "handed back" in second.output
    scoring = world.scoring(run)
    assert (scoring.attempt, scoring.lost_leases, scoring.errors) == (2, 1, 0)
    assert scoring.worker != by_first
    assert len(world.scores(run)) == 8  # three measures and the share of judged documents, over two subsets
    assert len(world.all(sa.select(Scoring).where(Scoring.submission_id == run))) == 1
    assert len(world.all(sa.select(Event).where(Event.action == "score"))) == 1
    scoring = world.scoring(long)
    assert (scoring.state, scoring.errors, scoring.lost_leases) == (State.QUEUED, 0, 0)
    assert not any(map(_runs, scorers))


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
def test_a_worker_whose_child_is_killed_goes_on_with_another_and_a_stop_finishes_a_job_that_is_nearly_done(
    world: World,
) -> None:
    run, pipe = world.stuck_run()
    with _worker(world) as process:
        _wait_for_state(world, run, State.SCORING)
        (child,) = children(process.pid)
        os.kill(child, signal.SIGKILL)
        _wait_for_state(world, run, State.QUEUED)
        pipe.unlink()
        world.receive(run_text(1))
        other = world.submit(run_text(2))
        _wait_for_state(world, other, State.SCORED)
        (second,) = children(process.pid)
        last, pipe = world.stuck_run(3)
        _wait_for_state(world, last, State.SCORING)
        os.kill(process.pid, signal.SIGINT)
        process.wait_for_output("stopping on SIGINT", seconds=SECONDS)
        pipe.write_text(run_text(3))
        assert process.wait(seconds=SECONDS) == 0
    assert world.scoring(last).state is State.SCORED
    assert child != second
    assert not any(map(_runs, (child, second)))
    scoring = world.scoring(run)
    assert scoring.errors == 1
    assert scoring.failure == "the scoring process was ended by SIGKILL"


@pytest.mark.parametrize("engine_name", ["sqlite"])  # processes and signals are between them and the system
def test_workers_of_one_command_are_replaced_when_killed_and_end_with_it(world: World) -> None:
    with _worker(world, "--processes", "2") as process:
        wait_until(lambda: len(world.all(sa.select(WorkerSeen.name))) == 2, "both are seen")
        first, second = children(process.pid, "worker")
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: len(world.all(sa.select(WorkerSeen.name))) == 3, "another one is seen")
        assert second in children(process.pid, "worker")
        run = world.submit(run_text(1))
        _wait_for_state(world, run, State.SCORED)
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(seconds=SECONDS) == 0
    assert len(world.all(sa.select(WorkerSeen.name))) == 1  # the killed one's


@pytest.mark.parametrize("engine_name", ["postgresql"])  # where workers wait for notices; both in `test_waiting`
def test_a_drain_lets_each_worker_finish_the_run_in_hand_and_take_no_other(world: World) -> None:
    run, pipe = world.stuck_run()
    with _worker(world, "--processes", "2") as workers:
        _wait_for_state(world, run, State.SCORING)
        with _worker(world, "--drain") as drain:
            drain.wait_for_output("waiting for ", seconds=SECONDS)
            wait_until(lambda: len(world.all(sa.select(WorkerSeen.name))) == 1, "the idle one has ended")
            later = world.submit(run_text(2))
            pipe.write_text(run_text(1))
            assert drain.wait(seconds=SECONDS) == 0
            assert drain.output.count("waiting for ") <= 2  # a line where others are waited for than before
        assert workers.wait(seconds=SECONDS) == 0
    assert [world.scoring(number).state for number in (run, later)] == [State.SCORED, State.QUEUED]
