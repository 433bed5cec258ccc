"""The audit trail."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from leaderboard.db import Base


class Event(Base):
    """Who did what to what, when. Rows are only ever added; triggers refuse the rest.

    id             its number in the trail: 1, 2, 3 …, without a gap
    actor_id       who; None: the command line or a worker
    state          what the rows that it is about hold after it; `audit/audited_tables.py` says of which rows what
    changed        what of these was otherwise before it, see `audited_tables.change_of`
    previous_hash  the hash of the event before it
    hash           of all of its fields, the previous hash among them
    """

    __tablename__ = "event"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at: Mapped[datetime] = mapped_column(index=True)
    actor_id: Mapped[int | None] = mapped_column(sa.ForeignKey("user.id"), index=True)
    action: Mapped[str]
    subject: Mapped[str]
    subject_id: Mapped[int]
    facts: Mapped[dict[str, Any]] = mapped_column(default=dict)
    state: Mapped[dict[str, Any]] = mapped_column(default=dict)
    changed: Mapped[dict[str, Any]] = mapped_column(default=dict)
    previous_hash: Mapped[str]
    hash: Mapped[str]

    __table_args__ = (sa.Index(None, "subject", "subject_id"),)


class Chain(Base):
    """One row: how many events there are, and the hash of the last. A trigger moves it on with each event.

    It is locked while an event is added, so that each event finds the one before it; and it shows when the last
    events were taken away.
    """

    __tablename__ = "chain"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    events: Mapped[int]
    head: Mapped[str]
