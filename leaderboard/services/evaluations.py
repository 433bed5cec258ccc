"""Evaluations: one period and condition of a campaign, its dates, what it shows when, and its quotas."""

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.access import Actor, open_to_all, require_organiser
from leaderboard.errors import Conflict, Gathered, InvalidFields
from leaderboard.lookup import closed_again
from leaderboard.metrics.measure import NEEDED
from leaderboard.models import Campaign, Evaluation
from leaderboard.rules import time_zones
from leaderboard.rules.phases import LONGEST_GRACE, Opening
from leaderboard.rules.quotas import DAILY_QUOTA
from leaderboard.rules.settings import OF_EVALUATION, Judging, lacks
from leaderboard.services.events import assign, present, record
from leaderboard.services.locking import add_or_refuse, locked
from leaderboard.services.names import checked_slug
from leaderboard.services.scoring_sets import make_set
from leaderboard.services.texts import text_problem

__all__ = ["FIRST_DAY", "LAST_DAY", "NO_LEVEL", "change_evaluation", "create_evaluation"]

DEFAULTS: dict[str, Any] = {
    "period_key": None,
    "description": "",
    "condition": "",
    "collection": "",
    "documents": None,
    "relevance_level": 1,
    "judging": Judging.POOLED,
    "opens_at": None,
    "closes_at": None,
    "grace_seconds": 60,
    "late_allowed": False,
    "results": Opening.ALWAYS,
    "details": Opening.CLOSED,
    "texts": Opening.OPENED,
    "hidden_queries": Opening.CLOSED,
    "own_results": True,
    "judgments_published": False,
    "anonymous_until": None,
    "daily_quota": DAILY_QUOTA,
    "total_quota": None,
    "time_zone": time_zones.UTC,
    "draft": False,
}
CHANGEABLE = ("title", "period", *DEFAULTS)
YEAR = re.compile(r"(?<!\d)(?:19|20)[0-9][0-9](?!\d)")
NO_LEVEL = "give the lowest grade that counts as relevant, 1 or more"
LONGEST_TITLE = 120  # characters
LONGEST_DESCRIPTION = 4000
# What both databases can hold, and more than anybody means.
GREATEST = {
    "documents": 10**15,
    **dict.fromkeys(("period_key", "relevance_level", "daily_quota", "total_quota"), 10**9),
}
# What the tables hold, with room for the grace and for any time zone.
FIRST_DAY, LAST_DAY = dt.datetime(1901, 1, 1, tzinfo=dt.UTC), dt.datetime(9998, 1, 1, tzinfo=dt.UTC)
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
    settings  any of DEFAULTS: columns of Evaluation. Periods are sorted by `period_key`, which is the year in the label
              when not given; `documents` is N_total, which detection measures need: a draft may lack it until it is
              none any more, or is judged

    Raises InvalidFields with everything that is wrong, by the names of the settings.
    """
    require_organiser(actor, campaign.id)
    if campaign.archived_at is not None:
        raise Conflict(f"{campaign.title} is archived: take it out of the archive first.")
    given = DEFAULTS | {"title": title, "period": period} | settings
    own = Evaluation.campaign_id == campaign.id
    wrong = Gathered()
    with wrong:
        slug = checked_slug(slug)
        if slug in TAKEN:
            raise InvalidFields({"slug": [f"{slug!r} is the address of a page of the campaign; choose another"]})
        if session.scalar(sa.select(Evaluation.id).where(own, Evaluation.slug == slug)) is not None:
            raise _slug_taken(slug)
    with wrong:
        given = _checked(campaign, given)
    wrong.raise_any()
    evaluation = Evaluation(campaign_id=campaign.id, slug=slug, created_at=present(), **given)
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


def _checked(campaign: Campaign, given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings as they are stored. Raises InvalidFields with everything that is wrong."""
    fields = {name: ["there is no such setting"] for name in given.keys() - set(CHANGEABLE)}
    values = dict(given)
    for name in ("title", "period", "condition", "collection"):
        values[name] = " ".join(given[name].split())
        if problem := text_problem(values[name], LONGEST_TITLE):
            fields[name] = [problem]
    values["description"] = given["description"].strip()
    if problem := text_problem(values["description"], LONGEST_DESCRIPTION):
        fields["description"] = [problem]
    for name in ("title", "period"):
        if not values[name]:
            fields[name] = ["give one"]
    if given["period_key"] is None:
        year = YEAR.search(values["period"])
        if year is None:
            fields.setdefault("period_key", []).append("the label holds no year: give a whole number to sort it by")
        else:
            values["period_key"] = int(year[0])
    _check_numbers(campaign, given, fields)
    _check_dates(given, fields)
    if fields:
        raise InvalidFields(fields)
    return values


def _check_numbers(campaign: Campaign, given: Mapping[str, Any], fields: dict[str, list[str]]) -> None:
    documents = given["documents"]
    if documents is not None and documents < 1:
        fields["documents"] = ["give the number of documents in the collection, 1 or more"]
    measures = map(metrics.parse, campaign.measures)
    needing = [each for each in measures if lacks(each, documents=documents, beta=1.0, known=True, subtopics=True)]
    if needing and not given["draft"] and "documents" not in fields:
        fields["documents"] = [f"{needing[0]} needs {NEEDED['documents']}; only a draft may lack it"]
    if given["relevance_level"] < 1:
        fields["relevance_level"] = [NO_LEVEL]
    if not 0 <= given["grace_seconds"] <= LONGEST_GRACE:
        fields["grace_seconds"] = [f"give a number of seconds from 0 to {LONGEST_GRACE:,}"]
    for name, most in GREATEST.items():
        if name not in fields and given[name] is not None and abs(given[name]) > most:
            fields[name] = [f"give a number of at most {most:,}"]
    for name in ("daily_quota", "total_quota"):
        if given[name] is not None and given[name] < 0:
            fields[name] = ["give a number that is not negative, or none for no limit"]


def _check_dates(given: Mapping[str, Any], fields: dict[str, list[str]]) -> None:
    if problem := time_zones.zone_problem(given["time_zone"]):
        fields["time_zone"] = [problem]
    opens_at, closes_at = given["opens_at"], given["closes_at"]
    for name in ("opens_at", "closes_at", "anonymous_until"):
        if given[name] is None:
            continue
        if given[name].tzinfo is None:
            fields[name] = ["give the time zone; all dates here are UTC"]
        elif not FIRST_DAY <= given[name] < LAST_DAY:
            fields[name] = [f"give a date from {FIRST_DAY.year} to {LAST_DAY.year - 1}"]
    if "opens_at" not in fields and "closes_at" not in fields and opens_at and closes_at and opens_at >= closes_at:
        fields["closes_at"] = ["give a moment after the opening"]
