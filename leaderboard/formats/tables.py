"""Which columns a row of a file may have, and tables: some rows of a file as columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats import checks
from leaderboard.formats.ids import Keys, as_texts, keys
from leaderboard.formats.pieces import Lines
from leaderboard.formats.plain_text import Limits
from leaderboard.formats.problems import WHOLE, Part

__all__ = ["Column", "Kind", "Schema", "SlowRows", "Table", "Values", "our_name", "schema_of_width"]

Kind = Literal["id", "score", "grade", "decision"]
Values = NDArray[Any]

DTYPES: Mapping[Kind | None, type[np.generic]] = {"score": np.float64, "grade": np.int64, "decision": np.bool_}
OTHER_NAMES: Mapping[str, Sequence[str]] = {
    "query": ("query_id", "qid", "topic"),
    "document": ("document_id", "doc_id", "docid", "docno", "doc"),
    "score": ("sim",),
    "grade": ("relevance", "rel", "label"),
}


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a file: its name, and what it holds; None: it is not read."""

    name: str
    kind: Kind | None = None


@dataclass(frozen=True)
class Schema:
    """Which columns a row has, in their order; as text what messages say: "query Q0 document rank score tag".

    open_end  more columns may follow and are not read
    """

    columns: tuple[Column, ...]
    open_end: bool = False

    def __str__(self) -> str:
        return " ".join("Y|N" if column.kind == "decision" else column.name for column in self.columns)

    @property
    def width(self) -> int:
        return len(self.columns)

    @cached_property
    def read(self) -> tuple[tuple[int, Column], ...]:
        """The columns that are read, each with its place."""
        return tuple((place, column) for place, column in enumerate(self.columns) if column.kind is not None)


def schema_of_width(width: int, schemas: Sequence[Schema]) -> Schema:
    """The schema with so many columns; where there is none the last one, for messages to name."""
    return next((schema for schema in schemas if schema.width == width), schemas[-1])


@dataclass(frozen=True, slots=True)
class Table:
    """Some rows of a file, and where they stand.

    schema   which columns the rows have
    columns  by name: ids as Texts, scores float64, grades int64, decisions bool
    key      uint64[rows], a hash of each document id
    rows     how many
    first    1-based line of the first row
    numbers  int64[rows], each row's line; None: row i is line first + i
    part     the file of an archive
    wrong    everything wrong with other rows, in the order of their lines
    lost     (line, query) of those of them that say which query they are about
    end      the fields of the last line, of a text in columns
    """

    schema: Schema
    columns: Mapping[str, Values]
    key: Keys
    rows: int
    first: int
    numbers: Lines | None
    part: Part = WHOLE
    wrong: Sequence[checks.WrongLine] = ()
    lost: Sequence[tuple[int, str]] = ()
    end: Sequence[str] = ()

    def line(self, row: int) -> int:
        """The line that a row stands on."""
        return self.first + row if self.numbers is None else int(self.numbers[row])


class SlowRows:
    """Rows gathered one by one, each value checked."""

    def __init__(self, schema: Schema, limits: Limits, part: Part = WHOLE) -> None:
        self._schema = schema
        self._columns = [column for _, column in schema.read]
        self._limits = limits
        self._part = part
        self._wrong: list[checks.WrongLine] = []
        self._lost: list[tuple[int, str]] = []
        self._rows: list[list[Any]] = []
        self._lines: list[int] = []

    def __len__(self) -> int:
        return len(self._rows)

    def tell(self, line: int, wrong: checks.Wrong) -> None:
        """Notes what is wrong with a line."""
        self._wrong.append(wrong.on(line))

    def add(self, line: int, texts: Sequence[str]) -> None:
        """Takes a row, given the texts of the columns that are read, or notes everything wrong with it."""
        row: dict[str, Any] = {}
        for column, text in zip(self._columns, texts, strict=True):
            try:
                row[column.name] = self._checked(column, text)
            except checks.Wrong as wrong:
                self.tell(line, wrong)
        if len(row) == len(self._columns):
            self._rows.append(list(row.values()))
            self._lines.append(line)
        elif "query" in row:
            self._lost.append((line, row["query"]))

    def _checked(self, column: Column, text: str) -> Any:
        if column.kind == "score":
            return checks.score(text)
        if column.kind == "grade":
            return checks.grade(text)
        if column.kind == "decision":
            return checks.decision(text)
        return checks.identifier(column.name, text, self._limits.id_bytes)

    def table(self) -> Table:
        """The rows so far; the next one starts anew."""
        by_column = zip(*self._rows, strict=True) if self._rows else [()] * len(self._columns)
        columns = {
            column.name: as_texts(given) if column.kind == "id" else np.array(given, DTYPES[column.kind])
            for column, given in zip(self._columns, by_column, strict=True)
        }
        lines = np.array(self._lines, np.int64)
        key = keys(columns["document"])
        table = Table(self._schema, columns, key, len(self), 0, lines, self._part, self._wrong, self._lost)
        self._rows, self._lines, self._wrong, self._lost = [], [], [], []
        return table


def our_name(column: str) -> str:
    """What we call a column that others call otherwise."""
    column = column.strip().lower()
    return next((ours for ours, others in OTHER_NAMES.items() if column in others), column)
