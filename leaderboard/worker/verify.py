"""Scores stored runs again and compares: whether the figures on record are those that the files give, bit for bit.

It reads every stored run file and every copy of ranked lists again: whether they are what was kept.
"""

import hashlib
from collections.abc import Callable, Collection

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.audit.reads import name_of_row
from leaderboard.audit.rules import ScoreLine
from leaderboard.audit.verify import NOTHING, STORE, Report, lines_of, part
from leaderboard.boards.writes import differs, recomputed
from leaderboard.db import Database
from leaderboard.errors import Conflict, LeaderboardError, NotFound
from leaderboard.formats import Limits
from leaderboard.store import RunStore
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import State
from leaderboard.worker.models import Score, Scoring, ScoringSet
from leaderboard.worker.run_scorer import RunScorer

EITHER = f"the database or {STORE}"


def recompute(
    database: Database,
    store: RunStore,
    limits: Limits,
    report: Report,
    tell: Callable[[int], None],
    without: Collection[int] = (),
) -> None:
    """Scores every scored run again by the settings of its set, and adds to the report what differs.

    A run that another version of the measures has scored is only counted: this version's figures could differ. Then
    computes the intervals and rank sets of current boards anew. without: submissions whose files were named already.
    """
    run_scorer = RunScorer(database, store, limits)
    scored = sa.select(Scoring.id, Scoring.submission_id, ScoringSet.id, ScoringSet.metric_version)
    scored = scored.join(ScoringSet, ScoringSet.id == Scoring.scoring_set_id).where(Scoring.state == State.SCORED)
    with database.read() as session:
        rows = session.execute(scored.order_by(ScoringSet.id, Scoring.id)).all()
    for scoring_id, submission_id, set_id, version in rows:
        if submission_id not in without and version != metrics.MEASURES_VERSION:
            report.not_recomputed += 1
        elif submission_id not in without:
            with part(report, f"run {submission_id}"):
                _compare(database, run_scorer, report, scoring_id, submission_id, set_id)
            report.recomputed += 1
        tell(1)
    with part(report, "the figures of boards"), database.read() as session:
        for board in recomputed(session):
            what = f"{board.measure} over {board.subset.value} queries"
            for scoring_id, ends in board.intervals.items():
                report.add(name_of_row(session, "scoring", scoring_id), f"interval of {what}", *ends)
            for name, figures in board.figures.items():
                where = "board of set " + name_of_row(session, "scoring_set", board.scoring_set_id)
                report.add(where, f"{name}, {what}", *figures)


def _compare(
    database: Database, run_scorer: RunScorer, report: Report, scoring_id: int, submission_id: int, set_id: int
) -> None:
    with database.read() as session:
        where = name_of_row(session, "submission", submission_id)
        stored = {(line.measure, line.subset): line for line in lines_of(session, [scoring_id]).get(scoring_id, [])}
        stored_ends = {
            (row.measure, row.subset.value): (row.low, row.high, row.lost_low, row.lost_high)
            for row in session.scalars(sa.select(Score).where(Score.scoring_id == scoring_id))
        }
    try:
        scored = run_scorer.score(submission_id, set_id, keep=False)
    except Conflict as error:
        report.add(where, "its scoring set", error.message, "the set that this program made")
        return
    except LeaderboardError as error:
        report.add(where, "its file", error.message, "a file that can be scored", into=STORE)
        return
    computed = {(figure.measure, figure.subset.value): figure for figure in scored.measures}
    for measure, subset in sorted(computed.keys() | stored.keys()):
        line, figure = stored.get((measure, subset)), computed.get((measure, subset))
        what = f"{measure} over {subset} queries, scored again"
        if figure is None or line != figure.line:
            report.add(where, what, _in_words(line), _in_words(figure.line if figure else None), into=EITHER)
        if figure is None or line is None or metrics.parse(measure).has_interval:
            continue  # or worked out with the board
        ends = (figure.low, figure.high, figure.lost_low, figure.lost_high)
        if differs(ends, stored_ends[measure, subset]):
            report.add(where, f"intervals of {what}", stored_ends[measure, subset], ends)


def _in_words(line: ScoreLine | None) -> str:
    return NOTHING if line is None else f"mean {line.mean}, {line.digest}"


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
