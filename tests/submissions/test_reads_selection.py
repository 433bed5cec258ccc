"""Why a run can't be chosen: the page that would offer it and the service that would do it give one reason."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.audit.writes import present
from leaderboard.campaigns.models import Campaign
from leaderboard.errors import Conflict
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.effects import Act, effect
from leaderboard.submissions.rules import Designation, RunChoice
from leaderboard.submissions.writes import submissions
from tests.support.world import World, run_text

DOES: dict[Act, Callable[..., Any]] = {
    Act.STAND: submissions.select_run,
    Act.PRIMARY: submissions.make_primary,
    Act.WITHDRAW: submissions.withdraw,
}


def told_and_refused(world: World, run: int, act: Act) -> str:
    """The reason that the page gives, which is the one that the service gives; empty where it can be done."""
    with world.database.read() as session:
        told = effect(session, world.ada, run, present(), act=act).refusal
    with world.database.write() as session:
        assert _refused(session, world.ada, session.get_one(Submission, run), act) == told
        session.rollback()
    return told


def _refused(session: Session, actor: Actor, run: Submission, act: Act) -> str:
    try:
        DOES[act](session, actor, run)
    except Conflict as error:
        return error.message
    return ""


@pytest.mark.parametrize("engine_name", ["sqlite"])
def test_the_reason_that_is_told_is_the_one_that_it_is_refused_for(world: World) -> None:
    first = world.submit(run_text(1), designation=Designation.PRIMARY)
    assert told_and_refused(world, first, Act.PRIMARY) == "This run is not scored yet; choose it once it is."
    world.drain()
    second = world.submit(run_text(2))
    world.drain()
    assert told_and_refused(world, first, Act.PRIMARY) == "This run is its team's primary run already."
    assert told_and_refused(world, first, Act.STAND) == "This run stands for its system already."
    assert [told_and_refused(world, second, act) for act in DOES if act is not Act.STAND] == [""] * 2
    assert told_and_refused(world, second, Act.STAND) == "This run stands for its system already."  # of another system
    with world.database.write() as session:
        submissions.withdraw(session, world.ada, session.get_one(Submission, second))
    assert [told_and_refused(world, second, act) for act in DOES] == [
        "This run was withdrawn.",
        "This run was withdrawn.",
        "This run was withdrawn already.",
    ]
    with world.database.write() as session:
        session.get_one(Campaign, world.campaign).run_choice = RunChoice.LATEST
    assert "the latest run of each system stands" in told_and_refused(world, first, Act.STAND)


@pytest.mark.parametrize("engine_name", ["sqlite"])
def test_a_run_that_stands_can_be_chosen_while_another_one_waits_to_take_its_place(world: World) -> None:
    first = world.submit(run_text(1))
    world.drain()
    assert told_and_refused(world, first, Act.STAND) == "This run stands for its system already."
    with world.database.read() as session:
        system = session.get_one(Submission, first).system
    second = world.submit(run_text(2), system=system, stand=True)
    assert told_and_refused(world, first, Act.STAND) == ""
    with world.database.write() as session:
        submissions.select_run(session, world.ada, session.get_one(Submission, first))
    world.drain()
    assert told_and_refused(world, first, Act.STAND) == "This run stands for its system already."
    assert told_and_refused(world, second, Act.STAND) == ""
