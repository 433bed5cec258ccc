"""Systems, and the runs that their teams submit."""

from datetime import date, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from leaderboard.accounts.models import User
from leaderboard.db import Base, Key, choice
from leaderboard.evaluations.models import Evaluation
from leaderboard.submissions.rules import Designation, Ruling, name_of_run
from leaderboard.teams.models import System, Team

ON_BOARDS = sa.text("withdrawn_at IS NULL AND ruling IS NULL")  # the runs that pages count


class Installation(Base):
    """One row, of what the processes of an installation share. store: the id of its run store; swept_at: when a worker
    last began to look for files without a run."""

    __tablename__ = "installation"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    store: Mapped[str]
    swept_at: Mapped[datetime | None]


class Submission(Base):
    """One run as received. Its state is that of its scoring in the evaluation's current set, unless withdrawn or ruled
    off the boards.

    version      of the system: as the team or the manifest names it, else the evaluation's period; equal versions link
                 periods
    sha256       of the bytes as received, the team's receipt; the store keeps them under it
    md5          of the same bytes, because archives publish it
    text_sha256  of the text after decompression: uploads of one run share it, by which a second one is noticed;
                 nothing reads it yet
    problems     what is wrong with the file, the first ones as [line or null, message]; `problem_count` is all of them
    holds_place  it was withdrawn by its team after closing, or organisers took it off so that no other run takes the
                 place that it had
    chosen_at    when its team last chose that it stands for its system, or another run became the team's primary one
                 in its stead, while it stood
    ruling       what the organisers decided, who, when and why, which its team reads
    begun_at     the start of the request
    received_at  its last byte; closing and its grace are held against the two, quotas against this one. Of an imported
                 run when the campaign received it, years ago
    received_assumed  whether nothing said when, so that the import took the run's own date or that of closing
    run_at       when the run was made, where somebody said so
    imported_at  when it was brought in from the past; NULL where its team sent it here
    answers      to the evaluation's form fields, by key
    sending_key  what its sender called the sending, so that a second try is no second run; NULL: nothing
    said         what the YAML file beside it said, flat; what its own header says is in the scoring's facts
    """

    __tablename__ = "submission"

    id: Mapped[Key]
    evaluation_id: Mapped[int] = mapped_column(sa.ForeignKey("evaluation.id"))
    team_id: Mapped[int] = mapped_column(sa.ForeignKey("team.id"))
    system_id: Mapped[int] = mapped_column(sa.ForeignKey("system.id"), index=True)
    # NULL: the command line
    submitter_id: Mapped[int | None] = mapped_column(sa.ForeignKey("user.id"), index=True)
    label: Mapped[str]
    designation: Mapped[Designation] = mapped_column(choice(Designation, "designation"))
    threshold: Mapped[float | None]
    notes: Mapped[str] = mapped_column(default="")
    version: Mapped[str]
    answers: Mapped[dict[str, Any]] = mapped_column(default=dict)
    sending_key: Mapped[str | None]
    said: Mapped[dict[str, Any]] = mapped_column(default=dict)
    filename: Mapped[str]
    sha256: Mapped[str] = mapped_column(index=True)
    md5: Mapped[str]
    text_sha256: Mapped[str] = mapped_column(index=True)
    size: Mapped[int] = mapped_column(sa.BigInteger)
    text_size: Mapped[int] = mapped_column(sa.BigInteger)
    begun_at: Mapped[datetime]
    received_at: Mapped[datetime]
    received_assumed: Mapped[bool] = mapped_column(default=False)
    run_at: Mapped[datetime | None]
    imported_at: Mapped[datetime | None]
    imported_by_id: Mapped[int | None] = mapped_column(sa.ForeignKey("user.id"))  # NULL: the command line
    late: Mapped[bool] = mapped_column(default=False)
    charged: Mapped[bool] = mapped_column(default=True)  # counts against the quota; given back when rejected or failed
    problems: Mapped[list[Any]] = mapped_column(default=list)
    problem_count: Mapped[int] = mapped_column(default=0)
    scored_at: Mapped[datetime | None]  # when it was first scored
    chosen_at: Mapped[datetime | None]
    withdrawn_at: Mapped[datetime | None]
    withdrawn_by_id: Mapped[int | None] = mapped_column(sa.ForeignKey("user.id"))
    holds_place: Mapped[bool] = mapped_column(default=False)
    withdrawn_because: Mapped[str] = mapped_column(default="")
    ruling: Mapped[Ruling | None] = mapped_column(choice(Ruling, "ruling"))
    ruled_at: Mapped[datetime | None]
    ruled_by_id: Mapped[int | None] = mapped_column(sa.ForeignKey("user.id"))
    ruled_because: Mapped[str] = mapped_column(default="")

    __table_args__ = (
        sa.UniqueConstraint("submitter_id", "sending_key"),
        sa.Index(None, "evaluation_id", "system_id"),
        sa.Index(None, "team_id", "evaluation_id"),
        sa.Index("ix_submission_newest", "evaluation_id", "received_at", "id"),
        sa.Index("ix_submission_on_boards", "evaluation_id", sqlite_where=ON_BOARDS, postgresql_where=ON_BOARDS),
        {"sqlite_autoincrement": True},  # the number of a test run that was removed is no other run's
    )

    evaluation: Mapped[Evaluation] = relationship()
    system: Mapped[System] = relationship()
    team: Mapped[Team] = relationship()
    submitter: Mapped[User | None] = relationship(foreign_keys=[submitter_id])
    importer: Mapped[User | None] = relationship(foreign_keys=[imported_by_id])

    @property
    def date(self) -> datetime:
        """The run's date, as pages show it: when it was made, where that is known, else when it was received."""
        return self.run_at or self.received_at

    @property
    def date_assumed(self) -> bool:
        """Whether that date is one that an import assumed."""
        return self.run_at is None and self.received_assumed

    @property
    def name(self) -> str:
        """What its team knows it by."""
        return name_of_run(self.label, self.id, self.date)


