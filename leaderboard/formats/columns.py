"""Reads blocks of lines into columns: fast with polars, and line by line where something may be wrong.

polars takes a line that is too short or too long, and "inf" and "nan", without a word. So a block counts as read
only when its last column has no gap, its separators are just as many as its rows need, ids are short enough and
numbers finite; any doubt sends the block through the slow reader, which names every line.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from polars.exceptions import PolarsError

from leaderboard.formats.blocks import Block, Lines
from leaderboard.formats.limits import Limits
from leaderboard.formats.problems import Problems
from leaderboard.formats.values import shown

if TYPE_CHECKING:
    from polars._typing import SchemaDict

__all__ = ["Column", "Layout", "Table", "read_block"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a file.

    name     its name in the frames
    kind     its polars type; None: it is not read
    check    gives one value from its text; raises ValueError saying what is wrong with it
    allowed  the only texts that it may hold; None: any
    """

    name: str
    kind: type[pl.DataType] | None = None
    check: Callable[[str], Any] | None = None
    allowed: tuple[str, ...] | None = None

    @property
    def is_bounded(self) -> bool:
        """It holds ids, whose length is capped."""
        return self.kind is pl.String and self.allowed is None


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
    """The rows of a block that could be read, and where they stand.

    first    1-based line of the first row
    numbers  int64[rows], each row's line; None: row i is line first + i
    """

    frame: pl.DataFrame
    first: int
    numbers: Lines | None

    def line(self, row: int) -> int:
        """The line that a row stands on."""
        return self.first + row if self.numbers is None else int(self.numbers[row])


def read_block(block: Block, layout: Layout, limits: Limits, problems: Problems) -> Table:
    """The block's rows; what is wrong with the others is added to `problems`."""
    frame = _read_fast(block, layout, limits)
    if frame is not None:
        return Table(frame, block.first, block.numbers)
    return _read_slowly(block, layout, limits, problems)


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
    gaps = frame.drop_in_place("gap")
    if block.separators != frame.height * (layout.width - 1) or gaps.any():
        return None
    sound = all(_is_sound(frame[column.name], column, limits) for _, column in layout.read)
    return frame if sound else None


def _is_sound(values: pl.Series, column: Column, limits: Limits) -> bool:
    if values.null_count():
        return False
    if column.allowed is not None:
        return bool(values.is_in(column.allowed).all())
    if column.is_bounded:
        longest = values.str.len_bytes().max()
        return isinstance(longest, int) and longest <= limits.id_bytes
    return bool(values.is_finite().all())


def _read_slowly(block: Block, layout: Layout, limits: Limits, problems: Problems) -> Table:
    rows: list[list[Any]] = []
    kept: list[int] = []
    found: list[tuple[int, str]] = []
    texts = block.text.split(b"\n")[:-1]
    numbers = range(block.first, block.first + len(texts)) if block.numbers is None else block.numbers.tolist()
    for line, text in zip(numbers, texts, strict=True):
        values, wrong = _read_line(text, layout, limits)
        if wrong:
            found += [(line, message) for message in wrong]
        else:
            rows.append(values)
            kept.append(line)
    problems.extend(found)
    types = {column.name: layout.types[column.name] for _, column in layout.read}
    return Table(pl.DataFrame(rows, schema=types, orient="row"), block.first, np.array(kept, np.int64))


def _read_line(text: bytes, layout: Layout, limits: Limits) -> tuple[list[Any], list[str]]:
    """The values of one line, and everything wrong with it."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return [], [f"byte {error.start + 1} is no UTF-8 text; save the file as UTF-8"]
    fields = text.split()
    if len(fields) != layout.width and not (layout.open_end and len(fields) > layout.width):
        return [], [f"expected {layout.width} columns, found {len(fields)} ({layout.form})"]
    values: list[Any] = []
    wrong: list[str] = []
    for place, column in layout.read:
        value = fields[place].decode()
        try:
            if column.is_bounded and len(fields[place]) > limits.id_bytes:
                raise ValueError(f"{column.name} id longer than {limits.id_bytes} bytes: {shown(value)}")
            values.append(column.check(value) if column.check else value)
        except ValueError as error:
            wrong.append(str(error))
    return values, wrong
