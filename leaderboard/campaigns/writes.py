"""Campaigns: what is held fixed over the years, above all the prior."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import db, names
from leaderboard.access import IS_PUBLISHED, Actor, locked_to_organise, open_to_all, require, require_organiser
from leaderboard.accounts.models import User
from leaderboard.audit.writes import assign, present, record
from leaderboard.campaigns.inputs import CampaignSettings, SiteSettings
from leaderboard.campaigns.models import Campaign, CampaignOrganiser, CampaignTeam, Site
from leaderboard.campaigns.rules import PRIOR_FIELDS, Visibility
from leaderboard.declared.inputs import checked, defaults_of
from leaderboard.errors import Conflict, InvalidFields, PriorLocked
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.evaluations import closed_again
from leaderboard.evaluations.rules import OF_CAMPAIGN
from leaderboard.submissions.rules import State
from leaderboard.teams.models import Team
from leaderboard.teams.reads import teams_with_runs
from leaderboard.worker.models import Scoring, ScoringSet
from leaderboard.worker.writes import drop_scorings, make_set

LOCKED = (*PRIOR_FIELDS, "no_relevant")  # from the first result of a published campaign on
SCORED_BY = ("measures", "primary_measure", *OF_CAMPAIGN)  # a change of these makes new scoring sets
CHANGEABLE = tuple(CampaignSettings.model_fields)
DEFAULTS = {**defaults_of(CampaignSettings), "simulated": False}
DEFAULTS_OF_SITE = defaults_of(SiteSettings)
TAKEN = {"campaigns", "import", "site"}  # pages that stand where campaigns do in their organisers' rooms


def create_campaign(
    session: Session, actor: Actor, slug: str, title: str, *, simulated: bool = False, **settings: Any
) -> Campaign:
    """Makes a campaign; the actor, when signed in, becomes its organiser.

    slug      its part of an address; where it is empty made from the title, with another ending where one is taken
    settings  any of CampaignSettings, as values or as texts. β is given, or follows from cost, value and prior; none of
              them is needed where no shown measure needs β

    Raises InvalidFields by the names of the settings.
    """
    require(
        actor.all_powerful or actor.may_found,
        "Campaigns are made by admins and by accounts to which an admin has given that right.",
    )
    settings = checked_settings({"title": title, **settings})

    def is_taken(address: str) -> bool:
        return address in TAKEN or db.exists(session, Campaign.slug == address)

    slug = names.checked_slug(slug.strip() or names.free_slug(names.checked_slug(names.slug_of(title)), is_taken))
    if is_taken(slug):
        raise slug_taken(slug)
    campaign = Campaign(slug=slug, created_at=present(), simulated=simulated, **settings)
    db.add_or_refuse(session, campaign, slug_taken(slug))
    if actor.user_id is not None:
        session.add(CampaignOrganiser(campaign_id=campaign.id, user_id=actor.user_id))
    record(session, actor, "create", campaign, slug=slug, beta=campaign.beta)
    return campaign


def slug_taken(slug: str) -> InvalidFields:
    """An address is a page's, or that of another one, which is not named: the actor may not know of it."""
    return InvalidFields({"slug": [f"the address {slug!r} can't be had here; choose another"]})


def change_campaign(session: Session, actor: Actor, campaign: Campaign, **changes: Any) -> Campaign:
    """Changes some of CHANGEABLE; a change of what figures depend on makes new scoring sets.

    A public campaign that is made private lets the teams in that have runs there. When cost, value or prior is changed
    and β is not given, β follows from them. A campaign is locked as it is published with scored runs. While it is not,
    a change of β leaves no figure of the β before. Raises InvalidFields with everything that is wrong, and PriorLocked
    for a change of LOCKED in a campaign that is locked.
    """
    campaign = locked_to_organise(session, actor, campaign)
    if {"cost", "value", "prior"} & set(changes):
        changes = {"beta": None, **changes}
    before = {name: getattr(campaign, name) for name in CHANGEABLE}
    after = checked_settings({**before, **changes})
    changed = {name for name in CHANGEABLE if after[name] != before[name]}
    shut = (before["visibility"], after["visibility"]) == (Visibility.PUBLIC, Visibility.PRIVATE)
    if campaign.locked_at is not None and changed & set(LOCKED):
        raise PriorLocked
    # Runs that are being submitted hold their evaluation shared: each is there before, or meets the change.
    evaluations = locked_evaluations(session, campaign) if changed & {"visibility", *SCORED_BY} else []
    if changed & {"beta", "no_relevant"}:  # nothing is locked: only drafts have figures
        drafts = sa.select(Evaluation.id).where(Evaluation.campaign_id == campaign.id, ~IS_PUBLISHED)
        drop_scorings(session, actor, session.scalars(drafts).all(), "score anew")
    now = present()
    read_before = [open_to_all(evaluation, now) for evaluation in evaluations]
    if fields := assign(campaign, **after):
        record(session, actor, "change", campaign, fields=fields)
    lock_if_scored(session, campaign, now)
    for evaluation, opened in zip(evaluations, read_before, strict=True):
        if closed := closed_again(session, evaluation, opened, now):  # what everybody could read of it until now
            record(session, actor, "change", evaluation, **closed)
        if changed & set(SCORED_BY):
            make_set(session, actor, evaluation)
    for team in teams_with_runs(session, campaign.id) if shut else ():
        let_team_in(session, actor, campaign, team)
    return campaign


