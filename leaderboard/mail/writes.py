"""Mails that wait: put down in the transaction of what they tell of, claimed by whoever sends them, and listed for
whoever runs the site. No transaction is open while the mail server answers.
"""

import logging
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import config, errors, names
from leaderboard.accounts.models import User
from leaderboard.audit.writes import present
from leaderboard.db import Database, clock, insert_unless_there, locked, snapshot
from leaderboard.evaluations.models import Evaluation
from leaderboard.frozen import frozen
from leaderboard.mail.letters import receiver, written
from leaderboard.mail.models import UNSENT, Mail, MailLink
from leaderboard.mail.rules import KEPT, MailKind, lasts
from leaderboard.mail.smtp import Letter, connected
from leaderboard.submissions.models import Participation
from leaderboard.teams.models import Membership

FIRST_WAIT_SECONDS = 60.0  # before the second try, and four times as long before each one after
LONGEST_WAIT_SECONDS = 3600.0
MOST_TRIES = 50  # some two days
IS_DUE = sa.text(UNSENT), sa.or_(Mail.not_before.is_(None), Mail.not_before <= clock())
GIVEN_UP = "mail %s is given up: `leaderboard mail list` says why"  # the reason may name an address
DROPPED = "given up on the command line"
POINTLESS = "there is nobody to send it to, or no news in it any more"
SUPERSEDED = "the account has another password or address since, or another link was asked for"
# That could not be sent, and nobody has dropped since.
HAS_FAILED = sa.and_(
    Mail.given_up_at.is_not(None), Mail.sent_at.is_(None), Mail.failure.not_in((DROPPED, POINTLESS, SUPERSEDED))
)
log = logging.getLogger(__name__)


def put(session: Session, kind: MailKind, user_id: int | None, address: str | None = None, **about: Any) -> None:
    """Puts a mail down for an account. `address`: where it goes, if not to the account's address of then."""
    now = present()
    session.add(
        Mail(kind=kind, user_id=user_id, address=address, about=about, created_at=now, expires_at=now + lasts(kind))
    )


def put_wanted(
    session: Session,
    kind: MailKind,
    users: Iterable[int],
    *,
    once: str = "",
    expires_at: datetime | None = None,
    **about: Any,
) -> None:
    """Puts a mail down for those of the accounts that want this kind and have a confirmed address.

    once  what tells this mail from others: nobody is sent a second one of the same
    """
    now = present()
    reached = User.id.in_(list(users)), User.is_active.is_(True), User.email.is_not(None)
    values = {"kind": kind, "about": about, "created_at": now, "expires_at": expires_at or now + lasts(kind)}
    for user in session.scalars(sa.select(User).where(*reached).order_by(User.id)).all():
        if kind.value not in user.unwanted_mail:
            single = f"{kind.value} {once} to {user.id}" if once else None
            insert_unless_there(session, Mail, user_id=user.id, once=single, **values)


def resets_to(session: Session, email: str) -> list[int]:
    """The mails for a new password that were asked for with this address, however it was written."""
    asked = sa.select(Mail.id, Mail.address).where(Mail.kind == MailKind.RESET).order_by(Mail.id)
    key = names.email_key(email)
    return [mail_id for mail_id, address in session.execute(asked) if names.email_key(address or "") == key]


def void_resets(session: Session, user: User) -> None:
    """Links for a new password that are still to be sent to the account's address are not made any more.

    Whoever is writing such a mail right now has it locked: when this returns, its link is there to be ended, too.
    """
    unsent = sa.update(Mail).where(Mail.id.in_(resets_to(session, user.email or "")), sa.text(UNSENT))
    session.execute(unsent.values(user_id=user.id, given_up_at=present(), failure=SUPERSEDED))


def void_confirmations(session: Session, user: User) -> None:
    """Links that confirm an address of the account and are still to be sent are not sent any more."""
    own = sa.update(Mail).where(Mail.user_id == user.id, Mail.kind == MailKind.CONFIRMATION, sa.text(UNSENT))
    session.execute(own.values(given_up_at=present(), failure=SUPERSEDED))


def members_taking_part(session: Session, evaluation_id: int) -> list[int]:
    """The accounts in teams that have sent a run to the evaluation."""
    teams = sa.select(Participation.team_id).where(Participation.evaluation_id == evaluation_id)
    return list(session.scalars(sa.select(Membership.user_id).where(Membership.team_id.in_(teams))))


def claim(session: Session) -> int | None:
    """Takes the first mail that waits and says when it is tried next, should nobody come back; None when none waits."""
    now = present()
    first = sa.select(Mail).where(*IS_DUE, Mail.expires_at > now).order_by(Mail.id).limit(1)
    if (mail := session.scalar(first.with_for_update(skip_locked=True))) is None:
        return None
    mail.tries += 1
    session.flush()
    wait = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 4 ** (mail.tries - 1))
    session.execute(sa.update(Mail).where(Mail.id == mail.id).values(not_before=clock(wait)))
    return mail.id


