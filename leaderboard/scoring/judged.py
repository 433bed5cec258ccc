"""Judgments made ready once for many runs: which queries count, in which order, and how a document is looked up."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from leaderboard.formats import Judgments, Texts, keys
from leaderboard.metrics import Bools, Ints
from leaderboard.scoring.lookup import Lookup

__all__ = ["JudgedQueries", "Judging", "prepare"]

Judging = Literal["pooled", "complete"]


@dataclass(frozen=True)
class JudgedQueries:
    """The queries that count and their judgments.

    queries      ids of the Q queries that count, in order
    left_out     queries asked for that don't count: pooled judgments say nothing about them
    lookup       finds a document's judgment: its place in grade and known
    grade        int64[J]
    known        bool[J]: the document is known to the user
    judged_start, judged_grade, known_start, known_grade   as in `metrics.Ranking`
    """

    queries: tuple[str, ...]
    left_out: tuple[str, ...]
    lookup: Lookup
    grade: Ints
    known: Bools
    judged_start: Ints
    judged_grade: Ints
    known_start: Ints | None
    known_grade: Ints | None

    @cached_property
    def number(self) -> dict[str, int]:
        """Each query's place."""
        return {query: place for place, query in enumerate(self.queries)}


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
    place = {query: place for place, query in enumerate(counted)}
    number, document, grade = _of_queries(judgments, place)
    lookup = Lookup(number, document)
    is_known = np.zeros(len(grade), np.bool_)
    known_start = known_grade = None
    if known is not None:
        known_number, known_document, _ = _of_queries(known, place)
        at = lookup.find(known_number, keys(known_document), known_document)
        is_known[at[at >= 0]] = True
        grades = np.where(at >= 0, grade[at], 0) if len(grade) else np.zeros(len(at), np.int64)
        known_start, known_grade = _falling(known_number, grades, len(counted))
    judged_start, judged_grade = _falling(number, grade, len(counted))
    return JudgedQueries(
        counted, left_out, lookup, grade, is_known, judged_start, judged_grade, known_start, known_grade
    )


def _of_queries(judgments: Judgments, place: dict[str, int]) -> tuple[Ints, Texts, Ints]:
    """The judgments on these queries: each one's query, document and grade."""
    number = np.array([place.get(query, -1) for query in judgments.queries], np.int64)[judgments.query]
    rows = np.flatnonzero(number >= 0)
    return number[rows], judgments.document.take(rows), judgments.grade[rows]


def _falling(number: Ints, grade: Ints, queries: int) -> tuple[Ints, Ints]:
    """(int64[Q+1], where each query's grades start; int64[n], the grades, falling within a query)."""
    start = np.concatenate(([0], np.cumsum(np.bincount(number, minlength=queries))))
    return start, grade[np.lexsort((-grade, number))]
