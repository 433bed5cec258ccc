"""Per-query values: loading them from packed vectors, and figures made of some of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.boards.reads.columns import Column
from leaderboard.boards.reads.entries import Figure
from leaderboard.db import value_at
from leaderboard.evaluations.rules import NoRelevant, Subset
from leaderboard.metrics.families.detection import columns_from_values
from leaderboard.metrics.segments import Floats, Ints
from leaderboard.worker.models import Score


@dataclass(frozen=True, slots=True)
class QuerySpread:
    """The values of all systems on each query.

    median, best, worst  float64[positions], NaN where no system has a value
    first                int64[positions], the index of the system with the best value

    There are no positions where there is no system.
    """

    median: Floats
    best: Floats
    worst: Floats
    first: Ints


def value_in(values: Floats | None, position: int) -> float | None:
    """The value at a position; None where it is undefined, and for a query that came after the values were computed."""
    if values is None or position >= len(values) or np.isnan(values[position]):
        return None
    return float(values[position])


def load_vectors(
    session: Session, scorings: Iterable[int], measures: Iterable[str], subset: Subset
) -> dict[tuple[int, str], Floats]:
    """(scoring, measure) -> float64[positions], in one statement."""
    rows = session.execute(
        sa.select(Score.scoring_id, Score.measure, Score.values).where(
            Score.scoring_id.in_(list(scorings)), Score.measure.in_(list(measures)), Score.subset == subset
        )
    )
    return {(scoring, measure): values for scoring, measure, values in rows}


def load_slices(
    session: Session, scorings: Iterable[int], measures: Iterable[str], subset: Subset, position: int
) -> dict[tuple[int, str], float | None]:
    """(scoring, measure) -> the value at one position, None where undefined. Only its 8 bytes are read."""
    rows = session.execute(
        sa.select(Score.scoring_id, Score.measure, value_at(Score.values, position)).where(
            Score.scoring_id.in_(list(scorings)), Score.measure.in_(list(measures)), Score.subset == subset
        )
    )
    slices: dict[tuple[int, str], float | None] = {}
    for scoring, measure, values in rows:
        slices[scoring, measure] = value_in(values, 0)
    return slices


def figures_over(
    vectors: dict[str, Floats], positions: Ints, measures: Sequence[str], no_relevant: NoRelevant, beta: float | None
) -> dict[str, Figure]:
    """One run's figures over some of the queries, aggregated as each measure does it.

    vectors    measure -> float64[all positions], with the measures that another one is computed from
    positions  of the queries, in the order in which values are added up (`metrics.query_order` of their ids)

    A measure that is not made of per-query values (MQWV has one threshold for all queries) has no figure.
    """
    figures = {}
    for name in measures:
        measure = metrics.parse(name)
        columns = columns_from_values(measure, vectors, no_relevant=no_relevant.value, beta=beta)
        if columns is None:
            figures[name] = Figure(None)
            continue
        chosen = tuple(values[positions] for values in columns)
        mean = measure.aggregate(chosen) if len(positions) else np.nan
        count = int(np.count_nonzero(~np.isnan(chosen[-1])))
        figures[name] = Figure(None if np.isnan(mean) else float(mean), count=count)
    return figures


def spread_of(vectors: Sequence[Floats], column: Column) -> QuerySpread:
    """The spread over systems, given each system's float64[positions]."""
    if not vectors:
        nothing = np.empty(0)
        return QuerySpread(nothing, nothing, nothing, nothing.astype(np.int64))
    table = np.vstack(vectors)
    known = ~np.isnan(table).all(axis=0)
    median, low, high = (np.full(table.shape[1], np.nan) for _ in range(3))
    median[known] = np.nanmedian(table[:, known], axis=0)
    low[known], high[known] = np.nanmin(table[:, known], axis=0), np.nanmax(table[:, known], axis=0)
    lower = column.direction == "lower"
    merit = np.where(np.isnan(table), -np.inf, -table if lower else table)
    return QuerySpread(median, low if lower else high, high if lower else low, merit.argmax(axis=0))
