"""The worker is the subject here, so each has its scoring process, on one engine.

That process reads one set's judgments and one run's settings, the same on both. On PostgreSQL, and where a test says
why, a worker scores in the process of its test, except where one is started by the test itself (`test_processes`,
`test_child_process`, `test_outages`).
"""

import pytest

from leaderboard.worker.loop import Worker
from tests.support.world import World


@pytest.fixture
def world(world: World, engine_name: str) -> World:
    """The small campaign, with a worker whose scoring is a process of its own on SQLite."""
    if engine_name == "sqlite":
        world.worker = Worker
    return world
