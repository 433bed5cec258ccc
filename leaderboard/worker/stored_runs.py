"""Scores stored runs again and compares: whether the figures on record are those that the files give, bit for bit.

It reads every stored run file and every copy of ranked lists again: whether they are what was kept.
"""

import hashlib
from collections.abc import Callable, Collection
from operator import attrgetter

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import errors, metrics
from leaderboard.audit.reads import name_of_row
from leaderboard.audit.rules import short
from leaderboard.audit.verify import NOTHING, STORE, Report, differing, figures_in_words, lines_of, part
from leaderboard.boards.writes import differs, recomputed
from leaderboard.db import Database
from leaderboard.formats import Limits
from leaderboard.store import RunStore
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import State
from leaderboard.worker.models import Curve, Score, Scoring, ScoringSet
from leaderboard.worker.run_scorer import RunScorer

ENDS = attrgetter("low", "high", "lost_low", "lost_high")  # of intervals


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
        for of_table, number, what, stored, computed in recomputed(session):
            where = name_of_row(session, of_table, number)
            report.add(f"board of set {where}" if of_table == "scoring_set" else where, what, stored, computed)


def _compare(
    database: Database, run_scorer: RunScorer, report: Report, scoring_id: int, submission_id: int, set_id: int
) -> None:
    with database.read() as session:
        where = name_of_row(session, "submission", submission_id)
        lines = lines_of(session, [scoring_id]).get(scoring_id, [])
        rows = session.scalars(sa.select(Score).where(Score.scoring_id == scoring_id))
        ends = {(row.measure, row.subset): ENDS(row) for row in rows}
        columns = sa.select(Curve.subset, Curve.name, Curve.values).where(Curve.scoring_id == scoring_id)
        curves = {
            f"curve {name} over {subset} queries": short(values.tolist())
            for subset, name, values in session.execute(columns)
        }
    try:
        scored = run_scorer.score(submission_id, set_id, keep=False)
    except errors.Conflict as error:
        report.add(where, "its scoring set", error.message, "the set that this program made")
        return
    except errors.LeaderboardError as error:
        report.add(where, "its file", error.message, "a file that can be scored", into=STORE)
        return
    computed = figures_in_words(figure.line for figure in scored.measures)
    for subset, own in scored.curves.items():
        computed |= {f"curve {name} over {subset} queries": short(values.tolist()) for name, values in own.items()}
    differs_now = differing(figures_in_words(lines) | curves, computed)
    wrong = ((f"{what}, scored again", stored, expected) for what, stored, expected in differs_now)
    report.add_all(where, wrong, into=f"the database or {STORE}")
    for figure in scored.measures:
        before, after = ends.get((figure.measure, figure.subset)), ENDS(figure)
        of_board = metrics.parse(figure.measure).has_interval  # worked out with the board
        if before is not None and not of_board and differs(after, before):
            what = f"intervals of {figure.measure} over {figure.subset.value} queries, scored again"
            report.add(where, what, before, after)


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
            stored = _stored(store, sha256)
            if stored != sha256:
                spoilt.update(submissions)
                _add(database, report, submissions, "its file", stored, sha256)
        report.files += 1
        tell(1)
    with part(report, "the copies of ranked lists"):
        _check_copies(database, store, report)
    return spoilt


def _stored(store: RunStore, sha256: str) -> str:
    """The hash of a run's file, or why it has none."""
    try:
        with store.reading(sha256) as path, path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except errors.Missing:
        return NOTHING
    except (errors.LeaderboardError, OSError) as error:
        return f"{NOTHING} that can be read: {error}"


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
