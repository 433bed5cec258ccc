"""The reader's own account: their teams, the teams' latest runs, open invitations, sessions, and API tokens."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, actor_columns, actor_in
from leaderboard.accounts.models import ApiToken, BrowserSession, Identity, User
from leaderboard.accounts.rules import token_hash
from leaderboard.campaigns.models import Campaign, CampaignOrganiser
from leaderboard.db import UtcDateTime, snapshot
from leaderboard.errors import NotAllowed
from leaderboard.frozen import frozen
from leaderboard.teams.models import Invitation, Membership, Team
from leaderboard.teams.reads import MEMBERS, OwnRun, is_owned_by, open_invitation, own_runs
from leaderboard.teams.rules import Role

LATEST = 20  # runs on the account's page


@frozen
class OwnTeam:
    slug: str
    name: str
    role: Role
    members: int


@frozen
class LinkedIdentity:
    """An account elsewhere that logs in to this one."""

    id: int
    issuer: str
    subject: str
    created_at: datetime
    last_used_at: datetime | None


@frozen
class Account:
    """`email` is confirmed; `unconfirmed_email` waits for that. Empty where there is none."""

    name: str
    email: str
    unconfirmed_email: str
    has_password: bool
    created_at: datetime
    teams: tuple[OwnTeam, ...]
    runs: tuple[OwnRun, ...]
    identities: tuple[LinkedIdentity, ...]


@frozen
class OpenSession:
    """A browser in which an account is logged in, with what it called itself. actor: the account, as who asks."""

    id: int
    browser: str
    created_at: datetime
    last_seen_at: datetime
    actor: Actor

    @property
    def organises(self) -> bool:
        """Whether the organiser's rooms hold something for the account."""
        return self.actor.all_powerful or self.actor.may_found or bool(self.actor.organises)


@frozen
class OpenInvitation:
    """An invitation to a team that has not been used. Its link is shown once and not stored."""

    id: int
    created_by: str
    created_at: datetime
    expires_at: datetime


def account(session: Session, actor: Actor, now: datetime) -> Account:
    """Raises NotAllowed for visitors."""
    user = session.get(User, actor.user_id or 0)
    if user is None:
        raise NotAllowed("Log in to see your account.")
    return snapshot(
        Account,
        user,
        email=user.email or "",
        unconfirmed_email=user.unconfirmed_email or "",
        has_password=user.password_hash is not None,
        teams=_teams(session, user.id),
        runs=own_runs(session, actor, actor.teams, now, limit=LATEST),
        identities=identities_of(session, user.id),
    )


def needed_by(session: Session, user_id: int) -> list[str]:
    """The names of the teams of several members that have no owner but this account, and the titles of the campaigns
    that nobody else organises: they would be without, if it were closed.
    """
    members, owns, organiser = sa.func.count(), Membership.role == Role.OWNER, CampaignOrganiser.user_id
    only_owner = members.filter(owns) == 1, members.filter(owns, Membership.user_id == user_id) == 1
    teams = sa.select(Team.name).join(Membership, Membership.team_id == Team.id).group_by(Team.id).order_by(Team.name)
    campaigns = sa.select(Campaign.title).join(CampaignOrganiser, CampaignOrganiser.campaign_id == Campaign.id)
    alone = campaigns.group_by(Campaign.id).having(sa.func.min(organiser) == user_id, sa.func.max(organiser) == user_id)
    named = teams.having(members > 1, *only_owner), alone.order_by(Campaign.title)
    return [name for statement in named for name in session.scalars(statement)]


def open_session(session: Session, token: str, now: datetime) -> OpenSession | None:
    """The session of this token, in one statement; None when it is over or its account is closed."""
    row = session.execute(OF_TOKEN, {"now": now, "token_hash": token_hash(token)}).one_or_none()
    return None if row is None else session_in(row)


