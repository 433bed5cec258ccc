"""Who organises a campaign, which teams know of a private one, and who may make campaigns."""

from leaderboard.accounts.models import User
from leaderboard.accounts.rules import Scope
from leaderboard.accounts.writes import accounts as people
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.inputs import AccountName, LetOut, TeamAddress
from leaderboard.campaigns.organise.organisers import account_named, team_named
from leaderboard.campaigns.reads import settings
from leaderboard.declared.commands import Command, Find
from leaderboard.errors import NotFound
from leaderboard.teams.pages import counting
from leaderboard.teams.reads.find import find_team_let_in
from leaderboard.web.context import actor, read, writing
from leaderboard.web.endpoints import get, look_again, post
from leaderboard.web.organise import CAMPAIGN, campaign_here, require_confirmed


@get(f"{CAMPAIGN}/organisers", Scope.ORGANISE)
def list_organisers(campaign: str) -> settings.People:
    """Who organises a campaign, and which teams were let into it."""
    return read(settings.people, campaign)


@post(f"{CAMPAIGN}/organisers", Scope.ORGANISE, command=Command(
    "campaign organiser add CAMPAIGN NAME", "{name} organises {campaign}", "harbour ada"
))  # fmt: skip
def add_organiser(campaign: str, body: AccountName) -> settings.People:
    """Lets an account organise the campaign: it may then do everything here that you may."""
    with writing() as session:
        found = campaign_here(session, campaign)
        campaigns.add_organiser(session, actor(), found, account_named(session, body.name))
    return read(settings.people, campaign)


@post(f"{CAMPAIGN}/organisers/<int:member>/remove", Scope.ORGANISE, command=Command(
    "campaign organiser remove CAMPAIGN USER", "{name} no longer organises {campaign}", "harbour ada",
    finds={"member": Find(
        f"{CAMPAIGN}/organisers", lambda people: people["organisers"],
        lambda row, given: row["name"].casefold() == given["user"].casefold(),
        "user_id", "{user} does not organise {campaign}",
    )},
))  # fmt: skip
def remove_organiser(campaign: str, member: int) -> settings.Organiser:
    """Takes somebody out of the organisers; the answer says whom. The last one stays."""
    found = next((one for one in read(settings.people, campaign).organisers if one.user_id == member), None)
    if found is None:
        raise NotFound
    with writing() as session:
        campaigns.remove_organiser(session, actor(), campaign_here(session, campaign), session.get_one(User, member))
    return found


@post(f"{CAMPAIGN}/teams-let-in", Scope.ORGANISE, command=Command(
    "campaign team add CAMPAIGN TEAM", "{team} is let into {campaign}", "harbour north-shore"
))  # fmt: skip
def let_team_in(campaign: str, body: TeamAddress) -> settings.People:
    """Lets a team's members know of a private campaign."""
    read(settings.people, campaign)  # who organises nothing here finds nothing, and counts nothing
    with counting() as session:
        found = campaign_here(session, campaign)
        team = team_named(session, body.team)
        campaigns.let_team_in(session, actor(), found, team)
    look_again()  # it may be your own
    return read(settings.people, campaign)


@post(f"{CAMPAIGN}/teams-let-in/<team>/remove", Scope.ORGANISE, command=Command(
    "campaign team remove CAMPAIGN TEAM", "{team} is no longer let into {campaign}", "harbour north-shore"
))  # fmt: skip
def let_team_out(campaign: str, team: str, body: LetOut) -> settings.People:
    """Lets a team into a private campaign no longer: it is absent for the team's members. To be confirmed where they
    have runs in it.
    """
    with writing() as session:
        found = campaign_here(session, campaign)
        campaigns.let_team_out(session, actor(), found, find_team_let_in(session, actor(), found, team))
        require_confirmed(session, campaign, body.confirm)
    return read(settings.people, campaign)


@get("/organise/founders", Scope.ORGANISE)
def list_founders() -> tuple[settings.Founder, ...]:
    """The accounts that may make campaigns, for admins."""
    return read(settings.founders)


@post("/organise/founders", Scope.ORGANISE)
def add_founder(body: AccountName) -> tuple[settings.Founder, ...]:
    """Lets an account make campaigns, for admins."""
    return _founder(body, may_found=True)


@post("/organise/founders/remove", Scope.ORGANISE)
def remove_founder(body: AccountName) -> tuple[settings.Founder, ...]:
    """Lets an account make campaigns no longer, for admins."""
    return _founder(body, may_found=False)


def _founder(account: AccountName, *, may_found: bool) -> tuple[settings.Founder, ...]:
    read(settings.founders)  # whoever is no admin finds nothing here, accounts least of all
    with writing() as session:
        people.set_founder(session, actor(), account_named(session, account.name), may_found=may_found)
    return read(settings.founders)
