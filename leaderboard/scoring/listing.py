"""A run's ranked lists as they are shown: every line with its rank, in the order that scoring uses."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats import Run, Texts
from leaderboard.metrics import Bools, Floats, Ints
from leaderboard.scoring.order import order

__all__ = ["RankedLines", "ranked_lines"]


@dataclass(frozen=True, slots=True)
class RankedLines:
    """A run's lines by query and rank.

    start     int64[run queries + 1], where each query's lines start; queries in the order of the run
    query     uint32[L], index into the run's queries
    rank      uint32[L], 1-based
    document  S[L], ids
    score     float64[L], as the file has it
    decision  bool[L]; None where the run holds none
    """

    start: Ints
    query: NDArray[np.uint32]
    rank: NDArray[np.uint32]
    document: Texts
    score: Floats
    decision: Bools | None


def ranked_lines(run: Run, compat: Literal[9, 10] = 10) -> RankedLines:
    """The run's lines in the order of trec_eval's version 10 or 9."""
    places = order(run, compat)
    rows = places.all_lines()
    rank = np.arange(1, len(rows) + 1) - np.repeat(places.start[:-1], np.diff(places.start))
    return RankedLines(
        start=places.start,
        query=run.query[rows],
        rank=rank.astype(np.uint32),
        document=run.document.take(rows),
        score=run.score[rows],
        decision=None if run.decision is None else run.decision[rows],
    )
