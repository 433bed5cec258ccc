"""Next year's evaluation in one step: a copy of this year's settings and of what organisers made for it."""

import datetime as dt
import re
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, require_organiser
from leaderboard.audit.writes import record
from leaderboard.campaigns.models import Campaign
from leaderboard.evaluations.inputs import YEAR
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.writes import evaluations
from leaderboard.evaluations.writes.form_fields import copy_form
from leaderboard.judgments.writes.queries import copy_queries
from leaderboard.moments import a_year_later
from leaderboard.names import free_slug, slug_of

DATES = ("opens_at", "closes_at", "anonymous_until")
NAMED = ("title", "period", "period_key")
NUMBER = re.compile("[0-9]+")

# What is copied besides the settings, each by its own subject's function: (session, actor, from, to).
COPIES: tuple[Callable[[Session, Actor, Evaluation, Evaluation], None], ...] = (copy_form,)


def next_year(session: Session, evaluation: Evaluation) -> dict[str, Any]:
    """What its successor is called and when it takes place, as a proposal: slug, title, period, its number and dates.

    Each year in a name is the next one. Where the period has no year, as in "Round 2", its last number is the next one,
    in the title and the slug too, and so is the number that it is sorted by, which is None where the year says it.
    Dates are those of a year later by the clocks of the evaluation's time zone. The slug is one that is free: where it
    has nothing to raise, the period is added unless it is there, and a number where that is taken too.
    """
    raised = _raised(evaluation)
    names = {name: raised(getattr(evaluation, name)) for name in ("title", "period")}
    return {
        "slug": _free_slug(session, evaluation, raised(evaluation.slug), names["period"]),
        **names,
        "period_key": _next_key(evaluation, names["period"]),
        **_a_year_later(evaluation),
    }


def _raised(evaluation: Evaluation) -> Callable[[str], str]:
    """What makes of a name of the evaluation that of its successor."""
    rounds = NUMBER.findall(evaluation.period)
    if YEAR.search(evaluation.period) or not rounds:
        return lambda name: YEAR.sub(_next, name)
    return lambda name: _with_next(name, rounds[-1])


def _with_next(name: str, number: str) -> str:
    """The name with the number after this one in its place, where it stands last; as it is where it doesn't."""
    found = [match for match in NUMBER.finditer(name) if match[0] == number]
    return f"{name[: found[-1].start()]}{_next(found[-1])}{name[found[-1].end() :]}" if found else name


def _next_key(evaluation: Evaluation, period: str) -> int | None:
    """The number to sort a successor's period by; None where that is the year in it."""
    return None if YEAR.search(period) else evaluation.period_key + 1


def _a_year_later(evaluation: Evaluation) -> dict[str, dt.datetime | None]:
    dates = {name: getattr(evaluation, name) for name in DATES}
    return {
        name: None if moment is None else a_year_later(moment, evaluation.time_zone) for name, moment in dates.items()
    }


def _free_slug(session: Session, evaluation: Evaluation, slug: str, period: str) -> str:
    within = sa.select(Evaluation.slug).where(Evaluation.campaign_id == evaluation.campaign_id)
    taken = {*session.scalars(within), *evaluations.TAKEN}
    if slug == evaluation.slug and slug_of(period) not in slug:
        slug = slug_of(f"{slug[:40]} {period}")
    return free_slug(slug, taken.__contains__)


def clone_evaluation(
    session: Session,
    actor: Actor,
    evaluation: Evaluation,
    slug: str,
    title: str,
    period: str,
    *,
    with_queries: bool = False,
    **changes: Any,
) -> Evaluation:
    """Makes an evaluation of the same campaign with this one's settings, but for those that are given.

    Dates that are not given are those of a year later, the number that its period is sorted by is the next one where no
    year says it, and it is a draft unless that is given. Copied too is what COPIES names: the fields of its form and
    the rules for its files. Never copied are judgments and runs.

    with_queries  copies the queries too: what they ask for, their tags, which are hidden, and which excluded and why

    Raises InvalidFields with everything that is wrong, by the names of the settings.
    """
    require_organiser(actor, evaluation.campaign_id)
    campaign = session.get_one(Campaign, evaluation.campaign_id)
    same = {name: getattr(evaluation, name) for name in evaluations.CHANGEABLE if name not in NAMED}
    following = {"period_key": _next_key(evaluation, period), **_a_year_later(evaluation)}
    settings = {**same, **following, "draft": True, **changes}
    made = evaluations.create_evaluation(session, actor, campaign, slug, title, period, **settings)
    if with_queries:
        copy_queries(session, actor, evaluation, made)
    for copy in COPIES:
        copy(session, actor, evaluation, made)
    record(session, actor, "clone", made, of=evaluation.id)
    return made


def _next(number: Any) -> str:
    return str(int(number[0]) + 1).zfill(len(number[0]))
