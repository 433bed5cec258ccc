"""Figures of many runs, as arrays: from the rows in which boards keep them, of newer runs one by one."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute, Session

from leaderboard.metrics import Floats
from leaderboard.metrics.ranking import Bools, Ints
from leaderboard.models import Board, Score, Scoring
from leaderboard.rules.settings import Subset

__all__ = ["Wanted", "load_figures", "load_means"]

NAMED = 500  # scorings that a statement names; of more the figures of all of their set are read
Packed = Mapping[
    tuple[int, Subset, str], tuple[Ints, Floats]
]  # (set, subset, measure) -> scorings, [columns, scorings]
Pair = tuple[InstrumentedAttribute[Any], InstrumentedAttribute[Any]]  # a column of Board, and what it holds of each run
MEANS: tuple[Pair, ...] = ((Board.means, Score.mean),)
WHOLE: tuple[Pair, ...] = (*MEANS, (Board.counts, Score.count), (Board.lows, Score.low), (Board.highs, Score.high))


@dataclass(frozen=True, slots=True)
class Wanted:
    """Figures of these scored runs of a set by these measures, over that subset of the queries.

    in_full  those of the measures of which more than the means is wanted: over how many queries, and intervals
    """

    scoring_set_id: int
    subset: Subset
    measures: Sequence[str]
    scorings: Ints
    in_full: Sequence[str] = ()


def load_means(session: Session, wanted: Sequence[Wanted]) -> list[dict[str, Floats]]:
    """For each of these, measure -> the means in the order of its scorings, NaN where undefined or not there; with all
    digits, whoever asks.

    In one statement, in two where a run was scored after boards were refreshed.
    """
    return [{measure: figures[0] for measure, figures in own.items()} for own in load_figures(session, wanted)]


def load_figures(session: Session, wanted: Sequence[Wanted]) -> list[dict[str, Floats]]:
    """For each of these, measure -> float64[1, scorings], the means; of a measure `in_full` float64[4, scorings]: also
    over how many queries they are, and the ends of the intervals that are kept.

    In one statement, in two where a run was scored after boards were refreshed.
    """
    in_full = {measure for one in wanted for measure in one.in_full}
    packed = _kept(session, wanted, in_full)
    found: list[dict[str, Floats]] = []
    lacking: list[Ints] = []
    for one in wanted:
        own, there = {}, np.ones(len(one.scorings), dtype=bool)
        for measure in one.measures:
            kept = packed.get((one.scoring_set_id, one.subset, measure))
            own[measure], is_kept = _placed(one.scorings, kept, len(_columns(measure in in_full)))
            there &= is_kept
        found.append(own)
        lacking.append(one.scorings[~there])
    if any(len(own) for own in lacking):
        _add_unkept(session, wanted, found, lacking, bool(in_full))
    return found


def _columns(in_full: bool) -> Sequence[Pair]:
    return WHOLE if in_full else MEANS


def _kept(session: Session, wanted: Sequence[Wanted], in_full: Collection[str]) -> Packed:
    of_each = (
        sa.and_(Board.scoring_set_id == one.scoring_set_id, Board.subset == one.subset, Board.measure.in_(one.measures))
        for one in wanted
    )
    statement = sa.select(Board.scoring_set_id, Board.subset, Board.measure, Board.scorings, Board.means)
    if in_full:
        is_in_full = Board.measure.in_(in_full)
        statement = statement.add_columns(*(sa.case((is_in_full, packed)) for packed, _ in WHOLE[len(MEANS) :]))
    rows = session.execute(statement.where(sa.or_(sa.false(), *of_each)))
    return {
        (set_id, subset, measure): (scorings, np.stack(own[: len(_columns(measure in in_full))]))
        for set_id, subset, measure, scorings, *own in rows
    }


def _placed(scorings: Ints, packed: tuple[Ints, Floats] | None, columns: int) -> tuple[Floats, Bools]:
    """The figures of these scorings, NaN where none are kept; and of which there are."""
    if packed is None or not len(packed[0]):
        return np.full((columns, len(scorings)), np.nan), np.zeros(len(scorings), dtype=bool)
    at = np.minimum(np.searchsorted(packed[0], scorings), len(packed[0]) - 1)
    is_kept = packed[0][at] == scorings
    return np.where(is_kept, packed[1][:, at], np.nan), is_kept


def _add_unkept(
    session: Session,
    wanted: Sequence[Wanted],
    found: Sequence[dict[str, Floats]],
    lacking: Sequence[Ints],
    in_full: bool,
) -> None:
    """Fills in the figures of these scorings, which no row of a board holds."""
    columns = _columns(in_full)
    ids = np.unique(np.concatenate(lacking)).tolist()
    of_them = Score.scoring_id.in_(ids)
    if len(ids) > NAMED:
        sets = [one.scoring_set_id for one, own in zip(wanted, lacking, strict=True) if len(own)]
        of_them = Score.scoring_id.in_(sa.select(Scoring.id).where(Scoring.scoring_set_id.in_(sets)))
    measures = {measure for one in wanted for measure in one.measures}
    subsets = {one.subset for one in wanted}
    statement = sa.select(Score.subset, Score.measure, Score.scoring_id, *(own for _, own in columns)).where(
        of_them, Score.measure.in_(measures), Score.subset.in_(subsets)
    )
    figures: dict[tuple[Subset, str], dict[int, Sequence[float | None]]] = {}
    for subset, measure, scoring_id, *own in session.execute(statement):
        figures.setdefault((subset, measure), {})[scoring_id] = own
    nothing = [None] * len(columns)
    for one, arrays, ids_of_it in zip(wanted, found, lacking, strict=True):
        where = np.flatnonzero(np.isin(one.scorings, ids_of_it))
        for measure in one.measures:
            known = figures.get((one.subset, measure), {})
            read = [known.get(scoring, nothing) for scoring in one.scorings[where].tolist()]
            columns_of_all = np.array(read, dtype=float).reshape(-1, len(columns)).T
            arrays[measure][:, where] = columns_of_all[: len(arrays[measure])]
