"""The rows of one file as they are read, block after block, and where each of them stands."""

from bisect import bisect_right
from collections.abc import Callable, Collection
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from leaderboard.formats.blocks import read_blocks
from leaderboard.formats.codes import Codes
from leaderboard.formats.columns import Layout, Table, read_block
from leaderboard.formats.growing import Growing
from leaderboard.formats.limits import Limits
from leaderboard.formats.plain import ByteSource, open_plain, refuse
from leaderboard.formats.problems import Problems
from leaderboard.formats.values import shown

__all__ = ["Rows", "read_rows", "source_name"]

ROOM = 1.05  # lines may get a little shorter later in a file


class Rows:
    """What a file holds, as columns; its queries are numbered in the order of their first appearance.

    layout    what its lines hold
    end       the fields of its last line
    problems  everything wrong so far; raise it when all checks are done
    """

    def __init__(self, layout: Layout, problems: Problems) -> None:
        self.layout = layout
        self.end: list[str] = []
        self.problems = problems
        self._codes = Codes()
        self._query = Growing(np.uint32)
        self._key = Growing(np.uint64)
        self._numbers = {column.name: Growing(np.float64) for _, column in layout.read if column.kind == pl.Float64}
        self._tables: list[Table] = []
        self._starts = [0]

    def __len__(self) -> int:
        return self._starts[-1]

    @property
    def queries(self) -> tuple[str, ...]:
        return self._codes.ids

    @property
    def query(self) -> NDArray[np.uint32]:
        """uint32[rows], index into `queries`."""
        return self._query.values

    @property
    def key(self) -> NDArray[np.uint64]:
        """uint64[rows], a hash of each document id."""
        return self._key.values

    def numbers(self, name: str) -> NDArray[np.float64]:
        """float64[rows], a column of numbers."""
        return self._numbers[name].values

    def column(self, name: str) -> pl.Series:
        """Any other column, in the order of the file."""
        return pl.concat([table.frame[name] for table in self._tables], rechunk=False)

    def line(self, row: int) -> int:
        """The 1-based line that a row stands on."""
        place = bisect_right(self._starts, row) - 1
        return self._tables[place].line(row - self._starts[place])

    def reserve(self, rows: int) -> None:
        """Makes room for so many rows in all: a guess that only saves time."""
        columns: list[Growing[Any]] = [self._query, self._key, *self._numbers.values()]
        for column in columns:
            column.reserve(rows)

    def add(self, table: Table, allowed: frozenset[str] | None) -> None:
        """Appends a block's rows; a query outside `allowed` is a problem, with None every query is welcome."""
        codes = self._codes.encode(table.frame.drop_in_place("query"))
        self._query.extend(codes)
        self._key.extend(table.frame["document"].hash().to_numpy())
        for name, column in self._numbers.items():
            column.extend(table.frame.drop_in_place(name).to_numpy())
        self._tables.append(table)
        self._starts.append(len(self) + len(codes))
        if allowed is not None and not allowed.issuperset(self.queries):
            self._tell_unknown(table, codes, allowed)

    def _tell_unknown(self, table: Table, codes: NDArray[np.uint32], allowed: frozenset[str]) -> None:
        ids = self.queries
        rows = np.flatnonzero(np.array([query not in allowed for query in ids])[codes])
        told = rows[: self.problems.keep].tolist()
        self.problems.extend(
            ((table.line(row), f"query {shown(ids[codes[row]])} is not in this evaluation") for row in told),
            uncounted=len(rows) - len(told),
        )

    def tell(self, repeats: pl.DataFrame, what: str) -> None:
        """Adds a problem for each of the rows given by `repeats.repeated_rows`."""
        told = repeats.head(self.problems.keep).select("row", "first", "query", "document")
        self.problems.extend(
            [
                (self.line(row), self._repeat(what, document, self.queries[query], self.line(first)))
                for row, first, query, document in told.iter_rows()
            ],
            uncounted=repeats.height - told.height,
        )

    @staticmethod
    def _repeat(what: str, document: str, query: str, line: int) -> str:
        return f"document {shown(document)} {what} for query {shown(query)} (first on line {line})"


def source_name(source: Path | ByteSource, name: str | None) -> str:
    """What messages call a file."""
    return name or (source.name if isinstance(source, Path) else "file")


def read_rows(
    source: Path | ByteSource,
    choose: Callable[[list[str]], Layout],
    *,
    queries: Collection[str] | None,
    name: str,
    limits: Limits,
) -> Rows:
    """Reads every line. `choose` gives the layout from the fields of the first line.

    Raises FileRejected at once for an empty file and for what makes reading on pointless (caps, compression); all
    other problems are in the rows' `problems`.
    """
    problems = Problems(name, limits.problems)
    allowed = None if queries is None else frozenset(queries)
    with open_plain(source, limits, name) as text:
        blocks = read_blocks(text, limits, name)
        first = next((block for block in blocks if block.text), None)
        if first is None:
            raise refuse(name, "is empty")
        rows = Rows(choose(_fields(first.text[: first.text.index(b"\n")])), problems)
        for block in chain([first], blocks):
            if block.text:
                table = read_block(block, rows.layout, limits, problems)
                if block is first and isinstance(source, Path):
                    rows.reserve(int(ROOM * table.frame.height * source.stat().st_size / len(block.text)))
                rows.add(table, allowed)
                rows.end = _fields(block.text[block.text.rfind(b"\n", 0, -1) + 1 :])
    return rows


def _fields(line: bytes) -> list[str]:
    return [field.decode(errors="replace") for field in line.split()]
