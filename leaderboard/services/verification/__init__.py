"""Verification: whether what is on record is what this program wrote, and what differs.

It compares the triggers with their definitions, every event with the one before it, every guarded row with what the
trail says of it, every revision with the hash of its judgments, every scored run with the digest of its figures,
the rows that say which runs stand with the rule, and the means that boards keep with the runs' figures.
What it finds was done past this program, or past its checks; docs/integrity.md says what it can't find.
"""

from collections.abc import Callable

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.models import Chain, Scoring
from leaderboard.rules.states import State
from leaderboard.services.events import record
from leaderboard.services.locking import locked
from leaderboard.services.verification.figures import check_ended, check_scored, lines_of
from leaderboard.services.verification.hashes import check_revisions, check_sets
from leaderboard.services.verification.means import check_means
from leaderboard.services.verification.report import (
    STORE,
    Difference,
    Report,
    board_in_words,
    part,
    readable,
    run_in_words,
)
from leaderboard.services.verification.rows import check_rows
from leaderboard.services.verification.standing import check_standing
from leaderboard.services.verification.trail import check_trail
from leaderboard.services.verification.triggers import check_triggers

__all__ = [
    "STORE",
    "Difference",
    "Report",
    "board_in_words",
    "lines_of",
    "one_moment",
    "readable",
    "record_verification",
    "run_in_words",
    "scored_runs_on_record",
    "verify",
]

Tell = Callable[[int], None]  # is told how many more scorings were looked at


def one_moment(session: Session) -> None:
    """Lets the session see the database as it is at one moment, while others go on writing."""
    if session.get_bind().dialect.name == "postgresql":
        session.connection(execution_options={"isolation_level": "REPEATABLE READ"})


def verify(session: Session, tell: Tell = lambda _: None, noted: tuple[int, str] | None = None) -> Report:
    """Looks at everything but the store, for which `worker.stored_files` is; call `one_moment` first.

    noted  the number of an event and its hash, as an earlier verification gave them: they must still be there
    """
    report = Report()
    check_triggers(session, report)
    with part(session, report, "the trail"):
        told = check_trail(session, report, noted)
        check_rows(session, report, told)
        with part(session, report, "the scored runs"):
            check_scored(session, report, told, tell)
            check_ended(session, report, told)
    with part(session, report, "the judgments"):
        check_revisions(session, report)
    with part(session, report, "the scoring sets"):
        check_sets(session, report)
    with part(session, report, "which runs stand"):
        check_standing(session, report)
    with part(session, report, "the means that boards keep"):
        check_means(session, report)
    return report


def record_verification(session: Session, actor: Actor, report: Report, *, figures: bool) -> None:
    """Keeps the outcome in the trail, where the boards' organisers find it.

    Raises NotFound when the row that counts the events is gone.
    """
    record(
        session,
        actor,
        "verify",
        locked(session, Chain, 1),
        clean=report.clean,
        differences=len(report.differences),
        events=report.events,
        runs=report.runs,
        figures=figures,
        recomputed=report.recomputed,
    )


def scored_runs_on_record(session: Session) -> int:
    """How many scored runs `verify` will tell of."""
    return session.scalar(sa.select(sa.func.count(Scoring.id)).where(Scoring.state == State.SCORED)) or 0
