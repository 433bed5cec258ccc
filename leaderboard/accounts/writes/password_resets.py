"""A new password by a link in a mail: asked for by anybody, for any address, with one answer."""

import datetime as dt

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import actor_of
from leaderboard.accounts.models import User
from leaderboard.accounts.rules import token_hash
from leaderboard.accounts.writes.accounts import set_password
from leaderboard.accounts.writes.passwords import PasswordHash
from leaderboard.errors import Conflict
from leaderboard.locking import locked
from leaderboard.mail.models import MailLink
from leaderboard.mail.rules import MailKind
from leaderboard.mail.writes import outbox
from leaderboard.names import checked_email

NO_LINK = "This link does not work, or no longer: it sets a password once, within an hour. Ask for another one."


def ask_for_reset(session: Session, email: str) -> None:
    """Puts a mail down, whether or not there is an account: that is looked up when it is sent, and nobody is told. It
    goes to the address that the account has confirmed, however `email` is written.

    So what is answered, and what is done until then, is the same for every address. Raises InvalidFields for a text
    that is no address.
    """
    address, _ = checked_email(email)
    outbox.put(session, MailKind.RESET, None, address)


def find_reset(session: Session, token: str, now: dt.datetime) -> MailLink:
    """The link that still works, with its account. Raises Conflict otherwise, whatever the reason."""
    link = session.scalar(
        sa.select(MailLink)
        .join(MailLink.user)
        .options(sa.orm.contains_eager(MailLink.user))
        .where(
            MailLink.token_hash == token_hash(token),
            MailLink.kind == MailKind.RESET,
            MailLink.used_at.is_(None),
            MailLink.expires_at > now,
            User.is_active.is_(True),
        )
    )
    # Not where the account has another address by now, to the letter: who reads the old one's mail has lost it.
    if link is None or link.user.email != link.address:
        raise Conflict(NO_LINK)
    return link


def reset_password(session: Session, token: str, password_hash: PasswordHash, now: dt.datetime) -> User:
    """Sets the password; the link and all others of the account are used up, and all of its sessions end."""
    found = find_reset(session, token, now)
    user = locked(session, User, found.user_id)
    locked(session, MailLink, found.id)
    find_reset(session, token, now)  # looked at again under the locks: a link works once
    set_password(session, actor_of(session, user.id), user, password_hash)
    return user