def give_up(session: Session, mail_id: int, reason: str) -> None:
    """Nobody tries to send it again. Raises Conflict when it was sent.

    Nothing is kept of an address for which a new password was asked, since it may be nobody's here, nor of that of a
    closed account.
    """
    mail = locked(session, Mail, mail_id)
    if mail.sent_at is not None:
        raise errors.Conflict("This mail was sent.")
    if mail.user_id is None or mail.kind is MailKind.CLOSED:
        session.delete(mail)
    else:
        mail.failure, mail.given_up_at = reason, present()


def sweep(session: Session) -> None:
    """Forgets mails and links that are long over; at once what was not sent for a new password: the address may be
    nobody's here."""
    now = present()
    over = now - KEPT
    strange = sa.and_(Mail.user_id.is_(None), Mail.sent_at.is_(None), Mail.expires_at <= now)
    session.execute(sa.delete(Mail).where(sa.or_(Mail.expires_at <= over, strange)))
    session.execute(sa.delete(MailLink).where(MailLink.expires_at <= over))


def send_waiting(database: Database, server: config.MailServer, site: str, most: int = 1000) -> int:
    """Sends up to `most` of the mails that wait; gives how many were sent.

    A mail whose sender is killed between the server's yes and the note of it is sent twice, with one Message-ID.

    Raises Unavailable when the server can't be reached: the mail that was tried waits longer each time, all others
    as they did.
    """
    sent = 0
    with ExitStack() as stack:
        send = None
        for _ in range(most):
            with database.write() as session:
                mail_id = claim(session)
            if mail_id is None:
                break
            try:
                send = send or stack.enter_context(connected(server))
                sent += _send(database, send, mail_id, site)
            except errors.NoDatabase:
                raise
            except errors.Unavailable as error:
                with database.write() as session:
                    mail = locked(session, Mail, mail_id)
                    mail.failure, is_last = error.message, mail.tries >= MOST_TRIES
                    mail.given_up_at = present() if is_last else None
                if is_last:
                    log.warning(GIVEN_UP, mail_id)
                raise
    return sent


def to_show(database: Database, mail_id: int, site: str) -> Letter | None:
    """The mail as it would be sent now, for an operator to hand on; a link in it works. None when it is pointless."""
    with database.write() as session:
        return written(session, locked(session, Mail, mail_id), site, present())


def _send(database: Database, send: Callable[[Letter], None], mail_id: int, site: str) -> bool:
    """Whether it is out: it is tried no more. What can't be sent, or is pointless, is given up."""
    try:
        letter = to_show(database, mail_id, site)
        if letter is None:
            raise errors.BadInput(POINTLESS)
        send(letter)
    except errors.BadInput as error:
        with database.write() as session:
            give_up(session, mail_id, error.message)
        if error.message != POINTLESS:
            log.warning(GIVEN_UP, mail_id)
        return False
    with database.write() as session:
        mail = locked(session, Mail, mail_id)
        mail.sent_at, mail.failure = present(), ""
        if mail.kind is MailKind.CLOSED:
            session.delete(mail)  # nothing is kept of the address
    return True


def remind(session: Session, days: int, now: datetime) -> None:
    """Puts a mail down for each member of the teams that take part in what closes within `days`, 0 for none.

    One mail a person and closing moment, however often this is called; another one where the moment is moved.
    """
    soon = Evaluation.closes_at > now, Evaluation.closes_at <= now + timedelta(days=days)
    for evaluation in session.scalars(sa.select(Evaluation).where(*soon).order_by(Evaluation.id)).all():
        put_wanted(
            session,
            MailKind.DEADLINE,
            members_taking_part(session, evaluation.id),
            once=f"of {evaluation.id} at {evaluation.closes_at:%Y-%m-%dT%H:%M:%S}",
            expires_at=evaluation.closes_at,
            evaluation=evaluation.id,
        )


@frozen
class ListedMail:
    """to: an address; empty where nobody is sent the mail. state: waits (it is sent as soon as there is a mail
    server that takes it), sent, given up, too late or to nobody.
    """

    id: int
    kind: MailKind
    to: str
    created_at: datetime
    state: str
    failure: str


def list_mails(session: Session, now: datetime, *, every: bool = False) -> list[ListedMail]:
    """Those that wait or have failed, by age; every: those that were sent or dropped, too, as long as they are kept.

    Whether a mail has a receiver is looked up here as it is when it is sent. A new password can be asked for with any
    address: one that has no account here is not repeated.
    """
    statement = sa.select(Mail).options(sa.orm.joinedload(Mail.user)).order_by(Mail.id)
    if not every:
        statement = statement.where(sa.or_(sa.text(UNSENT), HAS_FAILED))
    listed = []
    for mail in session.scalars(statement):
        to = receiver(session, mail)
        tried = "sent" if mail.sent_at else "given up" if mail.given_up_at else ""
        state = tried or ("too late" if mail.expires_at <= now else "waits" if to else "to nobody")
        listed.append(snapshot(ListedMail, mail, to=to, state=state))
    return listed
