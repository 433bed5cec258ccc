"""Accounts elsewhere that log in here: proven by a provider of OpenID Connect, known by its issuer and subject only.

No account is ever found by an e-mail address that a provider names: it may be unconfirmed, or have been another
person's. Whoever has an account already logs in to it and links the identity there.
"""

import datetime as dt

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, actor_of, require
from leaderboard.accounts.models import Identity, User
from leaderboard.accounts.writes.accounts import NewAccount, register
from leaderboard.audit.writes import present, record
from leaderboard.errors import Conflict, NotFound
from leaderboard.locking import add_or_refuse, locked
from leaderboard.mail.rules import MailKind
from leaderboard.mail.writes import outbox

TAKEN = "This identity logs in to another account: take it away there first."


def find_owner(session: Session, issuer: str, subject: str) -> User | None:
    """The account that this identity logs in to; None when there is none."""
    return session.scalar(sa.select(User).join(Identity).where(Identity.issuer == issuer, Identity.subject == subject))


def log_in(session: Session, issuer: str, subject: str, now: dt.datetime) -> User | None:
    """The same, and notes that it was used."""
    user = find_owner(session, issuer, subject)
    if user is None or not user.is_active:
        return None
    user.last_login_at = now
    used = sa.update(Identity).where(Identity.issuer == issuer, Identity.subject == subject)
    session.execute(used.values(last_used_at=now))
    return user


def link_identity(session: Session, actor: Actor, user: User, issuer: str, subject: str, title: str) -> None:
    """Lets a proven identity log in to the account. title: what the provider is called, for the mail that tells of it.

    Raises Conflict when it logs in to an account already.
    """
    require(actor.user_id == user.id, "You can only link an identity to your own account.")
    _add(session, user, issuer, subject)
    outbox.put(session, MailKind.IDENTITY, user.id, title=title)
    record(session, actor, "link identity", user, issuer=issuer)


def register_with(session: Session, new: NewAccount, issuer: str, subject: str) -> User:
    """A new account that a proven identity logs in to; it has no password. Raises as `register` and `link_identity`."""
    user = register(session, new)
    _add(session, user, issuer, subject)
    record(session, actor_of(session, user.id), "link identity", user, issuer=issuer)
    return user


def unlink_identity(session: Session, actor: Actor, user: User, identity_id: int) -> None:
    """Takes an identity away. Raises NotFound, or Conflict when nothing else would open the account."""
    require(actor.all_powerful or actor.user_id == user.id, "You can only take an identity from your own account.")
    locked(session, User, user.id)
    identity = session.get(Identity, identity_id)
    if identity is None or identity.user_id != user.id:
        raise NotFound(f"no identity {identity_id} logs in to {user.name}")
    others = sa.select(Identity.id).where(Identity.user_id == user.id, Identity.id != identity_id)
    if user.password_hash is None and session.scalar(others) is None:
        raise Conflict(f"Nothing else would open the account {user.name}: set a password first.")
    session.delete(identity)
    record(session, actor, "unlink identity", user, issuer=identity.issuer)


def _add(session: Session, user: User, issuer: str, subject: str) -> None:
    identity = Identity(user_id=user.id, issuer=issuer, subject=subject, created_at=present())
    add_or_refuse(session, identity, Conflict(TAKEN))
