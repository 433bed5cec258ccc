"""CSV and JSON lines: columns by name, read record by record."""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from json.decoder import scanstring  # type: ignore[attr-defined]  # not in the stubs
from operator import itemgetter
from typing import Any

from leaderboard.formats.harmless import shown
from leaderboard.formats.pieces import numbered_lines
from leaderboard.formats.plain_text import CappedReader, rejection
from leaderboard.formats.problems import Problems, Wrong, wrong_width
from leaderboard.formats.tables import CheckedRows, Column, Kind, Schema, Table, our_name

__all__ = ["read_csv", "read_json", "starts_csv", "starts_json"]


class _OfTexts(tuple[str, ...]):
    """Column names of a record whose values are texts already, as the checks of single values take them."""

    __slots__ = ()


ROWS_AT_ONCE = 1 << 13  # few enough that Python need not search them for garbage

AsTexts = Callable[[Sequence[Any]], Sequence[str]]
Record = tuple[Sequence[str], Sequence[Any]]  # the columns of a record, and their values


def starts_csv(head: bytes) -> bool:
    """Whether the first line is a CSV header that names a query and a document."""
    first = head.decode(errors="replace").lstrip().partition("\n")[0]
    return {"query", "document"} <= {our_name(name.strip().strip('"')) for name in first.split(",")}


def read_csv(text: CappedReader, schemas: Sequence[Schema], problems: Problems) -> Iterator[Table]:
    """The rows of a CSV file with a header."""
    return _read(_csv_records(text, problems), lambda _: list, schemas, problems)


def starts_json(head: bytes) -> bool:
    """Whether the first line begins a JSON object."""
    return head.decode(errors="replace").lstrip().startswith("{")


def read_json(text: CappedReader, schemas: Sequence[Schema], problems: Problems) -> Iterator[Table]:
    """The rows of a file with one JSON object a line."""
    return _read(_json_records(text, problems), _json_texts, schemas, problems)


def _read(
    records: Iterator[tuple[int, Record]],
    texts_of: Callable[[Sequence[Column]], AsTexts],
    schemas: Sequence[Schema],
    problems: Problems,
) -> Iterator[Table]:
    """The rows that records give, each record with its line; `texts_of`, given the columns that are
    read, gives what makes their values texts.

    Of the schemas, the richest first, the first one holds whose columns the first record has. Columns that we don't
    know are left alone.
    """
    start = next(records, None)
    if start is None:
        problems.raise_empty()
    schema = _schema(start, schemas, problems.name)
    rows = CheckedRows(schema, problems.limits)
    names: Sequence[str] | None = None
    readers: dict[tuple[str, ...], itemgetter[Any]] = {}
    as_texts = texts_of([column for _, column in schema.read])
    for count, (line, (given, values)) in enumerate(chain([start], records), 1):
        try:
            if given is not names:
                names = given
                shape = tuple(given)
                if shape not in readers:
                    readers[shape] = itemgetter(*_places(given, schema))
                read = readers[shape]
            read_values = read(values)
            rows.add(line, read_values if given.__class__ is _OfTexts else as_texts(read_values))
        except Wrong as wrong:
            rows.add_wrong(line, wrong)
        if count % ROWS_AT_ONCE == 0:
            yield rows.table()
    yield rows.table()


def _schema(start: tuple[int, Record], schemas: Sequence[Schema], name: str) -> Schema:
    line, (names, _) = start
    for schema in schemas:
        if all(column.name in names for _, column in schema.read):
            return schema
    raise rejection(name, f"expected the columns {schemas[-1]}, found {shown(', '.join(names)) or 'none'}", line)


def _places(names: Sequence[str], schema: Schema) -> list[int]:
    """Where in a record the columns stand that are read. Raises Wrong where one is missing or there twice."""
    columns = [column for _, column in schema.read]
    missing = [column.name for column in columns if column.name not in names]
    if missing:
        raise Wrong(f"no {' and no '.join(missing)} ({schema})")
    twice = [column.name for column in columns if names.count(column.name) > 1]
    if twice:
        raise Wrong(f"gives {' and '.join(twice)} twice")
    return [names.index(column.name) for column in columns]


def _csv_records(text: CappedReader, problems: Problems) -> Iterator[tuple[int, Record]]:
    numbers: list[int] = []  # of the record's lines: usually one, more where quotes hold newlines

    def lines() -> Iterator[str]:
        for number, line in numbered_lines(text, problems):
            numbers.append(number)
            yield line

    reader = csv.reader(lines(), strict=True)
    names: list[str] = []
    header = ""
    while True:
        numbers.clear()
        try:
            fields = next(reader, None)
        except csv.Error as error:
            if len(numbers) > 1:
                unclosed = "is no CSV: a quote opened on this line is not closed; reading ended here"
                problems.add_unread(numbers[0], Wrong(unclosed))
                return
            problems.add_unread(numbers[0], Wrong(f"is no CSV: {error}"))
            continue
        if fields is None:
            return
        if not fields:
            continue
        if not names:
            names = [our_name(name) for name in fields]
            header = shown(", ".join(names))
        elif len(fields) != len(names):
            problems.add_unread(numbers[0], wrong_width(str(len(names)), len(fields), header))
        else:
            yield numbers[0], (names, fields)


class _Number(str):
    """A number of JSON as it is written: the checks of single values read it, and it may be of any length."""

    __slots__ = ()


