"""What an account's page shows: teams, runs of all of them, links that are still open."""

import datetime as dt
from dataclasses import replace

import pytest

from leaderboard.access import CONSOLE, VISITOR, actor_of
from leaderboard.accounts.models import User
from leaderboard.accounts.reads import account, open_invitations
from leaderboard.audit.writes import present
from leaderboard.errors import NotAllowed
from leaderboard.evaluations.rules import Opening
from leaderboard.results.reads.run import results
from leaderboard.submissions.rules import Designation
from leaderboard.submissions.writes import submissions
from leaderboard.teams import writes as teams
from leaderboard.teams.models import Team
from leaderboard.teams.reads import own_runs, team_page
from leaderboard.teams.rules import Role
from tests.support.world import World


def test_it_names_the_teams_with_the_role_and_how_many_are_in_them(world: World) -> None:
    with world.database.write() as session:
        teams.add_member(session, CONSOLE, session.get_one(Team, world.team), session.get_one(User, world.eve.user_id))
    with world.database.read() as session:
        found = account(session, actor_of(session, world.eve.user_id), present())
        with pytest.raises(NotAllowed):
            account(session, VISITOR, present())
    assert found.name == "Eve"
    assert [(team.name, team.role, team.members) for team in found.teams] == [("Northern lights", Role.MEMBER, 2)]


def test_runs_come_newest_first_with_the_state_that_their_page_has(world: World) -> None:
    first = world.submit(label="first")
    world.drain()
    second = world.submit(label="second")
    third = world.submit(label="third")
    with world.database.write() as session:
        submissions.withdraw(session, world.ada, session.get_one(submissions.Submission, third))
    with world.database.read() as session:
        found = own_runs(session, world.ada, world.ada.teams, present())
        assert own_runs(session, world.eve, world.eve.teams, present()) == ()
        assert [run.id for run in own_runs(session, world.ada, world.ada.teams, present(), limit=2)] == [third, second]
    assert [(run.id, run.title, run.state) for run in found] == [
        (third, "third", "withdrawn"),
        (second, "second", "queued"),
        (first, "first", "scored"),
    ]


def test_a_run_has_the_figure_and_the_rank_among_its_team_s_that_its_own_page_and_the_team_s_have(world: World) -> None:
    first = world.submit(label="first", designation=Designation.PRIMARY)
    world.submit(label="second")
    world.drain()
    waits = world.submit(label="waits")
    with world.database.read() as session:
        listed = account(session, world.ada, present()).runs
        of_team = team_page(session, world.ada, session.get_one(Team, world.team).slug, present()).runs
        assert tuple(replace(run, rank=None) for run in listed) == of_team
        page = results(session, world.ada, first, present())
        system = session.get_one(submissions.Submission, first).system
        of_system = submissions.Submission.system_id == system.id
        assert own_runs(session, world.ada, world.ada.teams, present(), of_system)[-1] == of_team[-1]
    assert [(run.title, run.is_primary) for run in listed] == [("waits", False), ("second", False), ("first", True)]
    assert [run.mean is None for run in listed] == [True, False, False]
    assert listed[0].id == waits
    assert (listed[-1].column, listed[-1].mean) == (page.columns[0], page.figures[0].mean)
    assert (page.rank, page.ranked) == (1, 2)
    assert [run.rank for run in listed] == [None, (1, 2), (1, 2)]  # they tie


def test_an_account_tells_no_rank_while_results_are_closed(world: World) -> None:
    run = world.submit()
    world.drain()
    for opening, rank in ((Opening.ALWAYS, (1, 1)), (Opening.CLOSED, None)):
        world.change_evaluation(results=opening, closes_at=present() + dt.timedelta(days=1))
        with world.database.read() as session:
            [listed] = account(session, world.ada, present()).runs
        assert (listed.id, listed.mean is None, listed.rank) == (run, False, rank)


def test_only_owners_see_the_open_invitations_and_only_open_ones(world: World) -> None:
    with world.database.write() as session:
        team = session.get_one(Team, world.team)
        teams.invite(session, world.ada, team, days=1)
        teams.invite(session, world.ada, team, days=30)
        slug = team.slug
    later = present() + dt.timedelta(days=2)
    with world.database.read() as session:
        assert len(open_invitations(session, world.ada, slug, present())) == 2
        [left] = open_invitations(session, world.ada, slug, later)
        assert left.created_by == "Ada"
        assert open_invitations(session, world.eve, slug, later) == ()
        assert open_invitations(session, VISITOR, slug, later) == ()
