"""API tokens: made once and shown once, ended by their account, dead with it."""

import datetime as dt
import secrets
from collections.abc import Iterable

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, require
from leaderboard.accounts.models import ApiToken, User
from leaderboard.accounts.rules import Scope, token_hash
from leaderboard.audit.writes import record
from leaderboard.declared.texts import text_problem
from leaderboard.errors import InvalidFields, NotFound
from leaderboard.locking import locked

PREFIX = "lb_"  # so that a token that got into a repository can be found there
HINT = len(PREFIX) + 4  # characters; of the 43 random ones the account's page shows four
LONGEST_NAME = 80
LONGEST_DAYS = 3660
MOST_TOKENS = 50  # of an account at the same time
USED_EVERY = dt.timedelta(minutes=1)  # a use is noted no more often than this: most requests should write nothing


def make_token(
    session: Session,
    actor: Actor,
    user: User,
    name: str,
    scopes: Iterable[Scope],
    *,
    days: int | None,
    now: dt.datetime,
) -> str:
    """A new token of the account, which is kept nowhere here; READ is always among its scopes.

    name  what its owner tells it by
    days  after which it opens nothing; None: it lasts until it is revoked

    Raises InvalidFields (name, days).
    """
    require(actor.all_powerful or actor.user_id == user.id, "You can only make tokens of your own account.")
    require(user.is_active, "This account is closed.")
    locked(session, User, user.id)  # counted first and added after: two at once must not both pass
    name = " ".join(name.split())
    fields: dict[str, list[str]] = {}
    if not name:
        fields["name"] = ["say what the token is for, such as the program that uses it"]
    elif problem := text_problem(name, LONGEST_NAME):
        fields["name"] = [problem]
    if days is not None and not 1 <= days <= LONGEST_DAYS:
        fields["days"] = [f"give 1 to {LONGEST_DAYS} days"]
    live = sa.select(sa.func.count()).where(*_live(user.id, now))
    if (session.scalar(live) or 0) >= MOST_TOKENS:
        fields.setdefault("name", []).append(f"the account has {MOST_TOKENS} tokens; revoke one first")
    if fields:
        raise InvalidFields(fields)
    token = PREFIX + secrets.token_urlsafe(32)
    granted = sorted({Scope.READ, *scopes})
    session.add(
        ApiToken(
            user_id=user.id, name=name, hint=token[:HINT], scopes=[scope.value for scope in granted],
            token_hash=token_hash(token), created_at=now,
            expires_at=None if days is None else now + dt.timedelta(days=days),
        )
    )  # fmt: skip
    record(session, actor, "make token", user, name=name, scopes=[scope.value for scope in granted], days=days)
    return token


def revoke_token(session: Session, actor: Actor, token_id: int, now: dt.datetime) -> None:
    """From here on the token opens nothing. Raises NotFound for a token of somebody else, as for none."""
    token = session.get(ApiToken, token_id)
    if token is None or not (actor.all_powerful or token.user_id == actor.user_id):
        raise NotFound
    if token.revoked_at is None:
        token.revoked_at = now
        record(session, actor, "revoke token", session.get_one(User, token.user_id), name=token.name)


def revoke_all(session: Session, user_id: int, now: dt.datetime) -> None:
    """Ends every token of the account; whoever calls it records why."""
    session.execute(sa.update(ApiToken).where(*_live(user_id, now)).values(revoked_at=now))


def note_use(session: Session, token_id: int, now: dt.datetime) -> None:
    """Notes that a token was used now, unless another request has just done so."""
    due = sa.or_(ApiToken.last_used_at.is_(None), ApiToken.last_used_at <= now - USED_EVERY)
    session.execute(sa.update(ApiToken).where(ApiToken.id == token_id, due).values(last_used_at=now))


def _live(user_id: int, now: dt.datetime) -> tuple[sa.ColumnElement[bool], ...]:
    unexpired = sa.or_(ApiToken.expires_at.is_(None), ApiToken.expires_at > now)
    return ApiToken.user_id == user_id, ApiToken.revoked_at.is_(None), unexpired
