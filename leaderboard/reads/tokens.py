"""API tokens: whose one is, and the list on the account's page."""

import datetime as dt
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.db import UtcDateTime
from leaderboard.models import ApiToken, User
from leaderboard.rules.scopes import Scope
from leaderboard.rules.tokens import token_hash

__all__ = ["Token", "open_token", "tokens_of"]


@dataclass(frozen=True, slots=True)
class Token:
    """A token that opens something still. hint: its first characters; the rest is kept nowhere."""

    id: int
    user_id: int
    name: str
    hint: str
    scopes: frozenset[Scope]
    created_at: dt.datetime
    expires_at: dt.datetime | None
    last_used_at: dt.datetime | None


def open_token(session: Session, token: str, now: dt.datetime) -> Token | None:
    """The token, if it is one, not revoked, not expired, and of an account that is not closed."""
    found = session.scalars(OF_TEXT, {"now": now, "token_hash": token_hash(token)}).one_or_none()
    return None if found is None else _shown(found)


def tokens_of(session: Session, user_id: int, now: dt.datetime) -> tuple[Token, ...]:
    """The account's, the newest first."""
    found = session.scalars(_open(now).where(ApiToken.user_id == user_id).order_by(ApiToken.id.desc()))
    return tuple(map(_shown, found))


def _open(now: dt.datetime | sa.BindParameter[dt.datetime]) -> sa.Select[ApiToken]:
    return (
        sa.select(ApiToken)
        .join(User, User.id == ApiToken.user_id)
        .where(
            User.is_active,
            ApiToken.revoked_at.is_(None),
            sa.or_(ApiToken.expires_at.is_(None), ApiToken.expires_at > now),
        )
    )


# Built once: each request of a program asks for it.
OF_TEXT = _open(sa.bindparam("now", type_=UtcDateTime())).where(ApiToken.token_hash == sa.bindparam("token_hash"))


def _shown(token: ApiToken) -> Token:
    return Token(
        token.id,
        token.user_id,
        token.name,
        token.hint,
        frozenset(map(Scope, token.scopes)),
        token.created_at,
        token.expires_at,
        token.last_used_at,
    )
