"""The settings of a campaign and of an evaluation as their organisers change them, and who organises."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.accounts.models import User
from leaderboard.campaigns.models import Campaign, CampaignOrganiser, CampaignTeam
from leaderboard.campaigns.reads import listings
from leaderboard.campaigns.reads.organised import organised_campaign, organised_evaluation
from leaderboard.campaigns.rules import Visibility
from leaderboard.errors import NotFound
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.find import removal_refusal
from leaderboard.judgments.models import JudgmentRevision, Query
from leaderboard.numbers import counted
from leaderboard.teams.models import Team


@dataclass(frozen=True, slots=True)
class CampaignSettings:
    """values: by column. stays: why it can't be removed, in words; empty when it can. goes: what goes with it then.

    organisers, teams, evaluations: by their names; teams: those that are let in
    """

    values: Mapping[str, Any]
    locked_at: dt.datetime | None
    archived_at: dt.datetime | None
    stays: str
    goes: str
    organisers: tuple[str, ...]
    teams: tuple[str, ...]
    evaluations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EvaluationSettings:
    """values: by column. stays: why it can't be removed, in words; empty when it can. goes: what goes with it then."""

    values: Mapping[str, Any]
    queries: int
    stays: str
    goes: str


@dataclass(frozen=True, slots=True)
class Organiser:
    user_id: int
    name: str
    is_self: bool


@dataclass(frozen=True, slots=True)
class LetIn:
    team_id: int
    slug: str
    name: str


@dataclass(frozen=True, slots=True)
class People:
    """Who organises a campaign, and which teams were let into it while it is private."""

    visibility: Visibility
    organisers: tuple[Organiser, ...]
    teams: tuple[LetIn, ...]


@dataclass(frozen=True, slots=True)
class Founder:
    """An account that may make campaigns without being an admin."""

    user_id: int
    name: str


def campaign_settings(session: Session, actor: Actor, slug: str, _: dt.datetime) -> CampaignSettings:
    """Raises NotFound."""
    campaign = organised_campaign(session, actor, slug)
    own = sa.select(Evaluation.slug).where(Evaluation.campaign_id == campaign.id)
    return CampaignSettings(
        {column.name: getattr(campaign, column.name) for column in Campaign.__table__.columns},
        campaign.locked_at,
        campaign.archived_at,
        removal_refusal(session, campaign) or "",
        what_goes(session, campaign),
        tuple(listings.organisers_of(session, campaign)),
        tuple(listings.teams_let_into(session, campaign)),
        tuple(session.scalars(own.order_by(Evaluation.period_key, Evaluation.slug))),
    )


def evaluation_settings(
    session: Session, actor: Actor, campaign_slug: str, slug: str, _: dt.datetime
) -> EvaluationSettings:
    """Raises NotFound."""
    evaluation = organised_evaluation(session, actor, campaign_slug, slug)
    queries = session.scalar(sa.select(sa.func.count()).where(Query.evaluation_id == evaluation.id))
    return EvaluationSettings(
        {column.name: getattr(evaluation, column.name) for column in evaluation.__table__.columns},
        queries or 0,
        removal_refusal(session, evaluation) or "",
        what_goes(session, evaluation),
    )


def what_goes(session: Session, which: Campaign | Evaluation) -> str:
    """What goes with a campaign, or an evaluation, when it is removed: `50 queries and 69,318 judgments`."""
    own = Evaluation.campaign_id == which.id if isinstance(which, Campaign) else Evaluation.id == which.id
    queries = session.scalar(sa.select(sa.func.count(Query.id)).join(Evaluation).where(own)) or 0
    judgments = session.scalar(sa.select(sa.func.sum(JudgmentRevision.judgments)).join(Evaluation).where(own)) or 0
    words = f"{counted(queries, 'query', 'queries')} and {counted(judgments, 'judgment')}"
    if isinstance(which, Evaluation):
        return words
    return f"{counted(session.scalar(sa.select(sa.func.count(Evaluation.id)).where(own)) or 0, 'evaluation')}, {words}"


def people(session: Session, actor: Actor, slug: str, _: dt.datetime) -> People:
    """Raises NotFound."""
    campaign = organised_campaign(session, actor, slug)
    organisers = session.execute(
        sa.select(User.id, User.name)
        .join(CampaignOrganiser, CampaignOrganiser.user_id == User.id)
        .where(CampaignOrganiser.campaign_id == campaign.id)
        .order_by(User.name, User.id)
    )
    teams = session.execute(
        sa.select(Team.id, Team.slug, Team.name)
        .join(CampaignTeam, CampaignTeam.team_id == Team.id)
        .where(CampaignTeam.campaign_id == campaign.id)
        .order_by(Team.name, Team.id)
    )
    return People(
        campaign.visibility,
        tuple(Organiser(user_id, name, user_id == actor.user_id) for user_id, name in organisers),
        tuple(LetIn(*team) for team in teams),
    )


def founders(session: Session, actor: Actor, _: dt.datetime) -> tuple[Founder, ...]:
    """Raises NotFound for whoever is no admin."""
    if not actor.all_powerful:
        raise NotFound
    rows = session.execute(sa.select(User.id, User.name).where(User.may_found, User.is_active).order_by(User.name))
    return tuple(Founder(*row) for row in rows)
