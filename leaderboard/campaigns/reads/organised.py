"""Where an organiser is: the campaigns that they organise, and the room of one and of its evaluations."""

import datetime as dt
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.accounts.models import User
from leaderboard.campaigns.models import Campaign, CampaignOrganiser
from leaderboard.db import snapshot
from leaderboard.errors import NotFound
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.find import find_campaign, find_evaluation
from leaderboard.evaluations.reads.headings import CampaignHeading, campaign_heading
from leaderboard.evaluations.rules import Phase, phase_of
from leaderboard.judgments.models import Query
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import with_current_scoring
from leaderboard.submissions.rules import UNFINISHED
from leaderboard.worker.models import Scoring


@dataclass(frozen=True, slots=True)
class Room:
    """evaluation, evaluation_title: empty in a campaign's room."""

    campaign: str
    campaign_title: str
    evaluation: str = ""
    evaluation_title: str = ""


@dataclass(frozen=True, slots=True)
class Counts:
    """submissions: all on record; waiting: queued or being scored, since when the oldest."""

    submissions: int = 0
    waiting: int = 0
    oldest_waiting: dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class EvaluationRow:
    slug: str
    title: str
    period: str
    condition: str
    phase: Phase
    opens_at: dt.datetime | None
    closes_at: dt.datetime | None
    draft: bool
    counts: Counts


@dataclass(frozen=True, slots=True)
class OrganisedCampaign:
    """phases: of its evaluations that are no drafts, each once, the open ones first; drafts: how many are drafts."""

    heading: CampaignHeading
    primary_measure: str
    beta: float | None
    evaluations: int
    phases: tuple[Phase, ...]
    drafts: int
    counts: Counts


@dataclass(frozen=True, slots=True)
class ListedEvaluation:
    """queries, runs: how many it has."""

    campaign: str
    slug: str
    title: str
    period: str
    condition: str
    queries: int
    runs: int
    opens_at: dt.datetime | None
    closes_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class CampaignRoom:
    """evaluations: the newest period first."""

    heading: CampaignHeading
    organisers: tuple[str, ...]
    evaluations: tuple[EvaluationRow, ...]


def organised_campaign(session: Session, actor: Actor, slug: str) -> Campaign:
    """Raises NotFound also for whoever does not organise it."""
    campaign = find_campaign(session, actor, slug)
    if not actor.may_organise(campaign.id):
        raise NotFound
    return campaign


def organised_evaluation(session: Session, actor: Actor, campaign_slug: str, slug: str) -> Evaluation:
    """The evaluation with its campaign. Raises NotFound also for whoever does not organise the campaign."""
    organised_campaign(session, actor, campaign_slug)
    return find_evaluation(session, actor, campaign_slug, slug)


def room(session: Session, actor: Actor, campaign_slug: str, slug: str | None, _: dt.datetime) -> Room:
    """The room of a campaign, or of one of its evaluations. Raises NotFound."""
    if slug is None:
        campaign = organised_campaign(session, actor, campaign_slug)
        return Room(campaign.slug, campaign.title)
    evaluation = organised_evaluation(session, actor, campaign_slug, slug)
    return Room(evaluation.campaign.slug, evaluation.campaign.title, evaluation.slug, evaluation.title)


def organised_campaigns(session: Session, actor: Actor, now: dt.datetime) -> tuple[OrganisedCampaign, ...]:
    """The campaigns that `actor` organises (an admin: all), the newest first and archived ones last."""
    own = sa.true() if actor.all_powerful else Campaign.id.in_(actor.organises)
    records = session.scalars(sa.select(Campaign).where(own).order_by(Campaign.created_at.desc(), Campaign.id.desc()))
    campaigns = list(records)
    evaluations = _evaluations(session, *(campaign.id for campaign in campaigns))
    counts = _counts(session, [evaluation.id for evaluation in evaluations])
    rows = []
    for campaign in campaigns:
        within = [evaluation for evaluation in evaluations if evaluation.campaign_id == campaign.id]
        phases = {phase_of(evaluation, now) for evaluation in within if not evaluation.draft}
        order = (Phase.OPEN, Phase.GRACE, Phase.UPCOMING, Phase.CLOSED)
        rows.append(
            OrganisedCampaign(
                campaign_heading(campaign),
                campaign.primary_measure,
                campaign.beta,
                len(within),
                tuple(phase for phase in order if phase in phases),
                sum(evaluation.draft for evaluation in within),
                _sum([counts[evaluation.id] for evaluation in within if evaluation.id in counts]),
            )
        )
    return tuple(sorted(rows, key=lambda row: row.heading.archived))