DECODER = json.JSONDecoder(parse_int=_Number, parse_float=_Number, parse_constant=_Number, object_pairs_hook=tuple)
SCAN: Callable[[str, int], tuple[Any, int]] = DECODER.scan_once  # type: ignore[attr-defined]  # not in the stubs
JSON_GAP = r"[ \t\r\n]*+"
NOTHING = r"(?!)"
PLAIN_NAME = re.compile(r'[^"\\\x00-\x1f]*')
MOST_QUICK = 50  # members of an object
QUICK_SHAPES = 8  # kinds of objects in a file, by the names of their members, that have a pattern each
MOST_SHAPES = 100  # kinds of objects in a file: looking at names anew in every line takes longer than reading it
TEXT = r'"([^"\\\x00-\x1f]*+)"'
# A text with escapes: what stands between its quotes is JSON's to read.
ESCAPED = r'"([^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+)"'
# By the type of a JSON value: the pattern of one that is written plainly, and what makes it of its text.
QUICK: Mapping[type, tuple[str, Callable[[str], Any]]] = {
    str: (TEXT, str),
    _Number: (r"(-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+)", _Number),
    bool: ("(true|false)", "true".__eq__),
}
# By what a column holds, the type of a JSON value that needs no other look.
PLAIN: Mapping[Kind | None, type] = {"id": str, "score": _Number, "grade": _Number, "decision": str}
# By column: the type of a JSON value that it holds as a rule.
HELD: Mapping[str, type] = {"query": str, "document": str, "score": _Number, "grade": _Number, "decision": str}


def _json_records(text: CappedReader, problems: Problems) -> Iterator[tuple[int, Record]]:
    shapes: dict[tuple[str, ...], tuple[str, ...]] = {}  # the names of objects, as they have them and as we call them
    quick: list[_QuickObjects] = []  # of the first shapes
    for number, line in numbered_lines(text, problems):
        for one in quick:
            if record := one.record(line):
                break
        else:
            record = None
        if record is not None:
            yield number, record
            continue
        if not line.strip():
            continue
        try:
            given, members = _object(line)
        except Wrong as wrong:
            problems.add_unread(number, wrong)
            continue
        if given not in shapes:
            if len(shapes) == MOST_SHAPES:
                kinds = f"has objects of more than {MOST_SHAPES} kinds; give all of them the same names"
                raise rejection(problems.name, kinds, number)
            shapes[given] = tuple(map(our_name, given))
            if len(quick) < QUICK_SHAPES:
                quick.append(_QuickObjects(given, shapes[given], members))
        yield number, (shapes[given], members)


def _object(line: str) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """The names and values of the object on a line. Raises Wrong for what is none."""
    try:
        value, end = SCAN(line, 0) if line.startswith("{") else (DECODER.decode(line), len(line))
        if line[end:].strip():
            raise json.JSONDecodeError("Extra data", line, end)
    except StopIteration as error:  # how it says that a value is missing
        raise Wrong(f"is no JSON: no value at character {error.value + 1}", "is no JSON") from None
    except (json.JSONDecodeError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "it is nested too deeply"
        raise Wrong(f"is no JSON: {reason}", "is no JSON") from None
    if not isinstance(value, tuple):
        raise Wrong(f"expected an object, found {shown(line.strip())}", "expected an object")
    names, members = zip(*value, strict=True) if value else ((), ())
    return names, members


class _QuickObjects:
    """Reads objects that are written as the first one of the file: the same names in the same order, each with plain
    text, a number or true or false as there. One pattern takes a third of the time of a parser; what does not match
    goes to that. A first object with other values, odd names or very many of them has a pattern that nothing matches.
    """

    def __init__(self, given: Sequence[str], names: Sequence[str], members: Sequence[Any]) -> None:
        fits = all(HELD.get(name, type(member)) is type(member) for name, member in zip(names, members, strict=True))
        self.names = _OfTexts(names) if fits else names
        self._makers = [
            (place, QUICK[type(member)][1])
            for place, member in enumerate(members)
            if not fits and type(member) in (_Number, bool)
        ]
        is_quick = (
            0 < len(given) <= MOST_QUICK
            and all(type(member) in QUICK for member in members)
            and all(PLAIN_NAME.fullmatch(name) for name in given)
        )
        gap = JSON_GAP
        inside = f"{gap},{gap}".join(
            f'"{re.escape(name)}"{gap}:{gap}{QUICK[type(member)][0]}'
            for name, member in zip(given, members, strict=True)
            if is_quick
        )
        pattern = rf"\{{{gap}{inside}{gap}\}}{gap}" if is_quick else NOTHING
        self._plain = re.compile(pattern).fullmatch
        self._escaped = re.compile(pattern.replace(TEXT, ESCAPED)).fullmatch

    def record(self, line: str) -> Record | None:
        """The names and values of an object as the parser gives them, the values as texts where all that is read has
        the type that its column holds; None for a line that is written otherwise.
        """
        escaped = "\\" in line
        found = self._escaped(line) if escaped else self._plain(line)
        if found is None:
            return None
        if not escaped and not self._makers:
            return self.names, found.groups()
        members: list[Any] = list(found.groups())
        if escaped:
            members = [scanstring(f'{text}"', 0)[0] if "\\" in text else text for text in members]
        for place, make in self._makers:
            members[place] = make(members[place])
        return self.names, members


def _json_texts(columns: Sequence[Column]) -> AsTexts:
    """What gives the values of these columns as the checks of single values take them."""
    plain = tuple(PLAIN[column.kind] for column in columns)

    def as_texts(values: Sequence[Any]) -> Sequence[str]:
        if tuple(map(type, values)) == plain:
            return values
        return [_json_text(column, value) for column, value in zip(columns, values, strict=True)]

    return as_texts


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
    if isinstance(value, _Number):
        return shown(value)
    try:
        return shown(json.dumps(value, ensure_ascii=False))
    except RecursionError:
        return "of many values in one another"