def open_sessions(session: Session, user_id: int, now: datetime) -> tuple[OpenSession, ...]:
    """Where an account is logged in, the last seen first."""
    rows = session.execute(
        sessions_open(now)
        .where(BrowserSession.user_id == user_id)
        .order_by(BrowserSession.last_seen_at.desc(), BrowserSession.id.desc())
    )
    return tuple(session_in(row) for row in rows)


def open_invitations(session: Session, actor: Actor, team_slug: str, now: datetime) -> tuple[OpenInvitation, ...]:
    """The team's invitations that still work, the newest first; empty unless the actor owns the team or is an admin."""
    rows = session.execute(
        sa.select(Invitation.id, sa.func.coalesce(User.name, ""), Invitation.created_at, Invitation.expires_at)
        .join(Invitation.team)
        .outerjoin(User, User.id == Invitation.created_by_id)
        .where(Team.slug == team_slug, is_owned_by(actor), open_invitation(now))
        .order_by(Invitation.created_at.desc(), Invitation.id.desc())
    )
    return tuple(OpenInvitation(*row) for row in rows)


def sessions_open(now: datetime | sa.BindParameter[datetime]) -> sa.Select[*tuple[Any, ...]]:
    """The statement on all sessions that are not over; `session_in` reads its rows."""
    return (
        sa.select(
            BrowserSession.id,
            BrowserSession.browser,
            BrowserSession.created_at,
            BrowserSession.last_seen_at,
            *actor_columns(),
        )
        .join(BrowserSession.user)
        .where(BrowserSession.ended_at.is_(None), BrowserSession.expires_at > now, User.is_active.is_(True))
    )


# Built once: each request of somebody who is signed in asks for it, and building it takes longer than running it.
OF_TOKEN = sessions_open(sa.bindparam("now", type_=UtcDateTime())).where(
    BrowserSession.token_hash == sa.bindparam("token_hash")
)


def session_in(row: Sequence[Any]) -> OpenSession:
    """The session that a row of `sessions_open` says."""
    number, browser, created_at, last_seen_at, *account = row
    return OpenSession(number, browser, created_at, last_seen_at, actor_in(account))


def identities_of(session: Session, user_id: int) -> tuple[LinkedIdentity, ...]:
    """The accounts elsewhere that log in to this one, the oldest first."""
    own = sa.select(Identity).where(Identity.user_id == user_id).order_by(Identity.created_at, Identity.id)
    return tuple(snapshot(LinkedIdentity, identity) for identity in session.scalars(own))


def _teams(session: Session, user_id: int) -> tuple[OwnTeam, ...]:
    rows = session.execute(
        sa.select(Team.slug, Team.name, Membership.role, MEMBERS)
        .join(Membership.team)
        .where(Membership.user_id == user_id)
        .order_by(Team.name, Team.id)
    )
    return tuple(OwnTeam(*row) for row in rows)


def open_token(session: Session, token: str, now: datetime) -> ApiToken | None:
    """The token, if it is one, not revoked, not expired, and of an account that is not closed."""
    return session.scalar(OF_TEXT, {"now": now, "token_hash": token_hash(token)})


def tokens_of(session: Session, user_id: int, now: datetime) -> Sequence[ApiToken]:
    """The account's, the newest first."""
    own = _open(now).where(ApiToken.user_id == user_id).order_by(ApiToken.id.desc())
    return session.scalars(own).all()


def is_live(now: datetime | sa.BindParameter[datetime]) -> sa.ColumnElement[bool]:
    """Condition on ApiToken: it is not revoked and not expired."""
    return sa.and_(ApiToken.revoked_at.is_(None), sa.or_(ApiToken.expires_at.is_(None), ApiToken.expires_at > now))


def _open(now: datetime | sa.BindParameter[datetime]) -> sa.Select[ApiToken]:
    return sa.select(ApiToken).join(User, User.id == ApiToken.user_id).where(User.is_active, is_live(now))


# Built once: each request of a program asks for it.
OF_TEXT = _open(sa.bindparam("now", type_=UtcDateTime())).where(ApiToken.token_hash == sa.bindparam("token_hash"))