class Use(Base):
    """What has been used of an evaluation's quotas. `used_today` and `rejected_today` count the day `day`, in UTC."""

    __abstract__ = True

    day: Mapped[date]
    used_today: Mapped[int] = mapped_column(default=0)
    rejected_today: Mapped[int] = mapped_column(default=0)
    used: Mapped[int] = mapped_column(default=0)


class Participation(Use):
    """A team in an evaluation: what it has used of its quota, and which of its runs is the primary one.

    Locked while a submission is inserted, because counting rows first and inserting after races.
    """

    __tablename__ = "participation"

    team_id: Mapped[int] = mapped_column(sa.ForeignKey("team.id"), primary_key=True)
    evaluation_id: Mapped[int] = mapped_column(sa.ForeignKey("evaluation.id"), primary_key=True, index=True)
    primary_submission_id: Mapped[int | None] = mapped_column(sa.ForeignKey("submission.id"))


class PersonalUse(Use):
    """What one person has used of an evaluation's quota over all of their teams; locked as Participation is."""

    __tablename__ = "personal_use"

    user_id: Mapped[int] = mapped_column(sa.ForeignKey("user.id"), primary_key=True)
    evaluation_id: Mapped[int] = mapped_column(
        sa.ForeignKey("evaluation.id", ondelete="CASCADE"), primary_key=True, index=True
    )


class Arrival(Base):
    """A file on its way: it holds a place in the quotas of its team and its sender before a byte of it is read.

    expires_at  when it counts no longer, though nobody took it away: its sender is silent, or the process that read the
                file was killed
    """

    __tablename__ = "arrival"

    id: Mapped[Key]
    user_id: Mapped[int] = mapped_column(sa.ForeignKey("user.id"))
    team_id: Mapped[int] = mapped_column(sa.ForeignKey("team.id"))
    evaluation_id: Mapped[int] = mapped_column(sa.ForeignKey("evaluation.id", ondelete="CASCADE"), index=True)
    expires_at: Mapped[datetime]
