"""Why a run can't be chosen."""

from collections.abc import Callable

import pytest
import sqlalchemy as sa

from leaderboard.errors import Conflict
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import Designation
from leaderboard.submissions.writes import submissions
from leaderboard.teams.models import System
from tests.submissions.test_writes import act
from tests.support.world import World, run_text


def refused(world: World, run: int, act: Callable[..., object]) -> str:
    """Why it can't be done; empty where it can, which is undone."""
    with world.database.write() as session:
        try:
            act(session, world.ada, session.get_one(Submission, run))
        except Conflict as refusal:
            return refusal.message
        finally:
            session.rollback()
    return ""


@pytest.mark.parametrize("engine_name", ["sqlite"])
def test_the_reason_that_is_told_is_the_one_that_it_is_refused_for(world: World) -> None:
    first = world.submit(run_text(1), designation=Designation.PRIMARY)
    assert refused(world, first, submissions.make_primary) == "This run is not scored yet; choose it once it is."
    world.drain()
    second = world.submit(run_text(2))
    world.drain()
    assert refused(world, first, submissions.make_primary) == "This run is its team's primary run already."
    assert refused(world, first, submissions.select_run) == "This run counts for its system already."
    assert [refused(world, second, act) for act in (submissions.make_primary, submissions.withdraw)] == [""] * 2
    act(world, submissions.withdraw, second)
    for choose in (submissions.select_run, submissions.make_primary):
        assert refused(world, second, choose) == "This run was withdrawn."
    assert refused(world, second, submissions.withdraw) == "This run was withdrawn already."


def test_the_run_that_stands_is_chosen_again_only_while_another_that_was_chosen_since_waits(world: World) -> None:
    first = world.submit(run_text(1))
    (system,) = world.all(sa.select(System))
    world.drain()
    world.submit(run_text(2), system=system, stand=True)
    act(world, submissions.select_run, first)
    assert refused(world, first, submissions.select_run) == "This run counts for its system already."
