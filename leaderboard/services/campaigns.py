"""Campaigns: what is held fixed over the years, above all the prior."""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.access import Actor, require, require_organiser
from leaderboard.errors import Conflict, InvalidFields, PriorLocked, UnknownMeasure
from leaderboard.metrics.measure import NEEDED
from leaderboard.models import (
    Campaign,
    CampaignOrganiser,
    Evaluation,
    JudgmentRevision,
    Query,
    Submission,
    User,
)
from leaderboard.rules.prior import PRIOR_FIELDS, checked_beta
from leaderboard.rules.settings import OF_CAMPAIGN, NoRelevant, lacks
from leaderboard.rules.standings import RunChoice
from leaderboard.services.events import present, record
from leaderboard.services.locking import add_or_refuse, locked
from leaderboard.services.names import checked_slug
from leaderboard.services.scoring_sets import make_set
from leaderboard.services.texts import text_problem

__all__ = [
    "add_organiser",
    "change_campaign",
    "create_campaign",
    "removal_refusal",
    "remove_campaign",
    "remove_organiser",
]

LOCKED = (*PRIOR_FIELDS, "no_relevant")  # from the first result on
SCORED_BY = ("measures", "primary_measure", *OF_CAMPAIGN)  # a change of these makes new scoring sets
DEFAULTS: dict[str, Any] = {
    "description": "",
    "simulated": False,
    "run_choice": RunChoice.PRIMARY,
    "compat": 10,
    "no_relevant": NoRelevant.EXCLUDE,
    **dict.fromkeys(PRIOR_FIELDS),
}
CHANGEABLE = ("title", "measures", "primary_measure", *DEFAULTS)
TAKEN = {"campaigns", "import"}  # pages that stand where campaigns do in their organisers' rooms
LONGEST_TITLE = 120  # characters
LONGEST_DESCRIPTION = 4000


def create_campaign(
    session: Session,
    actor: Actor,
    slug: str,
    title: str,
    *,
    measures: Sequence[str],
    primary_measure: str,
    **settings: Any,
) -> Campaign:
    """Makes a campaign; the actor, when signed in, becomes its organiser.

    settings  any of DEFAULTS: columns of Campaign. β is given, or follows from cost, value and prior; none of them is
              needed where no shown measure needs β

    Raises InvalidFields with everything that is wrong, by the names of the settings.
    """
    require(actor.all_powerful, "Only an admin makes campaigns.")
    slug = checked_slug(slug)
    if slug in TAKEN:
        raise InvalidFields({"slug": [f"{slug} is the address of a page of this site; choose another"]})
    campaign = Campaign(
        slug=slug,
        created_at=present(),
        **_checked(DEFAULTS | {"title": title, "measures": measures, "primary_measure": primary_measure} | settings),
    )
    taken = InvalidFields({"slug": [f"there is a campaign {slug!r}"]})
    if session.scalar(sa.select(Campaign.id).where(Campaign.slug == slug)) is not None:
        raise taken
    add_or_refuse(session, campaign, taken)
    if actor.user_id is not None:
        session.add(CampaignOrganiser(campaign_id=campaign.id, user_id=actor.user_id))
    record(session, actor, "create", campaign, slug=slug, beta=campaign.beta)
    return campaign


def change_campaign(session: Session, actor: Actor, campaign: Campaign, **changes: Any) -> Campaign:
    """Changes some of CHANGEABLE; a change of what figures depend on makes new scoring sets.

    When cost, value or prior is changed and β is not given, β follows from them. Raises InvalidFields with everything
    that is wrong, and PriorLocked for a change of LOCKED once a submission of the campaign was scored.
    """
    require_organiser(actor, campaign.id)
    campaign = locked(session, Campaign, campaign.id)
    if {"cost", "value", "prior"} & set(changes) and "beta" not in changes:
        changes["beta"] = None
    before = {name: getattr(campaign, name) for name in CHANGEABLE}
    after = _checked({**before, **changes})
    changed = [name for name in CHANGEABLE if after[name] != before[name]]
    if campaign.locked_at is not None and set(changed) & set(LOCKED):
        raise PriorLocked
    for name in changed:
        setattr(campaign, name, after[name])
    record(session, actor, "change", campaign, fields=changed)
    if set(changed) & set(SCORED_BY):
        evaluations = session.scalars(
            sa.select(Evaluation).where(Evaluation.campaign_id == campaign.id).order_by(Evaluation.id)
        )
        for evaluation in list(evaluations):
            make_set(session, actor, evaluation)
    return campaign


