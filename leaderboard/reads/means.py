"""Means of many runs by many measures, as arrays: from the rows in which boards keep them, of newer runs one by one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.metrics import Floats
from leaderboard.metrics.ranking import Ints
from leaderboard.models import Board, Score, Scoring
from leaderboard.rules.settings import Subset

__all__ = ["Wanted", "load_means"]

NAMED = 500  # scorings that a statement names; of more the figures of all of their set are read


@dataclass(frozen=True, slots=True)
class Wanted:
    """Means of these scored runs of a set by these measures, over that subset of the queries."""

    scoring_set_id: int
    subset: Subset
    measures: Sequence[str]
    scorings: Ints


def load_means(session: Session, wanted: Sequence[Wanted]) -> list[dict[str, Floats]]:
    """For each of these, measure -> the means in the order of its scorings, NaN where undefined or not there; with all
    digits, whoever asks.

    In one statement, in two where a run was scored after boards were refreshed.
    """
    packed = _kept(session, wanted)
    found: list[dict[str, Floats]] = []
    lacking: list[Ints] = []
    for one in wanted:
        own, there = {}, np.ones(len(one.scorings), dtype=bool)
        for measure in one.measures:
            own[measure], is_kept = _placed(one.scorings, packed.get((one.scoring_set_id, one.subset, measure)))
            there &= is_kept
        found.append(own)
        lacking.append(one.scorings[~there])
    if any(len(own) for own in lacking):
        _add_unkept(session, wanted, found, lacking)
    return found


def _kept(session: Session, wanted: Sequence[Wanted]) -> Mapping[tuple[int, Subset, str], tuple[Ints, Floats]]:
    of_each = (
        sa.and_(Board.scoring_set_id == one.scoring_set_id, Board.subset == one.subset, Board.measure.in_(one.measures))
        for one in wanted
    )
    columns = Board.scoring_set_id, Board.subset, Board.measure, Board.scorings, Board.means
    rows = session.execute(sa.select(*columns).where(sa.or_(sa.false(), *of_each)))
    return {(set_id, subset, measure): (scorings, means) for set_id, subset, measure, scorings, means in rows}


def _placed(
    scorings: Ints, packed: tuple[Ints, Floats] | None
) -> tuple[Floats, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """The means of these scorings, NaN where none is kept; and of which one is."""
    if packed is None or not len(packed[0]):
        return np.full(len(scorings), np.nan), np.zeros(len(scorings), dtype=bool)
    at = np.minimum(np.searchsorted(packed[0], scorings), len(packed[0]) - 1)
    is_kept = packed[0][at] == scorings
    return np.where(is_kept, packed[1][at], np.nan), is_kept


def _add_unkept(
    session: Session, wanted: Sequence[Wanted], found: Sequence[dict[str, Floats]], lacking: Sequence[Ints]
) -> None:
    """Fills in the means of these scorings, which no row of a board holds."""
    ids = np.unique(np.concatenate(lacking)).tolist()
    of_them = Score.scoring_id.in_(ids)
    if len(ids) > NAMED:
        sets = [one.scoring_set_id for one, own in zip(wanted, lacking, strict=True) if len(own)]
        of_them = Score.scoring_id.in_(sa.select(Scoring.id).where(Scoring.scoring_set_id.in_(sets)))
    measures, subsets = (
        {*values} for values in ((n for one in wanted for n in one.measures), (one.subset for one in wanted))
    )
    statement = sa.select(Score.subset, Score.measure, Score.scoring_id, Score.mean).where(
        of_them, Score.measure.in_(measures), Score.subset.in_(subsets)
    )
    means: dict[tuple[Subset, str], dict[int, float | None]] = {}
    for subset, measure, scoring_id, mean in session.execute(statement):
        means.setdefault((subset, measure), {})[scoring_id] = mean
    for one, own, ids_of_it in zip(wanted, found, lacking, strict=True):
        where = np.isin(one.scorings, ids_of_it)
        for measure in one.measures:
            known = means.get((one.subset, measure), {})
            own[measure][where] = np.array(
                [known.get(scoring) for scoring in one.scorings[where].tolist()], dtype=float
            )