def lock_if_scored(session: Session, campaign: Campaign, now: datetime) -> None:
    """Locks the prior of a campaign where an evaluation is published with figures of test runs."""
    if campaign.locked_at is None:
        of_published = sa.select(ScoringSet.id).join(Evaluation, Evaluation.id == ScoringSet.evaluation_id)
        own = of_published.where(Evaluation.campaign_id == campaign.id, IS_PUBLISHED)
        if db.exists(session, Scoring.scoring_set_id.in_(own), Scoring.state == State.SCORED):
            campaign.locked_at = now


def locked_evaluations(session: Session, campaign: Campaign) -> list[Evaluation]:
    """The campaign's, each locked, in their order."""
    own = sa.select(Evaluation.id).where(Evaluation.campaign_id == campaign.id).order_by(Evaluation.id)
    return [db.locked(session, Evaluation, evaluation) for evaluation in session.scalars(own).all()]


def archive_campaign(session: Session, actor: Actor, campaign: Campaign, *, archived: bool) -> None:
    """From now on the campaign can be read and takes nothing: no runs, no evaluations. Or takes them again."""
    campaign = locked_to_organise(session, actor, campaign)
    if (campaign.archived_at is not None) != archived:
        campaign.archived_at = present() if archived else None
        record(session, actor, "archive" if archived else "take out of the archive", campaign)


def let_team_in(session: Session, actor: Actor, campaign: Campaign, team: Team) -> None:
    """Lets a team's members know of a private campaign; does nothing when they may already."""
    require_organiser(actor, campaign.id)
    if session.get(CampaignTeam, (campaign.id, team.id)) is None:
        session.add(CampaignTeam(campaign_id=campaign.id, team_id=team.id))
        record(session, actor, "let team in", campaign, team=team.id)


def let_team_out(session: Session, actor: Actor, campaign: Campaign, team: Team) -> None:
    """Ends that: while the campaign is private it is absent for the team's members, its own runs there too."""
    require_organiser(actor, campaign.id)
    let_in = session.get(CampaignTeam, (campaign.id, team.id))
    if let_in is not None:
        session.delete(let_in)
        record(session, actor, "let team out", campaign, team=team.id)


def add_organiser(session: Session, actor: Actor, campaign: Campaign, user: User) -> None:
    """Lets somebody organise the campaign; does nothing when they do."""
    require_organiser(actor, campaign.id)
    if session.get(CampaignOrganiser, (campaign.id, user.id)) is None:
        session.add(CampaignOrganiser(campaign_id=campaign.id, user_id=user.id))
        record(session, actor, "add organiser", campaign, user=user.id)


def remove_organiser(session: Session, actor: Actor, campaign: Campaign, user: User) -> None:
    """Takes somebody out of the organisers; does nothing when they are none.

    Raises Conflict for the last one, unless an admin does it: nobody but admins could get into the campaign again.
    """
    locked_to_organise(session, actor, campaign)
    organiser = session.get(CampaignOrganiser, (campaign.id, user.id))
    if organiser is None:
        return
    own, others = CampaignOrganiser.campaign_id == campaign.id, CampaignOrganiser.user_id != user.id
    if not (actor.all_powerful or db.exists(session, own, others)):
        raise Conflict(f"{user.name} is the only organiser of {campaign.title}; add another one first.")
    session.delete(organiser)
    record(session, actor, "remove organiser", campaign, user=user.id)


def checked_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings as they are stored, with the primary measure among the measures. Raises InvalidFields."""
    settings = checked(CampaignSettings, values).model_dump()
    if settings["primary_measure"] not in settings["measures"]:
        settings["measures"].insert(0, settings["primary_measure"])
    return settings


def change_site(session: Session, actor: Actor, **changes: Any) -> None:
    """Changes some of SiteSettings, for admins. Raises InvalidFields."""
    require(actor.all_powerful, "Only admins change what the site is called and says about itself.")
    row = session.get(Site, 1, with_for_update=True) or Site(id=1, **DEFAULTS_OF_SITE)
    before = {name: getattr(row, name) for name in DEFAULTS_OF_SITE}
    if fields := assign(row, **checked(SiteSettings, before | changes).model_dump()):
        db.add_or_refuse(session, row, Conflict("Somebody else just changed this. Look again, then repeat it."))
        record(session, actor, "change", row, fields=fields)
