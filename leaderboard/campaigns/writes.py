"""Campaigns: what is held fixed over the years, above all the prior."""

import datetime as dt
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, known_campaigns, open_to_all, require, require_organiser
from leaderboard.accounts.models import User
from leaderboard.audit.writes import present, record
from leaderboard.campaigns.inputs import CampaignSettings
from leaderboard.campaigns.models import Campaign, CampaignOrganiser, CampaignTeam
from leaderboard.campaigns.rules import PRIOR_FIELDS, Visibility
from leaderboard.db import add_or_refuse, locked
from leaderboard.declared.inputs import checked, defaults_of
from leaderboard.errors import Conflict, Gathered, InvalidFields, PriorLocked
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.find import closed_again
from leaderboard.evaluations.rules import OF_CAMPAIGN
from leaderboard.names import checked_slug, free_slug, slug_of
from leaderboard.teams.models import Team
from leaderboard.teams.reads.find import teams_with_runs
from leaderboard.worker.writes import make_set

LOCKED = (*PRIOR_FIELDS, "no_relevant")  # from the first result on
SCORED_BY = ("measures", "primary_measure", *OF_CAMPAIGN)  # a change of these makes new scoring sets
CHANGEABLE = tuple(CampaignSettings.model_fields)
DEFAULTS = {**defaults_of(CampaignSettings), "simulated": False}
TAKEN = {"campaigns", "founders", "import"}  # pages that stand where campaigns do in their organisers' rooms
NOBODY_SHUT_OUT = (
    "shuts teams out of a public campaign that is made private with the same change; this one shuts nobody out: take a "
    "team out among the campaign's organisers"
)


def create_campaign(
    session: Session,
    actor: Actor,
    slug: str | None,
    title: str,
    *,
    measures: Sequence[str],
    primary_measure: str = "",
    simulated: bool = False,
    **settings: Any,
) -> Campaign:
    """Makes a campaign; the actor, when signed in, becomes its organiser.

    slug      its part of an address; made from the title, with another ending where one is taken, when not given
    settings  any of CampaignSettings, as values or as texts. β is given, or follows from cost, value and prior; none of
              them is needed where no shown measure needs β

    Raises InvalidFields with everything that is wrong, by the names of the settings.
    """
    require(
        actor.all_powerful or actor.may_found,
        "Campaigns are made by admins and by accounts to which an admin has given that right.",
    )
    address = slug_of(title) if slug is None else slug
    wrong = Gathered()
    with wrong:
        settings = checked_settings(
            {"title": title, "measures": measures, "primary_measure": primary_measure, **settings}
        )
    if slug is None and "title" in wrong.fields:  # it is told there
        wrong.raise_any()
    with wrong:
        address = checked_slug(address)
        if slug is None:
            address = free_slug(address, lambda stem: _is_taken(session, stem))
        if address in TAKEN:
            raise InvalidFields({"slug": [f"{address!r} is the address of a page of this site; choose another"]})
        if _is_taken(session, address):
            raise _slug_taken(session, actor, address)
    wrong.raise_any()
    campaign = Campaign(slug=address, created_at=present(), simulated=simulated, **settings)
    add_or_refuse(session, campaign, _slug_taken(session, actor, address))
    if actor.user_id is not None:
        session.add(CampaignOrganiser(campaign_id=campaign.id, user_id=actor.user_id))
    record(session, actor, "create", campaign, slug=address, beta=campaign.beta)
    return campaign


def _is_taken(session: Session, slug: str) -> bool:
    return slug in TAKEN or session.scalar(sa.select(Campaign.id).where(Campaign.slug == slug)) is not None


