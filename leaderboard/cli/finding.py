"""Finds what an argument names, or says what there is instead."""

from difflib import get_close_matches
from typing import NoReturn

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute, Session

from leaderboard.errors import BadInput, NotFound
from leaderboard.models import Campaign, Evaluation, System, Team, User
from leaderboard.services.names import name_key

__all__ = ["find_campaign", "find_evaluation", "find_system", "find_team", "find_user", "split_place"]

SHOWN = 10  # names that a message lists


def find_user(session: Session, name: str) -> User:
    user = session.scalar(sa.select(User).where(User.name_key == name_key(name)))
    return user or _missing(session, "account", name, User.name)


def find_team(session: Session, slug: str) -> Team:
    team = session.scalar(sa.select(Team).where(Team.slug == slug))
    return team or _missing(session, "team", slug, Team.slug)


def find_system(session: Session, team: Team, slug: str) -> System:
    system = session.scalar(sa.select(System).where(System.team_id == team.id, System.slug == slug))
    return system or _missing(session, f"system of {team.name}", slug, System.slug, System.team_id == team.id)


def find_campaign(session: Session, slug: str) -> Campaign:
    campaign = session.scalar(sa.select(Campaign).where(Campaign.slug == slug))
    return campaign or _missing(session, "campaign", slug, Campaign.slug)


def find_evaluation(session: Session, place: str) -> Evaluation:
    """By the end of its address: campaign/evaluation."""
    campaign_slug, slug = split_place(place)
    campaign = find_campaign(session, campaign_slug)
    own = Evaluation.campaign_id == campaign.id
    evaluation = session.scalar(sa.select(Evaluation).where(own, Evaluation.slug == slug))
    return evaluation or _missing(session, f"evaluation in {campaign.slug}", slug, Evaluation.slug, own)


def split_place(place: str) -> tuple[str, str]:
    """`trec-covid/round1` as its two slugs. Raises BadInput."""
    campaign, slash, evaluation = place.partition("/")
    if not (campaign and slash and evaluation) or "/" in evaluation:
        raise BadInput(f"{place!r} is no evaluation; expected CAMPAIGN/EVALUATION, like trec-covid/round1")
    return campaign, evaluation


def _missing(
    session: Session, what: str, name: str, column: InstrumentedAttribute[str], *among: sa.ColumnElement[bool]
) -> NoReturn:
    """Raises NotFound that names the nearest, or what to do when there is none at all."""
    names = list(session.scalars(sa.select(column).where(*among).order_by(column)))
    near = get_close_matches(name, names)
    if near:
        hint = f"; did you mean {' or '.join(near)}?"
    else:
        hint = f"; there are {', '.join(names[:SHOWN])}{', …' if len(names) > SHOWN else ''}" if names else ""
    raise NotFound(f"there is no {what} {name!r}{hint}")
