"""Evaluations: made, changed, cloned into next year's and removed, and what they lack."""

import datetime as dt
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from leaderboard.errors import InvalidFields
from leaderboard.reads.organising import readiness, rooms, settings
from leaderboard.rules import time_zones
from leaderboard.rules.phases import Opening
from leaderboard.rules.scopes import Scope
from leaderboard.rules.settings import Judging
from leaderboard.services import cloning, evaluations, removing
from leaderboard.services.names import slug_of
from leaderboard.web.api.endpoints import get, post
from leaderboard.web.api.organising import CAMPAIGN, EVALUATION, campaign_here, changing, evaluation_here, given
from leaderboard.web.api.yes import Yes
from leaderboard.web.context import actor, read, writing

Whole = Annotated[int, Meta(ge=0, le=10**9)]
Moment = Annotated[
    dt.datetime,
    Meta(
        description="With an offset, such as 2027-05-01T12:00:00Z or …+02:00; without one it is what clocks show in "
        "the time_zone that is given beside it.",
        extra_json_schema={"format": "date-time"},
    ),
]
DATES = ("opens_at", "closes_at", "anonymous_until")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationChanges:
    """What of an evaluation is to change; what is left out stays.

    time_zone: of its clocks, such as UTC, AoE (anywhere on Earth) or Europe/Berlin; period_key: what periods are sorted
    by, the year in the period unless told.
    """

    title: str | UnsetType = UNSET
    period: str | UnsetType = UNSET
    period_key: Annotated[int, Meta(ge=-(10**9), le=10**9)] | UnsetType | None = UNSET
    condition: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    collection: str | UnsetType = UNSET
    documents: Annotated[int, Meta(ge=1, le=10**15)] | UnsetType | None = UNSET
    relevance_level: Whole | UnsetType = UNSET
    judging: Judging | UnsetType = UNSET
    time_zone: str | UnsetType = UNSET
    opens_at: Moment | UnsetType | None = UNSET
    closes_at: Moment | UnsetType | None = UNSET
    grace_seconds: Whole | UnsetType = UNSET
    late_allowed: bool | UnsetType = UNSET
    results: Opening | UnsetType = UNSET
    details: Opening | UnsetType = UNSET
    texts: Opening | UnsetType = UNSET
    hidden_queries: Opening | UnsetType = UNSET
    own_results: bool | UnsetType = UNSET
    judgments_published: bool | UnsetType = UNSET
    anonymous_until: Moment | UnsetType | None = UNSET
    daily_quota: Whole | UnsetType | None = UNSET
    total_quota: Whole | UnsetType | None = UNSET
    draft: bool | UnsetType = UNSET


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvaluation(EvaluationChanges):
    """An evaluation to make, as a draft unless told. slug: its part of the address, made from the period and the
    condition unless told.
    """

    title: str
    period: str
    slug: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clone(EvaluationChanges):
    """What is to be another than a year later in the clone. with_queries: whether queries are copied too."""

    slug: str | UnsetType = UNSET
    with_queries: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedEvaluation(EvaluationChanges):
    """yes: to what it does at once, which a refusal without it names: runs that are scored again, what it opens and to
    whom, that it closes the evaluation, and runs that stay in time or late.
    """

    yes: Yes = False


@get(f"{CAMPAIGN}/evaluations", Scope.ORGANISE)
def organised_evaluations(campaign: str) -> rooms.CampaignRoom:
    """A campaign's evaluations, drafts too, with what waits in each; and who organises it."""
    return read(rooms.campaign_room, campaign)


@post(f"{CAMPAIGN}/evaluations", Scope.ORGANISE, status=HTTPStatus.CREATED)
def make_evaluation(campaign: str, body: NewEvaluation) -> settings.EvaluationSettings:
    """Makes an evaluation of the campaign."""
    values = {"draft": True} | _settings(body)
    title, period = values.pop("title"), values.pop("period")
    slug = values.pop("slug").strip() or slug_of(f"{period} {values.get('condition', '')}")
    with writing() as session:
        found = campaign_here(session, campaign)
        made = evaluations.create_evaluation(session, actor(), found, slug, title, period, **values)
    return read(settings.evaluation_settings, campaign, made.slug)


@get(EVALUATION, Scope.ORGANISE)
def organised_evaluation(campaign: str, evaluation: str) -> settings.EvaluationSettings:
    """Every setting of an evaluation, and why it can't be removed."""
    return read(settings.evaluation_settings, campaign, evaluation)


@post(EVALUATION, Scope.ORGANISE)
def change_evaluation(campaign: str, evaluation: str, body: ChangedEvaluation) -> settings.EvaluationSettings:
    """Changes an evaluation. Where runs are scored again by it, or it opens or closes something at once, it needs a
    yes.
    """
    values = _settings(body)
    with changing(campaign, yes=body.yes) as session:
        evaluations.change_evaluation(session, actor(), evaluation_here(session, campaign, evaluation), **values)
    return read(settings.evaluation_settings, campaign, evaluation)


@post(f"{EVALUATION}/clone", Scope.ORGANISE, status=HTTPStatus.CREATED)
def clone_evaluation(campaign: str, evaluation: str, body: Clone) -> settings.EvaluationSettings:
    """Makes next year's evaluation of this one, as a draft. Names and dates are those of a year later unless told, and
    what is asked of runs is the same; judgments and runs are never copied.
    """
    values = _settings(body)
    with writing() as session:
        found = evaluation_here(session, campaign, evaluation)
        proposed = cloning.next_year(session, found)
        names = [values.pop(name, proposed[name]) for name in ("slug", "title", "period")]
        made = cloning.clone_evaluation(session, actor(), found, *names, **values)
    return read(settings.evaluation_settings, campaign, made.slug)


@post(f"{EVALUATION}/remove", Scope.ORGANISE)
def remove_evaluation(campaign: str, evaluation: str) -> rooms.CampaignRoom:
    """Removes an evaluation to which nothing was submitted, with its queries and judgments."""
    with writing() as session:
        removing.remove_evaluation(session, actor(), evaluation_here(session, campaign, evaluation))
    return read(rooms.campaign_room, campaign)


@get(f"{EVALUATION}/readiness", Scope.ORGANISE)
def evaluation_readiness(campaign: str, evaluation: str) -> tuple[readiness.Point, ...]:
    """What is left to do before the evaluation can open, close and show its results."""
    return read(readiness.readiness, campaign, evaluation)


def _settings(body: EvaluationChanges) -> dict[str, Any]:
    """What the services are given. Raises InvalidFields for dates that no clock of the time zone shows."""
    values = given(body)
    local = {name: values[name] for name in DATES if values.get(name) is not None and values[name].tzinfo is None}
    if local and "time_zone" not in values:
        raise InvalidFields({name: ["give an offset with it, such as Z or +02:00, or time_zone too"] for name in local})
    moments, problems = time_zones.moments_of(local, values["time_zone"]) if local else ({}, {})
    if problems:
        raise InvalidFields(problems)
    return {**values, **moments}
