"""Which workers there are."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from leaderboard.db import Base


class WorkerSeen(Base):
    """A worker, from its start to its clean end; one that was killed is taken away after a while by the others.

    name       as in its claims: host, process id and a random number
    version    of the product that it runs
    seen_at    its last heartbeat, by the database's clock
    drains     it was asked to end after the run that it has in hand
    looked_at  when it last looked for everything that waits, and not only for what it was woken for
    """

    __tablename__ = "worker_seen"

    name: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[str]
    seen_at: Mapped[datetime]
    looked_at: Mapped[datetime | None]
    drains: Mapped[bool] = mapped_column(server_default=sa.false())
