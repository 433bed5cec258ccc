"""Who organises a campaign, which teams know of a private one, and who may make campaigns."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from leaderboard.errors import InvalidFields, NotFound
from leaderboard.lookup import find_team, find_team_let_in
from leaderboard.models import User
from leaderboard.reads.organising import settings
from leaderboard.rules.scopes import Scope
from leaderboard.services import campaigns, people
from leaderboard.web.api.bearer import look_again
from leaderboard.web.api.endpoints import get, post
from leaderboard.web.api.organising import CAMPAIGN, campaign_here, changing
from leaderboard.web.api.yes import Yes
from leaderboard.web.context import actor, read, writing
from leaderboard.web.organise.people import NO_TEAM, NOBODY
from leaderboard.web.team_names import counting


@dataclass(frozen=True, slots=True)
class Account:
    """An account by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class Team:
    """A team by its part of the address."""

    team: str


@dataclass(frozen=True, slots=True)
class LetOut:
    """yes: to the team's own runs being absent for it, which a refusal without it tells."""

    yes: Yes = False


@get(f"{CAMPAIGN}/organisers", Scope.ORGANISE)
def list_organisers(campaign: str) -> settings.People:
    """Who organises a campaign, and which teams were let into it."""
    return read(settings.people, campaign)


@post(f"{CAMPAIGN}/organisers", Scope.ORGANISE)
def add_organiser(campaign: str, body: Account) -> settings.People:
    """Lets an account organise the campaign: it may then do everything here that you may."""
    with writing() as session:
        found = campaign_here(session, campaign)
        campaigns.add_organiser(session, actor(), found, _account(session, body.name))
    return read(settings.people, campaign)


@post(f"{CAMPAIGN}/organisers/<int:member>/remove", Scope.ORGANISE)
def remove_organiser(campaign: str, member: int) -> settings.Organiser:
    """Takes somebody out of the organisers; the answer says whom. The last one stays."""
    found = next((one for one in read(settings.people, campaign).organisers if one.user_id == member), None)
    if found is None:
        raise NotFound
    with writing() as session:
        campaigns.remove_organiser(session, actor(), campaign_here(session, campaign), session.get_one(User, member))
    return found


@post(f"{CAMPAIGN}/teams-let-in", Scope.ORGANISE)
def let_team_in(campaign: str, body: Team) -> settings.People:
    """Lets a team's members know of a private campaign."""
    read(settings.people, campaign)  # who organises nothing here finds nothing, and counts nothing
    with counting() as session:
        found = campaign_here(session, campaign)
        try:
            team = find_team(session, body.team, actor())
        except NotFound:
            raise InvalidFields({"team": [NO_TEAM]}) from None
        campaigns.let_team_in(session, actor(), found, team)
    look_again()  # it may be your own
    return read(settings.people, campaign)


@post(f"{CAMPAIGN}/teams-let-in/<team>/remove", Scope.ORGANISE)
def let_team_out(campaign: str, team: str, body: LetOut) -> settings.People:
    """Ends that: a private campaign is absent for the team's members from now on. It needs a yes where they have runs
    in it.
    """
    with changing(campaign, yes=body.yes) as session:
        found = campaign_here(session, campaign)
        campaigns.let_team_out(session, actor(), found, find_team_let_in(session, actor(), found, team))
    return read(settings.people, campaign)


@get("/organise/founders", Scope.ORGANISE)
def list_founders() -> tuple[settings.Founder, ...]:
    """The accounts that may make campaigns, for admins."""
    return read(settings.founders)


@post("/organise/founders", Scope.ORGANISE)
def add_founder(body: Account) -> tuple[settings.Founder, ...]:
    """Lets an account make campaigns, for admins."""
    return _founder(body, may_found=True)


@post("/organise/founders/remove", Scope.ORGANISE)
def remove_founder(body: Account) -> tuple[settings.Founder, ...]:
    """Lets an account make campaigns no longer, for admins."""
    return _founder(body, may_found=False)


def _founder(account: Account, *, may_found: bool) -> tuple[settings.Founder, ...]:
    read(settings.founders)  # whoever is no admin finds nothing here, accounts least of all
    with writing() as session:
        people.set_founder(session, actor(), _account(session, account.name), may_found=may_found)
    return read(settings.founders)


def _account(session: Session, name: str) -> User:
    """Raises InvalidFields (name), without the nearest names: accounts are nobody's to search."""
    try:
        return people.find_user(session, name)
    except NotFound:
        raise InvalidFields({"name": [NOBODY]}) from None
