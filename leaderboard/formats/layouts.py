"""What the lines of a file may hold, and the columns read from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from numpy.typing import NDArray

from leaderboard.formats.blocks import Lines
from leaderboard.formats.problems import WHOLE, Part
from leaderboard.formats.texts import Keys

__all__ = ["Column", "Kind", "Layout", "Table", "Values"]

Kind = Literal["id", "score", "grade", "decision"]
Values = NDArray[Any]


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
