"""CSV and JSON lines: columns by name.

Lines are read a batch at a time, column by column, as long as each holds one plain record. The other ones are read
record by record, which finds what is wrong with one.
"""

import csv
import json
import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from leaderboard.formats.harmless import shown
from leaderboard.formats.pieces import BATCH_BYTES, Batch, batches
from leaderboard.formats.plain_text import CappedReader, rejection
from leaderboard.formats.problems import Problems, Wrong, wrong_width
from leaderboard.formats.tables import CheckedRows, Column, Kind, Schema, Table, our_name

__all__ = ["read_csv", "read_json", "starts_csv", "starts_json"]

Names = tuple[str, ...]
NO_LINES = Batch(range(0), "")


def starts_csv(head: bytes) -> bool:
    """Whether the first line is a CSV header that names a query and a document."""
    first = head.decode(errors="replace").lstrip().partition("\n")[0]
    return {"query", "document"} <= {our_name(name.strip().strip('"')) for name in first.split(",")}


def read_csv(
    text: CappedReader, schemas: Sequence[Schema], problems: Problems, batch_bytes: int = BATCH_BYTES
) -> Iterator[Table]:
    """The rows of a CSV file with a header."""
    return _read(_CsvRecords(schemas, problems, batches(text, problems, batch_bytes)))


def starts_json(head: bytes) -> bool:
    """Whether the first line begins a JSON object."""
    return head.decode(errors="replace").lstrip().startswith("{")


def read_json(
    text: CappedReader, schemas: Sequence[Schema], problems: Problems, batch_bytes: int = BATCH_BYTES
) -> Iterator[Table]:
    """The rows of a file with one JSON object a line."""
    return _read(_JsonRecords(schemas, problems, batches(text, problems, batch_bytes)))


def _read(records: "_Records") -> Iterator[Table]:
    for batch in records.batches:
        records.take(batch)
        if records.rows is not None:
            yield records.rows.table()
        if records.ended:
            break
    if records.rows is None:
        records.problems.raise_empty()


class _Records(ABC):
    """Makes rows of records. Of the schemas, the richest first, the first one holds whose columns the first record has.
    Columns that we don't know are left alone.

    batches  the file
    rows     of the batch at hand; None before the first record
    ended    whether what follows can't be read
    """

    def __init__(self, schemas: Sequence[Schema], problems: Problems, given: Iterator[Batch]) -> None:
        self.batches = given
        self.problems = problems
        self.rows: CheckedRows | None = None
        self.ended = False
        self.schema = schemas[-1]
        self._schemas = schemas
        self._getters: dict[Names, Callable[[Sequence[Any]], Sequence[Any]]] = {}

    @abstractmethod
    def take(self, batch: Batch) -> None:
        """Reads a batch, and of the following ones what belongs to its last record."""

    @abstractmethod
    def texts(self, values: Sequence[Any]) -> Sequence[str]:
        """The values of the columns that are read as the checks of single values take them. Raises Wrong."""

    def add(self, line: int, names: Names, values: Sequence[Any]) -> None:
        """Adds the row of a record, or what is wrong with it."""
        if self.rows is None:
            self.schema = self._schema_of(line, names)
            self.rows = CheckedRows(self.schema, self.problems.limits)
        try:
            if names not in self._getters:
                self._getters[names] = itemgetter(*self.places(names))
            self.rows.add(line, self.texts(self._getters[names](values)))
        except Wrong as wrong:
            self.rows.add_wrong(line, wrong)

    def _schema_of(self, line: int, names: Names) -> Schema:
        for schema in self._schemas:
            if all(column.name in names for _, column in schema.read):
                return schema
        found = shown(", ".join(names)) or "none"
        raise rejection(self.problems.name, f"expected the columns {self._schemas[-1]}, found {found}", line)

    def places(self, names: Names) -> list[int]:
        """Where in a record the columns stand that are read. Raises Wrong where one is missing or there twice."""
        columns = [column.name for _, column in self.schema.read]
        missing = [column for column in columns if column not in names]
        if missing:
            raise Wrong(f"no {' and no '.join(missing)} ({self.schema})")
        twice = [column for column in columns if names.count(column) > 1]
        if twice:
            raise Wrong(f"gives {' and '.join(twice)} twice")
        return [names.index(column) for column in columns]


