"""The mails of the site, for the one who runs it."""

import datetime as dt
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.mail.models import UNSENT, Mail
from leaderboard.mail.rules import MailKind
from leaderboard.mail.writes import receiver


@dataclass(frozen=True, slots=True)
class ListedMail:
    """to: an address; empty where nobody is sent the mail. state: waits, sent, given up, too late or to nobody."""

    id: int
    kind: MailKind
    to: str
    created_at: dt.datetime
    state: str
    failure: str

    @property
    def waits(self) -> bool:
        """Whether it will be sent as soon as there is a mail server that takes it."""
        return self.state == "waits"


def list_mails(session: Session, now: dt.datetime, *, every: bool = False) -> list[ListedMail]:
    """Those that are not sent, by age; every: those that were sent or given up, too, as long as they are kept.

    Whether a mail has a receiver is looked up here as it is when it is sent. A new password can be asked for with any
    address: one that has no account here is not repeated.
    """
    statement = sa.select(Mail).options(sa.orm.joinedload(Mail.user)).order_by(Mail.id)
    if not every:
        statement = statement.where(sa.text(UNSENT))
    return [_listed(session, mail, now) for mail in session.scalars(statement)]


def _listed(session: Session, mail: Mail, now: dt.datetime) -> ListedMail:
    to = receiver(session, mail)
    if mail.sent_at:
        state = "sent"
    elif mail.given_up_at:
        state = "given up"
    elif mail.expires_at <= now:
        state = "too late"
    else:
        state = "waits" if to else "to nobody"
    return ListedMail(mail.id, mail.kind, to, mail.created_at, state, mail.failure)
