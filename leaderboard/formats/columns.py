"""Reads pieces of a text into columns: all lines at once, and line by line where something may be wrong.

A piece counts as read only when every line has its fields, ids are short and sound and numbers are numbers; any doubt
sends the piece through the slow reader, which names every line.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats import values
from leaderboard.formats.blocks import Lines, Piece
from leaderboard.formats.decimals import floats, integers
from leaderboard.formats.fields import Places, part
from leaderboard.formats.limits import GRADE_LIMIT, Limits
from leaderboard.formats.problems import WHOLE, Part
from leaderboard.formats.texts import Codes, Keys, as_texts, cut_out, keys

__all__ = ["Column", "Kind", "Layout", "SlowRows", "Table", "read_piece"]

Kind = Literal["id", "score", "grade", "decision"]
Values = NDArray[Any]

DELETE = 127  # the one control character of ASCII above the blanks
COMMENT, NO, YES = b"#NY"


class Doubt(Exception):  # no error: it leads to the slow reader
    """A piece may hold something wrong."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a file: its name, and what it holds; None: it is not read."""

    name: str
    kind: Kind | None = None


@dataclass(frozen=True)
class Layout:
    """What the lines of a file hold.

    form      says it to people: "query Q0 document rank score tag"
    open_end  more columns may follow and are not read
    """

    form: str
    columns: tuple[Column, ...]
    open_end: bool = False

    @property
    def width(self) -> int:
        return len(self.columns)

    @cached_property
    def read(self) -> tuple[tuple[int, Column], ...]:
        """The columns that are read, each with its place."""
        return tuple((place, column) for place, column in enumerate(self.columns) if column.kind is not None)


@dataclass(frozen=True, slots=True)
class Table:
    """Some rows of a file, and where they stand.

    columns  by name: ids as Texts, scores float64, grades int64, decisions bool
    key      uint64[rows], a hash of each document id
    rows     how many
    first    1-based line of the first row
    numbers  int64[rows], each row's line; None: row i is line first + i
    part     the file of an archive
    wrong    (line, message) of everything wrong with other rows
    lost     (line, query) of those of them that say which query they are about
    """

    columns: Mapping[str, Values]
    key: Keys
    rows: int
    first: int
    numbers: Lines | None
    part: Part = WHOLE
    wrong: Sequence[tuple[int, str]] = ()
    lost: Sequence[tuple[int, str]] = ()

    def line(self, row: int) -> int:
        """The line that a row stands on."""
        return self.first + row if self.numbers is None else int(self.numbers[row])


def read_piece(piece: Piece, layout: Layout, limits: Limits, part: Part = WHOLE) -> Table:
    """The piece's rows, and what is wrong with those that can't be read."""
    try:
        return _read_fast(piece, layout, limits, part)
    except Doubt:
        pass
    piece = piece.without_comments()
    try:
        return _read_fast(piece, layout, limits, part)
    except Doubt:
        return _read_slowly(piece, layout, limits, part)


def _read_fast(piece: Piece, layout: Layout, limits: Limits, about: Part) -> Table:
    """The piece's rows. Raises Doubt."""
    codes = piece.codes
    fields = part(codes, layout.width, [0, *(place for place, _ in layout.read)])
    if fields is None or (codes[fields[0][0]] == COMMENT).any():
        raise Doubt
    if codes.max() >= DELETE:
        _require_sound(piece.text)
    columns = {
        column.name: FAST[column.kind or "id"](piece.room, start, length, limits)
        for (_, column), (start, length) in zip(layout.read, fields[1:], strict=True)
    }
    return Table(columns, keys(columns["document"]), len(fields[0][0]), piece.first, piece.numbers, about)


def _require_sound(text: bytes) -> None:
    try:
        odd = values.ODD_IN_ID.search(text.decode())
    except UnicodeDecodeError:
        raise Doubt from None
    if odd:
        raise Doubt


def _ids(codes: Codes, start: Places, length: Places, limits: Limits) -> Values:
    if length.max() > limits.id_bytes:
        raise Doubt
    return cut_out(codes, start, length)


