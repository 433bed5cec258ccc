"""Reads blocks of lines into columns: fast with polars, and line by line where something may be wrong.

polars takes a line that is too short or too long, and "inf" and "nan", without a word. So a block counts as read
only when its last column has no gap, its separators are just as many as its rows need, ids are short enough and
numbers finite; any doubt sends the block through the slow reader, which names every line.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from polars.exceptions import PolarsError

from leaderboard.formats.blocks import Block, Lines
from leaderboard.formats.limits import GRADE_LIMIT, Limits
from leaderboard.formats.problems import WHOLE, Part
from leaderboard.formats.values import ODD_IN_ID, identifier

if TYPE_CHECKING:
    from polars._typing import SchemaDict

__all__ = ["Column", "Layout", "SlowRows", "Table", "read_block"]

DELETE = 127  # the one control character of ASCII above the blanks


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a file.

    name     its name in the frames
    kind     its polars type; None: it is not read
    check    gives one value from its text; raises ValueError saying what is wrong with it; None: it holds ids
    allowed  the only texts that it may hold; None: any
    """

    name: str
    kind: type[pl.DataType] | None = None
    check: Callable[[str], Any] | None = None
    allowed: tuple[str, ...] | None = None

    @property
    def holds_ids(self) -> bool:
        """Its values are ids of queries or documents."""
        return self.kind is pl.String and self.check is None


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

    @cached_property
    def types(self) -> "SchemaDict":
        """The polars type of every column."""
        return {column.name: column.kind or pl.String for column in self.columns}


@dataclass(frozen=True, slots=True)
class Table:
    """Some rows of a file, and where they stand.

    first    1-based line of the first row
    numbers  int64[rows], each row's line; None: row i is line first + i
    part     the file of an archive
    wrong    (line, message) of everything wrong with other rows
    lost     (line, query) of those of them that say which query they are about
    """

    frame: pl.DataFrame
    first: int
    numbers: Lines | None
    part: Part = WHOLE
    wrong: Sequence[tuple[int, str]] = ()
    lost: Sequence[tuple[int, str]] = ()

    def line(self, row: int) -> int:
        """The line that a row stands on."""
        return self.first + row if self.numbers is None else int(self.numbers[row])


def read_block(block: Block, layout: Layout, limits: Limits, part: Part = WHOLE) -> Table:
    """The block's rows, and what is wrong with those that can't be read."""
    frame = _read_fast(block, layout, limits)
    return (
        Table(frame, block.first, block.numbers, part)
        if frame is not None
        else _read_slowly(block, layout, limits, part)
    )


def _read_fast(block: Block, layout: Layout, limits: Limits) -> pl.DataFrame | None:
    """The block's rows, or None when anything about them is in doubt."""
    if block.separator is None or not block.text:
        return None
    scan = pl.scan_csv(block.text, has_header=False, separator=block.separator, quote_char=None, schema=layout.types)
    try:
        frame = scan.select(
            *[pl.col(column.name) for _, column in layout.read],
            pl.col(layout.columns[-1].name).is_null().alias("gap"),
        ).collect(engine="streaming")
    except PolarsError:
        return None  # the slow reader says what is wrong, with the line
    if block.separators != frame.height * (layout.width - 1):
        return None
    plain = bool(np.frombuffer(block.text, np.uint8).max() < DELETE)  # then no id holds what only other texts may
    checks = [check for _, column in layout.read for check in _checks(column, limits, plain)]
    sound = all(frame.select(~pl.col("gap").any(), *checks).row(0))
    return frame.drop("gap") if sound else None


def _checks(column: Column, limits: Limits, plain: bool) -> Iterator[pl.Expr]:
    """What must hold for all values of a column, each one true, false or null."""
    values = pl.col(column.name)
    yield (values.null_count() == 0).alias(f"{column.name} given")
    if column.allowed is not None:
        yield values.is_in(column.allowed).all().alias(f"{column.name} allowed")
    elif column.holds_ids:
        yield (values.str.len_bytes().max() <= limits.id_bytes).alias(f"{column.name} short")
        if not plain:
            yield (~values.str.contains(ODD_IN_ID).any()).alias(f"{column.name} sound")
    elif column.kind is pl.Int64:
        yield values.is_between(-GRADE_LIMIT, GRADE_LIMIT).all().alias(f"{column.name} small")
    else:
        yield values.is_finite().all().alias(f"{column.name} finite")


def _read_slowly(block: Block, layout: Layout, limits: Limits, part: Part) -> Table:
    rows = SlowRows(layout, limits, part)
    texts = block.text.split(b"\n")[:-1]
    numbers = range(block.first, block.first + len(texts)) if block.numbers is None else block.numbers.tolist()
    for line, text in zip(numbers, texts, strict=True):
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
        self._types = {column.name: layout.types[column.name] for column in self._columns}
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
        values: dict[str, Any] = {}
        for column, text in zip(self._columns, texts, strict=True):
            try:
                values[column.name] = self._checked(column, text)
            except ValueError as error:
                self.tell(line, str(error))
        if len(values) == len(self._columns):
            self._rows.append(list(values.values()))
            self._lines.append(line)
        elif "query" in values:
            self._lost.append((line, values["query"]))

    def _checked(self, column: Column, text: str) -> Any:
        return column.check(text) if column.check else identifier(column.name, text, self._limits.id_bytes)

    def table(self) -> Table:
        """The rows so far; the next one starts anew."""
        frame = pl.DataFrame(self._rows, schema=self._types, orient="row")
        table = Table(frame, 0, np.array(self._lines, np.int64), self._part, self._wrong, self._lost)
        self._rows, self._lines, self._wrong, self._lost = [], [], [], []
        return table
