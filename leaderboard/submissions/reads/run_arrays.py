"""Scored runs of sets as arrays: whose they are, without a row for each, and their figures, from the rows in which
boards keep them, of newer runs one by one."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute, Session

from leaderboard.access import Actor
from leaderboard.boards.models import Board, Standing
from leaderboard.boards.reads.entries import Disclosure, Figure
from leaderboard.evaluations.rules import Subset
from leaderboard.frozen import frozen
from leaderboard.metrics.segments import Bools, Floats, Ints
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import on_boards
from leaderboard.submissions.rules import State, SystemKind
from leaderboard.teams.models import System
from leaderboard.worker.models import Score, Scoring

Pair = tuple[InstrumentedAttribute[Any], InstrumentedAttribute[Any]]  # a column of Board, and what it holds of each run
MEANS: tuple[Pair, ...] = ((Board.means, Score.mean),)
WHOLE: tuple[Pair, ...] = (*MEANS, (Board.counts, Score.count), (Board.lows, Score.low), (Board.highs, Score.high))


@frozen
class Runs:
    """own: whether a run is of a team of the reader's. off_board: whether it only keeps its place (`ScoredRun`)."""

    submissions: Ints
    scorings: Ints
    systems: Ints
    late: Bools
    baseline: Bools
    own: Bools
    off_board: Bools

    @property
    def has_several(self) -> bool:
        """Whether a system has more than one of them."""
        ordered = np.sort(self.systems)
        return bool((ordered[1:] == ordered[:-1]).any())

    @property
    def groups(self) -> Ints:
        """Of each run a number that those have in common of which one stands: of its system, in time or late."""
        return 2 * self.systems + self.late

    def at(self, which: Bools | Ints) -> "Runs":
        """Those of them that a mask says, or that stand at these places."""
        return Runs(*(getattr(self, field.name)[which] for field in fields(self)))


def load_runs(
    session: Session,
    actor: Actor,
    sets: Collection[int],
    which: sa.ColumnElement[bool],
    *,
    standing: sa.ColumnElement[bool] | None = None,
    by_arrival: bool = False,
) -> dict[int, Runs]:
    """Id of a set -> its runs by a condition on Scoring and Submission; in one statement.

    standing    only those that stand for their systems by the rows of Standing with this condition
    by_arrival  in the order in which they were received (`rules.arrival`); else in no order

    Each of their numbers comes in one text for a set: a row for each run takes twice as long.
    """
    of_set: Any = Scoring.scoring_set_id
    is_baseline = Submission.system_id.in_(sa.select(System.id).where(System.kind == SystemKind.BASELINE))
    marks = Submission.late, is_baseline, Submission.team_id.in_(actor.teams), ~on_boards()
    mark = sum(2**bit * sa.cast(condition, sa.Integer) for bit, condition in enumerate(marks))
    numbers: list[Any] = [Submission.id, Scoring.id, Submission.system_id, mark]
    runs = sa.select().join_from(Submission, Scoring, Scoring.submission_id == Submission.id)
    if standing is not None:
        its_row = Standing.scoring_id == Scoring.id, Standing.scoring_set_id == of_set
        runs = runs.join(Standing, sa.and_(*its_row, standing))
    runs = runs.where(of_set.in_(list(sets)), Scoring.state == State.SCORED, which)
    if by_arrival:
        numbers.append(sa.func.row_number().over(order_by=(Submission.received_at, Submission.id)))
        named = (number.label(f"number_{place}") for place, number in enumerate(numbers))
        inner = runs.add_columns(of_set.label("of_set"), *named).subquery()
        (of_set, *numbers), runs = inner.c, sa.select()
    texts = (sa.func.aggregate_strings(sa.cast(number, sa.String), ",") for number in numbers)
    loaded = dict.fromkeys(sets, _runs(np.zeros((len(numbers), 0), dtype=np.int64)))
    for set_id, *of_runs in session.execute(runs.add_columns(of_set, *texts).group_by(of_set)):
        table = np.stack([np.fromstring(text, dtype=np.int64, sep=",") for text in of_runs])
        loaded[set_id] = _runs(table[:, np.argsort(table[-1])] if by_arrival else table)
    return loaded


def _runs(table: Ints) -> Runs:
    submissions, scorings, systems, marks, *_ = table
    return Runs(submissions, scorings, systems, *(marks & 2**bit > 0 for bit in range(4)))


