"""Whether the means that boards keep in one row, and over how many queries they are, are those of the runs' figures."""

import math

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.models import Board, Score, Scoring
from leaderboard.rules.states import State
from leaderboard.services.verification.report import NOTHING, Report, run_in_words

__all__ = ["check_means"]


def check_means(session: Session, report: Report) -> None:
    """Compares the means of every row of a board with the figures that they were taken from.

    A run that the row lacks is no difference: it was scored after the board was refreshed. Of a run of which
    something is told already, its own figures most likely, nothing more is; nor of a scoring that is told to be gone.
    """
    named = {name for one in report.differences for name in (one.where, one.what)}
    key = Board.scoring_set_id, Board.measure, Board.subset
    for set_id, measure, subset in session.execute(sa.select(*key).order_by(*key)).all():
        of_board = Board.scoring_set_id == set_id, Board.measure == measure, Board.subset == subset
        # One row, but where a table that is not ours inherits from it, which is told elsewhere.
        kept = session.execute(sa.select(Board.scorings, Board.means, Board.counts).where(*of_board)).all()
        scored = sa.select(Scoring.id).where(Scoring.scoring_set_id == set_id, Scoring.state == State.SCORED)
        figures = sa.select(Score.scoring_id, Score.mean, Score.count).where(
            Score.measure == measure, Score.subset == subset, Score.scoring_id.in_(scored)
        )
        known = {scoring: _told(mean, count) for scoring, mean, count in session.execute(figures)}
        rows = (row for packed in kept for row in zip(*(own.tolist() for own in packed), strict=True))
        for scoring, mean, count in rows:
            stored, expected = _told(mean, count), known.get(scoring, NOTHING)
            if stored != expected and (where := _run(session, scoring)) not in named:
                what = f"the mean of {measure} over {subset} queries that the board of set {set_id} keeps"
                report.add(where, what, stored, expected)


def _told(mean: float | None, count: float) -> str:
    figure = "undefined" if mean is None or math.isnan(mean) else str(mean)
    return f"{figure} over {count:.0f}"


def _run(session: Session, scoring: int) -> str:
    run = session.scalar(sa.select(Scoring.submission_id).where(Scoring.id == scoring))
    return f"scoring {scoring}" if run is None else run_in_words(session, run)
