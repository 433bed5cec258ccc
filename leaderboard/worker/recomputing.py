"""Scores stored runs again and compares: whether the figures on record are those that the files give, bit for bit."""

from collections.abc import Callable, Collection

import sqlalchemy as sa

from leaderboard import metrics
from leaderboard.audit.reads import name_of_row
from leaderboard.audit.rules import ScoreLine
from leaderboard.audit.verify import NOTHING, STORE, Report, lines_of, part
from leaderboard.boards.writes import differs, recomputed
from leaderboard.db import Database
from leaderboard.errors import Conflict, LeaderboardError
from leaderboard.formats import Limits
from leaderboard.store import RunStore
from leaderboard.submissions.rules.states import State
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
        scored = run_scorer.score(submission_id, set_id, lambda _: None, keep=False)
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
