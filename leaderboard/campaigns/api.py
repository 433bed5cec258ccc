"""Campaigns: made, changed, archived and removed.

Who organises a campaign, which teams know of a private one, and who may make campaigns.
"""

from http import HTTPStatus
from typing import Any

from sqlalchemy.orm import Session

from leaderboard.accounts import writes as accounts
from leaderboard.accounts.models import User
from leaderboard.accounts.rules import Scope
from leaderboard.campaigns import reads, writes as campaigns
from leaderboard.campaigns.inputs import AccountName, CampaignChanges, Confirmed, NewCampaign, TeamAddress
from leaderboard.campaigns.rules import Visibility
from leaderboard.declared.commands import Command, Find, Table, account_named, number
from leaderboard.errors import InvalidFields, NotFound
from leaderboard.evaluations import writes as removing
from leaderboard.evaluations.models import Evaluation
from leaderboard.teams.reads import find_team, find_team_let_in
from leaderboard.web.context import actor, read, writing
from leaderboard.web.endpoints import counting, get, look_again, post
from leaderboard.web.organise import CAMPAIGN, campaign_here, change_here, require_confirmed

NO_TEAM = "there is no team of this address; its members can tell it, or look the team up on a board or under /teams"


def _account_named(session: Session, name: str) -> User:
    """Raises InvalidFields (name), without the nearest names: accounts are nobody's to search."""
    try:
        return accounts.find_user(session, name)
    except NotFound:
        raise InvalidFields({"name": ["there is no account of this name"]}) from None


def _said(done: str) -> Any:
    """`made the campaign harbour; β = 20`"""

    def words(answer: Any, _: Any) -> str:
        values = answer["values"]
        draft = ", a draft that only its organisers see" if values["visibility"] == Visibility.DRAFT else ""
        beta = "" if values["beta"] is None else f"; β = {number(values['beta'])}"
        return f"{done} the campaign {values['slug']}{draft}{beta}"

    return words


SHOWN = (
    "title", "description", "visibility", "measures", "primary_measure", "beta", "cost", "value", "prior",
    "no_relevant", "compat", "run_choice", "locked_at", "archived_at", "contact", "organisers", "teams", "evaluations",
)  # fmt: skip


def _shown(answer: Any, _: Any) -> str:
    values = answer | answer["values"]
    return "\n".join(f"{name.replace('_', ' '):16}{_text(values[name])}" for name in SHOWN)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return number(value)
    return (", ".join(value) if isinstance(value, list) else str(value or "")) or "–"


LIST = Table(
    ("campaign", "title", "evaluations", "primary measure", "β"),
    lambda row: (
        row["heading"]["slug"], row["heading"]["title"], row["evaluations"], row["primary_measure"], number(row["beta"])
    ),
    "no campaign yet; make one: leaderboard campaign add",
)  # fmt: skip


@get("/organise/campaigns", Scope.ORGANISE, command=Command("campaign list", LIST))
def list_organised() -> tuple[reads.OrganisedCampaign, ...]:
    """The campaigns that you organise, with what waits in each."""
    return read(reads.organised_campaigns)


@post("/organise/campaigns", Scope.ORGANISE, status=HTTPStatus.CREATED, command=Command(
    "campaign add SLUG", _said("made"),
    "harbour --title 'Harbour track' --measures 'AQWV AP nDCG@10' --cost 0.0333 --value 1 --prior 1/600",
))  # fmt: skip
def make_campaign(body: NewCampaign) -> reads.CampaignSettings:
    """Makes a campaign, which you organise then; a draft unless told. Admins may, and whom they gave the right."""
    with writing() as session:
        made = campaigns.create_campaign(session, actor(), **body.model_dump())
    look_again()
    return read(reads.campaign_settings, made.slug)


@get(CAMPAIGN, Scope.ORGANISE, command=Command("campaign show CAMPAIGN", _shown, "harbour"))
def organised_campaign(campaign: str) -> reads.CampaignSettings:
    """Every setting of a campaign, and why it can't be removed."""
    return read(reads.campaign_settings, campaign)


@post(CAMPAIGN, Scope.ORGANISE, command=Command(
    "campaign change CAMPAIGN", _said("changed"), "harbour --measures 'AQWV MQWV AP' --run-choice best",
))  # fmt: skip
def change_campaign(campaign: str, body: CampaignChanges) -> reads.CampaignSettings:
    """Changes the settings that are given; the others stay. What it does beyond that is listed, and to be confirmed.

    β, cost, value, prior and the policy for queries without relevant documents are fixed by the first score of a
    published evaluation. A public campaign that is made private lets the teams in that have runs in it.
    """
    change_here(campaign, "", campaigns.change_campaign, confirm=body.confirm, **body.given())
    return read(reads.campaign_settings, campaign)


@post(f"{CAMPAIGN}/archive", Scope.ORGANISE, command=Command(
    "campaign archive CAMPAIGN", "{values[title]} is archived", "harbour"
))  # fmt: skip
def archive_campaign(campaign: str) -> reads.CampaignSettings:
    """Archives a campaign: it can be read, and takes no runs and no evaluations. What is wrong in it can still be
    corrected: new judgments and settings score its runs again."""
    change_here(campaign, "", campaigns.archive_campaign, archived=True)
    return read(reads.campaign_settings, campaign)


