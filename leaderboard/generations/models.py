"""How often what pages show has changed."""

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from leaderboard.db import Base

INSTALLATION = 0  # in place of a campaign: what belongs to none, such as teams and systems


class Generation(Base):
    """A number that only rises, with every change that a page of the campaign can show, in the change's transaction.

    campaign_id  a campaign's id or INSTALLATION; no foreign key, so that the sum over all never falls
    """

    __tablename__ = "generation"

    campaign_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    number: Mapped[int] = mapped_column(sa.BigInteger)


class BoardGeneration(Base):
    """A number that only rises, with every change of which runs an evaluation's boards are over. No foreign key: it
    would wait for whoever holds the evaluation and waits for the trail."""

    __tablename__ = "board_generation"

    evaluation_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    number: Mapped[int] = mapped_column(sa.BigInteger)
