"""Reads rows one by one, each value checked, so that every problem is told with its line."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from leaderboard.formats import values
from leaderboard.formats.blocks import Piece
from leaderboard.formats.layouts import Column, Kind, Layout, Table
from leaderboard.formats.limits import Limits
from leaderboard.formats.problems import WHOLE, Part
from leaderboard.formats.texts import as_texts, keys

__all__ = ["SlowRows", "read_line_by_line"]

DTYPES: Mapping[Kind | None, type[np.generic]] = {"score": np.float64, "grade": np.int64, "decision": np.bool_}


def read_line_by_line(piece: Piece, layout: Layout, limits: Limits, part: Part) -> Table:
    """The piece's rows, and what is wrong with each of the others."""
    rows = SlowRows(layout, limits, part)
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