def remove_campaign(session: Session, actor: Actor, campaign: Campaign) -> None:
    """Removes a campaign that was made by mistake, with its evaluations and their queries.

    Raises Conflict once it has judgments, which never go, or anything was submitted to it, withdrawn and rejected runs
    too: those stay on record. The event of the removal stays.
    """
    require(actor.all_powerful, "Only an admin removes campaigns.")
    campaign = locked(session, Campaign, campaign.id)
    own = sa.select(Evaluation.id).where(Evaluation.campaign_id == campaign.id)
    # What is just being submitted or imported waits, and finds nothing then.
    evaluations = [locked(session, Evaluation, evaluation_id) for evaluation_id in session.scalars(own).all()]
    refused = removal_refusal(session, campaign)
    if refused is not None:
        raise Conflict(refused)
    for evaluation in evaluations:
        record(session, actor, "remove", evaluation, campaign=campaign.id, slug=evaluation.slug)
    record(session, actor, "remove", campaign, slug=campaign.slug, title=campaign.title)
    for statement in (
        sa.delete(Query).where(Query.evaluation_id.in_(own)),
        sa.delete(Evaluation).where(Evaluation.campaign_id == campaign.id),
        sa.delete(CampaignOrganiser).where(CampaignOrganiser.campaign_id == campaign.id),
        sa.delete(Campaign).where(Campaign.id == campaign.id),
    ):
        session.execute(statement, execution_options={"synchronize_session": False})
    session.expire_all()


def removal_refusal(session: Session, campaign: Campaign) -> str | None:
    """Why a campaign can't be removed, in words; None when it can."""
    own = sa.select(Evaluation.id).where(Evaluation.campaign_id == campaign.id)
    for table, kept in ((Submission, "submissions"), (JudgmentRevision, "revisions of judgments")):
        count = session.scalar(sa.select(sa.func.count()).select_from(table).where(table.evaluation_id.in_(own)))
        if count:
            return f"{campaign.title} has {kept} ({count:,}), which stay on record; it can't be removed."
    return None


def add_organiser(session: Session, actor: Actor, campaign: Campaign, user: User) -> None:
    """Lets somebody organise the campaign; does nothing when they do."""
    require_organiser(actor, campaign.id)
    if session.get(CampaignOrganiser, (campaign.id, user.id)) is None:
        session.add(CampaignOrganiser(campaign_id=campaign.id, user_id=user.id))
        record(session, actor, "add organiser", campaign, user=user.id)


def remove_organiser(session: Session, actor: Actor, campaign: Campaign, user: User) -> None:
    """Takes somebody out of the organisers; does nothing when they are none. Raises NotAllowed."""
    require_organiser(actor, campaign.id)
    organiser = session.get(CampaignOrganiser, (campaign.id, user.id))
    if organiser is not None:
        session.delete(organiser)
        record(session, actor, "remove organiser", campaign, user=user.id)


def _checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings as they are stored. Raises InvalidFields with everything that is wrong."""
    fields = {name: ["there is no such setting"] for name in given.keys() - set(CHANGEABLE)}
    values = dict(given)
    values["title"] = " ".join(given["title"].split())
    if not values["title"] or len(values["title"]) > LONGEST_TITLE:
        fields["title"] = [f"give a title of at most {LONGEST_TITLE} characters"]
    for name, longest in (("title", LONGEST_TITLE), ("description", LONGEST_DESCRIPTION)):
        if name not in fields and (problem := text_problem(given[name], longest)):
            fields[name] = [problem]
    if given["compat"] not in (9, 10):
        fields["compat"] = ["choose trec_eval's version 9 or 10"]
    try:
        values["beta"] = checked_beta(**{name: given[name] for name in PRIOR_FIELDS})
    except InvalidFields as error:
        fields.update(error.fields)
    measures = _parsed("measures", given["measures"], fields)
    primary = _parsed("primary_measure", [given["primary_measure"]], fields)
    if not measures and "measures" not in fields:
        fields["measures"] = ["name at least one measure"]
    if len(primary) != 1 and "primary_measure" not in fields:
        fields["primary_measure"] = ["name one measure: the one that ranks the boards"]
    measures = [measure for measure in primary if measure not in measures] + measures
    needing = [each for each in measures if lacks(each, documents=1, beta=values["beta"], known=True, subtopics=True)]
    if needing and not fields.keys() & set(PRIOR_FIELDS):
        fields["beta"] = [f"{needing[0]} needs {NEEDED['beta']}"]
    if fields:
        raise InvalidFields(fields)
    values["measures"] = [str(measure) for measure in measures]
    values["primary_measure"] = str(primary[0])
    return values


def _parsed(field: str, names: Sequence[str], fields: dict[str, list[str]]) -> list[metrics.Measure]:
    try:
        return list(metrics.parse_all(names))
    except UnknownMeasure as error:
        fields.setdefault(field, []).append(error.message)
        return []
