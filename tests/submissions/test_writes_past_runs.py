"""Runs of the past."""

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE, Actor, may_bring_in
from leaderboard.errors import Conflict, InvalidFields, NotAllowed
from leaderboard.evaluations.models import Evaluation
from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.reads.form import quotas_of
from leaderboard.submissions.rules import Designation, State
from leaderboard.submissions.writes.submissions import import_run
from leaderboard.teams.models import System, Team
from leaderboard.teams.writes import NewSystem, create_system, create_team
from tests.support.world import RUN, World

OPENED, CLOSED = dt.datetime(2020, 4, 15, tzinfo=dt.UTC), dt.datetime(2020, 4, 23, tzinfo=dt.UTC)
MADE = dt.datetime(2020, 4, 20, 12, tzinfo=dt.UTC)
NOW = dt.datetime.now(dt.UTC)


def bring_in(world: World, *, actor: Actor = CONSOLE, system: str = "Old", **settings: Any) -> int:
    upload = world.receive(RUN)
    with world.organising() as (session, _, evaluation):
        found = session.scalar(sa.select(System).where(System.name == system))
        found = found or create_system(session, CONSOLE, session.get_one(Team, world.team), NewSystem(system))
        return import_run(session, actor, evaluation, found, upload, **settings).id


def stored(world: World, run: int) -> Submission:
    return world.all(sa.select(Submission).where(Submission.id == run))[0]


def test_a_run_of_the_past_keeps_its_own_dates_and_says_when_and_by_whom_it_was_brought_in(world: World) -> None:
    world.change_evaluation(opens_at=OPENED, closes_at=CLOSED, daily_quota=0)
    with world.organising() as (_, campaign, _evaluation):
        organiser = Actor(world.eve.user_id, "Eve", organises=frozenset({campaign.id}), teams=frozenset({world.team}))
    run = bring_in(world, actor=organiser, run_at=MADE, designation=Designation.PRIMARY)
    world.drain()
    kept = stored(world, run)
    assert (kept.run_at, kept.received_at, kept.begun_at, kept.date, kept.late) == (MADE, MADE, MADE, MADE, False)
    assert kept.imported_by_id == world.eve.user_id
    assert kept.imported_at is not None
    assert kept.imported_at >= NOW
    assert kept.scored_at == MADE
    assert kept.version == "2026"
    assert world.scoring(run).state is State.SCORED
    participation = world.all(sa.select(Participation))[0]
    assert (participation.used, participation.used_today, participation.primary_submission_id) == (0, 0, run)
    with world.organising() as (session, _, evaluation):
        assert quotas_of(session, evaluation, [world.team], None, NOW)[0][world.team].used_today == 0


@pytest.mark.parametrize(
    ("dates", "received", "assumed"),
    [
        ({"received_at": MADE + dt.timedelta(days=9)}, MADE + dt.timedelta(days=9), False),
        ({"received_at": MADE, "received_assumed": True}, MADE, True),
        ({"run_at": MADE}, MADE, True),
        ({}, CLOSED, True),
    ],
)
def test_a_run_was_received_when_it_is_said_else_it_is_assumed_on_its_own_date_or_when_the_evaluation_closed(
    world: World, dates: dict[str, Any], received: dt.datetime, assumed: bool
) -> None:
    world.change_evaluation(opens_at=OPENED, closes_at=CLOSED)
    kept = stored(world, bring_in(world, **dates))
    assert (kept.received_at, kept.received_assumed) == (received, assumed)
    assert kept.date_assumed is (assumed and "run_at" not in dates)


def test_what_is_wrong_with_a_run_of_the_past_is_said_by_name(world: World) -> None:
    with pytest.raises(InvalidFields) as refused:
        bring_in(
            world, threshold=float("inf"), label="x" * 81, run_at=dt.datetime(1066, 1, 1, tzinfo=dt.UTC), colour=""
        )
    assert set(refused.value.fields) == {"threshold", "label", "run_at", "colour"}
    assert world.all(sa.select(Submission)) == []


def test_an_organiser_who_submits_to_an_evaluation_that_has_closed_is_told_how_runs_of_the_past_are_brought_in(
    world: World,
) -> None:
    world.change_evaluation(opens_at=OPENED, closes_at=CLOSED)
    with pytest.raises(Conflict, match="leaderboard import-campaign"):
        world.submit(actor=CONSOLE)
    with pytest.raises(Conflict) as refused:
        world.submit(actor=world.ada)
    assert "import-campaign" not in refused.value.message
    assert world.all(sa.select(Submission.id).join(Evaluation)) == []


def test_a_run_is_of_the_version_that_is_named_else_of_the_evaluations_period(world: World) -> None:
    assert stored(world, world.submit()).version == "2026"
    assert stored(world, world.submit(version="  v2  with Rocchio ")).version == "v2 with Rocchio"


def test_only_organisers_bring_runs_of_the_past_in_and_none_of_strangers(world: World) -> None:
    """Of a team with people they do only once it took part in a campaign of theirs, or they are in it."""
    with world.organising() as (session, campaign, _):
        organiser = Actor(world.eve.user_id, "Eve", organises=frozenset({campaign.id}))
        elsewhere = Actor(world.eve.user_id, "Eve", organises=frozenset({campaign.id + 1}))
        past = create_team(session, CONSOLE, "Of the past", own=False).id
        assert not may_bring_in(session, organiser, world.team)  # Ada is in it, and it took part nowhere
        assert may_bring_in(session, replace(organiser, teams=frozenset({world.team})), world.team)
        assert may_bring_in(session, organiser, past)  # nobody is in it, and it took part nowhere
        assert may_bring_in(session, CONSOLE, world.team)
    with pytest.raises(NotAllowed, match="neither yours nor of a campaign of yours"):
        bring_in(world, actor=organiser)
    with pytest.raises(NotAllowed):
        bring_in(world, actor=world.ada)
    assert world.all(sa.select(Submission)) == []
    bring_in(world)
    bring_in(world, actor=organiser)
    with world.organising() as (session, _, _evaluation):
        assert not may_bring_in(session, elsewhere, world.team)
