"""Scores stored runs again and compares: whether the figures on record are those that the files give, bit for bit."""

from collections.abc import Callable, Collection

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.db import Database
from leaderboard.errors import Conflict, LeaderboardError
from leaderboard.formats import Limits
from leaderboard.models import Score, Scoring, ScoringSet, Submission
from leaderboard.rules.digests import ScoreLine
from leaderboard.rules.states import State
from leaderboard.services.boards import Recomputed, differs, recomputed
from leaderboard.services.verification import (
    STORE,
    Difference,
    Report,
    board_in_words,
    lines_of,
    readable,
    run_in_words,
)
from leaderboard.store import RunStore
from leaderboard.worker.run_scorer import RunScorer

__all__ = ["recompute"]

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
    with database.read() as session:
        rows = session.execute(
            sa.select(Scoring.id, Scoring.submission_id, ScoringSet.id, ScoringSet.metric_version)
            .join(ScoringSet, ScoringSet.id == Scoring.scoring_set_id)
            .join(Submission, Submission.id == Scoring.submission_id)
            .where(Scoring.state == State.SCORED)
            .order_by(ScoringSet.id, Scoring.id)
        ).all()
    for scoring_id, submission_id, set_id, version in rows:
        if submission_id in without:
            pass
        elif version != metrics.MEASURES_VERSION:
            report.not_recomputed += 1
        else:
            with readable(report, f"run {submission_id}"):
                report.differences += _compare(database, run_scorer, scoring_id, submission_id, set_id)
            report.recomputed += 1
        tell(1)
    with readable(report, "the figures of boards"), database.read() as session:
        for board in recomputed(session):
            report.differences += _of_board(session, board)


def _compare(
    database: Database, run_scorer: RunScorer, scoring_id: int, submission_id: int, set_id: int
) -> list[Difference]:
    with database.read() as session:
        where = run_in_words(session, submission_id)
        stored = {(line.measure, line.subset): line for line in lines_of(session, [scoring_id]).get(scoring_id, [])}
        ends = {
            (row.measure, row.subset.value): (row.low, row.high, row.lost_low, row.lost_high)
            for row in session.scalars(sa.select(Score).where(Score.scoring_id == scoring_id))
        }
    try:
        scored = run_scorer.score(submission_id, set_id, lambda _: None, keep=False)
    except Conflict as error:
        return [Difference(where, "its scoring set", error.message, "the set that this program made")]
    except LeaderboardError as error:
        return [Difference(where, "its file", error.message, "a file that can be scored", into=STORE)]
    differences = []
    computed = {(line.measure, line.subset): line for line in (each.line for each in scored.measures)}
    for measure, subset in sorted(computed.keys() | stored.keys()):
        was, now = stored.get((measure, subset)), computed.get((measure, subset))
        if was != now:
            what = f"{measure} over {subset} queries, scored again"
            differences.append(Difference(where, what, _in_words(was), _in_words(now), into=EITHER))
    for each in scored.measures:
        if metrics.parse(each.measure).has_interval:
            continue  # worked out with the board
        computed_ends = (each.low, each.high, each.lost_low, each.lost_high)
        if (kept := ends.get((each.measure, each.subset.value))) is not None and differs(computed_ends, kept):
            what = f"intervals of {each.measure} over {each.subset.value} queries, scored again"
            differences.append(Difference(where, what, f"{kept}", f"{computed_ends}"))
    return differences


def _of_board(session: Session, board: Recomputed) -> list[Difference]:
    what = f"{board.measure} over {board.subset.value} queries"
    found = []
    for scoring_id, (kept, computed) in board.intervals.items():
        submission_id = session.scalars(sa.select(Scoring.submission_id).where(Scoring.id == scoring_id)).one()
        found.append(Difference(run_in_words(session, submission_id), f"interval of {what}", f"{kept}", f"{computed}"))
    for name, (kept_figure, computed_figure) in board.figures.items():
        where = board_in_words(session, board.scoring_set_id)
        found.append(Difference(where, f"{name}, {what}", f"{kept_figure}", f"{computed_figure}"))
    return found


def _in_words(line: ScoreLine | None) -> str:
    return "nothing" if line is None else f"mean {line.mean}, {line.digest}"
