"""Teams are left out one by one once an evaluation has closed: when a worker does it, again, and not."""

import datetime as dt

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.audit.writes import present
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign
from leaderboard.evaluations.models import Evaluation
from leaderboard.results.models import TeamFinds
from leaderboard.results.writes import due_team_finds
from leaderboard.submissions.models import Submission
from leaderboard.submissions.writes import submissions
from leaderboard.teams import writes as teams
from tests.support.world import World, run_file

# In the small campaign d1 and d2 are what the judgments below say of q1; the second team alone lists d2.
QRELS = "q1 0 d1 1\nq1 0 d2 1\nq2 0 d3 1\nq3 0 d4 0\n"
FIRST = "q1 Q0 d1 1 9 t\nq2 Q0 d3 1 9 t\n"
SECOND = "q1 Q0 d2 1 9 t\nq1 Q0 d1 2 8 t\n"


@pytest.fixture
def two_teams(world: World) -> tuple[World, int, int]:
    """A run of each of two teams, scored, in an evaluation that is open; their ids."""
    world.judge(QRELS)
    first = world.submit(FIRST)
    with world.database.write() as session:
        other = teams.create_team(session, world.eve, "Southern lights").id
    own, world.team = world.team, other
    second = world.submit(SECOND, actor=CONSOLE)
    world.team = own
    world.drain()
    return world, first, second


def close(world: World) -> None:
    """Past the service, which would ask what becomes of the runs: they stay in time."""
    with world.database.write() as session:
        session.get_one(Evaluation, world.evaluation).closes_at = present() - dt.timedelta(hours=1)


def kept(world: World) -> TeamFinds | None:
    return next(iter(world.all(sa.select(TeamFinds))), None)


def look_again(world: World) -> None:
    """A worker looks now and not half a minute later."""
    if world._worker is not None:
        world._worker._team_looks.begin(0.0)
    world.drain()


def test_a_worker_works_it_out_once_an_evaluation_has_closed_and_again_when_its_runs_change(
    two_teams: tuple[World, int, int],
) -> None:
    world, first, second = two_teams
    look_again(world)
    assert kept(world) is None  # it is open
    close(world)
    look_again(world)
    row = kept(world)
    assert row is not None
    own = row.finds["subsets"]["all"]
    assert own["relevant"] == 3
    assert [(team["runs"], team["unique"]) for team in own["teams"]] == [(1, 1), (1, 1)]  # d3 of q2, and d2 of q1
    # AQWV of the first without d3: q2 has nothing relevant and is left out; q1 has d1 of two: 1 − 1/2, no false alarm.
    assert own["teams"][0]["without"] == {str(world.scoring(first).id): pytest.approx(0.5)}
    with world.database.read() as session:
        assert list(due_team_finds(session)) == []
    with world.database.write() as session:
        submissions.withdraw(session, CONSOLE, session.get_one(Submission, second))
    with world.database.read() as session:
        assert [due.generation > row.generation for due in due_team_finds(session)] == [True]
    look_again(world)
    again = kept(world)
    assert again is not None
    assert [team["unique"] for team in again.finds["subsets"]["all"]["teams"]] == [2]


def test_another_primary_measure_makes_it_due_again(two_teams: tuple[World, int, int]) -> None:
    world, _, _ = two_teams
    close(world)
    look_again(world)
    own = kept(world)
    with world.database.read() as session:
        campaign = session.scalars(sa.select(Campaign)).one()
        other = campaign.measures[1]
    with world.organising() as (session, campaign, _):
        campaigns.change_campaign(session, CONSOLE, campaign, primary_measure=other)
    with world.database.read() as session:
        assert own is not None
        assert [(due.scoring_set_id, due.measure) for due in due_team_finds(session)] == [(own.scoring_set_id, other)]


def test_a_run_whose_file_is_damaged_leaves_it_undone_and_stops_nobody(two_teams: tuple[World, int, int]) -> None:
    world, first, _ = two_teams
    close(world)
    run_file(world.store, world.scoring(first).submission.sha256).write_text("other bytes\n")
    look_again(world)
    assert kept(world) is None
    assert world._worker is not None
    with world.database.read() as session:
        (due,) = due_team_finds(session)
    assert not world._worker._failed_teams[due.scoring_set_id].is_over()
