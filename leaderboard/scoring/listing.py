"""A run's ranked lists as they are shown: every line with its rank, in the order that scoring uses."""

from typing import Literal

import numpy as np
import polars as pl

from leaderboard.formats import Run
from leaderboard.scoring.order import order

__all__ = ["ranked_lines"]


def ranked_lines(run: Run, compat: Literal[9, 10] = 10) -> pl.DataFrame:
    """The run's lines by query (in the order of the run) and rank.

    Columns: query String, rank UInt32 (1-based), document String, score Float64 (as the file has it), decision Boolean
    (null where the run holds none).
    """
    places = order(run, compat)
    rows = places.all_lines()
    lengths = np.diff(places.start)
    rank = np.arange(1, len(rows) + 1) - np.repeat(places.start[:-1], lengths)
    decision = pl.lit(None, pl.Boolean) if run.decision is None else pl.Series(run.decision[rows])
    return pl.DataFrame(
        {
            "query": pl.Series(run.queries, dtype=pl.String).gather(run.query[rows]),
            "rank": rank.astype(np.uint32),
            "document": run.document.gather(rows),
            "score": run.score[rows],
        }
    ).with_columns(decision=decision)
