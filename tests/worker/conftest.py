"""The worker is the subject here, so each has its scoring process."""

import pytest

from leaderboard.worker import Worker
from tests.support.world import World


@pytest.fixture
def world(world: World) -> World:
    """The small campaign, with a worker whose scoring is a process of its own."""
    world.worker = Worker
    return world
