"""What `leaderboard campaign list` and its like list: everything, as somebody at the console sees it."""

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.accounts.models import User
from leaderboard.campaigns.models import Campaign, CampaignOrganiser, CampaignTeam
from leaderboard.evaluations.models import Evaluation
from leaderboard.judgments.models import Query
from leaderboard.submissions.models import Submission
from leaderboard.teams.models import Membership, Team
from leaderboard.teams.rules import Role


def list_accounts(session: Session) -> list[User]:
    """By name."""
    return list(session.scalars(sa.select(User).order_by(User.name)))


def list_campaigns(session: Session) -> list[tuple[Campaign, int]]:
    """Each with how many evaluations it has, by slug."""
    count = sa.select(sa.func.count(Evaluation.id)).where(Evaluation.campaign_id == Campaign.id).scalar_subquery()
    return [(campaign, n) for campaign, n in session.execute(sa.select(Campaign, count).order_by(Campaign.slug))]


def organisers_of(session: Session, campaign: Campaign) -> list[str]:
    """The names of their accounts, sorted."""
    organisers = sa.select(User.name).join(CampaignOrganiser, CampaignOrganiser.user_id == User.id)
    return list(session.scalars(organisers.where(CampaignOrganiser.campaign_id == campaign.id).order_by(User.name)))


def teams_let_into(session: Session, campaign: Campaign) -> list[str]:
    """The names of the teams that a private campaign was opened to, sorted."""
    teams = sa.select(Team.name).join(CampaignTeam, CampaignTeam.team_id == Team.id)
    return list(session.scalars(teams.where(CampaignTeam.campaign_id == campaign.id).order_by(Team.name)))


def list_evaluations(session: Session, campaign: Campaign | None = None) -> list[tuple[Evaluation, int, int]]:
    """Those of one campaign or all, each with its numbers of queries and of runs; by campaign and period."""
    queries = sa.select(sa.func.count(Query.id)).where(Query.evaluation_id == Evaluation.id).scalar_subquery()
    runs = sa.select(sa.func.count(Submission.id)).where(Submission.evaluation_id == Evaluation.id).scalar_subquery()
    statement = (
        sa.select(Evaluation, queries, runs)
        .join(Evaluation.campaign)
        .options(sa.orm.contains_eager(Evaluation.campaign))
        .order_by(Campaign.slug, Evaluation.period_key, Evaluation.slug)
    )
    if campaign is not None:
        statement = statement.where(Campaign.id == campaign.id)
    return [(evaluation, n, m) for evaluation, n, m in session.execute(statement)]


def list_teams(session: Session) -> list[tuple[Team, list[str]]]:
    """Each with the names of its members, its owners marked as such; by name. Not those merged into others."""
    members: dict[int, list[str]] = {}
    pairs = sa.select(Membership.team_id, User.name, Membership.role).join(User, User.id == Membership.user_id)
    for team_id, name, role in session.execute(pairs.order_by(User.name)):
        members.setdefault(team_id, []).append(f"{name} (owner)" if role is Role.OWNER else name)
    own = sa.select(Team).where(Team.merged_into_id.is_(None)).order_by(Team.name)
    return [(team, members.get(team.id, [])) for team in session.scalars(own)]
