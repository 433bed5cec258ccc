"""Mails that wait to be sent, and the links in them."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from leaderboard.accounts.models import User
from leaderboard.db import Base, Key, choice
from leaderboard.mail.rules import MailKind

UNSENT = "sent_at IS NULL AND given_up_at IS NULL"  # what waits; a partial index has the same words


class Mail(Base):
    """A mail to send. Its text is written when it is sent, so that no link that opens something is kept here.

    user_id     whose account it is about. NULL: a new password was asked for, and whether there is an account of this
                address is looked up when the mail is sent
    address     where it goes, if not to the account's address of then; of a new password that for which it was asked,
                which finds the account and gets nothing itself
    about       what the text needs: ids and numbers
    once        no two rows have the same: what is sent once only
    expires_at  from then on it is not worth sending any more
    not_before  when it is tried next, by the database's clock
    failure     why the last try failed, or why it was given up
    """

    __tablename__ = "mail"

    id: Mapped[Key]
    kind: Mapped[MailKind] = mapped_column(choice(MailKind, "kind"))
    user_id: Mapped[int | None] = mapped_column(sa.ForeignKey("user.id", ondelete="CASCADE"), index=True)
    address: Mapped[str | None]
    about: Mapped[dict[str, Any]] = mapped_column(default=dict)
    once: Mapped[str | None] = mapped_column(unique=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    not_before: Mapped[datetime | None]
    tries: Mapped[int] = mapped_column(default=0)
    failure: Mapped[str] = mapped_column(default="")
    sent_at: Mapped[datetime | None]
    given_up_at: Mapped[datetime | None]

    __table_args__ = (sa.Index("ix_mail_unsent", "id", sqlite_where=sa.text(UNSENT), postgresql_where=sa.text(UNSENT)),)

    user: Mapped[User | None] = relationship()


class MailLink(Base):
    """A link in a mail that was sent: it confirms `address`, or lets its holder set a new password. It works once.

    Only the hash of its token is kept.
    """

    __tablename__ = "mail_link"

    id: Mapped[Key]
    kind: Mapped[MailKind] = mapped_column(choice(MailKind, "kind"))
    user_id: Mapped[int] = mapped_column(sa.ForeignKey("user.id", ondelete="CASCADE"), index=True)
    address: Mapped[str]
    token_hash: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]

    user: Mapped[User] = relationship()
