"""Two teams that are one: what becomes of their systems, runs, quotas and people."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE, Actor, actor_of
from leaderboard.accounts import writes as people
from leaderboard.audit.models import Event
from leaderboard.audit.verify import verify
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign
from leaderboard.db import Base
from leaderboard.errors import Conflict, InvalidFields, NotAllowed
from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.rules import Designation, State, SystemKind
from leaderboard.submissions.writes import submissions
from leaderboard.teams import merging, reads as find, writes as teams
from leaderboard.teams.models import Membership, Pseudonym, System, Team
from leaderboard.teams.rules import Role
from leaderboard.teams.writes import NewSystem
from leaderboard.worker.models import Score, Scoring
from tests.support.refused import refused
from tests.support.world import World, new_account, run_text

PRIMARY = Designation.PRIMARY


@pytest.fixture
def spelling(world: World) -> int:
    """A second spelling of the world's team, which Eve made; its id."""
    with world.database.write() as session:
        return teams.create_team(session, world.eve, "Northern Lights Group").id


def _of(world: World, team: int, number: int, **values: Any) -> int:
    """A run that the command line submits for a team."""
    upload = world.receive(run_text(number))
    with world.database.write() as session:
        return submissions.submit(session, CONSOLE, world.evaluation, team, upload=upload, **values).id


def _merge(world: World, spelling: int, *, actor: Actor = CONSOLE, unite: tuple[int, ...] = ()) -> None:
    with world.database.write() as session:
        source, target = session.get_one(Team, spelling), session.get_one(Team, world.team)
        merging.merge_teams(session, actor, source, target, unite=unite)


def _sound(world: World) -> None:
    """What is on record is what this program wrote, by the trail and the rows."""
    with world.database.read() as session:
        report = verify(session)
    assert report.clean, report.differences


def test_systems_runs_quotas_and_people_become_one_team_s(world: World, spelling: int) -> None:
    world.submit(run_text(1), system=NewSystem("Heron"))
    twin = _of(world, spelling, 2, system=NewSystem("heron"))
    other = _of(world, spelling, 3, system=NewSystem("Kite"), designation=PRIMARY)
    world.drain()
    (same,) = [system for system in world.all(sa.select(System)) if system.name == "heron"]
    _merge(world, spelling, unite=(same.id,))
    by_name = {system.name: system for system in world.all(sa.select(System))}
    runs = {run.id: run for run in world.all(sa.select(Submission))}
    assert {run.team_id for run in runs.values()} == {world.team}
    assert runs[twin].system_id == by_name["Heron"].id
    assert (runs[other].system_id, by_name["Kite"].team_id) == (by_name["Kite"].id, world.team)
    (part,) = world.all(sa.select(Participation))
    assert (part.team_id, part.used, part.used_today, part.primary_submission_id) == (world.team, 3, 3, other)
    members = world.all(sa.select(Membership))
    assert {(one.team_id, one.user_id, one.role) for one in members} == {
        (world.team, world.ada.user_id, Role.OWNER),
        (world.team, world.eve.user_id, Role.OWNER),
    }
    _sound(world)


def test_old_addresses_find_the_team_and_its_systems(world: World, spelling: int) -> None:
    world.submit(run_text(1), system=NewSystem("Heron"))
    _of(world, spelling, 2, system=NewSystem("Heron"))
    with world.database.write() as session:
        teams.rename_team(session, CONSOLE, session.get_one(Team, spelling), "Nordlys")
    _merge(world, spelling)
    with world.database.read() as session:
        for address in ("northern-lights-group", "nordlys", "northern-lights"):
            assert find.find_team(session, address).id == world.team
        for address in ("northern-lights-group", "nordlys"):
            kept = find.find_system(session, address, "heron")
            assert (kept.name, kept.slug, kept.team_id) == ("Heron (Nordlys)", "heron-nordlys", world.team)
        assert find.find_system(session, "northern-lights", "heron").name == "Heron"
    with world.database.write() as session, pytest.raises(InvalidFields):
        teams.create_team(session, CONSOLE, "Another", slug="northern-lights-group")
    for taken in ("Northern Lights Group", "Nordlys", "n0rdlys"):
        with refused(world.database, InvalidFields, "team", match="or was"), world.database.write() as session:
            teams.create_team(session, CONSOLE, taken)
    with world.database.write() as session:  # both teams' names are the one team's now
        teams.rename_team(session, CONSOLE, session.get_one(Team, world.team), "Northern Lights Group")
    _sound(world)


def test_a_system_that_goes_on_as_another_takes_its_made_up_name_along(world: World, spelling: int) -> None:
    with world.database.write() as session:
        heron = teams.create_system(session, CONSOLE, session.get_one(Team, world.team), NewSystem("Heron")).id
    _of(world, spelling, 1, system=NewSystem("heron"))
    (before,) = world.all(sa.select(Pseudonym))
    _merge(world, spelling, unite=(before.system_id,))
    (after,) = world.all(sa.select(Pseudonym))
    assert (after.system_id, after.number) == (heron, before.number)


def test_a_system_kept_apart_gets_a_name_that_neither_team_has(world: World, spelling: int) -> None:
    behind = "(Northern Lights Group)"
    with world.database.write() as session:
        for team, names in ((world.team, ("Heron", f"Heron {behind}")), (spelling, ("Kite", f"Kite {behind}"))):
            for name in names:
                teams.create_system(session, CONSOLE, session.get_one(Team, team), NewSystem(name))
        teams.create_system(session, CONSOLE, session.get_one(Team, world.team), NewSystem("Kite"))
    _of(world, spelling, 1, system=NewSystem("Heron"))
    _merge(world, spelling)
    assert set(world.all(sa.select(System.name))) == {
        "Heron", f"Heron {behind}", f"Heron {behind}-2", "Kite", f"Kite {behind}", f"Kite {behind}-2",
    }  # fmt: skip
    _sound(world)


