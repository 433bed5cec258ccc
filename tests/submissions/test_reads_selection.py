"""Why a run can't be chosen: the page that would offer it and the service that would do it give one reason."""

import pytest

from leaderboard.audit.writes import present
from leaderboard.campaigns.models import Campaign
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import Designation, RunChoice
from leaderboard.submissions.writes import submissions
from leaderboard.submissions.writes.effects import Act, effect
from tests.support.world import World, run_text


def refused(world: World, run: int, act: Act) -> str:
    """Why it can't be done, as the page says before anybody tries; empty where it can."""
    with world.database.write() as session:
        return effect(session, world.ada, run, present(), act=act).refusal


@pytest.mark.parametrize("engine_name", ["sqlite"])
def test_the_reason_that_is_told_is_the_one_that_it_is_refused_for(world: World) -> None:
    first = world.submit(run_text(1), designation=Designation.PRIMARY)
    assert refused(world, first, Act.PRIMARY) == "This run is not scored yet; choose it once it is."
    world.drain()
    second = world.submit(run_text(2))
    world.drain()
    assert refused(world, first, Act.PRIMARY) == "This run is its team's primary run already."
    assert [refused(world, second, act) for act in (Act.PRIMARY, Act.WITHDRAW)] == [""] * 2
    with world.database.write() as session:
        submissions.withdraw(session, world.ada, session.get_one(Submission, second))
    assert [refused(world, second, act) for act in (Act.STAND, Act.PRIMARY, Act.WITHDRAW)] == [
        "This run was withdrawn.",
        "This run was withdrawn.",
        "This run was withdrawn already.",
    ]
    with world.database.write() as session:
        session.get_one(Campaign, world.campaign).run_choice = RunChoice.LATEST
    assert "the latest run of each system stands" in refused(world, first, Act.STAND)
