"""Evaluations: one period and condition of a campaign, its dates, what it shows when, and its quotas."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, open_to_all, require_organiser
from leaderboard.audit.writes import assign, present, record
from leaderboard.campaigns.models import Campaign
from leaderboard.declared.inputs import checked, defaults_of
from leaderboard.errors import Conflict, Gathered, InvalidFields
from leaderboard.evaluations.inputs import EvaluationSettings
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.visibility import closed_again
from leaderboard.evaluations.rules.scoring_settings import OF_EVALUATION
from leaderboard.locking import add_or_refuse, locked
from leaderboard.names import checked_slug, slug_of
from leaderboard.worker.writes import make_set

CHANGEABLE = tuple(EvaluationSettings.model_fields)
DEFAULTS = defaults_of(EvaluationSettings)
# Pages of a campaign, public ones and its organisers', that stand where its evaluations do.
TAKEN = {"evaluations", "export", "import", "new", "organisers", "progress", "settings", "systems", "teams", "trail"}


def create_evaluation(
    session: Session,
    actor: Actor,
    campaign: Campaign,
    slug: str,
    title: str,
    period: str,
    **settings: Any,
) -> Evaluation:
    """Makes an evaluation of the campaign.

    period    its label, such as "2020" or "2020 round 1"
    slug      its part of an address, made from period and condition where it is empty
    settings  any of EvaluationSettings, as values or as texts

    Raises InvalidFields with everything that is wrong, by the names of the settings.
    """
    require_organiser(actor, campaign.id)
    if campaign.archived_at is not None:
        raise Conflict(f"{campaign.title} is archived: take it out of the archive first.")
    own = Evaluation.campaign_id == campaign.id
    wrong = Gathered()
    with wrong:
        settings = _checked(campaign, {"title": title, "period": period, **settings})
    if not slug.strip() and "period" in wrong.fields:  # it is told there
        wrong.raise_any()
    with wrong:
        slug = checked_slug(slug.strip() or slug_of(f"{period} {settings.get('condition', '')}"))
        if slug in TAKEN:
            raise InvalidFields({"slug": [f"{slug!r} is the address of a page of the campaign; choose another"]})
        if session.scalar(sa.select(Evaluation.id).where(own, Evaluation.slug == slug)) is not None:
            raise _slug_taken(slug)
    wrong.raise_any()
    evaluation = Evaluation(campaign_id=campaign.id, slug=slug, created_at=present(), **settings)
    add_or_refuse(session, evaluation, _slug_taken(slug))
    record(session, actor, "create", evaluation, campaign=campaign.id, slug=slug)
    return evaluation


def change_evaluation(session: Session, actor: Actor, evaluation: Evaluation, **changes: Any) -> Evaluation:
    """Changes some of CHANGEABLE; a change of what figures depend on makes a new scoring set.

    Raises InvalidFields with everything that is wrong, by the names of the settings.
    """
    require_organiser(actor, evaluation.campaign_id)
    campaign = session.get_one(Campaign, evaluation.campaign_id)
    evaluation = locked(session, Evaluation, evaluation.id)
    if "period" in changes and "period_key" not in changes:
        changes["period_key"] = None
    after = _checked(campaign, {**{name: getattr(evaluation, name) for name in CHANGEABLE}, **changes})
    read_before = open_to_all(evaluation, now := present())
    changed = assign(evaluation, **{name: after[name] for name in CHANGEABLE})
    if changed:
        closed = closed_again(session, evaluation, read_before, now)
        record(session, actor, "change", evaluation, fields=changed, **closed)
    if set(changed) & set(OF_EVALUATION):
        make_set(session, actor, evaluation)
    return evaluation


def _slug_taken(slug: str) -> InvalidFields:
    return InvalidFields({"slug": [f"this campaign has an evaluation {slug!r}"]})


def _checked(campaign: Campaign, values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings as they are stored. Raises InvalidFields with everything that is wrong."""
    return checked(EvaluationSettings, values, measures=campaign.measures).model_dump()
