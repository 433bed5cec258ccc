"""The process that reads strangers' files, bounded in memory and time, and dying in every way.

That it reads either database is tried where it scores; the rest is between it and its worker.
"""

import os
import signal
from collections.abc import Iterator

import pytest

from leaderboard.errors import Unavailable
from leaderboard.worker.child_process import ChildProcess
from leaderboard.worker.messages import Failed, Job, Rejected, Reply, RunScores, Settings, Unreadable
from tests.support.world import World, run_text

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
    with world.store.run_file(world.receive(run_text(2)).sha256) as path:
        path.unlink()
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
