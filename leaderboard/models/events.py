"""The audit trail."""

import datetime as dt
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from leaderboard.db import Base, Key

__all__ = ["Event"]


class Event(Base):
    """Who did what to what, when. Rows are only ever added; a trigger refuses the rest."""

    __tablename__ = "event"

    id: Mapped[Key]
    at: Mapped[dt.datetime] = mapped_column(index=True)
    actor_id: Mapped[int | None] = mapped_column(sa.ForeignKey("user.id"))  # NULL: the command line or a worker
    action: Mapped[str]
    subject: Mapped[str]
    subject_id: Mapped[int]
    facts: Mapped[dict[str, Any]] = mapped_column(default=dict)

    __table_args__ = (sa.Index(None, "subject", "subject_id"),)
