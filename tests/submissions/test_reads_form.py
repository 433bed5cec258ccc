"""What the submission form knows: teams, their systems, what is left of their quotas, whether it is open."""

import re

import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.audit.writes import present
from leaderboard.submissions.reads.form import Submitting, submitting
from leaderboard.submissions.rules import Designation, SystemKind
from leaderboard.teams import writes as systems
from leaderboard.teams.models import System, Team
from tests.support.world import World, run_text


def form(world: World) -> Submitting:
    with world.database.read() as session:
        return submitting(session, world.ada, "small", "2026", present())


def _label(form: Submitting) -> str:
    """The label of the run that stands for the team's first system."""
    return (form.teams[0].systems[0].standing or "").partition(" (run ")[0]


def test_it_offers_the_systems_of_one_s_teams_and_no_baseline(world: World) -> None:
    with world.database.write() as session:
        team = session.get_one(Team, world.team)
        systems.create_system(session, CONSOLE, team, systems.NewSystem("Zebra"))
        systems.create_system(session, CONSOLE, team, systems.NewSystem("Aardvark"))
        systems.create_system(session, CONSOLE, team, systems.NewSystem("Reference", SystemKind.BASELINE))
    [team_part] = form(world).teams
    assert [system.name for system in team_part.systems] == ["Aardvark", "Zebra"]
    with world.database.read() as session:
        assert submitting(session, world.eve, "small", "2026", present()).teams == ()


def test_it_says_which_run_stands_for_each_system_now_and_which_is_the_primary_one(world: World) -> None:
    world.submit()
    (system,) = world.all(sa.select(System))
    [own] = form(world).teams[0].systems
    assert (own.standing, own.primary_stands) == ("", False)
    world.drain()
    assert _label(form(world)) == "a-run"
    world.submit(run_text(2), system=system, label="a variant")
    world.submit(run_text(3), system=system, label="the chosen one", stand=True)
    world.drain()
    [own] = form(world).teams[0].systems
    assert (_label(form(world)), own.primary_stands) == ("the chosen one", False)
    assert form(world).teams[0].primary == ""
    world.submit(run_text(4), system=system, label="best try", designation=Designation.PRIMARY)
    world.drain()
    [own] = form(world).teams[0].systems
    assert (_label(form(world)), own.primary_stands) == ("best try", True)
    assert re.fullmatch(r"best try \(run 4, \d+ \w+ \d+\)", form(world).teams[0].primary)
