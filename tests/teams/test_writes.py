"""Teams, their members and invitations."""

import datetime as dt
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE, VISITOR, actor_of
from leaderboard.accounts import writes as people
from leaderboard.accounts.models import User
from leaderboard.accounts.reads import open_invitations
from leaderboard.audit.models import Event
from leaderboard.audit.writes import present
from leaderboard.errors import Conflict, InvalidFields, NotAllowed, NotFound
from leaderboard.teams import merging, writes as teams
from leaderboard.teams.models import Invitation, JoinRequest, Membership, Team
from leaderboard.teams.rules import Role
from tests.support.refused import refused
from tests.support.world import World, new_account


def _team(session: sa.orm.Session, world: World) -> Team:
    return session.get_one(Team, world.team)


def _invite(world: World, days: int = 7) -> str:
    with world.database.write() as session:
        return teams.invite(session, world.ada, _team(session, world), days)


def _members(world: World) -> dict[int, Role]:
    return {member.user_id: member.role for member in world.all(sa.select(Membership))}


@pytest.mark.parametrize("name", ["Northern lights", "NORTHERN LIGHTS", "northern\u200b  lights", "N0rthern lights"])
def test_a_name_that_a_team_ever_had_stays_its_own(world: World, name: str) -> None:
    assert _members(world) == {world.ada.user_id: Role.OWNER}
    with refused(world.database, InvalidFields, "team") as caught, world.database.write() as session:
        teams.create_team(session, world.ada, name)
    assert caught.value.fields == {"name": [teams.TAKEN]}
    with world.database.write() as session:
        teams.rename_team(session, CONSOLE, _team(session, world), "Nordlys")
        teams.rename_team(session, CONSOLE, _team(session, world), "Aurora")
        other = teams.create_team(session, world.eve, "Rivals").id
    for taken in (name, "Nordlys"):
        with refused(world.database, InvalidFields, "team") as caught, world.database.write() as session:
            teams.create_team(session, world.eve, taken)
        with refused(world.database, InvalidFields, "team") as caught, world.database.write() as session:
            teams.rename_team(session, CONSOLE, session.get_one(Team, other), taken)
        assert caught.value.fields == {"name": [teams.TAKEN]}  # nor which, which not everybody may know
    with world.database.write() as session:
        teams.rename_team(session, CONSOLE, _team(session, world), name)
    assert {team.name for team in world.all(sa.select(Team))} == {name.replace("\u200b  ", " "), "Rivals"}


def test_of_two_who_ask_for_one_name_at_the_same_moment_one_is_refused(world: World) -> None:
    with world.database.write() as session:
        other = teams.create_team(session, world.eve, "Rivals").id
    start = threading.Barrier(3)

    def ask(who: str) -> str:
        start.wait()
        try:
            with world.database.write() as session:
                if who == "new":
                    teams.create_team(session, world.eve, "Aurora")
                else:
                    team = session.get_one(Team, world.team if who == "first" else other)
                    teams.rename_team(session, CONSOLE, team, "Aurora")
        except InvalidFields as refusal:
            return " ".join(refusal.fields["name"])
        return "Aurora"

    with ThreadPoolExecutor(3) as pool:
        said = sorted(pool.map(ask, ("new", "first", "other")))
    assert said.count("Aurora") == 1
    assert [team.name for team in world.all(sa.select(Team))].count("Aurora") == 1


def test_teams_of_alike_slugs_get_their_own(world: World) -> None:
    with world.database.write() as session:
        made = [teams.create_team(session, world.eve, name).slug for name in ("Northern, lights", "日本", "中国")]
        with pytest.raises(NotAllowed):
            teams.create_team(session, VISITOR, "Nobody's")
    assert made == ["northern-lights-2", "team", "team-2"]


def test_an_invitation_lets_one_person_in_once(world: World) -> None:
    token = _invite(world)
    assert token not in str(vars(world.all(sa.select(Invitation))[0]))
    for actor, refusal in ((world.ada, Conflict), (VISITOR, NotAllowed)):  # a member does not use it up
        with refused(world.database, refusal, "team"), world.database.write() as session:
            teams.accept_invitation(session, actor, token, present())
    with world.database.write() as session:
        assert teams.accept_invitation(session, world.eve, token, present()).id == world.team
    assert _members(world)[world.eve.user_id or 0] is Role.MEMBER


@pytest.mark.parametrize("end", ["used", "taken back", "expired", "made up"])
def test_an_invitation_that_has_ended_opens_nothing(world: World, end: str) -> None:
    token, now = _invite(world, days=2), present()
    with world.database.write() as session:
        if end == "used":
            other = people.create_user(session, CONSOLE, new_account("Grace"))
            teams.accept_invitation(session, actor_of(session, other.id), token, present())
        elif end == "taken back":
            (invitation,) = session.scalars(sa.select(Invitation.id))
            teams.revoke_invitation(session, world.ada, _team(session, world), invitation)
            with pytest.raises(Conflict):
                teams.revoke_invitation(session, world.ada, _team(session, world), invitation)
    now += dt.timedelta(days=2, seconds=1) if end == "expired" else dt.timedelta(0)
    with refused(world.database, Conflict, "team"), world.database.write() as session:
        teams.accept_invitation(session, world.eve, "made-up" if end == "made up" else token, now)
    assert world.eve.user_id not in _members(world)


