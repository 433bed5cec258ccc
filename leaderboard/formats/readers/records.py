"""CSV and JSON lines: columns by name, read record by record."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from leaderboard.formats.checks import Wrong, not_utf8, shown
from leaderboard.formats.plain_text import CappedReader, Limits, refuse
from leaderboard.formats.problems import Problems
from leaderboard.formats.tables import Column, Schema, SlowRows, Table, our_name

__all__ = ["read_records"]

ROWS_AT_ONCE = 1 << 16

RecordKind = Literal["csv", "json"]
Record = Sequence[tuple[str, Any]]  # the columns of a record and their values


def read_records(
    text: CappedReader, kind: RecordKind, schemas: Sequence[Schema], limits: Limits, problems: Problems
) -> Iterator[Table]:
    """The rows of a CSV file with a header, or of a file with one JSON object a line.

    schemas  what the records may hold, the richest first: the first one whose columns the first record has, holds.
             Columns that we don't know are left alone.
    """
    records = _csv_records(text, limits, problems) if kind == "csv" else _json_records(text, limits, problems)
    schema: Schema | None = None
    rows: SlowRows | None = None
    for line, record in records:
        if schema is None or rows is None:
            schema = _schema(record, schemas, problems.name, line)
            rows = SlowRows(schema, limits)
        try:
            rows.add(line, _texts(record, schema, kind))
        except Wrong as wrong:
            rows.tell(line, wrong)
        if len(rows) >= ROWS_AT_ONCE:
            yield rows.table()
    if schema is None or rows is None:
        problems.raise_if_any()
        raise refuse(problems.name, "is empty")
    yield rows.table()


def _schema(record: Record, schemas: Sequence[Schema], name: str, line: int) -> Schema:
    names = [column for column, _ in record]
    for schema in schemas:
        if all(column.name in names for _, column in schema.read):
            return schema
    raise refuse(name, f"expected the columns {schemas[-1]}, found {shown(', '.join(names)) or 'none'}", line)


def _texts(record: Record, schema: Schema, kind: RecordKind) -> list[str]:
    """The texts of the columns that are read. Raises Wrong where one is missing, doubled or of another kind."""
    given = dict(record)
    columns = [column for _, column in schema.read]
    missing = [column.name for column in columns if column.name not in given]
    if missing:
        raise Wrong(f"no {' and no '.join(missing)} ({schema})")
    if len(record) > len(given):
        names = [name for name, _ in record]
        twice = [column.name for column in columns if names.count(column.name) > 1]
        if twice:
            raise Wrong(f"gives {' and '.join(twice)} twice")
    if kind == "json":
        return [_json_text(column, given[column.name]) for column in columns]
    return [given[column.name] for column in columns]


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
            problems.add_unread(number, not_utf8(error))


class _CsvLines:
    """The lines that a record of CSV is made from: usually one, more where quotes hold newlines."""

    def __init__(self, lines: Iterator[tuple[int, str]]) -> None:
        self._lines = lines
        self.first = self.last = 0  # of the record that is being read

    def __iter__(self) -> "_CsvLines":
        return self

    def __next__(self) -> str:
        self.last, line = next(self._lines)
        self.first = self.first or self.last
        return line


def _csv_records(text: CappedReader, limits: Limits, problems: Problems) -> Iterator[tuple[int, Record]]:
    lines = _CsvLines(_lines(text, limits, problems))
    reader = csv.reader(lines, strict=True)
    names: list[str] = []
    while True:
        lines.first = 0
        try:
            fields = next(reader, None)
        except csv.Error as error:
            if lines.first < lines.last:
                problems.add_unread(
                    lines.first, Wrong("is no CSV: a quote opened on this line is not closed; reading ended here")
                )
                return
            problems.add_unread(lines.first, Wrong(f"is no CSV: {error}"))
            continue
        if fields is None:
            return
        if not fields:
            continue
        if not names:
            names = [our_name(name) for name in fields]
        elif len(fields) != len(names):
            expected = f"expected {len(names)} columns, found"
            columns = f"({', '.join(names)})"
            wrong = Wrong(f"{expected} {len(fields)} {columns}", f"{expected} another number {columns}")
            problems.add_unread(lines.first, wrong)
        else:
            yield lines.first, tuple(zip(names, fields, strict=True))


class _Number(str):
    """A number of JSON as it is written: the checks of single values read it, and it may be of any length."""

    __slots__ = ()


def _json_records(text: CappedReader, limits: Limits, problems: Problems) -> Iterator[tuple[int, Record]]:
    decoder = json.JSONDecoder(parse_int=_Number, parse_float=_Number, parse_constant=_Number, object_pairs_hook=tuple)
    for number, line in _lines(text, limits, problems):
        if not line.strip():
            continue
        try:
            value = decoder.decode(line)
        except (json.JSONDecodeError, RecursionError) as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else error
            problems.add_unread(number, Wrong(f"is no JSON: {reason}", "is no JSON"))
            continue
        if isinstance(value, tuple):
            yield number, tuple((our_name(name), member) for name, member in value)
        else:
            problems.add_unread(number, Wrong(f"expected an object, found {shown(line.strip())}", "expected an object"))


def _json_text(column: Column, value: Any) -> str:
    """A JSON value as the checks of single values take it. Nothing of another kind is made to fit."""
    number = isinstance(value, _Number)
    if column.kind == "id":
        if isinstance(value, str) and not number:
            return value
        no_text = "is no text; put it in quotes"
        raise Wrong(f"{column.name} id {_written(value)} {no_text}", f"the {column.name} id {no_text}")
    if column.kind == "decision":
        if isinstance(value, bool):
            return "Y" if value else "N"
        return _written(value) if number or not isinstance(value, str) else value
    if number:
        return str(value)
    no_number = "is no integer" if column.kind == "grade" else "is no number"
    raise Wrong(f"{column.name} {_written(value)} {no_number}", f"the {column.name} {no_number}")


def _written(value: Any) -> str:
    """A JSON value as a message shows it."""
    return shown(value if isinstance(value, _Number) else json.dumps(value, ensure_ascii=False))
