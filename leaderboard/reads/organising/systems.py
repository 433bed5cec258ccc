"""The systems that took part in a campaign, for its organisers to say what they are."""

import datetime as dt
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, may_change_kind
from leaderboard.errors import NotFound
from leaderboard.models import Evaluation, Submission, System, Team
from leaderboard.reads.organising.rooms import organised_campaign
from leaderboard.reads.systems import SystemFacts, facts_of
from leaderboard.rules.standings import SystemKind

__all__ = ["OrganisedSystem", "organised_system", "organised_systems"]


@dataclass(frozen=True, slots=True)
class OrganisedSystem(SystemFacts):
    """runs: in the campaign; may_change: whether the reader organises every campaign that it has runs in."""

    runs: int
    may_change: bool


def organised_systems(
    session: Session, actor: Actor, campaign_slug: str, _: dt.datetime
) -> tuple[OrganisedSystem, ...]:
    """Those that have runs in the campaign: baselines first, then by team and name. Raises NotFound."""
    campaign = organised_campaign(session, actor, campaign_slug)
    rows = session.execute(
        sa.select(System, sa.func.count(Submission.id))
        .join(System.team)
        .options(sa.orm.contains_eager(System.team))
        .join(Submission, Submission.system_id == System.id)
        .join(Evaluation, Evaluation.id == Submission.evaluation_id)
        .where(Evaluation.campaign_id == campaign.id)
        .group_by(System.id, Team.id)
        .order_by(sa.case((System.kind == SystemKind.BASELINE, 0), else_=1), Team.name, System.name, System.id)
    ).all()
    own = sa.select(Submission.system_id).join(Evaluation, Evaluation.id == Submission.evaluation_id)
    strange = set(session.scalars(own.where(Evaluation.campaign_id.not_in(actor.organises)).distinct()))
    return tuple(
        OrganisedSystem(*facts_of(system), runs, actor.all_powerful or system.id not in strange)
        for system, runs in rows
    )


def organised_system(
    session: Session, actor: Actor, campaign_slug: str, system_id: int, _: dt.datetime
) -> OrganisedSystem:
    """One that has runs in the campaign. Raises NotFound."""
    campaign = organised_campaign(session, actor, campaign_slug)
    runs = session.scalar(
        sa.select(sa.func.count(Submission.id))
        .join(Evaluation, Evaluation.id == Submission.evaluation_id)
        .where(Submission.system_id == system_id, Evaluation.campaign_id == campaign.id)
    )
    if not runs:
        raise NotFound(f"there is no system {system_id} in {campaign.title}")
    system = session.get_one(System, system_id)
    return OrganisedSystem(*facts_of(system), runs, may_change_kind(session, actor, system_id))