def _scores(codes: Codes, start: Places, length: Places, _limits: Limits) -> Values:
    score, sure = floats(codes, start, length)
    for row in np.flatnonzero(~sure).tolist():
        try:
            score[row] = values.score(codes[start[row] : start[row] + length[row]].tobytes().decode())
        except ValueError:
            raise Doubt from None
    return score


def _grades(codes: Codes, start: Places, length: Places, _limits: Limits) -> Values:
    grade, sure = integers(codes, start, length)
    if not sure.all() or np.abs(grade).max() > GRADE_LIMIT:
        raise Doubt
    return grade


def _decisions(codes: Codes, start: Places, length: Places, _limits: Limits) -> Values:
    letter = codes[start]
    if not ((length == 1) & ((letter == YES) | (letter == NO))).all():
        raise Doubt
    returned: Values = letter == YES
    return returned


FAST: Mapping[Kind, Callable[[Codes, Places, Places, Limits], Values]] = {
    "id": _ids,
    "score": _scores,
    "grade": _grades,
    "decision": _decisions,
}


def _read_slowly(piece: Piece, layout: Layout, limits: Limits, about: Part) -> Table:
    rows = SlowRows(layout, limits, about)
    for row, text in enumerate(piece.lines()):
        line = piece.line(row)
        try:
            rows.add(line, _fields(text, layout))
        except ValueError as error:
            rows.tell(line, str(error))
    return rows.table()


def _fields(text: bytes, layout: Layout) -> list[str]:
    """The texts of the columns that are read."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start + 1} is no UTF-8 text; save the file as UTF-8") from None
    fields = text.split()
    if len(fields) != layout.width and not (layout.open_end and len(fields) > layout.width):
        raise ValueError(f"expected {layout.width} columns, found {len(fields)} ({layout.form})")
    return [fields[place].decode() for place, _ in layout.read]


class SlowRows:
    """Rows gathered one by one, each value checked."""

    def __init__(self, layout: Layout, limits: Limits, part: Part = WHOLE) -> None:
        self._columns = [column for _, column in layout.read]
        self._limits = limits
        self._part = part
        self._wrong: list[tuple[int, str]] = []
        self._lost: list[tuple[int, str]] = []
        self._rows: list[list[Any]] = []
        self._lines: list[int] = []

    def __len__(self) -> int:
        return len(self._rows)

    def tell(self, line: int, message: str) -> None:
        """Notes what is wrong with a line."""
        self._wrong.append((line, message))

    def add(self, line: int, texts: Sequence[str]) -> None:
        """Takes a row, given the texts of the columns that are read, or notes everything wrong with it."""
        row: dict[str, Any] = {}
        for column, text in zip(self._columns, texts, strict=True):
            try:
                row[column.name] = self._checked(column, text)
            except ValueError as error:
                self.tell(line, str(error))
        if len(row) == len(self._columns):
            self._rows.append(list(row.values()))
            self._lines.append(line)
        elif "query" in row:
            self._lost.append((line, row["query"]))

    def _checked(self, column: Column, text: str) -> Any:
        if column.kind == "score":
            return values.score(text)
        if column.kind == "grade":
            return values.grade(text)
        if column.kind == "decision":
            return values.decision(text)
        return values.identifier(column.name, text, self._limits.id_bytes)

    def table(self) -> Table:
        """The rows so far; the next one starts anew."""
        by_column = zip(*self._rows, strict=True) if self._rows else [()] * len(self._columns)
        columns = {
            column.name: as_texts(given) if column.kind == "id" else np.array(given, DTYPES[column.kind])
            for column, given in zip(self._columns, by_column, strict=True)
        }
        lines = np.array(self._lines, np.int64)
        key = keys(columns["document"])
        table = Table(columns, key, len(self), 0, lines, self._part, self._wrong, self._lost)
        self._rows, self._lines, self._wrong, self._lost = [], [], [], []
        return table


DTYPES: Mapping[Kind | None, type[np.generic]] = {"score": np.float64, "grade": np.int64, "decision": np.bool_}
