"""The page of the reader's own account: their teams, the teams' latest runs, and open invitations."""

import datetime as dt
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.errors import NotAllowed
from leaderboard.models import Evaluation, Invitation, Membership, Scoring, ScoringSet, Submission, Team, User
from leaderboard.rules.roles import Role
from leaderboard.rules.states import SetState, shown_state

__all__ = ["Account", "OpenInvitation", "OwnSubmission", "OwnTeam", "account", "open_invitations", "own_submissions"]

LATEST = 20  # submissions on the account's page


@dataclass(frozen=True, slots=True)
class OwnTeam:
    slug: str
    name: str
    role: Role
    members: int


@dataclass(frozen=True, slots=True)
class OwnSubmission:
    """A run of one of the reader's teams. state: queued, scoring, scored, rejected, failed or withdrawn."""

    id: int
    label: str
    campaign: str
    campaign_slug: str
    evaluation: str
    evaluation_slug: str
    team: str
    system: str
    state: str
    received_at: dt.datetime


@dataclass(frozen=True, slots=True)
class Account:
    name: str
    email: str
    created_at: dt.datetime
    is_admin: bool
    teams: tuple[OwnTeam, ...]
    submissions: tuple[OwnSubmission, ...]


@dataclass(frozen=True, slots=True)
class OpenInvitation:
    """An invitation to a team that has not been used. Its link is shown once and not stored."""

    id: int
    created_by: str
    created_at: dt.datetime
    expires_at: dt.datetime


def account(session: Session, actor: Actor) -> Account:
    """Raises NotAllowed for visitors."""
    user = session.get(User, actor.user_id) if actor.user_id is not None else None
    if user is None:
        raise NotAllowed("Log in to see your account.")
    return Account(
        name=user.name,
        email=user.email or "",
        created_at=user.created_at,
        is_admin=user.is_admin,
        teams=_teams(session, user.id),
        submissions=own_submissions(session, actor),
    )


def own_submissions(session: Session, actor: Actor, limit: int = LATEST) -> tuple[OwnSubmission, ...]:
    """The latest runs of the actor's teams, the newest first."""
    is_current = sa.and_(ScoringSet.evaluation_id == Submission.evaluation_id, ScoringSet.state == SetState.CURRENT)
    is_its = sa.and_(Scoring.submission_id == Submission.id, Scoring.scoring_set_id == ScoringSet.id)
    rows = session.execute(
        sa.select(Submission, Scoring.state)
        .outerjoin(ScoringSet, is_current)
        .outerjoin(Scoring, is_its)
        .where(Submission.team_id.in_(actor.teams))
        .options(
            sa.orm.joinedload(Submission.evaluation).joinedload(Evaluation.campaign),
            sa.orm.joinedload(Submission.team),
            sa.orm.joinedload(Submission.system),
        )
        .order_by(Submission.received_at.desc(), Submission.id.desc())
        .limit(limit)
    )
    return tuple(
        OwnSubmission(
            id=run.id,
            label=run.label,
            campaign=run.evaluation.campaign.title,
            campaign_slug=run.evaluation.campaign.slug,
            evaluation=run.evaluation.title,
            evaluation_slug=run.evaluation.slug,
            team=run.team.name,
            system=run.system.name,
            state=shown_state(state, run.withdrawn_at),
            received_at=run.received_at,
        )
        for run, state in rows
    )


def open_invitations(session: Session, actor: Actor, team_slug: str, now: dt.datetime) -> tuple[OpenInvitation, ...]:
    """The team's invitations that still work, the newest first; empty unless the actor owns the team or is an admin."""
    is_owner = sa.exists().where(
        Membership.team_id == Team.id, Membership.user_id == actor.user_id, Membership.role == Role.OWNER
    )
    rows = session.execute(
        sa.select(Invitation.id, sa.func.coalesce(User.name, ""), Invitation.created_at, Invitation.expires_at)
        .join(Invitation.team)
        .outerjoin(User, User.id == Invitation.created_by_id)
        .where(
            Team.slug == team_slug,
            sa.true() if actor.all_powerful else is_owner,
            Invitation.used_at.is_(None),
            Invitation.revoked_at.is_(None),
            Invitation.expires_at > now,
        )
        .order_by(Invitation.created_at.desc(), Invitation.id.desc())
    )
    return tuple(OpenInvitation(*row) for row in rows)


def _teams(session: Session, user_id: int) -> tuple[OwnTeam, ...]:
    others = sa.orm.aliased(Membership)
    members = sa.select(sa.func.count()).where(others.team_id == Team.id).scalar_subquery()
    rows = session.execute(
        sa.select(Team.slug, Team.name, Membership.role, members)
        .join(Membership.team)
        .where(Membership.user_id == user_id)
        .order_by(Team.name, Team.id)
    )
    return tuple(OwnTeam(*row) for row in rows)
