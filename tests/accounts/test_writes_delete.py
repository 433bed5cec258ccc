"""Closing an account: what goes, what stays, and who has to hand over first."""

import datetime as dt

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE, VISITOR, actor_of
from leaderboard.accounts import writes as people
from leaderboard.accounts.models import User
from leaderboard.accounts.reads import open_session
from leaderboard.audit.models import Event
from leaderboard.audit.writes import present
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign
from leaderboard.db import Base
from leaderboard.errors import BadInput, Conflict, InvalidFields
from leaderboard.mail.models import Mail
from leaderboard.mail.rules import MailKind
from leaderboard.submissions.models import Submission
from leaderboard.teams import writes as teams
from leaderboard.teams.models import Membership, Team
from leaderboard.teams.rules import Role, closed_account, pseudonym
from tests.support.refused import refused
from tests.support.verification import named, verified
from tests.support.world import PASSWORD, World, new_account

NOW = dt.datetime(2026, 11, 20, 12, 0, tzinfo=dt.UTC)
SIGNS = ("ada@", "ada.new@", "subject-of-ada", "'Ada'", '"Ada"')


def close(world: World, user_id: int) -> None:
    with world.database.write() as session:
        people.close_account(session, actor_of(session, user_id), session.get_one(User, user_id))


def owned_by_two(world: World) -> int:
    """Grace owns the team, too."""
    with world.database.write() as session:
        grace = people.create_user(session, CONSOLE, new_account("Grace")).id
        teams.add_member(session, CONSOLE, session.get_one(Team, world.team), session.get_one(User, grace), Role.OWNER)
    return grace


def test_nothing_of_who_it_was_stays_in_the_database_and_its_runs_stay_with_the_team(world: World) -> None:
    ada = world.ada.user_id
    assert ada is not None
    with world.database.write() as session:
        user = session.get_one(User, ada)
        people.change_address(session, world.ada, user, "ada.new@example.org")
        proven = people.Proven("The lab", "https://lab.example.org", "subject-of-ada", "")
        people.link_identity(session, world.ada, user, proven)
        token = people.start_session(session, ada, NOW)
        people.ask_for_reset(session, "ADA@example.org")
    run = world.submit()
    owned_by_two(world)
    close(world, ada)
    with world.database.write() as session:  # the mail that says so is the last thing that knows the address
        session.execute(sa.delete(Mail).where(Mail.kind == MailKind.CLOSED))
    with world.database.read() as session:
        kept = session.get_one(Submission, run)
        assert (kept.team_id, kept.submitter_id, kept.submitter.name) == (world.team, ada, f"closed account {ada}")
        assert session.get(Membership, (world.team, ada)) is None
        for table in Base.metadata.sorted_tables:
            for row in session.execute(sa.select(table)).all():
                text = str(row)
                assert not [sign for sign in SIGNS if sign in text or sign in text.lower()], table.name
        assert (actor_of(session, ada), open_session(session, token, NOW)) == (VISITOR, None)
        done = session.scalars(sa.select(Event.action).where(Event.actor_id == ada)).all()
        assert done[-2:] == ["leave", "close"]
    with pytest.raises(BadInput):
        people.authenticate(world.database, "Ada", PASSWORD, "192.0.2.1", present())
    assert named(verified(world)) == []
    with world.database.write() as session:  # the name is free again
        again = people.register(session, new_account("Ada", "ada@example.org"))
        assert actor_of(session, again.id).teams == frozenset()


def test_nobody_makes_an_account_a_team_or_a_system_that_is_called_as_a_closed_account_or_a_hidden_system(
    world: World,
) -> None:
    ada = world.ada.user_id or 0
    owned_by_two(world)
    for name in (closed_account(ada), pseudonym(0x61166D)):
        for make in (
            lambda session, name=name: people.register(session, people.new_account(name, None)),
            lambda session, name=name: teams.create_team(session, world.eve, name),
            lambda session, name=name: teams.rename_team(session, CONSOLE, session.get_one(Team, world.team), name),
            lambda session, name=name: teams.create_system(
                session, world.ada, session.get_one(Team, world.team), teams.NewSystem(name)
            ),
        ):
            told = "the site itself calls others so"
            with refused(world.database, InvalidFields, "team", told), world.database.write() as session:
                make(session)


def test_the_last_owner_of_a_team_and_the_last_organiser_of_a_campaign_hand_over_first(world: World) -> None:
    grace = owned_by_two(world)
    with world.database.write() as session:
        campaign = session.get_one(Campaign, world.campaign)
        campaigns.add_organiser(session, CONSOLE, campaign, session.get_one(User, grace))
        team = session.get_one(Team, world.team)
        teams.change_role(session, world.ada, team, world.ada.user_id, Role.MEMBER)
    with refused(world.database, Conflict, "user", match="Northern lights, A small campaign"):
        close(world, grace)
    with world.database.write() as session:
        actor, team = actor_of(session, grace), session.get_one(Team, world.team)
        teams.change_role(session, actor, team, world.ada.user_id, Role.OWNER)
        campaign, ada = session.get_one(Campaign, world.campaign), session.get_one(User, world.ada.user_id)
        campaigns.add_organiser(session, actor, campaign, ada)
    close(world, grace)
    with world.database.read() as session:
        assert not session.get_one(User, grace).is_active