@pytest.mark.parametrize("end", ["taken out", "no longer owner", "account closed", "left", "no longer admin"])
def test_an_invitation_ends_with_its_makers_rights(world: World, end: str) -> None:
    with world.database.write() as session:
        team = session.get_one(Team, world.team)
        grace = people.create_user(session, CONSOLE, new_account("Grace"), is_admin=end == "no longer admin")
        if not grace.is_admin:
            teams.add_member(session, CONSOLE, team, grace, Role.OWNER)
        token = teams.invite(session, actor_of(session, grace.id), team, days=7)
        other = teams.invite(session, CONSOLE, team, days=7)
        assert teams.find_invitation(session, token, present()).created_by_id == grace.id
        assert len(open_invitations(session, world.ada, team.slug, present())) == 2
    with world.database.write() as session:
        team, grace = session.get_one(Team, world.team), session.get_one(User, grace.id)
        match end:
            case "taken out":
                teams.remove_member(session, world.ada, team, grace.id)
            case "no longer owner":
                teams.add_member(session, CONSOLE, team, grace, Role.MEMBER)
            case "account closed":
                people.close_account(session, CONSOLE, grace)
            case "left":
                teams.remove_member(session, actor_of(session, grace.id), team, grace.id)
            case "no longer admin":
                people.set_admin(session, CONSOLE, grace, is_admin=False)
    with refused(world.database, Conflict, "team"), world.database.write() as session:
        teams.accept_invitation(session, world.eve, token, present())
    assert world.eve.user_id not in _members(world)
    with world.database.write() as session:  # one of the command line stays
        assert teams.accept_invitation(session, world.eve, other, present()).id == world.team
    with world.database.read() as session:
        assert open_invitations(session, world.ada, "northern-lights", present()) == ()


def test_only_owners_invite_and_remove(world: World) -> None:
    with world.database.write() as session:
        ada = session.get_one(User, world.ada.user_id)
        for forbidden in (
            lambda: teams.invite(session, world.eve, _team(session, world), days=7),
            lambda: teams.remove_member(session, world.eve, _team(session, world), ada.id),
            lambda: teams.change_team(session, world.eve, _team(session, world), description="ours now"),
            lambda: teams.add_member(session, world.ada, _team(session, world), ada, Role.OWNER),
        ):
            with pytest.raises(NotAllowed):
                forbidden()


def test_the_last_owner_hands_over_before_leaving(world: World) -> None:
    token = _invite(world)
    with world.database.write() as session:
        teams.accept_invitation(session, world.eve, token, present())
    ada, eve = world.ada.user_id, world.eve.user_id
    for leave in (teams.remove_member, lambda *who: teams.change_role(*who, Role.MEMBER)):
        with refused(world.database, Conflict, "team", match="without an owner"), world.database.write() as session:
            leave(session, world.ada, _team(session, world), ada)
    with refused(world.database, NotAllowed, "team"), world.database.write() as session:
        teams.change_role(session, world.eve, _team(session, world), eve, Role.OWNER)
    with world.database.write() as session:
        for user_id, role in ((eve, Role.OWNER), (ada, Role.MEMBER)):
            teams.change_role(session, world.ada, _team(session, world), user_id, role)
        teams.remove_member(session, world.ada, _team(session, world), ada)
    assert _members(world) == {world.eve.user_id: Role.OWNER}
    with world.database.read() as session:
        assert not actor_of(session, world.ada.user_id).is_in(world.team)


@pytest.mark.parametrize("way", ["by an invitation", "by an admin", "by merging"])
def test_a_request_ends_when_who_asked_comes_in_another_way(world: World, way: str) -> None:
    with world.database.write() as session:
        team = _team(session, world)
        teams.change_team(session, CONSOLE, team, description="", is_listed=True)
        asking = actor_of(session, people.create_user(session, CONSOLE, new_account("Grace")).id)
        asked = teams.ask_to_join(session, asking, team, "please").id
        if way == "by an invitation":
            teams.accept_invitation(session, asking, teams.invite(session, CONSOLE, team, days=7), present())
        elif way == "by an admin":
            teams.add_member(session, CONSOLE, team, session.get_one(User, asking.user_id))
        else:
            merging.merge_teams(session, CONSOLE, teams.create_team(session, asking, "Southern lights"), team)
            teams.change_role(session, CONSOLE, team, asking.user_id, Role.MEMBER)
        teams.remove_member(session, asking, team, asking.user_id)
        assert session.scalars(sa.select(JoinRequest)).all() == []
        with pytest.raises(NotFound):
            teams.answer_request(session, CONSOLE, team, asked, accept=True)
        assert session.get(Membership, (team.id, asking.user_id)) is None
    assert "end request" in world.all(sa.select(Event.action))
