"""What was computed, under which settings; the rows of `scoring` are the queue too."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from leaderboard.db import Base, Key, choice
from leaderboard.evaluations.rules import ASSESSORS, ScoringSettings, Subset
from leaderboard.judgments.models import JudgmentRevision
from leaderboard.metrics import Floats
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import SetState, State

# The conditions of indexes, which SQLite uses only for statements that say them word for word.
IN_QUEUE = "scoring.state IN ('queued', 'scoring')"
HAS_FAILED = "scoring.state = 'failed'"
OF_THE_PAST = "scoring.of_the_past"


def _where(condition: str) -> dict[str, Any]:
    """Options of an index of the rows of this condition only."""
    return {f"{engine}_where": sa.text(condition) for engine in ("sqlite", "postgresql")}


class ScoringSet(Base):
    """Everything that can change a figure, frozen. Boards read the evaluation's current set; there is at most one.

    Of each source of judgments one set stands: that of the official source is the current one, others are beside it.

    source         of its revision
    frozen         the settings with which it was made, in the order of its measures then
    primary_measure  by which its boards rank and begin: one of the measures, that of the campaign while boards go by it
    switched_at    when it last began to stand
    shown_until    when boards last ceased to show it; NULL while they do, and where they never did
    shown_before   earlier times when boards showed it, each as [since, until], before that
    refreshing_until  the lease of a worker that works out what its boards show beyond means; NULL when none does
    """

    __tablename__ = "scoring_set"

    id: Mapped[Key]
    evaluation_id: Mapped[int] = mapped_column(sa.ForeignKey("evaluation.id"), index=True)
    revision_id: Mapped[int] = mapped_column(sa.ForeignKey("judgment_revision.id"))
    source: Mapped[str] = mapped_column(default=ASSESSORS)
    metric_version: Mapped[str]
    frozen: Mapped[ScoringSettings] = mapped_column("settings")
    settings_hash: Mapped[str]
    primary_measure: Mapped[str]
    state: Mapped[SetState] = mapped_column(choice(SetState, "state"))
    created_at: Mapped[datetime]
    switched_at: Mapped[datetime | None]
    shown_until: Mapped[datetime | None]
    shown_before: Mapped[list[Any]] = mapped_column(default=list)
    refreshing_until: Mapped[datetime | None]

    __table_args__ = (
        sa.UniqueConstraint(
            "evaluation_id", "revision_id", "metric_version", "settings_hash", name="uq_scoring_set_key"
        ),
        sa.Index("uq_scoring_set_current", "evaluation_id", unique=True, **_where("state = 'current'")),
        sa.Index(
            "uq_scoring_set_standing",
            "evaluation_id",
            "source",
            unique=True,
            **_where("state IN ('current', 'beside')"),
        ),
    )

    revision: Mapped[JudgmentRevision] = relationship()

    @property
    def shown(self) -> list[tuple[datetime, datetime | None]]:
        """From when to when boards showed it, every time, the earliest first; None where they do still."""
        moment = datetime.fromisoformat
        times: list[tuple[datetime, datetime | None]] = [
            (moment(since), moment(until)) for since, until in self.shown_before
        ]
        if self.switched_at is not None and (self.state is SetState.CURRENT or self.shown_until is not None):
            times.append((self.switched_at, self.shown_until))
        return times

    @property
    def settings(self) -> ScoringSettings:
        """Its settings, the primary measure first."""
        if self.frozen.measures[0] == self.primary_measure:
            return self.frozen
        return replace(self.frozen, measures=tuple(dict.fromkeys((self.primary_measure, *self.frozen.measures))))


class Scoring(Base):
    """One submission in one set: the queue entry first, the record of the result after.

    Only the worker whose name stands in `worker`, with `attempt` as it claimed it, may record a result; a lease that
    ran out gives the row back to the queue.

    of_the_past  an import says that the run was scored so, elsewhere, while boards showed this set: it counts on the
                 old board whenever it is scored here, and is scored although the set is superseded
    """

    __tablename__ = "scoring"

    id: Mapped[Key]
    submission_id: Mapped[int] = mapped_column(sa.ForeignKey("submission.id"))
    scoring_set_id: Mapped[int] = mapped_column(sa.ForeignKey("scoring_set.id"), index=True)
    state: Mapped[State] = mapped_column(choice(State, "state"), default=State.QUEUED)
    priority: Mapped[int] = mapped_column(default=0)  # lower goes first
    turn: Mapped[int] = mapped_column(default=0)  # of equal priority lower goes first, see `worker.writes.next_turns`
    attempt: Mapped[int] = mapped_column(default=0)  # how often it was claimed
    errors: Mapped[int] = mapped_column(default=0)  # attempts that raised
    lost_leases: Mapped[int] = mapped_column(default=0)
    worker: Mapped[str | None]
    lease_until: Mapped[datetime | None]
    not_before: Mapped[datetime | None]  # a failed attempt waits before the next one
    queued_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    seconds: Mapped[float | None]
    failure: Mapped[str] = mapped_column(default="")  # in words, when parked as failed or between attempts
    # Failed: the run's stored file has other bytes than were received.
    damaged: Mapped[bool] = mapped_column(default=False)
    of_the_past: Mapped[bool] = mapped_column(default=False)
    beta: Mapped[float | None]  # β as used
    missing: Mapped[list[str]] = mapped_column(default=list)  # external ids of the evaluation's queries that it lacks
    unjudged: Mapped[list[str]] = mapped_column(default=list)  # left out for want of judgments (pooled judging)
    digest: Mapped[str | None]  # of a scored one: see `audit.rules.scoring_digest`
    facts: Mapped[dict[str, Any]] = mapped_column(default=dict)  # see RunScores

    __table_args__ = (
        sa.UniqueConstraint("submission_id", "scoring_set_id"),
        # The queue: small, because finished rows are not in it.
        sa.Index("ix_scoring_queue", "state", "priority", "turn", "id", **_where("state IN ('queued', 'scoring')")),
        # Hardly any, so that whoever looks for them reads no other.
        sa.Index("ix_scoring_of_the_past", "scoring_set_id", **_where("of_the_past")),
        sa.Index("ix_scoring_failed", "scoring_set_id", **_where("state = 'failed'")),
        # Whether, how many and since when those of a set wait: every worker and every board asks.
        sa.Index("ix_scoring_waiting", "scoring_set_id", "queued_at", **_where("state IN ('queued', 'scoring')")),
    )

    submission: Mapped[Submission] = relationship()


class Curve(Base):
    """One column of what the curves of a run's page are drawn from, of the set's `subsets` only.

    name  those of `metrics.curves.value_curves`, with the values of queries by position; and `precision`, interpolated
          at the recalls 0, 0.1, … 1
    """

    __tablename__ = "curve"

    scoring_id: Mapped[int] = mapped_column(sa.ForeignKey("scoring.id", ondelete="CASCADE"), primary_key=True)
    subset: Mapped[Subset] = mapped_column(choice(Subset, "subset"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    values: Mapped[Floats]


class Score(Base):
    """One measure of one scoring.

    `mean` is NULL when undefined. `values` is float64[positions of the evaluation's queries], NaN where undefined or
    not counted. A page on one query reads its eight bytes only (`db.value_at`); on PostgreSQL the column's storage is
    EXTERNAL, so that this does not read the rest.

    `lost_low`, `lost_high`: of MQWV the interval of MQWV − AQWV, where the set has both; NULL for all other measures.
    """

    __tablename__ = "score"

    scoring_id: Mapped[int] = mapped_column(sa.ForeignKey("scoring.id", ondelete="CASCADE"), primary_key=True)
    measure: Mapped[str] = mapped_column(primary_key=True)
    subset: Mapped[Subset] = mapped_column(choice(Subset, "subset"), primary_key=True)
    mean: Mapped[float | None]
    low: Mapped[float | None]
    high: Mapped[float | None]
    lost_low: Mapped[float | None]
    lost_high: Mapped[float | None]
    count: Mapped[int]  # queries that the mean runs over
    values: Mapped[Floats] = mapped_column(deferred=True)

    # All that a board needs of the figures by which it ranks, so that it reads none of the vectors beside them.
    __table_args__ = (
        sa.Index("ix_score_of_boards", "measure", "scoring_id", "subset", "mean", "low", "high", "count"),
    )