@dataclass(frozen=True)
class RunFigures:
    """Figures of runs by one measure, which only leave as `disclosure` has them.

    stored  float64[1, runs], the means, NaN where undefined or not there; `in_full` float64[4, runs]: also over how
            many queries they are, and the ends of the intervals that are kept
    """

    disclosure: Disclosure
    measure: str
    own: Bools
    stored: Floats

    @cached_property
    def means(self) -> Floats:
        return self.disclosure.means(self.measure, self.own, self.stored[0])

    def at(self, places: Ints) -> list[Figure]:
        """Of the runs at these places, whole figures."""
        return self.disclosure.figures(self.measure, self.own[places], self.stored[:, places])


@frozen
class Wanted:
    """Figures of these runs of the disclosure's set by these measures.

    in_full  those of the measures of which more than the means is wanted: over how many queries, and intervals
    """

    disclosure: Disclosure
    measures: Sequence[str]
    runs: Runs
    in_full: Sequence[str] = ()


def load_figures(session: Session, wanted: Sequence[Wanted]) -> list[dict[str, RunFigures]]:
    """For each of these, measure -> the figures in the order of its runs.

    In one statement, in two where a run was scored after boards were refreshed.
    """
    in_full = {measure for each in wanted for measure in each.in_full}
    packed = _packed(session, wanted, in_full)
    loaded: list[dict[str, RunFigures]] = []
    lacking: list[Ints] = []
    for each in wanted:
        scorings = each.runs.scorings
        figures, there = {}, np.ones(len(scorings), dtype=bool)
        for measure in each.measures:
            stored = np.full((len(_columns(measure in in_full)), len(scorings)), np.nan)
            of_board = packed.get((each.disclosure.scoring_set.id, each.disclosure.subset, measure))
            ids, values = of_board or (scorings[:0], stored[:, :0])
            is_packed = np.isin(scorings, ids)
            stored[:, is_packed] = values[:, np.searchsorted(ids, scorings[is_packed])]
            figures[measure] = RunFigures(each.disclosure, measure, each.runs.own, stored)
            there &= is_packed
        loaded.append(figures)
        lacking.append(scorings[~there])
    if any(len(scorings) for scorings in lacking):
        _add_newer(session, wanted, loaded, lacking, bool(in_full))
    return loaded


def _columns(in_full: bool) -> Sequence[Pair]:
    return WHOLE if in_full else MEANS


def _packed(
    session: Session, wanted: Sequence[Wanted], in_full: Collection[str]
) -> Mapping[tuple[int, Subset, str], tuple[Ints, Floats]]:
    """(set, subset, measure) -> the scorings that a board keeps, and their figures, [columns, scorings]."""
    of_each = (
        sa.and_(
            Board.scoring_set_id == each.disclosure.scoring_set.id,
            Board.subset == each.disclosure.subset,
            Board.measure.in_(each.measures),
        )
        for each in wanted
    )
    statement = sa.select(Board.scoring_set_id, Board.subset, Board.measure, Board.scorings, Board.means)
    if in_full:
        is_in_full = Board.measure.in_(in_full)
        statement = statement.add_columns(*(sa.case((is_in_full, packed)) for packed, _ in WHOLE[len(MEANS) :]))
    rows = session.execute(statement.where(sa.or_(sa.false(), *of_each)))
    return {
        (set_id, subset, measure): (scorings, np.stack(arrays[: len(_columns(measure in in_full))]))
        for set_id, subset, measure, scorings, *arrays in rows
    }


def _add_newer(
    session: Session,
    wanted: Sequence[Wanted],
    loaded: Sequence[dict[str, RunFigures]],
    lacking: Sequence[Ints],
    in_full: bool,
) -> None:
    """Fills in the figures of these scorings, which no row of a board holds."""
    columns = _columns(in_full)
    ids = np.concatenate(lacking)
    sets = {each.disclosure.scoring_set.id for each in wanted}
    newer = sa.select(Scoring.id).where(Scoring.scoring_set_id.in_(sets), Scoring.id >= int(ids.min()))
    statement = sa.select(Score.subset, Score.measure, Score.scoring_id, *(stored for _, stored in columns)).where(
        Score.scoring_id.in_(newer),
        Score.measure.in_({measure for each in wanted for measure in each.measures}),
        Score.subset.in_({each.disclosure.subset for each in wanted}),
    )
    rows: Any = session.execute(statement)
    scores = {tuple(row[:3]): row[3:] for row in rows}
    nothing = [None] * len(columns)
    for each, figures, scorings in zip(wanted, loaded, lacking, strict=True):
        where = np.flatnonzero(np.isin(each.runs.scorings, scorings))
        for measure in each.measures:
            own = ((each.disclosure.subset, measure, scoring) for scoring in each.runs.scorings[where].tolist())
            read = [scores.get(key, nothing) for key in own]
            stored = figures[measure].stored
            stored[:, where] = np.array(read, dtype=float).reshape(-1, len(columns)).T[: len(stored)]
