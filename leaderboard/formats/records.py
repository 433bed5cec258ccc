"""CSV and JSON lines: columns by name, read record by record."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from leaderboard.formats.columns import Layout, SlowRows, Table
from leaderboard.formats.limits import Limits
from leaderboard.formats.plain import CappedReader, refuse
from leaderboard.formats.problems import Problems
from leaderboard.formats.sniffing import RecordKind, our_name
from leaderboard.formats.values import shown

__all__ = ["read_records"]

ROWS_AT_ONCE = 1 << 16


def read_records(
    text: CappedReader, kind: RecordKind, layouts: Sequence[Layout], limits: Limits, problems: Problems
) -> Iterator[tuple[Layout, Table]]:
    """The rows of a CSV file with a header, or of a file with one JSON object a line.

    layouts  what the records may hold, the richest first: the first one whose columns the first record has, holds.
             Columns that we don't know are left alone.
    """
    records = _csv_records(text, limits, problems) if kind == "csv" else _json_records(text, limits, problems)
    layout: Layout | None = None
    rows: SlowRows | None = None
    for line, record in records:
        if layout is None or rows is None:
            layout = _layout(record, layouts, problems.name, line)
            rows = SlowRows(layout, limits)
        missing = [column.name for _, column in layout.read if column.name not in record]
        if missing:
            rows.tell(line, f"no {' and no '.join(missing)} ({layout.form})")
        else:
            rows.add(line, [record[column.name] for _, column in layout.read])
        if len(rows) >= ROWS_AT_ONCE:
            yield layout, rows.table()
    if layout is None or rows is None:
        problems.raise_if_any()
        raise refuse(problems.name, "is empty")
    yield layout, rows.table()


def _layout(record: Mapping[str, str], layouts: Sequence[Layout], name: str, line: int) -> Layout:
    for layout in layouts:
        if all(column.name in record for _, column in layout.read):
            return layout
    raise refuse(name, f"expected the columns {layouts[-1].form}, found {', '.join(record) or 'none'}", line)


def _lines(text: CappedReader, limits: Limits, problems: Problems) -> Iterator[tuple[int, str]]:
    """Each line with its number; one that is no UTF-8 text is a problem."""
    reader = io.BufferedReader(text)
    number = 0
    while line := reader.readline(limits.line_bytes + 1):
        number += 1
        if len(line) > limits.line_bytes:
            raise refuse(problems.name, f"longer than {limits.line_bytes:,} bytes, the most allowed", number)
        if number > limits.lines:
            raise refuse(problems.name, f"more than {limits.lines:,} lines, the most allowed")
        try:
            yield number, line.decode()
        except UnicodeDecodeError as error:
            problems.add(number, f"byte {error.start + 1} is no UTF-8 text; save the file as UTF-8")


def _csv_records(text: CappedReader, limits: Limits, problems: Problems) -> Iterator[tuple[int, Mapping[str, str]]]:
    numbers: list[int] = [0]

    def lines() -> Iterator[str]:
        for number, line in _lines(text, limits, problems):
            numbers[0] = number
            yield line

    reader = csv.reader(lines(), strict=True)
    names: list[str] = []
    while True:
        try:
            fields = next(reader, None)
        except csv.Error as error:
            problems.add(numbers[0], f"is no CSV: {error}")
            continue
        if fields is None:
            return
        if not fields:
            continue
        if not names:
            names = [our_name(name) for name in fields]
        elif len(fields) != len(names):
            problems.add(numbers[0], f"expected {len(names)} columns, found {len(fields)} ({', '.join(names)})")
        else:
            yield numbers[0], dict(zip(names, fields, strict=True))


def _json_records(text: CappedReader, limits: Limits, problems: Problems) -> Iterator[tuple[int, Mapping[str, str]]]:
    for number, line in _lines(text, limits, problems):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            problems.add(number, f"is no JSON: {error.msg if isinstance(error, json.JSONDecodeError) else error}")
            continue
        if isinstance(value, dict):
            yield number, {our_name(name): _text(member) for name, member in value.items()}
        else:
            problems.add(number, f"expected an object, found {shown(line.strip())}")


def _text(value: Any) -> str:
    """A JSON value as the checks of single values take it."""
    if isinstance(value, bool):
        return "Y" if value else "N"
    return value if isinstance(value, str) else json.dumps(value)
