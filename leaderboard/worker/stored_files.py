"""Reads every stored run file and every copy of ranked lists again: whether they are what was kept."""

import hashlib
from collections.abc import Callable

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.audit.reads import name_of_row
from leaderboard.audit.verify import NOTHING, STORE, Report, part
from leaderboard.db import Database
from leaderboard.errors import LeaderboardError, NotFound
from leaderboard.store import RunStore
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules.states import State
from leaderboard.worker.models import Scoring, ScoringSet


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
        with part(report, f"the file of run {submissions[0]}"):
            difference = _differing(store, sha256)
            if difference is not None:
                spoilt.update(submissions)
                _add(database, report, submissions, *difference, sha256)
        report.files += 1
        tell(1)
    with part(report, "the copies of ranked lists"):
        _check_copies(database, store, report)
    return spoilt


def _differing(store: RunStore, sha256: str) -> tuple[str, str] | None:
    """What of a run's file differs, and what is stored; None where nothing does."""
    try:
        with store.run_file(sha256) as path, path.open("rb") as file:
            stored = hashlib.file_digest(file, "sha256").hexdigest()
    except NotFound:
        return "its file", NOTHING
    except (LeaderboardError, OSError) as error:
        return "its file", str(error)
    return None if stored == sha256 else ("the bytes of its file", stored)


def _check_copies(database: Database, store: RunStore, report: Report) -> None:
    with database.read() as session:
        compat = {made.id: made.settings.compat for made in session.scalars(sa.select(ScoringSet))}
        scored = sa.select(Scoring.submission_id, Scoring.scoring_set_id).where(Scoring.state == State.SCORED)
        copies = sorted({(number, compat[made]) for number, made in session.execute(scored)})
    for number, rule in copies:
        is_sound = store.copy_is_sound(number, rule)
        report.copies += is_sound is not None
        if is_sound is False:
            what = f"the copy of its ranked lists, compat {rule}"
            _add(database, report, [number], what, "another content", "as it was written; without it another is made")


def _add(database: Database, report: Report, submissions: list[int], what: str, stored: str, expected: str) -> None:
    with database.read() as session:
        for number in submissions:
            report.add(name_of_row(session, "submission", number), what, stored, expected, into=STORE)