class _CsvRecords(_Records):
    _names: Names = ()
    _header = ""

    def take(self, batch: Batch) -> None:
        try:
            records = list(csv.reader(batch.lines(), strict=True))
        except csv.Error:
            records = []
        if len(records) != len(batch.numbers):  # quotes hold newlines, or something is wrong
            self._take_slowly(batch)
        elif self.rows is not None and self._names in self._getters and {*map(len, records)} == {len(self._names)}:
            self.rows.add_columns(batch.numbers, self._getters[self._names](tuple(zip(*records, strict=True))))
        else:
            for line, fields in zip(batch.numbers, records, strict=True):
                self._take_record(line, fields)

    def texts(self, values: Sequence[Any]) -> Sequence[str]:
        return values

    def _take_slowly(self, batch: Batch) -> None:
        waiting = deque(batch.numbered())
        numbers: list[int] = []  # of the record's lines

        def lines() -> Iterator[str]:
            while True:
                if not waiting:
                    waiting.extend(next(self.batches, NO_LINES).numbered())
                    if not waiting:
                        return
                number, line = waiting.popleft()
                numbers.append(number)
                yield line

        reader = csv.reader(lines(), strict=True)
        while waiting:
            numbers.clear()
            try:
                fields = next(reader)
            except csv.Error as error:
                if len(numbers) > 1:
                    unclosed = "is no CSV: a quote opened on this line is not closed; reading ended here"
                    self.problems.add_unread(numbers[0], Wrong(unclosed))
                    self.ended = True
                    return
                self.problems.add_unread(numbers[0], Wrong(f"is no CSV: {error}"))
            else:
                self._take_record(numbers[0], fields)

    def _take_record(self, line: int, fields: Sequence[str]) -> None:
        if not fields:
            return
        if not self._names:
            self._names = tuple(our_name(name) for name in fields)
            self._header = shown(", ".join(self._names))
        elif len(fields) != len(self._names):
            self.problems.add_unread(line, wrong_width(str(len(self._names)), len(fields), self._header))
        else:
            self.add(line, self._names, fields)


class _Number(str):
    """A number of JSON as it is written: the checks of single values read it, and it may be of any length."""

    __slots__ = ()


DECODER = json.JSONDecoder(parse_int=_Number, parse_float=_Number, parse_constant=_Number, object_pairs_hook=tuple)
SCAN: Callable[[str, int], tuple[Any, int]] = DECODER.scan_once  # type: ignore[attr-defined]  # not in the stubs
JSON_GAP = r"[ \t\r]*+"
PLAIN_NAME = re.compile(r'[^"\\\x00-\x1f]*')
MOST_QUICK = 50  # members of an object
QUICK_SHAPES = 8  # kinds of objects in a file, by the names of their members, that are read many at once
MOST_SHAPES = 100  # kinds of objects in a file: looking at names anew in every line takes longer than reading it
# The patterns of values. What stands between the quotes of a text is JSON's to read where it has a backslash.
TEXT = r'[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+'
NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+"
ANY = f'(?:"{TEXT}"|{NUMBER}|true|false|null)'
OTHER_LINE = r"(.*\n)"
SAID: Mapping[str, str] = {"true": "Y", "false": "N"}
# By what a column holds: the pattern of a value that it holds as a rule.
PATTERNS: Mapping[Kind | None, str] = {
    "id": f'"({TEXT})"',
    "score": f"({NUMBER})",
    "grade": f"({NUMBER})",
    "decision": f'("{TEXT}"|true|false)',
}


