"""Scoring is done in the process of a test, but where the scoring process is the subject.

Starting one takes longer than most tests, and what it adds (its pipe, its bounds, its deaths) has its own tests: those
that ask for `scoring_process`, and those that start one themselves (`test_processes`, `test_child_process`,
`test_outages`, `test_hostile_files`).
"""

import pytest

from leaderboard.worker.loop import Worker
from tests.support.world import World


@pytest.fixture
def scoring_process(world: World, engine_name: str) -> None:
    """Has the world's worker score by a process of its own, on SQLite: it reads one set's judgments and one run's
    settings, the same on both engines."""
    if engine_name == "sqlite":
        world.worker = Worker
