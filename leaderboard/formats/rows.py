"""The rows of one file as they are read, and where each of them stands."""

from bisect import bisect_right
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats.growing import Growing
from leaderboard.formats.ids import Ids
from leaderboard.formats.layouts import Layout, Table
from leaderboard.formats.numbering import Numbering
from leaderboard.formats.problems import Part, Problems
from leaderboard.formats.texts import Keys
from leaderboard.formats.values import shown

__all__ = ["Rows"]

NO_KEYS = np.empty(0, np.uint64)


class Rows:
    """What a file holds, as columns; its queries are numbered in the order of their first appearance.

    problems  everything wrong so far; raise it when all checks are done
    allowed   the evaluation's queries: any other is a problem; None: every query is welcome
    layout    what its lines hold; of the last rows added
    end       the fields of its last line, of a text in columns
    """

    def __init__(self, problems: Problems, allowed: frozenset[str] | None) -> None:
        self.problems = problems
        self.allowed = allowed
        self.layout: Layout | None = None
        self.end: list[str] = []
        self._numbering = Numbering()
        self._unknown = Growing(np.bool_)  # which of the queries are not allowed
        self._query = Growing(np.uint32)
        self._key = Growing(np.uint64)
        self._score = Growing(np.float64)
        self._tables: list[Table] = []
        self._starts = [0]

    def __len__(self) -> int:
        return self._starts[-1]

    @property
    def queries(self) -> tuple[str, ...]:
        return tuple(self._numbering.ids)

    @property
    def query(self) -> NDArray[np.uint32]:
        """uint32[rows], index into `queries`."""
        return self._query.values

    @property
    def key(self) -> Keys:
        """uint64[rows], a hash of each document id."""
        return self._key.values

    @property
    def score(self) -> NDArray[np.float64]:
        """float64[rows], of files that hold scores."""
        return self._score.values

    @cached_property
    def document(self) -> Ids:
        """The document ids, once all rows are there."""
        return Ids([table.columns["document"] for table in self._tables])

    def column(self, name: str) -> NDArray[Any]:
        """Any other column, in the order of the file."""
        return np.concatenate([table.columns[name] for table in self._tables])

    def reserve(self, rows: int) -> None:
        """Makes room for so many rows in all: a guess that only saves time."""
        columns: list[Growing[Any]] = [self._query, self._key, self._score]
        for column in columns:
            column.reserve(rows)

    def add(self, layout: Layout, table: Table) -> None:
        """Appends rows, and notes what is wrong with others."""
        self.layout = layout
        if self.allowed is not None:
            self.problems.extend((line, _unknown(query)) for line, query in table.lost if query not in self.allowed)
        self.problems.extend(table.wrong, part=table.part)
        about = table.part.query
        if about:
            codes = np.full(table.rows, self._numbering.number(about), np.uint32)
        else:
            codes = self._numbering.encode(table.columns["query"])
        self._query.extend(codes)
        self._key.extend(table.key)
        if "score" in table.columns:
            self._score.extend(table.columns["score"])
        kept = {name: column for name, column in table.columns.items() if name not in ("query", "score")}
        self._tables.append(replace(table, columns=kept, key=NO_KEYS))
        self._starts.append(len(self) + len(codes))
        if not about:
            self._check_queries(table, codes)

    def _check_queries(self, table: Table, codes: NDArray[np.uint32]) -> None:
        if self.allowed is None:
            return
        ids = self._numbering.ids
        fresh = ids[len(self._unknown.values) :]
        self._unknown.extend(np.array([query not in self.allowed for query in fresh], np.bool_))
        rows = np.flatnonzero(self._unknown.values[codes])
        told = rows[: self.problems.keep].tolist()
        self.problems.extend(
            ((table.line(row), _unknown(ids[codes[row]])) for row in told),
            uncounted=len(rows) - len(told),
        )

    def tell(self, later: NDArray[np.int64], first: NDArray[np.int64], what: str) -> None:
        """Adds a problem for each of the rows given by `repeats.repeated_rows`."""
        told = later[: self.problems.keep]
        documents = self.document.take(told).tolist()
        for row, earlier, document in zip(told.tolist(), first.tolist(), documents, strict=False):
            (line, part), (first_line, _) = self._line(row), self._line(earlier)
            where = f"for query {shown(self._numbering.ids[self.query[row]])} (first on line {first_line})"
            self.problems.add(line, f"document {shown(document.decode())} {what} {where}", part)
        self.problems.count += len(later) - len(told)

    def _line(self, row: int) -> tuple[int, Part]:
        """The 1-based line that a row stands on, and the file of an archive."""
        place = bisect_right(self._starts, row) - 1
        return self._tables[place].line(row - self._starts[place]), self._tables[place].part


def _unknown(query: str) -> str:
    return f"query {shown(query)} is not in this evaluation"
