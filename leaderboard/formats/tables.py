"""Which columns a row of a file may have, and tables: some rows of a file as columns."""

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats import checks
from leaderboard.formats.ids import WORD, keys
from leaderboard.formats.plain_text import Limits
from leaderboard.formats.problems import WHOLE, Part, Wrong, WrongLine

__all__ = ["DOCUMENT", "QUERY", "CheckedRows", "Column", "Kind", "Schema", "Table", "our_name", "schema_of_width"]

CHECKED_APART = 16  # parts that rows are parted into when something is wrong with one of them
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
    wrong    everything wrong with other rows
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

    def merged(self, other: "Table") -> "Table":
        """The rows of both in the order of their lines, of a text of which this is the larger part."""
        wrong, lost = [*self.wrong, *other.wrong], [*self.lost, *other.lost]
        if not len(other):
            return replace(self, wrong=wrong, lost=lost)
        numbers = np.concatenate((np.asarray(self.numbers, np.int64), np.asarray(other.numbers, np.int64)))
        order = np.argsort(numbers)
        columns = {name: np.concatenate((values, other.columns[name]))[order] for name, values in self.columns.items()}
        return replace(self, columns=columns, numbers=array("q", numbers[order].tobytes()), wrong=wrong, lost=lost)


def _value(column: Column, text: str, limits: Limits) -> Any:
    """One value of a column. Raises Wrong."""
    if column.kind == "id":
        return checks.identifier(column.name, text, limits.id_bytes)
    return HOLDS[column.kind][1](text)


def _values(column: Column, texts: Sequence[str], limits: Limits) -> NDArray[Any]:
    """The same of many at once. Raises ValueError where one of them is wrong, and only then."""
    if column.kind == "id":
        return checks.identifiers(texts, limits.id_bytes)
    if column.kind == "score":
        return checks.scores(texts)
    kind, check = HOLDS[column.kind]
    return np.array([check(text) for text in texts], kind)


class CheckedRows:
    """Rows gathered one by one, and checked together."""

    def __init__(self, schema: Schema, limits: Limits, part: Part = WHOLE) -> None:
        self._schema = schema
        self._columns = [column for _, column in schema.read]
        self._limits = limits
        self._part = part
        self._empty()

    def _empty(self) -> None:
        self._wrong: list[WrongLine] = []
        self._lost: list[tuple[int, str]] = []
        self._rows: list[Sequence[str]] = []
        self._numbers = array("q")

    def __len__(self) -> int:
        """How much was noted: rows, and what is wrong with others."""
        return len(self._rows) + len(self._wrong)

    @property
    def is_hopeless(self) -> bool:
        """Whether more is wrong than anybody reads: then nothing more need be read."""
        return len(self._wrong) > self._limits.wrong

    def add_wrong(self, line: int, wrong: Wrong) -> None:
        """Notes what is wrong with a line."""
        self._wrong.append(wrong.on(line))

    def add(self, line: int, texts: Sequence[str]) -> None:
        """Takes a row, given the texts of the columns that are read; `table` checks them."""
        self._rows.append(texts)
        self._numbers.append(line)

    def _check(self, first: int, last: int) -> Iterator[tuple[Sequence[int], Mapping[str, NDArray[Any]]]]:
        """Line numbers and columns of the sound ones among some rows; notes everything wrong with the others.

        Rows are checked many at a time, and fewer where something is wrong with one of them.
        """
        if self.is_hopeless:
            return
        try:
            columns = self._columns_of(self._rows[first:last])
        except ValueError:  # Wrong, and what no number or UTF-8 text can be made of
            if last - first <= CHECKED_APART:
                sound = [row for row in range(first, last) if self._is_sound(row)]
                rows = [self._rows[row] for row in sound]
                if rows:
                    yield [self._numbers[row] for row in sound], self._columns_of(rows)
                return
            size = -(-(last - first) // CHECKED_APART)
            for start in range(first, last, size):
                yield from self._check(start, min(start + size, last))
        else:
            yield self._numbers[first:last], columns

    def _columns_of(self, rows: Sequence[Sequence[str]]) -> dict[str, NDArray[Any]]:
        """The columns of some rows. Raises ValueError where one of them is wrong."""
        by_column = zip(self._columns, zip(*rows, strict=True), strict=True)
        return {column.name: _values(column, texts, self._limits) for column, texts in by_column}

    def _is_sound(self, row: int) -> bool:
        """Whether a row is sound; notes everything wrong with it, and its query where that is none of it."""
        line, before = self._numbers[row], len(self._wrong)
        query: str | None = None
        for column, text in zip(self._columns, self._rows[row], strict=True):
            try:
                value = _value(column, text, self._limits)
            except Wrong as wrong:
                self.add_wrong(line, wrong)
            else:
                if column.name == "query":
                    query = value
        is_sound = len(self._wrong) == before
        if query is not None and not is_sound:
            self._lost.append((line, query))
        return is_sound

    def table(self, end: bytes = b"") -> Table:
        """The rows so far; the next one starts anew."""
        sound = list(self._check(0, len(self._rows))) if self._rows else []
        columns: dict[str, NDArray[Any]] = {}
        for column in self._columns:
            nothing = np.empty(0, f"S{WORD}" if column.kind == "id" else HOLDS[column.kind][0])
            columns[column.name] = np.concatenate([nothing, *(given[column.name] for _, given in sound)])
        columns["key"] = keys(columns["document"])
        numbers = array("q", chain.from_iterable(given for given, _ in sound))
        table = Table(self._schema, columns, numbers, self._part, self._wrong, self._lost, end)
        self._empty()
        return table


def our_name(column: str) -> str:
    """What we call a column that others call otherwise."""
    column = column.strip().lower()
    return next((ours for ours, others in OTHER_NAMES.items() if column in others), column)
