"""Removing what was made by mistake: evaluations and campaigns without submissions, systems without a run."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, require, require_organiser
from leaderboard.audit.writes import record
from leaderboard.boards.models import Board
from leaderboard.campaigns.models import Campaign, CampaignOrganiser, CampaignTeam
from leaderboard.db import Base
from leaderboard.errors import Conflict
from leaderboard.evaluations.models import Acceptance, Agreement, Evaluation
from leaderboard.evaluations.reads.find import removal_refusal
from leaderboard.judgments.models import JudgmentRevision, Query
from leaderboard.locking import locked
from leaderboard.submissions.models import Arrival, Participation, PersonalUse
from leaderboard.teams.models import FormerAddress, System, Team
from leaderboard.worker.models import ScoringSet

# What goes with an evaluation, by the column evaluation_id, besides tables whose key says ON DELETE CASCADE, in this
# order: each may be pointed at by those before it.
OF_EVALUATION: tuple[type[Base], ...] = (
    Arrival,
    PersonalUse,
    Participation,
    Agreement,
    ScoringSet,
    JudgmentRevision,
    Query,
)


def remove_evaluation(session: Session, actor: Actor, evaluation: Evaluation) -> None:
    """Removes an evaluation that was made by mistake, with its queries and judgments. The event of the removal stays.

    Raises Conflict once anything was submitted to it, withdrawn and rejected runs too: those stay on record, and so do
    the judgments that they are scored by.
    """
    require_organiser(actor, evaluation.campaign_id)
    evaluation = locked(session, Evaluation, evaluation.id)  # what is just being submitted waits, and finds nothing
    refused = removal_refusal(session, evaluation)
    if refused is not None:
        raise Conflict(refused)
    _remove(session, actor, [evaluation])
    session.expire_all()


def remove_campaign(session: Session, actor: Actor, campaign: Campaign) -> None:
    """Removes a campaign that was made by mistake, with its evaluations; raises as above."""
    require_organiser(actor, campaign.id)
    campaign = locked(session, Campaign, campaign.id)
    own = sa.select(Evaluation.id).where(Evaluation.campaign_id == campaign.id).order_by(Evaluation.id)
    evaluations = [locked(session, Evaluation, evaluation_id) for evaluation_id in session.scalars(own).all()]
    refused = removal_refusal(session, campaign)
    if refused is not None:
        raise Conflict(refused)
    _remove(session, actor, evaluations)
    record(session, actor, "remove", campaign, slug=campaign.slug, title=campaign.title)
    for statement in (
        *(sa.delete(table).where(table.campaign_id == campaign.id) for table in (CampaignOrganiser, CampaignTeam)),
        sa.delete(Campaign).where(Campaign.id == campaign.id),
    ):
        session.execute(statement, execution_options={"synchronize_session": False})
    session.expire_all()


def remove_system(session: Session, actor: Actor, system: System) -> None:
    """Removes a system that no run was ever sent for, such as one that a mistaken import made of the team's.

    Its team may, and admins. Raises Conflict where it has runs, withdrawn and rejected ones too: boards name it.
    """
    require(actor.all_powerful or actor.is_in(system.team_id), "Only members of the team remove a system.")
    locked(session, Team, system.team_id)  # what is just being submitted waits, and finds nothing
    system = locked(session, System, system.id)
    refused = removal_refusal(session, system)
    if refused is not None:
        raise Conflict(refused)
    merged = sa.select(System).where(System.merged_into_id == system.id).order_by(System.id)
    for one in (*session.scalars(merged).all(), system):
        session.execute(sa.delete(FormerAddress).where(FormerAddress.system_id == one.id))
        session.delete(one)
        session.flush()
        record(session, actor, "remove", one, name=one.name, team=one.team_id)


def _remove(session: Session, actor: Actor, evaluations: Sequence[Evaluation]) -> None:
    for evaluation in evaluations:
        one_set = sa.select(ScoringSet).where(ScoringSet.evaluation_id == evaluation.id).limit(1)
        about = session.scalars(one_set).all()  # the event tells of all sets of the evaluation
        facts = {"campaign": evaluation.campaign_id, "slug": evaluation.slug}
        record(session, actor, "remove", evaluation, about=about, **facts)
    ids = [evaluation.id for evaluation in evaluations]
    sets = sa.select(ScoringSet.id).where(ScoringSet.evaluation_id.in_(ids))
    session.execute(
        sa.delete(Board).where(Board.scoring_set_id.in_(sets)), execution_options={"synchronize_session": False}
    )
    agreements = sa.select(Agreement.id).where(Agreement.evaluation_id.in_(ids))
    session.execute(
        sa.delete(Acceptance).where(Acceptance.agreement_id.in_(agreements)),
        execution_options={"synchronize_session": False},
    )
    for table in OF_EVALUATION:
        own = sa.delete(table).where(sa.column("evaluation_id").in_(ids))
        session.execute(own, execution_options={"synchronize_session": False})
    session.execute(
        sa.delete(Evaluation).where(Evaluation.id.in_(ids)), execution_options={"synchronize_session": False}
    )
