"""What is worked out of all runs of an evaluation together and kept."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from leaderboard.db import Base


class TeamFinds(Base):
    """Which relevant documents each team of a closed evaluation found alone, and its figures without them.

    generation  the evaluation's `BoardGeneration` that it was worked out by: where it is another now, so are the runs
                or the primary measure, and it is worked out anew
    finds       as `scoring.team_finds` gives it
    """

    __tablename__ = "team_finds"

    scoring_set_id: Mapped[int] = mapped_column(sa.ForeignKey("scoring_set.id", ondelete="CASCADE"), primary_key=True)
    generation: Mapped[int] = mapped_column(sa.BigInteger)
    finds: Mapped[dict[str, Any]]
