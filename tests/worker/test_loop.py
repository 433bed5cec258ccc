"""One worker, step by step: what becomes of a run that takes too long, or that passed into other hands."""

import threading
from dataclasses import replace

import pytest
import sqlalchemy as sa

from leaderboard.submissions.rules import State
from leaderboard.worker.loop import Worker
from leaderboard.worker.models import Scoring
from tests.support.waiting import wait_until
from tests.support.world import World, run_text

SECONDS = 60.0


@pytest.mark.parametrize("engine_name", ["sqlite"])  # whether it waits is asked of the clock
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