def organised_evaluations(
    session: Session, actor: Actor, campaign: str, _: dt.datetime
) -> tuple[ListedEvaluation, ...]:
    """Those of one campaign, or of all that `actor` organises, by campaign and period. Raises NotFound."""
    own: sa.ColumnElement[bool] = sa.true() if actor.all_powerful else Campaign.id.in_(actor.organises)
    if campaign:
        own = Campaign.id == organised_campaign(session, actor, campaign).id
    queries = sa.select(sa.func.count(Query.id)).where(Query.evaluation_id == Evaluation.id).scalar_subquery()
    runs = sa.select(sa.func.count(Submission.id)).where(Submission.evaluation_id == Evaluation.id).scalar_subquery()
    rows = session.execute(
        sa.select(
            Campaign.slug, Evaluation.slug, Evaluation.title, Evaluation.period, Evaluation.condition, queries, runs,
            Evaluation.opens_at, Evaluation.closes_at,
        )
        .join(Evaluation.campaign).where(own).order_by(Campaign.slug, Evaluation.period_key, Evaluation.slug)
    )  # fmt: skip
    return tuple(ListedEvaluation(*row) for row in rows)


def campaign_room(session: Session, actor: Actor, slug: str, now: dt.datetime) -> CampaignRoom:
    """Raises NotFound."""
    campaign = organised_campaign(session, actor, slug)
    evaluations = _evaluations(session, campaign.id)
    counts = _counts(session, [evaluation.id for evaluation in evaluations])
    organisers = session.scalars(
        sa.select(User.name)
        .join(CampaignOrganiser, CampaignOrganiser.user_id == User.id)
        .where(CampaignOrganiser.campaign_id == campaign.id)
        .order_by(User.name)
    )
    return CampaignRoom(
        campaign_heading(campaign),
        tuple(organisers),
        tuple(
            snapshot(
                EvaluationRow,
                evaluation,
                phase=phase_of(evaluation, now),
                counts=counts.get(evaluation.id, Counts()),
            )
            for evaluation in evaluations
        ),
    )


def _evaluations(session: Session, *campaign_ids: int) -> list[Evaluation]:
    """Those of the campaigns, the newest period first, then by condition."""
    return list(
        session.scalars(
            sa.select(Evaluation)
            .where(Evaluation.campaign_id.in_(campaign_ids))
            .order_by(Evaluation.period_key.desc(), Evaluation.condition, Evaluation.id)
        )
    )


def _counts(session: Session, evaluation_ids: list[int]) -> dict[int, Counts]:
    """Evaluation -> its submissions; those without a scoring, because nothing is judged yet, wait for nobody."""
    waiting = sa.and_(Scoring.state.in_(UNFINISHED), Submission.withdrawn_at.is_(None))
    rows = session.execute(
        with_current_scoring(
            sa.select(
                Submission.evaluation_id,
                sa.func.count(),
                sa.func.count(sa.case((waiting, 1))),
                sa.func.min(sa.case((waiting, Scoring.queued_at))),
            )
        )
        .where(Submission.evaluation_id.in_(evaluation_ids))
        .group_by(Submission.evaluation_id)
    )
    return {evaluation: Counts(*counts) for evaluation, *counts in rows}


def _sum(counts: list[Counts]) -> Counts:
    return Counts(
        sum(each.submissions for each in counts),
        sum(each.waiting for each in counts),
        min((each.oldest_waiting for each in counts if each.oldest_waiting), default=None),
    )
