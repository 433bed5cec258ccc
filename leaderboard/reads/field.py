"""How all systems of a board did on each query."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.metrics.ranking import Floats, Ints
from leaderboard.reads.columns import Column

__all__ = ["Field", "field_of"]


@dataclass(frozen=True, slots=True)
class Field:
    """float64[positions] each, NaN where no system has a value; first: int64[positions], which system is the best."""

    median: Floats
    best: Floats
    worst: Floats
    first: Ints

    def has(self, position: int) -> bool:
        return position < len(self.median) and not np.isnan(self.median[position])


def field_of(vectors: Sequence[Floats], column: Column) -> Field | None:
    """The systems' values at every position, each system's a vector; None without a system."""
    if not vectors:
        return None
    table = np.vstack(vectors)
    known = ~np.isnan(table).all(axis=0)
    median, low, high = (np.full(table.shape[1], np.nan) for _ in range(3))
    median[known] = np.nanmedian(table[:, known], axis=0)
    low[known], high[known] = np.nanmin(table[:, known], axis=0), np.nanmax(table[:, known], axis=0)
    lower = column.direction == "lower"
    merit = np.where(np.isnan(table), -np.inf, -table if lower else table)
    return Field(median, low if lower else high, high if lower else low, merit.argmax(axis=0))
