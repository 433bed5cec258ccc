"""Campaigns: made, changed, archived and removed."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal

from msgspec import UNSET, UnsetType

from leaderboard.reads.organising import rooms, settings
from leaderboard.rules.scopes import Scope
from leaderboard.rules.settings import NoRelevant
from leaderboard.rules.standings import RunChoice
from leaderboard.rules.visibility import Visibility
from leaderboard.services import campaigns, removing
from leaderboard.web.api.bearer import look_again
from leaderboard.web.api.endpoints import get, post
from leaderboard.web.api.organising import CAMPAIGN, campaign_here, changing, given
from leaderboard.web.api.yes import Yes
from leaderboard.web.context import actor, read, writing


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignChanges:
    """What of a campaign is to change; what is left out stays. links: a title and an address each."""

    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    contact: str | UnsetType = UNSET
    links: list[tuple[str, str]] | UnsetType = UNSET
    guidelines: str | UnsetType = UNSET
    visibility: Visibility | UnsetType = UNSET
    measures: list[str] | UnsetType = UNSET
    primary_measure: str | UnsetType = UNSET
    run_choice: RunChoice | UnsetType = UNSET
    no_relevant: NoRelevant | UnsetType = UNSET
    compat: Literal[9, 10] | UnsetType = UNSET
    cost: float | UnsetType | None = UNSET
    value: float | UnsetType | None = UNSET
    prior: float | UnsetType | None = UNSET
    beta: float | UnsetType | None = UNSET


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCampaign(CampaignChanges):
    """A campaign to make, as a draft unless told. slug: its part of the address, made from the title unless told;
    primary_measure: the first of the measures unless told.
    """

    title: str
    measures: list[str]
    slug: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedCampaign(CampaignChanges):
    """yes: to what it does at once, which a refusal without it tells.

    shut_out  made private, the campaign is absent for teams that have runs in it, too; else they are let in with that
    """

    yes: Yes = False
    shut_out: bool = False


@get("/organise/campaigns", Scope.ORGANISE)
def list_organised() -> tuple[rooms.OrganisedCampaign, ...]:
    """The campaigns that you organise, with what waits in each."""
    return read(rooms.organised_campaigns)


@post("/organise/campaigns", Scope.ORGANISE, status=HTTPStatus.CREATED)
def make_campaign(body: NewCampaign) -> settings.CampaignSettings:
    """Makes a campaign, which you organise then. Admins may, and whom they gave the right."""
    values = {"visibility": Visibility.DRAFT, "primary_measure": next(iter(body.measures), "")} | given(body)
    slug, title = values.pop("slug").strip() or None, values.pop("title")
    with writing() as session:
        made = campaigns.create_campaign(session, actor(), slug, title, **values)
    look_again()
    return read(settings.campaign_settings, made.slug)


@get(CAMPAIGN, Scope.ORGANISE)
def organised_campaign(campaign: str) -> settings.CampaignSettings:
    """Every setting of a campaign, and why it can't be removed."""
    return read(settings.campaign_settings, campaign)


@post(CAMPAIGN, Scope.ORGANISE)
def change_campaign(campaign: str, body: ChangedCampaign) -> settings.CampaignSettings:
    """Changes a campaign. Where runs are scored again by it, it needs a yes. The first result fixes the prior."""
    with changing(campaign, yes=body.yes) as session:
        campaigns.change_campaign(session, actor(), campaign_here(session, campaign), **given(body))
    return read(settings.campaign_settings, campaign)


@post(f"{CAMPAIGN}/archive", Scope.ORGANISE)
def archive_campaign(campaign: str) -> settings.CampaignSettings:
    """Archives a campaign: it can be read, and takes no runs and no evaluations. What is wrong in it can still be
    corrected: new judgments and settings score its runs again."""
    return _archive(campaign, archived=True)


@post(f"{CAMPAIGN}/unarchive", Scope.ORGANISE)
def unarchive_campaign(campaign: str) -> settings.CampaignSettings:
    """Takes a campaign out of the archive."""
    return _archive(campaign, archived=False)


@post(f"{CAMPAIGN}/remove", Scope.ORGANISE)
def remove_campaign(campaign: str) -> tuple[rooms.OrganisedCampaign, ...]:
    """Removes a campaign to which nothing was submitted, with its evaluations. Answers with those that you organise
    still.
    """
    with writing() as session:
        removing.remove_campaign(session, actor(), campaign_here(session, campaign))
    return read(rooms.organised_campaigns)


def _archive(campaign: str, *, archived: bool) -> settings.CampaignSettings:
    with writing() as session:
        campaigns.archive_campaign(session, actor(), campaign_here(session, campaign), archived=archived)
    return read(settings.campaign_settings, campaign)
