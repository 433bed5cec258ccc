"""The systems that took part in a campaign, for its organisers to say what they are."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Sight, may_see
from leaderboard.campaigns.reads.organised import organised_campaign
from leaderboard.errors import NotFound
from leaderboard.evaluations.models import Evaluation
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.scored_runs import on_boards
from leaderboard.submissions.rules.selection import SystemKind
from leaderboard.teams.models import System, Team
from leaderboard.teams.reads.system import SystemFacts, facts_of


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A campaign of other organisers that the system has runs in, and whom it says to write to, where it does."""

    slug: str
    title: str
    contact: str


@dataclass(frozen=True, slots=True)
class OrganisedSystem(SystemFacts):
    """What an organiser is told of a system.

    runs        in the campaign
    may_change  whether the reader organises every campaign that it has runs in
    elsewhere   the others, by title, of which the reader sees a board with it
    """

    runs: int
    may_change: bool
    elsewhere: tuple[Elsewhere, ...]


def organised_systems(
    session: Session, actor: Actor, campaign_slug: str, now: dt.datetime
) -> tuple[OrganisedSystem, ...]:
    """Those that have runs in the campaign: baselines first, then by team and name. Raises NotFound."""
    return _systems(session, actor, campaign_slug, now)


def organised_system(
    session: Session, actor: Actor, campaign_slug: str, system_id: int, now: dt.datetime
) -> OrganisedSystem:
    """One that has runs in the campaign. Raises NotFound."""
    systems = _systems(session, actor, campaign_slug, now, System.id == system_id)
    if not systems:
        campaign = organised_campaign(session, actor, campaign_slug)
        raise NotFound(f"there is no system {system_id} in {campaign.title}")
    return systems[0]


def _systems(
    session: Session, actor: Actor, campaign_slug: str, now: dt.datetime, *which: sa.ColumnElement[bool]
) -> tuple[OrganisedSystem, ...]:
    campaign = organised_campaign(session, actor, campaign_slug)
    rows = session.execute(
        sa.select(System, sa.func.count(Submission.id))
        .join(System.team)
        .options(sa.orm.contains_eager(System.team))
        .join(Submission, Submission.system_id == System.id)
        .join(Evaluation, Evaluation.id == Submission.evaluation_id)
        .where(Evaluation.campaign_id == campaign.id, *which)
        .group_by(System.id, Team.id)
        .order_by(sa.case((System.kind == SystemKind.BASELINE, 0), else_=1), Team.name, System.name, System.id)
    ).all()
    strange, elsewhere = _elsewhere(session, actor, [system.id for system, _ in rows], now)
    return tuple(
        OrganisedSystem(*facts_of(system), runs, system.id not in strange, elsewhere.get(system.id, ()))
        for system, runs in rows
    )


def _elsewhere(
    session: Session, actor: Actor, systems: Sequence[int], now: dt.datetime
) -> tuple[set[int], dict[int, tuple[Elsewhere, ...]]]:
    """The systems that have runs in campaigns of others, and in which, as far as the reader sees boards with them."""
    if actor.all_powerful:
        return set(), {}
    rows = session.execute(
        sa.select(
            Submission.system_id, Evaluation, sa.func.count().filter(on_boards(), Submission.scored_at.is_not(None))
        )
        .join(Evaluation, Evaluation.id == Submission.evaluation_id)
        .where(Submission.system_id.in_(systems), Evaluation.campaign_id.not_in(actor.organises))
        .group_by(Submission.system_id, Evaluation.id)
    ).all()
    seen: dict[int, set[Elsewhere]] = {}
    for system_id, evaluation, shown in rows:
        if shown and all(may_see(actor, evaluation, sight, now) for sight in (Sight.RESULTS, Sight.NAMES)):
            campaign = evaluation.campaign
            seen.setdefault(system_id, set()).add(Elsewhere(campaign.slug, campaign.title, campaign.contact))
    strange = {system_id for system_id, _, _ in rows}
    return strange, {
        system: tuple(sorted(places, key=lambda each: (each.title, each.slug))) for system, places in seen.items()
    }
