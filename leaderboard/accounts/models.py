"""Who takes part: accounts, teams and how one gets into them."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from leaderboard.db import Base, Key


class User(Base):
    """An account.

    name_key           what makes two names the same person; it is compared, never shown
    email              confirmed: whoever has the account reads what is sent there
    unconfirmed_email  given, and worth nothing until it is confirmed: several accounts may claim the same one
    unwanted_mail      kinds of mail that were turned off
    password_hash      NULL where somebody else's sign-in alone opens the account, or nothing does any more
    may_found          whether it may make campaigns of its own
    """

    __tablename__ = "user"

    id: Mapped[Key]
    name: Mapped[str]
    name_key: Mapped[str] = mapped_column(unique=True)
    email: Mapped[str | None]
    email_key: Mapped[str | None] = mapped_column(unique=True)
    unconfirmed_email: Mapped[str | None]
    unwanted_mail: Mapped[list[str]] = mapped_column(default=list)
    password_hash: Mapped[str | None]
    is_admin: Mapped[bool] = mapped_column(default=False)
    may_found: Mapped[bool] = mapped_column(default=False)
    is_active: Mapped[bool] = mapped_column(default=True)
    created_at: Mapped[datetime]
    last_login_at: Mapped[datetime | None]


class BrowserSession(Base):
    """A browser in which somebody logged in. Its cookie holds a token, of which only the hash is kept.

    browser       what it called itself, in words such as "Firefox on Linux"; "" where that said nothing known
    last_seen_at  of its visits; noted now and then only
    ended_at      when it was logged out: its cookie opens nothing from then on, wherever it was copied to
    """

    __tablename__ = "session"

    id: Mapped[Key]
    user_id: Mapped[int] = mapped_column(sa.ForeignKey("user.id", ondelete="CASCADE"), index=True)
    token_hash: Mapped[str] = mapped_column(unique=True)
    browser: Mapped[str]
    created_at: Mapped[datetime]
    last_seen_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]

    user: Mapped[User] = relationship()


class Attempt(Base):
    """A log-in or a registration, counted by who tried it (`subject`) to slow guessing down. Old rows are swept."""

    __tablename__ = "attempt"

    id: Mapped[Key]
    subject: Mapped[str]
    at: Mapped[datetime] = mapped_column(index=True)

    __table_args__ = (sa.Index(None, "subject", "at"),)


class Identity(Base):
    """An account elsewhere that logs in to this one: a provider of OpenID Connect and whom it calls `subject`."""

    __tablename__ = "identity"

    id: Mapped[Key]
    user_id: Mapped[int] = mapped_column(sa.ForeignKey("user.id", ondelete="CASCADE"), index=True)
    issuer: Mapped[str]
    subject: Mapped[str]
    created_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]

    __table_args__ = (sa.UniqueConstraint("issuer", "subject"),)

    user: Mapped[User] = relationship()


class ApiToken(Base):
    """A key for programs. Only its hash is kept.

    hint          its first characters, to tell one from another
    scopes        what it may be used for: values of `accounts.rules.Scope`
    last_used_at  the last use, or one less than a minute before it
    """

    __tablename__ = "api_token"

    id: Mapped[Key]
    user_id: Mapped[int] = mapped_column(sa.ForeignKey("user.id", ondelete="CASCADE"), index=True)
    name: Mapped[str]
    hint: Mapped[str]
    scopes: Mapped[list[str]]
    token_hash: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