class _JsonRecords(_Records):
    """Reads objects that are written as some object before them, with the same names in the same order, many at once:
    one pattern has an alternative for each of the first shapes, and one for any other line.
    """

    def __init__(self, schemas: Sequence[Schema], problems: Problems, given: Iterator[Batch]) -> None:
        super().__init__(schemas, problems, given)
        self._names: dict[Names, Names] = {}  # of each shape, as it has them and as we call them
        self._shapes: list[str] = []  # their patterns
        self._groups: list[list[int]] = []  # of each shape: which group of the pattern holds which column
        self._find: Callable[[str], list[tuple[str, ...]]] | None = None

    def take(self, batch: Batch) -> None:
        if self.rows is None or not self._shapes:
            for line, text in batch.numbered():
                self._take_line(line, text)
            return
        if self._find is None:
            self._find = re.compile("|".join((*self._shapes, OTHER_LINE))).findall
        *groups, others = zip(*self._find(batch.text), strict=True)
        columns = self._columns(groups, "\\" in batch.text)
        start = 0
        for place in [place for place, other in enumerate(others) if other]:
            if start < place:
                self.rows.add_columns(batch.numbers[start:place], [texts[start:place] for texts in columns])
            self._take_line(batch.numbers[place], others[place])
            start = place + 1
        self.rows.add_columns(batch.numbers[start:], [texts[start:] for texts in columns])

    def _columns(self, groups: Sequence[Sequence[str]], escaped: bool) -> list[Sequence[str]]:
        """The texts of each column, given those of the pattern's groups: "" for lines of another shape."""
        columns: list[Sequence[str]] = []
        for (_, column), numbers in zip(self.schema.read, zip(*self._groups, strict=True), strict=True):
            texts = groups[numbers[0]]
            if len(numbers) > 1:
                texts = list(map("".join, zip(*(groups[number] for number in numbers), strict=True)))
            if column.kind == "decision":
                texts = [SAID.get(text) or text[1:-1] for text in texts]
            columns.append(_unescaped(texts) if escaped else texts)
        return columns

    def _take_line(self, line: int, text: str) -> None:
        if not text.strip():
            return
        try:
            given, members = _object(text)
        except Wrong as wrong:
            self.problems.add_unread(line, wrong)
            return
        if given in self._names:
            self.add(line, self._names[given], members)
            return
        if len(self._names) == MOST_SHAPES:
            kinds = f"has objects of more than {MOST_SHAPES} kinds; give all of them the same names"
            raise rejection(self.problems.name, kinds, line)
        self._names[given] = names = tuple(map(our_name, given))
        self.add(line, names, members)
        if names in self._getters and len(self._shapes) < QUICK_SHAPES:
            self._learn(given, names)

    def _learn(self, given: Names, names: Names) -> None:
        """Adds a shape to the pattern, unless its names are odd or very many."""
        if len(given) > MOST_QUICK or not all(map(PLAIN_NAME.fullmatch, given)):
            return
        places = self.places(names)
        patterns = [ANY] * len(given)
        for place, (_, column) in zip(places, self.schema.read, strict=True):
            patterns[place] = PATTERNS[column.kind]
        inside = f"{JSON_GAP},{JSON_GAP}".join(
            f'"{re.escape(name)}"{JSON_GAP}:{JSON_GAP}{pattern}' for name, pattern in zip(given, patterns, strict=True)
        )
        before = sum(map(len, self._groups))
        in_order = sorted(places)
        self._shapes.append(rf"{JSON_GAP}\{{{JSON_GAP}{inside}{JSON_GAP}\}}{JSON_GAP}\n")
        self._groups.append([before + in_order.index(place) for place in places])
        self._find = None

    def texts(self, values: Sequence[Any]) -> Sequence[str]:
        return [_json_text(column, value) for (_, column), value in zip(self.schema.read, values, strict=True)]


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


def _unescaped(texts: Sequence[str]) -> Sequence[str]:
    """What texts of JSON mean, given what stands between their quotes."""
    read: list[str] = json.loads('["' + '","'.join(texts) + '"]')
    return read


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
