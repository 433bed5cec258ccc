"""What a verification has looked at and what differs, and how it names a run or a row."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.db import Base, does_not_answer
from leaderboard.models import Campaign, Evaluation, JudgmentRevision, ScoringSet, Submission, System, Team
from leaderboard.rules.digests import FIRST
from leaderboard.services.guarded import GUARDED

__all__ = [
    "NOTHING",
    "STORE",
    "Difference",
    "Report",
    "board_in_words",
    "part",
    "readable",
    "run_in_words",
    "thing_in_words",
]

NOTHING = "nothing"
STORE = "the store of runs"
OUTSIDE = "No event accounts for it: it was done outside this program, by somebody who can write to"
# What Python, SQLAlchemy and we raise for a value, or a table, that is none of this program's: JSON that is nested too
# deeply and numbers that are too great among them.
UNREADABLE = (
    ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError, sa.exc.SQLAlchemyError,
)  # fmt: skip
OWNERS: dict[str, type[Base]] = {"campaign_id": Campaign, "evaluation_id": Evaluation, "team_id": Team}


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as this program left it.

    where     such as `run 3 (Alder in harbour/2026)`
    what      of it: a column, a measure, a trigger
    stored    what the database holds
    expected  what it should hold, as far as that is known
    last      the last event about it, in words; empty without one
    into      where somebody must be able to write for it
    """

    where: str
    what: str
    stored: str
    expected: str
    last: str = ""
    into: str = "the database"

    @property
    def who(self) -> str:
        """Who could have done it, in a sentence or two."""
        return f"{OUTSIDE} {self.into}.{f' The last event about it: {self.last}.' if self.last else ''}"


@dataclass(slots=True)
class Report:
    """What was looked at, and what differs. `head` is the last event's hash: noted down elsewhere, it bears witness."""

    differences: list[Difference] = field(default_factory=list)
    triggers: int = 0
    events: int = 0
    head: str = FIRST
    rows: int = 0
    revisions: int = 0
    runs: int = 0
    standing: int = 0  # rows that say which run stands
    files: int = 0  # of runs, whose bytes were read
    copies: int = 0  # of ranked lists
    recomputed: int = 0
    not_recomputed: int = 0  # scored by another version of the measures

    @property
    def clean(self) -> bool:
        return not self.differences

    def add(self, where: str, what: str, stored: str, expected: str, last: str = "") -> None:
        """Adds a Difference in the database. Halves of characters, which JSON may hold, are shown by their numbers."""
        words = (each.encode(errors="backslashreplace").decode() for each in (where, what, stored, expected, last))
        self.differences.append(Difference(*words))


@contextmanager
def readable(report: Report, where: str) -> Iterator[None]:
    """What can't be read is a difference, and the others are looked at all the same.

    Raises what a database raises that does not answer.
    """
    try:
        yield
    except UNREADABLE as error:
        if isinstance(error, sa.exc.SQLAlchemyError) and does_not_answer(error) and not _is_of_statement(error):
            raise
        words = str(getattr(error, "orig", None) or error).strip()
        report.add(
            where, "itself", f"can't be read ({type(error).__name__}: {words})", "values that this program writes"
        )


def _is_of_statement(error: Exception) -> bool:
    """Whether SQLite answered that a table or column is not there, or that it can't do with a value what was asked."""
    return getattr(getattr(error, "orig", None), "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR


@contextmanager
def part(session: Session, report: Report, where: str) -> Iterator[None]:
    """The same in a savepoint: after an error PostgreSQL answers nothing more until that is taken back."""
    with readable(report, where), session.begin_nested():
        yield


def run_in_words(session: Session, submission_id: int) -> str:
    """`run 3 (Alder in harbour/2026)`."""
    row = session.execute(
        sa.select(System.name, Campaign.slug, Evaluation.slug)
        .select_from(Submission)
        .join(System, System.id == Submission.system_id)
        .join(Evaluation, Evaluation.id == Submission.evaluation_id)
        .join(Campaign, Campaign.id == Evaluation.campaign_id)
        .where(Submission.id == submission_id)
    ).first()
    return f"run {submission_id}" + (f" ({row[0]} in {row[1]}/{row[2]})" if row is not None else "")


def board_in_words(session: Session, set_id: int) -> str:
    """`board of set 2 (small/2026, revision 1 by assessors)`."""
    row = session.execute(
        sa.select(Campaign.slug, Evaluation.slug, JudgmentRevision.number, JudgmentRevision.source)
        .select_from(ScoringSet)
        .join(ScoringSet.revision)
        .join(Evaluation, Evaluation.id == ScoringSet.evaluation_id)
        .join(Campaign, Campaign.id == Evaluation.campaign_id)
        .where(ScoringSet.id == set_id)
    ).first()
    found = f" ({row[0]}/{row[1]}, revision {row[2]} by {row[3]})" if row is not None else ""
    return f"board of set {set_id}{found}"


def thing_in_words(session: Session, thing: str) -> str:
    """What the trail calls `evaluation 1` or `queries 1`: `evaluation 1 (small/2026)`, `queries of small/2026`.

    As the trail calls it where no name can be found.
    """
    name, _, key = thing.rpartition(" ")
    guarded = GUARDED[name]
    number = int(key.split("/")[-1])
    if guarded.table is Submission:
        return run_in_words(session, number)
    named = OWNERS.get(guarded.by[-1], guarded.table)
    if named is Evaluation:
        found = session.scalar(
            sa.select(Campaign.slug + "/" + Evaluation.slug)
            .join(Evaluation, Evaluation.campaign_id == Campaign.id)
            .where(Evaluation.id == number)
        )
    else:
        columns = named.__table__.columns
        label = columns["slug" if named is Campaign else "name"]
        found = session.scalar(sa.select(label).where(columns["id"] == number))
    if not found:
        return thing
    return f"{name} of {found}" if guarded.row else f"{thing} ({found})"
