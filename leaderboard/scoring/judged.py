"""Judgments made ready once for many runs: which queries count, in which order, and how a document is looked up."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from leaderboard.formats import Judgments
from leaderboard.metrics import Bools, Ints

__all__ = ["JudgedQueries", "Judging", "prepare"]

Judging = Literal["pooled", "complete"]

SLOTS_PER_JUDGMENT = 64  # of the look-up table: one unjudged document in so many takes the slow way
FEWEST_BITS, MOST_BITS = 16, 26
ROWS_AT_ONCE = 1 << 16  # what stays within the processor's cache


@dataclass(frozen=True)
class JudgedQueries:
    """The queries that count and their judgments.

    queries      ids of the Q queries that count, in order
    left_out     queries asked for that don't count: pooled judgments say nothing about them
    lookup       one row per judgment: number (the query's place), document, grade, known (to the user)
    judged_start, judged_grade, known_start, known_grade   as in `metrics.Ranking`
    """

    queries: tuple[str, ...]
    left_out: tuple[str, ...]
    lookup: pl.DataFrame
    judged_start: Ints
    judged_grade: Ints
    known_start: Ints | None
    known_grade: Ints | None

    @cached_property
    def number(self) -> dict[str, int]:
        """Each query's place."""
        return {query: place for place, query in enumerate(self.queries)}

    @cached_property
    def _slots(self) -> tuple[np.uint64, Bools]:
        bits = (max(self.lookup.height, 1) * SLOTS_PER_JUDGMENT).bit_length()
        shift = np.uint64(64 - min(max(bits, FEWEST_BITS), MOST_BITS))
        taken = np.zeros(1 << (64 - int(shift)), np.bool_)
        taken[self.lookup["document"].hash().to_numpy() >> shift] = True
        return shift, taken

    def may_hold(self, key: NDArray[np.uint64]) -> Ints:
        """The rows whose document may have a judgment, given each document's hash; few of the others."""
        shift, taken = self._slots
        found = [
            start + np.flatnonzero(taken.take((key[start : start + ROWS_AT_ONCE] >> shift).view(np.int64)))
            for start in range(0, len(key), ROWS_AT_ONCE)
        ]
        return np.concatenate([np.empty(0, np.int64), *found])


def prepare(
    judgments: Judgments,
    queries: Sequence[str] | None = None,
    *,
    judging: Judging = "pooled",
    known: Judgments | None = None,
) -> JudgedQueries:
    """Makes an evaluation's judgments ready for any number of runs.

    queries  the evaluation's queries in order; None: those with judgments, sorted as trec_eval prints them
    judging  "pooled": queries without judgments are left out; "complete": all count, what is not listed is not relevant
    known    the documents known to the user, per query; their grades don't matter
    """
    judged = frozenset(judgments.queries)
    asked = tuple(queries) if queries is not None else tuple(sorted(judged))
    counted = asked if judging == "complete" else tuple(query for query in asked if query in judged)
    left_out = () if judging == "complete" else tuple(query for query in asked if query not in judged)
    number = {query: place for place, query in enumerate(counted)}
    lookup = _documents(judgments, number)
    judged_start, judged_grade = _grades(lookup, len(counted))
    on = ["number", "document"]
    if known is None:
        lookup = lookup.with_columns(known=pl.lit(value=False))
        return JudgedQueries(counted, left_out, lookup, judged_start, judged_grade, None, None)
    listed = _documents(known, number).drop("grade")
    lookup = lookup.join(listed.with_columns(known=pl.lit(value=True)), on=on, how="left", maintain_order="left")
    lookup = lookup.with_columns(pl.col("known").fill_null(value=False))
    listed = listed.join(lookup, on=on, how="left").with_columns(pl.col("grade").fill_null(0))
    return JudgedQueries(counted, left_out, lookup, judged_start, judged_grade, *_grades(listed, len(counted)))


def _documents(judgments: Judgments, number: dict[str, int]) -> pl.DataFrame:
    """number, document and grade of the judgments on these queries."""
    places = np.array([number.get(query, -1) for query in judgments.queries], np.int64)[judgments.query]
    frame = pl.DataFrame({"number": places, "document": judgments.document, "grade": judgments.grade})
    return frame.filter(pl.col("number") >= 0)


def _grades(documents: pl.DataFrame, queries: int) -> tuple[Ints, Ints]:
    """(int64[Q+1], where each query's grades start; int64[n], the grades, falling within a query)."""
    number, grade = documents["number"].to_numpy(), documents["grade"].to_numpy()
    start = np.concatenate(([0], np.cumsum(np.bincount(number, minlength=queries))))
    return start, grade[np.lexsort((-grade, number))]
