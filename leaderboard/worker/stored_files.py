"""Reads every stored run file and every copy of ranked lists again: whether they are what was kept."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.db import Database
from leaderboard.errors import LeaderboardError, NotFound
from leaderboard.models import Scoring, ScoringSet, Submission
from leaderboard.rules.states import State
from leaderboard.services.verification import STORE, Difference, Report, readable, run_in_words
from leaderboard.store import RunStore

__all__ = ["check_files", "stored_files_on_record"]

NOTHING = "nothing"


def stored_files_on_record(session: Session) -> int:
    """How many run files the store must hold, whatever became of their runs."""
    return session.scalar(sa.select(sa.func.count(sa.distinct(Submission.sha256)))) or 0


def check_files(database: Database, store: RunStore, report: Report, tell: Callable[[int], None]) -> set[int]:
    """Compares the bytes of every stored run file with the SHA-256 of its receipt, and every copy of ranked lists with
    its checksums, and adds to the report what differs. No transaction is open while a file is read.

    A copy that is not there is no difference: it is made again when somebody asks for it. `tell` is told of each run
    file. Returns the submissions whose files are not what was received.
    """
    spoilt: set[int] = set()
    runs: dict[str, list[int]] = {}
    with database.read() as session:
        for number, sha256 in session.execute(sa.select(Submission.id, Submission.sha256).order_by(Submission.id)):
            runs.setdefault(sha256, []).append(number)
    for sha256, submissions in runs.items():
        with readable(report, f"the file of run {submissions[0]}"):
            found = _of_file(store, sha256)
            if found is not None:
                spoilt.update(submissions)
                _add(database, report, submissions, *found, sha256)
        report.files += 1
        tell(1)
    with readable(report, "the copies of ranked lists"):
        _check_copies(database, store, report)
    return spoilt


def _of_file(store: RunStore, sha256: str) -> tuple[str, str] | None:
    """What of a run's file differs, and what is stored; None where nothing does."""
    try:
        with store.run_file(sha256) as path:
            found = _sha256(path)
    except NotFound:
        return "its file", NOTHING
    except (LeaderboardError, OSError) as error:
        return "its file", str(error)
    return None if found == sha256 else ("the bytes of its file", found)


def _check_copies(database: Database, store: RunStore, report: Report) -> None:
    with database.read() as session:
        compat = {made.id: made.settings.compat for made in session.scalars(sa.select(ScoringSet))}
        scored = sa.select(Scoring.submission_id, Scoring.scoring_set_id).where(Scoring.state == State.SCORED)
        copies = sorted({(number, compat[made]) for number, made in session.execute(scored)})
    for number, rule in copies:
        is_sound = store.copy_is_sound(number, rule)
        if is_sound is not None:
            report.copies += 1
        if is_sound is False:
            what, expected = (
                f"the copy of its ranked lists, compat {rule}",
                "as it was written; without it another is made",
            )
            _add(database, report, [number], what, "another content", expected)


def _add(database: Database, report: Report, submissions: list[int], what: str, stored: str, expected: str) -> None:
    with database.read() as session:
        for number in submissions:
            report.differences.append(Difference(run_in_words(session, number), what, stored, expected, into=STORE))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