def test_of_two_primary_runs_the_last_one_stays_it_and_the_other_goes_on_standing(world: World, spelling: int) -> None:
    first = world.submit(run_text(1), system=NewSystem("Heron"), designation=PRIMARY)
    second = _of(world, spelling, 2, system=NewSystem("Kite"), designation=PRIMARY)
    world.drain()
    _merge(world, spelling)
    (part,) = world.all(sa.select(Participation))
    assert part.primary_submission_id == second
    chosen = {run.id: run.chosen_at is not None for run in world.all(sa.select(Submission))}
    assert chosen == {first: True, second: False}
    _sound(world)


def test_what_is_not_to_be_merged_is_refused_and_nothing_changes(world: World, spelling: int) -> None:
    world.submit(run_text(1), system=NewSystem("Heron"))
    with world.database.write() as session:
        team = session.get_one(Team, spelling)
        baseline = teams.create_system(session, CONSOLE, team, NewSystem("Heron", SystemKind.BASELINE)).id
        other = teams.create_system(session, CONSOLE, team, NewSystem("Kite")).id
    for unite in ((baseline,), (other,)):
        with refused(world.database, InvalidFields, "team") as caught:
            _merge(world, spelling, unite=unite)
        assert set(caught.value.fields) == {"unite"}
    with refused(world.database, Conflict, "team", match="with itself"):
        _merge(world, world.team)
    _merge(world, spelling)
    with refused(world.database, Conflict, "team", match="already"):
        _merge(world, spelling)


def test_only_whoever_organises_every_campaign_of_both_teams_merges_and_renames_them(
    world: World, spelling: int
) -> None:
    with world.database.write() as session:
        orla = people.create_user(session, CONSOLE, new_account("Orla"))
        session.flush()
        campaigns.add_organiser(session, CONSOLE, session.get_one(Campaign, world.campaign), orla)
    with world.database.read() as session:
        organiser = actor_of(session, orla.id)
    world.submit(run_text(1))
    with refused(world.database, NotAllowed, "team", match="Northern Lights Group is merged by"):
        _merge(world, spelling, actor=organiser)  # it took part in nothing: it may be anybody's
    _of(world, spelling, 2, system=NewSystem("Kite"))
    for actor in (world.ada, world.eve):
        with refused(world.database, NotAllowed, "team"):
            _merge(world, spelling, actor=actor)
        with refused(world.database, NotAllowed, "team"), world.database.write() as session:
            teams.rename_team(session, actor, session.get_one(Team, world.team), "Mine")
    _merge(world, spelling, actor=organiser)
    with world.database.write() as session:
        teams.rename_team(session, organiser, session.get_one(Team, world.team), "Nordlys")
    (renamed,) = world.all(sa.select(Event).where(Event.action == "rename"))
    assert renamed.facts["name"] == ["Northern lights", "Nordlys"]


def test_merging_loses_nothing_while_runs_arrive_and_are_scored(world: World, spelling: int) -> None:
    for number in range(4):
        _of(world, spelling, number, system=NewSystem(f"System {number}"), designation=PRIMARY)
    uploads = [world.receive(run_text(10 + number)) for number in range(4)]
    start = threading.Barrier(3)
    sent: list[int] = []

    def submit() -> None:
        start.wait()
        for number, upload in enumerate(uploads):
            with world.database.write() as session:
                new, to = NewSystem(f"Late system {number}"), (world.evaluation, spelling)
                sent.append(submissions.submit(session, CONSOLE, *to, system=new, upload=upload).id)

    def merge() -> None:
        start.wait()
        _merge(world, spelling)

    def score() -> None:
        start.wait()
        world.drain()

    parts: tuple[Callable[[], None], ...] = (submit, merge)
    with ThreadPoolExecutor(len(parts)) as pool:
        done = [pool.submit(part) for part in parts]
        score()
        for one in done:
            one.result()
    world.drain()
    runs = world.all(sa.select(Submission))
    assert len(runs) == 8
    assert set(sent) <= {run.id for run in runs}
    assert {run.team_id for run in runs} == {world.team}
    assert {system.team_id for system in world.all(sa.select(System))} == {world.team}
    (part,) = world.all(sa.select(Participation))
    primaries = [run.id for run in runs if run.designation is PRIMARY]
    assert (part.used, part.primary_submission_id) == (8, max(primaries))
    assert {scoring.state for scoring in world.all(sa.select(Scoring))} == {State.SCORED}
    assert len(world.all(sa.select(Score.scoring_id).distinct())) == 8
    _sound(world)


def test_every_table_that_names_a_team_is_moved_with_it() -> None:
    """Of a new one somebody says in `teams/merging.py` what becomes of its rows."""
    named = {
        table.name
        for table in Base.metadata.tables.values()
        for key in table.foreign_keys
        if key.column.table.name == "team"
    }
    moved = {"membership", "invitation", "system", "submission", "participation", "arrival", "former_address"}
    stays = {"team_name", "campaign"}  # of a merged team, whose names and baselines lead to the other one
    later = {"campaign_team", "join_request"}
    assert named - {"team"} == moved | later | stays
