"""What was computed, under which settings; the rows of `scoring` are the queue too."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from leaderboard.db import Base, choice
from leaderboard.evaluations.rules import Subset
from leaderboard.metrics import Floats, Ints
from leaderboard.submissions.rules import RunChoice


class Board(Base):
    """What a board shows beyond means (intervals, rank sets), refreshed by the worker after a scoring.

    generation  of the evaluation's boards (`BoardGeneration`), read before its runs: while it is the same, so are they
    scorings, means, counts, lows, highs  of the set's scored runs, in the order of their ids, the figures by this
        measure, NaN for none: what `score` holds, in one row for whoever asks for those of many runs (`run_arrays`). A
        figure of a run never changes, and its interval when this row is written only, so that what stands here is right
        of a board too that was not refreshed since
    """

    __tablename__ = "board"

    scoring_set_id: Mapped[int] = mapped_column(sa.ForeignKey("scoring_set.id"), primary_key=True)
    measure: Mapped[str] = mapped_column(primary_key=True)
    subset: Mapped[Subset] = mapped_column(choice(Subset, "subset"), primary_key=True)
    version: Mapped[int] = mapped_column(default=1)
    generation: Mapped[int] = mapped_column(sa.BigInteger, default=0)
    figures: Mapped[dict[str, Any]]
    refreshed_at: Mapped[datetime]
    scorings: Mapped[Ints] = mapped_column(deferred=True)  # last, since SQLite reads a row up to what is asked for
    means: Mapped[Floats] = mapped_column(deferred=True)
    counts: Mapped[Floats] = mapped_column(deferred=True)
    lows: Mapped[Floats] = mapped_column(deferred=True)
    highs: Mapped[Floats] = mapped_column(deferred=True)


class Standing(Base):
    """Which run stands for a system on the boards of a set, one in time and one late, by each of the ways that are kept
    (`stored_choices`): what `selected_runs` says, kept so that a board reads no other run.

    `submissions.writes.selection` writes it in the transaction that changes it. A system whose place is empty has no
    row. The rows of a set that boards have ceased to show say which run stood then.

    `subset`, `rounded`: of the best run, over which queries it is best, and whether by means as they are rounded for
    whoever may not see single queries. `chosen_of`: from how many runs; 1 where means have no say.
    """

    __tablename__ = "standing"

    scoring_set_id: Mapped[int] = mapped_column(sa.ForeignKey("scoring_set.id", ondelete="CASCADE"), primary_key=True)
    run_choice: Mapped[RunChoice] = mapped_column(choice(RunChoice, "run_choice"), primary_key=True)
    subset: Mapped[Subset] = mapped_column(choice(Subset, "subset"), primary_key=True)
    rounded: Mapped[bool] = mapped_column(primary_key=True)
    system_id: Mapped[int] = mapped_column(sa.ForeignKey("system.id", ondelete="CASCADE"), primary_key=True, index=True)
    late: Mapped[bool] = mapped_column(primary_key=True)
    scoring_id: Mapped[int] = mapped_column(sa.ForeignKey("scoring.id", ondelete="CASCADE"), index=True)
    chosen_of: Mapped[int] = mapped_column(server_default="1")
