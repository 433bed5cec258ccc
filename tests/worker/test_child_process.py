"""The process that reads strangers' files, bounded in memory and time, and dying in every way.

That it reads either database is tried where it scores; the rest is between it and its worker.
"""

import math
import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import sqlalchemy as sa

from leaderboard.errors import Unavailable
from leaderboard.evaluations.rules import Subset
from leaderboard.submissions.rules import State
from leaderboard.worker import child_process, messages
from leaderboard.worker.child_process import ChildProcess
from leaderboard.worker.loop import Worker
from leaderboard.worker.messages import Failed, Job, MeasureScore, Rejected, Reply, RunScores, Settings, Unreadable
from leaderboard.worker.models import Scoring
from tests.support.waiting import wait_until
from tests.support.world import World, run_file, run_text

SECONDS = 60.0


def _settings(world: World, job_bytes: int = 0) -> Settings:
    return Settings(world.config.database_url, world.store.url, world.config.text_bytes, job_bytes)


@pytest.fixture
def child(world: World) -> Iterator[ChildProcess]:
    child = ChildProcess(_settings(world))
    yield child
    child.kill()


def _job(world: World, submission: int) -> Job:
    return Job(submission, world.scoring(submission).scoring_set_id)


def _reply(child: ChildProcess, job: Job) -> Reply:
    child.ask(job)
    reply = child.reply(SECONDS)
    assert reply is not None
    return reply


def test_one_child_scores_many_runs(world: World, child: ChildProcess) -> None:
    for number in range(3):
        reply = _reply(child, _job(world, world.submit(run_text(number))))
        assert isinstance(reply, RunScores)
        assert reply.facts["tag"] == f"run-{number}"
    wrong = _reply(child, _job(world, world.submit("nonsense\n")))
    assert isinstance(wrong, Rejected)
    assert wrong.count == 1
    assert isinstance(_reply(child, _job(world, world.submit(run_text(9)))), RunScores)


@pytest.mark.parametrize("engine_name", ["sqlite"])
def test_a_fault_a_missing_file_and_a_death_are_told_apart(world: World, child: ChildProcess) -> None:
    run = world.submit(run_text(2))
    no_such_set = 10**6
    # With where it was and not with its text.
    assert _reply(child, Job(run, no_such_set)) == Failed("an error while reading the judgments: NoResultFound")
    run_file(world.store, world.receive(run_text(2)).sha256).unlink()
    assert isinstance(_reply(child, _job(world, run)), Unreadable)
    stuck, _ = world.stuck_run()
    child.ask(_job(world, stuck))
    assert child.reply(0.1) is None
    os.kill(child.pid, signal.SIGKILL)
    assert child.reply(SECONDS) == Failed("the scoring process was ended by SIGKILL")
    assert not child.is_alive


@pytest.mark.parametrize("engine_name", ["sqlite"])
def test_a_bound_that_leaves_no_room_is_told_at_the_start(world: World) -> None:
    with pytest.raises(Unavailable, match="job_bytes is 100,000,000 and this process alone takes"):
        ChildProcess(_settings(world, 100_000_000))


@pytest.mark.parametrize("engine_name", ["sqlite"])
def test_a_process_that_is_not_ready_in_time_is_given_up(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_process, "START_SECONDS", 0.001)
    with pytest.raises(Unavailable, match=r"did not start: it took more than 0\.001 s"):
        ChildProcess(_settings(world))


@pytest.mark.parametrize("engine_name", ["sqlite"])  # whether it waits is asked of the clock
@pytest.mark.usefixtures("scoring_process")
def test_a_run_that_waits_longer_than_allowed_is_an_attempt_that_failed(world: World) -> None:
    world.config = replace(world.config, job_seconds=1)
    run, _ = world.stuck_run()
    world.drain()
    scoring = world.scoring(run)
    assert (scoring.state, scoring.errors) == (State.QUEUED, 1)
    assert scoring.failure == "scoring took longer than 3 s, the most that one run may take here"
    # The worker lives on, with a new child.
    other = world.submit(run_text(2))
    world.drain()
    assert world.scoring(other).state is State.SCORED


@pytest.mark.parametrize("engine_name", ["postgresql"])  # a claim is renewed on both in `services/test_queue`
def test_a_job_that_passed_into_other_hands_is_dropped(world: World) -> None:
    world.config = replace(world.config, lease_seconds=1)
    run, _ = world.stuck_run()
    worker = Worker(world.database, world.store, world.config)
    working = threading.Thread(target=worker.step, args=(threading.Event(),))
    working.start()
    wait_until(lambda: world.scoring(run).state is State.SCORING, "it is claimed")
    with world.database.write() as session:
        session.execute(sa.update(Scoring).values(worker="another", attempt=2))
    working.join(SECONDS)
    assert not working.is_alive()
    worker.close()
    scoring = world.scoring(run)
    assert (scoring.state, scoring.worker, scoring.errors) == (State.SCORING, "another", 0)


def test_scores_are_one_line_and_are_read_to_the_last_bit() -> None:
    score = MeasureScore("AP", Subset.ALL, 0.1 + 0.2, 3, np.array([0.1, math.nan, -20.0, 5e-324]))
    line = messages.write_message(RunScores((score,), ("a query: ä",), (), 0.25, {"theta": {"MQWV": None}}))
    assert "\n" not in line
    read = messages.read_message(line)
    assert read.measures[0].values.tobytes() == score.values.tobytes()
    assert (read.measures[0].mean, read.missing, read.facts) == (score.mean, ("a query: ä",), {"theta": {"MQWV": None}})