@post(f"{CAMPAIGN}/unarchive", Scope.ORGANISE, command=Command(
    "campaign unarchive CAMPAIGN", "{values[title]} is out of the archive", "harbour"
))  # fmt: skip
def unarchive_campaign(campaign: str) -> reads.CampaignSettings:
    """Takes a campaign out of the archive."""
    change_here(campaign, "", campaigns.archive_campaign, archived=False)
    return read(reads.campaign_settings, campaign)


@post(f"{CAMPAIGN}/remove", Scope.ORGANISE, command=Command(
    "campaign remove CAMPAIGN", "removed the campaign {campaign}", "harbor",
    asks="Remove {values[title]} ({campaign}) for good, with {goes}?",
))  # fmt: skip
def remove_campaign(campaign: str, body: Confirmed) -> tuple[reads.OrganisedCampaign, ...]:
    """Removes a campaign to which nothing was submitted, with its evaluations; a draft with its organisers' test runs,
    to be confirmed.

    \fAnswers with those that you organise still.
    """
    change_here(campaign, "", removing.remove_campaign, confirm=body.confirm)
    return read(reads.organised_campaigns)


@get(f"{CAMPAIGN}/organisers", Scope.ORGANISE)
def list_organisers(campaign: str) -> reads.People:
    """Who organises a campaign, and which teams were let into it."""
    return read(reads.people, campaign)


@post(f"{CAMPAIGN}/organisers", Scope.ORGANISE, command=Command(
    "campaign organiser add CAMPAIGN NAME", "{name} organises {campaign}", "harbour ada"
))  # fmt: skip
def add_organiser(campaign: str, body: AccountName) -> reads.People:
    """Lets an account organise the campaign: it may then do everything here that you may."""
    with writing() as session:
        record = campaign_here(session, campaign)
        campaigns.add_organiser(session, actor(), record, _account_named(session, body.name))
    return read(reads.people, campaign)


@post(f"{CAMPAIGN}/organisers/<int:member>/remove", Scope.ORGANISE, command=Command(
    "campaign organiser remove CAMPAIGN USER", "{name} no longer organises {campaign}", "harbour ada",
    finds={"member": Find(
        f"{CAMPAIGN}/organisers", lambda people, given: account_named(people["organisers"], given["user"]),
        "{user} does not organise {campaign}",
    )},
))  # fmt: skip
def remove_organiser(campaign: str, member: int) -> reads.Person:
    """Takes somebody out of the organisers; the last one stays.

    \fThe answer says whom.
    """
    organiser = organiser_of(campaign, member)
    with writing() as session:
        campaigns.remove_organiser(session, actor(), campaign_here(session, campaign), session.get_one(User, member))
    return organiser


def organiser_of(campaign: str, member: int) -> reads.Person:
    """Raises NotFound."""
    for organiser in read(reads.people, campaign).organisers:
        if organiser.user_id == member:
            return organiser
    raise NotFound


@post(f"{CAMPAIGN}/teams-let-in", Scope.ORGANISE, command=Command(
    "campaign team add CAMPAIGN TEAM", "{team} is let into {campaign}", "harbour north-shore"
))  # fmt: skip
def let_team_in(campaign: str, body: TeamAddress) -> reads.People:
    """Lets a team's members know of a private campaign."""
    read(reads.people, campaign)  # who organises nothing here finds nothing, and counts nothing
    with counting() as session:
        record = campaign_here(session, campaign)
        try:
            team = find_team(session, body.team.strip(), actor())
        except NotFound:  # without those that the reader is in: it is another one that is meant
            raise InvalidFields({"team": [NO_TEAM]}) from None
        campaigns.let_team_in(session, actor(), record, team)
    look_again()  # it may be your own
    return read(reads.people, campaign)


@post(f"{CAMPAIGN}/teams-let-in/<team>/remove", Scope.ORGANISE, command=Command(
    "campaign team remove CAMPAIGN TEAM", "{team} is no longer let into {campaign}", "harbour north-shore"
))  # fmt: skip
def let_team_out(campaign: str, team: str, body: Confirmed) -> reads.People:
    """Lets a team into a private campaign no longer: it is absent for the team's members. To be confirmed where they
    have runs in it.
    """
    with writing() as session:
        record = campaign_here(session, campaign)
        campaigns.let_team_out(session, actor(), record, find_team_let_in(session, actor(), record, team))
        require_confirmed(session, body.confirm, Evaluation.campaign_id == record.id)
    return read(reads.people, campaign)


@get("/campaigns")
def list_campaigns() -> tuple[reads.CampaignSummary, ...]:
    """All campaigns, those with an open evaluation first."""
    return read(reads.campaigns)


@get("/campaigns/<campaign>")
def campaign(campaign: str) -> reads.CampaignPage:
    """A campaign with its evaluations."""
    return read(reads.campaign, campaign)