def change_campaign(
    session: Session, actor: Actor, campaign: Campaign, *, shut_out: bool = False, **changes: Any
) -> Campaign:
    """Changes some of CHANGEABLE; a change of what figures depend on makes new scoring sets.

    A public campaign that is made private lets the teams in that have runs there, unless shut_out says otherwise, which
    is refused with any other change. When cost, value or prior is changed and β is not given, β follows from them.
    Raises InvalidFields with everything that is wrong, and PriorLocked for a change of LOCKED once a submission of the
    campaign was scored.
    """
    require_organiser(actor, campaign.id)
    campaign = locked(session, Campaign, campaign.id)
    if {"cost", "value", "prior"} & set(changes) and "beta" not in changes:
        changes["beta"] = None
    before = {name: getattr(campaign, name) for name in CHANGEABLE}
    after = checked_settings({**before, **changes})
    shut = (before["visibility"], after["visibility"]) == (Visibility.PUBLIC, Visibility.PRIVATE)
    if shut_out and not shut:
        raise InvalidFields({"shut_out": [NOBODY_SHUT_OUT]})
    changed = [name for name in CHANGEABLE if after[name] != before[name]]
    if campaign.locked_at is not None and set(changed) & set(LOCKED):
        raise PriorLocked
    now = present()
    is_drafted = "visibility" in changed and after["visibility"] == Visibility.DRAFT
    drafted = _locked_evaluations(session, campaign) if is_drafted else []
    read_before = [(evaluation, open_to_all(evaluation, now)) for evaluation in drafted]
    for name in changed:
        setattr(campaign, name, after[name])
    if changed:
        record(session, actor, "change", campaign, fields=changed)
    _note_closed_again(session, actor, read_before, now)
    if set(changed) & set(SCORED_BY):
        for evaluation in session.scalars(_evaluations_of(campaign)).all():
            make_set(session, actor, evaluation)
    if shut:
        _settle_who_is_let_in(session, actor, campaign, shut_out=shut_out)
    return campaign


def _settle_who_is_let_in(session: Session, actor: Actor, campaign: Campaign, *, shut_out: bool) -> None:
    """Lets the teams that have runs into a campaign that was just made private, unless they are to be shut out.

    Runs that are being submitted hold their evaluation shared: each is there before, or meets a private campaign.
    """
    _locked_evaluations(session, campaign)
    for team in () if shut_out else teams_with_runs(session, campaign.id):
        let_team_in(session, actor, campaign, team)


def _note_closed_again(
    session: Session, actor: Actor, read_before: Iterable[tuple[Evaluation, Collection[str]]], now: dt.datetime
) -> None:
    """Notes in the trails of evaluations what everybody could read of them until their campaign was made a draft."""
    for evaluation, opened in read_before:
        if closed := closed_again(session, evaluation, opened, now):
            record(session, actor, "change", evaluation, **closed)


def _locked_evaluations(session: Session, campaign: Campaign) -> list[Evaluation]:
    return [
        locked(session, Evaluation, evaluation.id) for evaluation in session.scalars(_evaluations_of(campaign)).all()
    ]


def _evaluations_of(campaign: Campaign) -> sa.Select[Any]:
    return sa.select(Evaluation).where(Evaluation.campaign_id == campaign.id).order_by(Evaluation.id)


def archive_campaign(session: Session, actor: Actor, campaign: Campaign, *, archived: bool) -> None:
    """From now on the campaign can be read and takes nothing: no runs, no evaluations. Or takes them again."""
    require_organiser(actor, campaign.id)
    campaign = locked(session, Campaign, campaign.id)
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
    require_organiser(actor, campaign.id)
    locked(session, Campaign, campaign.id)
    organiser = session.get(CampaignOrganiser, (campaign.id, user.id))
    if organiser is None:
        return
    own = CampaignOrganiser.campaign_id == campaign.id
    others = session.scalar(sa.select(sa.exists().where(own, CampaignOrganiser.user_id != user.id)))
    if not (others or actor.all_powerful):
        raise Conflict(f"{user.name} is the only organiser of {campaign.title}; add another one first.")
    session.delete(organiser)
    record(session, actor, "remove organiser", campaign, user=user.id)


def _slug_taken(session: Session, actor: Actor, slug: str) -> InvalidFields:
    """A campaign that the actor may not know of is not named."""
    known = session.scalar(sa.select(Campaign.id).where(Campaign.slug == slug, known_campaigns(actor))) is not None
    words = f"there is a campaign {slug!r}" if known else f"the address {slug!r} can't be had here; choose another"
    return InvalidFields({"slug": [words]})


def checked_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings as they are stored, with the primary measure among the measures. Raises InvalidFields."""
    settings = checked(CampaignSettings, values).model_dump()
    if settings["primary_measure"] not in settings["measures"]:
        settings["measures"].insert(0, settings["primary_measure"])
    return settings
