"""Teams that let themselves be found, and who asks to join one."""

import datetime as dt
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.lookup import find_own_team, takes_requests
from leaderboard.models import JoinRequest, Membership, Team, User
from leaderboard.reads.paging import Paging, paged
from leaderboard.rules.roles import Role

__all__ = ["FoundTeam", "OpenRequest", "TeamSettings", "find_teams", "has_asked", "open_requests", "team_settings"]

PAGE = 50


@dataclass(frozen=True, slots=True)
class FoundTeam:
    """A team as those who are not in it find it: nothing of what it takes part in."""

    slug: str
    name: str
    description: str
    size: int
    is_member: bool


@dataclass(frozen=True, slots=True)
class OpenRequest:
    id: int
    name: str
    text: str
    created_at: dt.datetime


@dataclass(frozen=True, slots=True)
class TeamSettings:
    slug: str
    name: str
    description: str
    is_listed: bool
    is_owner: bool


def find_teams(
    session: Session, actor: Actor, *, words: str = "", page: int | None = 1
) -> tuple[tuple[FoundTeam, ...], Paging]:
    """The teams that allow it, by name; `words`: those whose name or description holds them."""
    members = sa.select(sa.func.count()).where(Membership.team_id == Team.id).scalar_subquery()
    statement = sa.select(Team.id, Team.slug, Team.name, Team.description, members).where(takes_requests())
    if words.strip():
        asked = words.strip()
        statement = statement.where(
            sa.or_(Team.name.icontains(asked, autoescape=True), Team.description.icontains(asked, autoescape=True))
        )
    rows = session.execute(statement.order_by(sa.func.lower(Team.name), Team.id)).all()
    found = [FoundTeam(slug, name, words, size, actor.is_in(key)) for key, slug, name, words, size in rows]
    return paged(found, page, PAGE)


def open_requests(session: Session, actor: Actor, team_slug: str) -> tuple[OpenRequest, ...]:
    """The requests that wait for an answer, the oldest first; empty unless the actor owns the team or is an admin."""
    is_owner = sa.exists().where(
        Membership.team_id == Team.id, Membership.user_id == actor.user_id, Membership.role == Role.OWNER
    )
    rows = session.execute(
        sa.select(JoinRequest.id, User.name, JoinRequest.text, JoinRequest.created_at)
        .join(Team, Team.id == JoinRequest.team_id)
        .join(User, User.id == JoinRequest.user_id)
        .where(
            Team.slug == team_slug,
            sa.true() if actor.all_powerful else is_owner,
            JoinRequest.answered_at.is_(None),
        )
        .order_by(JoinRequest.created_at, JoinRequest.id)
    )
    return tuple(OpenRequest(*row) for row in rows)


def has_asked(session: Session, actor: Actor, team: Team) -> bool | None:
    """Whether the actor's request waits there; None where they can't ask: visitors, members, teams that take none."""
    if actor.user_id is None or actor.is_in(team.id):
        return None
    asked = sa.select(JoinRequest.id).where(
        JoinRequest.team_id == team.id, JoinRequest.user_id == actor.user_id, JoinRequest.answered_at.is_(None)
    )
    if session.scalar(asked) is not None:
        return True
    return None if session.scalar(sa.select(Team.id).where(Team.id == team.id, takes_requests())) is None else False


def team_settings(session: Session, actor: Actor, team_slug: str) -> TeamSettings:
    """What its owners can change, for members. Raises NotFound for others."""
    team = find_own_team(session, actor, team_slug)
    membership = session.get_one(Membership, (team.id, actor.user_id))
    return TeamSettings(team.slug, team.name, team.description, team.is_listed, membership.role is Role.OWNER)
