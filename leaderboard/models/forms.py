"""What an evaluation's submission form asks beside the run: agreements, and the list that file rules go by."""

import datetime as dt

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from leaderboard.db import Base, Key

__all__ = ["Acceptance", "Agreement", "CollectionList"]


class Agreement(Base):
    """A version of something that submitters have to accept. The last version of a key stands until it is ended."""

    __tablename__ = "agreement"

    id: Mapped[Key]
    evaluation_id: Mapped[int] = mapped_column(sa.ForeignKey("evaluation.id"))
    key: Mapped[str]
    version: Mapped[int]
    title: Mapped[str]
    text: Mapped[str]
    created_at: Mapped[dt.datetime]
    ended_at: Mapped[dt.datetime | None]

    __table_args__ = (sa.UniqueConstraint("evaluation_id", "key", "version"),)


class Acceptance(Base):
    """Who accepted which version when."""

    __tablename__ = "acceptance"

    agreement_id: Mapped[int] = mapped_column(sa.ForeignKey("agreement.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(sa.ForeignKey("user.id"), primary_key=True, index=True)
    accepted_at: Mapped[dt.datetime]


class CollectionList(Base):
    """The document ids of an evaluation's collection, as `formats.DocumentList` packs them.

    Which list it is stands in the evaluation's file rules, which the audit trail guards.
    """

    __tablename__ = "collection_list"

    evaluation_id: Mapped[int] = mapped_column(sa.ForeignKey("evaluation.id", ondelete="CASCADE"), primary_key=True)
    packed: Mapped[bytes] = mapped_column(sa.LargeBinary, deferred=True)
