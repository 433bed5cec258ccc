"""Which columns a row of a file may have, and tables: some rows of a file as columns."""

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats import checks
from leaderboard.formats.ids import as_texts, keys
from leaderboard.formats.plain_text import Limits
from leaderboard.formats.problems import WHOLE, Part, Wrong, WrongLine

__all__ = ["DOCUMENT", "QUERY", "CheckedRows", "Column", "Kind", "Schema", "Table", "our_name", "schema_of_width"]

Kind = Literal["id", "score", "grade", "decision"]

# By what a column holds beside ids: the type of its array, and the check of one value.
HOLDS: Mapping[Kind | None, tuple[type[np.generic], Callable[[str], Any]]] = {
    "score": (np.float64, checks.score),
    "grade": (np.int64, checks.grade),
    "decision": (np.bool_, checks.decision),
}
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


QUERY, DOCUMENT = Column("query", "id"), Column("document", "id")


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
    """The schema with `width` columns; where there is none the last one, for messages to name."""
    return next((schema for schema in schemas if schema.width == width), schemas[-1])


@dataclass(frozen=True, slots=True)
class Table:
    """Some rows of a file, and where they stand.

    schema   which columns the rows have
    columns  by name: ids as Texts, scores float64, grades int64, decisions bool, and "key", a hash of each document id
    numbers  of each row's line, 1 is the first of the file
    part     the file of an archive
    wrong    everything wrong with other rows, in the order of their lines
    lost     (line, query) of those of them that say which query they are about
    end      the last line, of a text in columns
    text_bytes  how much text the rows were read from; 0: not known
    """

    schema: Schema
    columns: Mapping[str, NDArray[Any]]
    numbers: Sequence[int]
    part: Part = WHOLE
    wrong: Sequence[WrongLine] = ()
    lost: Sequence[tuple[int, str]] = ()
    end: bytes = b""
    text_bytes: int = 0

    def __len__(self) -> int:
        return len(self.numbers)


class CheckedRows:
    """Rows gathered one by one, each value checked."""

    def __init__(self, schema: Schema, limits: Limits, part: Part = WHOLE) -> None:
        self._schema = schema
        self._columns = [column for _, column in schema.read]
        self._limits = limits
        self._part = part
        self._empty()

    def _empty(self) -> None:
        self._wrong: list[WrongLine] = []
        self._lost: list[tuple[int, str]] = []
        self._rows: list[list[Any]] = []
        self._numbers = array("q")

    def __len__(self) -> int:
        """How much was noted: rows, and what is wrong with others."""
        return len(self._rows) + len(self._wrong)

    def add_wrong(self, line: int, wrong: Wrong) -> None:
        """Notes what is wrong with a line."""
        self._wrong.append(wrong.on(line))

    def add(self, line: int, texts: Sequence[str]) -> None:
        """Takes a row, given the texts of the columns that are read, or notes everything wrong with it."""
        row: dict[str, Any] = {}
        for column, text in zip(self._columns, texts, strict=True):
            try:
                row[column.name] = (
                    checks.identifier(column.name, text, self._limits.id_bytes)
                    if column.kind == "id"
                    else HOLDS[column.kind][1](text)
                )
            except Wrong as wrong:
                self.add_wrong(line, wrong)
        if len(row) == len(self._columns):
            self._rows.append(list(row.values()))
            self._numbers.append(line)
        elif "query" in row:
            self._lost.append((line, row["query"]))

    def table(self, end: bytes = b"") -> Table:
        """The rows so far; the next one starts anew."""
        by_column = zip(*self._rows, strict=True) if self._rows else [()] * len(self._columns)
        columns = {
            column.name: as_texts(given) if column.kind == "id" else np.array(given, HOLDS[column.kind][0])
            for column, given in zip(self._columns, by_column, strict=True)
        }
        columns["key"] = keys(columns["document"])
        table = Table(self._schema, columns, self._numbers, self._part, self._wrong, self._lost, end)
        self._empty()
        return table


def our_name(column: str) -> str:
    """What we call a column that others call otherwise."""
    column = column.strip().lower()
    return next((ours for ours, others in OTHER_NAMES.items() if column in others), column)
