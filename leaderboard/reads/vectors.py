"""Per-query values as the database keeps them: one packed vector a measure, one float64 a query's position."""

from collections.abc import Iterable, Sequence

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.metrics.ranking import Floats, Ints
from leaderboard.metrics.stored import columns_from_values
from leaderboard.models import NoRelevant, Score, Subset
from leaderboard.reads.entries import Figure

__all__ = ["figures_over", "load_slices", "load_vectors", "unpack"]

VALUE_BYTES = 8


def unpack(packed: bytes) -> Floats:
    """float64[positions], NaN where there is no value."""
    return np.frombuffer(packed, dtype="<f8")


def load_vectors(
    session: Session, scorings: Iterable[int], measures: Iterable[str], subset: Subset
) -> dict[tuple[int, str], Floats]:
    """(scoring, measure) -> float64[positions], in one statement."""
    rows = session.execute(
        sa.select(Score.scoring_id, Score.measure, Score.values).where(
            Score.scoring_id.in_(list(scorings)), Score.measure.in_(list(measures)), Score.subset == subset
        )
    )
    return {(scoring, measure): unpack(packed) for scoring, measure, packed in rows}


def load_slices(
    session: Session, scorings: Iterable[int], measures: Iterable[str], subset: Subset, position: int
) -> dict[tuple[int, str], float | None]:
    """(scoring, measure) -> the value at one position, None where undefined: 8 bytes a row leave the database."""
    eight = sa.func.substr(Score.values, VALUE_BYTES * position + 1, VALUE_BYTES, type_=sa.LargeBinary)
    rows = session.execute(
        sa.select(Score.scoring_id, Score.measure, eight).where(
            Score.scoring_id.in_(list(scorings)), Score.measure.in_(list(measures)), Score.subset == subset
        )
    )
    found: dict[tuple[int, str], float | None] = {}
    for scoring, measure, packed in rows:
        # A query that came after the set was made has no place in its vectors.
        value = float(unpack(packed)[0]) if packed else np.nan
        found[scoring, measure] = None if np.isnan(value) else value
    return found


def figures_over(
    vectors: dict[str, Floats], positions: Ints, measures: Sequence[str], no_relevant: NoRelevant, beta: float | None
) -> dict[str, Figure]:
    """One run's figures over the queries at `positions` only, by each measure's own aggregate.

    positions: in the order in which values are added up (`metrics.query_order` of the queries' ids).

    vectors: measure -> float64[positions], those that one is rebuilt from too. What no per-query values give (MQWV has
    one threshold for all queries) has no figure there.
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
