"""The e-mail address of an account: given, confirmed by a link, changed, taken out; and which mails are wanted.

An address counts only when it is confirmed: nobody logs in with another one, or gets a link for a new password sent
there. So it does no harm to give somebody else's, and nobody learns from it whether that has an account here.
"""

import datetime as dt
from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, require
from leaderboard.accounts.models import User
from leaderboard.accounts.rules import token_hash
from leaderboard.audit.writes import assign, record
from leaderboard.errors import Conflict, InvalidFields
from leaderboard.locking import locked
from leaderboard.mail.models import MailLink
from leaderboard.mail.rules import OPTIONAL, MailKind
from leaderboard.mail.writes import outbox
from leaderboard.names import checked_email, email_key

ASKED_AGAIN = "another link was asked for since"
NO_LINK = "This link does not work, or no longer: it confirms an address once, within a week. Have another one sent."


def change_address(session: Session, actor: Actor, user: User, email: str) -> None:
    """Gives another address, which is confirmed by a link sent there; the one in use is told. Empty: none any more."""
    _require_own(actor, user)
    if not email.strip():
        outbox.void_confirmations(session, user, "the address was taken out since")
        old, user.unconfirmed_email = user.email, None
        user.email, user.email_key = None, None
        if old is not None:
            outbox.put(session, MailKind.ADDRESS, user.id, old, new="", done=True)
        record(session, actor, "remove address", user)
        return
    address, key = checked_email(email)
    if key == user.email_key:
        raise InvalidFields({"email": ["this is the confirmed address of your account already"]})
    user.unconfirmed_email = address
    outbox.void_confirmations(session, user, ASKED_AGAIN)
    outbox.put(session, MailKind.CONFIRMATION, user.id, address)
    if user.email is not None:
        outbox.put(session, MailKind.ADDRESS, user.id, user.email, new=address, done=False)
    record(session, actor, "give address", user)


def send_confirmation(session: Session, actor: Actor, user: User) -> str:
    """Sends the link once more, for an address that waits for it; gives the address."""
    _require_own(actor, user)
    if user.unconfirmed_email is None:
        raise Conflict("No address of this account waits to be confirmed.")
    outbox.void_confirmations(session, user, ASKED_AGAIN)
    outbox.put(session, MailKind.CONFIRMATION, user.id, user.unconfirmed_email)
    return user.unconfirmed_email


def find_confirmation(session: Session, actor: Actor, token: str, now: dt.datetime) -> MailLink:
    """The link of the actor's own account that still works. Raises Conflict otherwise, whatever the reason."""
    link = session.scalar(
        sa.select(MailLink).where(
            MailLink.token_hash == token_hash(token),
            MailLink.kind == MailKind.CONFIRMATION,
            MailLink.user_id == actor.user_id,
            MailLink.used_at.is_(None),
            MailLink.expires_at > now,
        )
    )
    if link is None or link.user.unconfirmed_email != link.address:  # to the letter: that is where the link was sent
        raise Conflict(NO_LINK)
    return link


def confirm_address(session: Session, actor: Actor, token: str, now: dt.datetime) -> User:
    """Makes the address that a link was sent to the account's; the one before is told. Only its own account may."""
    link = locked(session, MailLink, find_confirmation(session, actor, token, now).id)
    user = locked(session, User, link.user_id)
    link = find_confirmation(session, actor, token, now)  # looked at again under the locks
    link.used_at = now
    old = user.email
    _take(session, user, link.address)
    if old is not None:
        outbox.put(session, MailKind.ADDRESS, user.id, old, new=user.email, done=True)
    record(session, actor, "confirm address", user)
    return user


def set_address(session: Session, actor: Actor, user: User, email: str) -> None:
    """An address that somebody at the console knows to be the account's: it needs no confirmation."""
    require(actor.all_powerful, "Only an admin gives an account an address that is not confirmed by a link.")
    address, _ = checked_email(email)
    old = user.email
    if old == address and user.unconfirmed_email is None:
        return
    _take(session, user, address)
    if old is not None and old != address:
        outbox.put(session, MailKind.ADDRESS, user.id, old, new=address, done=True)
    record(session, actor, "set address", user)


def choose_mail(session: Session, actor: Actor, user: User, wanted: Collection[str]) -> None:
    """Which kinds of mail the account gets, of those that can be turned off."""
    _require_own(actor, user)
    unknown = sorted(set(wanted) - {kind.value for kind in OPTIONAL})
    if unknown:
        raise InvalidFields({"wanted": [f"there is no mail of the kind {unknown[0]!r} that can be chosen"]})
    unwanted = [kind.value for kind in OPTIONAL if kind.value not in wanted]
    if assign(user, unwanted_mail=unwanted):
        record(session, actor, "choose mail", user)


def _take(session: Session, user: User, address: str) -> None:
    """Raises Conflict where another account has confirmed the same address."""
    key = email_key(address)
    if session.scalar(sa.select(User.id).where(User.email_key == key, User.id != user.id)) is not None:
        raise Conflict("This address is the confirmed one of another account: an address belongs to one account.")
    outbox.void_confirmations(session, user, "the account has a confirmed address since")
    user.email, user.email_key, user.unconfirmed_email = address, key, None
    session.flush()


def _require_own(actor: Actor, user: User) -> None:
    require(actor.all_powerful or actor.user_id == user.id, "You can only change your own address.")
