"""CSV and JSON lines: columns by name.

Lines are read a batch at a time, column by column, as long as each holds one plain record. The other ones are read
record by record, which finds what is wrong with one.
"""

import csv
import json
import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from leaderboard.formats.chunks import BATCH_BYTES, Batch, batches
from leaderboard.formats.plain_text import CappedReader, rejection, shown
from leaderboard.formats.problems import Problems, Wrong, wrong_width
from leaderboard.formats.tables import OTHER_NAMES, CheckedRows, Column, Kind, Schema, Table, our_name

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
    if records.rows is None:
        records.problems.raise_empty()


class _Records(ABC):
    """Makes rows of records. Of the schemas, the richest first, the first one holds whose columns the first record has.
    Columns that we don't know are left alone.

    batches  the file
    rows     of the batch at hand; None before the first record
    end      the last line, where what follows it can't be read
    """

    def __init__(self, schemas: Sequence[Schema], problems: Problems, batches: Iterator[Batch]) -> None:
        self.batches = self._until_end(batches)
        self.problems = problems
        self.rows: CheckedRows | None = None
        self.end: int | None = None
        self.schema = schemas[-1]
        self._schemas = schemas
        self._getters: dict[Names, Callable[[Sequence[Any]], Sequence[Any]]] = {}

    def _until_end(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """The batches up to the end. Lines of one that are no UTF-8 are problems once it was read: those behind the end
        are none, in whichever batch they come.
        """
        for batch in batches:
            yield batch
            for line, wrong in batch.unread:
                if self.end is None or line <= self.end:
                    self.problems.add_unread(line, wrong)
            if self.end is not None:
                return

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
        columns = shown(", ".join(names)) or "none"
        raise rejection(self.problems.name, f"expected the columns {self._schemas[-1]}, found {columns}", line)

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
        numbers: Sequence[int] = batch.numbers
        try:
            records = list(csv.reader(batch.lines(), strict=True))
        except csv.Error:
            records = []
        if len(records) != len(numbers):  # quotes hold newlines, or something is wrong
            numbers, records = self._read_one_by_one(batch)
        start = 0
        while start < len(records) and (self.rows is None or self._names not in self._getters):
            self._take_record(numbers[start], records[start])
            start += 1
        if start < len(records) and self.rows is not None:
            widths = list(map(len, records))
            if widths.count(len(self._names)) < len(records):
                fit = [row for row in range(start, len(records)) if widths[row] == len(self._names)]
                for at in set(range(start, len(records))).difference(fit):
                    self._take_record(numbers[at], records[at])
                numbers, records, start = [numbers[row] for row in fit], [records[row] for row in fit], 0
            if records:
                columns = tuple(zip(*records[start:], strict=True))
                self.rows.add_columns(numbers[start:], self._getters[self._names](columns))

    def texts(self, values: Sequence[Any]) -> Sequence[str]:
        return values

    def _read_one_by_one(self, batch: Batch) -> tuple[list[int], list[list[str]]]:
        """The records that begin in a batch, and the first line of each."""
        waiting = deque(batch.numbered())
        numbers: list[int] = []  # of the record's lines
        first: list[int] = []
        records: list[list[str]] = []

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
        while waiting and self.end is None:
            numbers.clear()
            try:
                records.append(next(reader))
            except csv.Error as error:
                if len(numbers) > 1:
                    self.end = numbers[-1]
                unclosed = "a quote opened on this line is not closed; reading ended here"
                self.problems.add_unread(numbers[0], Wrong(f"is no CSV: {unclosed if self.end else error}"))
            else:
                first.append(numbers[0])
        return first, records

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
MOST_ODD = 50_000  # objects that the pattern does not know: reading one takes as long as five others
MOST_ODD_KINDS = 100  # of them by their names: looking at names anew in every line takes longer than reading it
NESTED = 1  # how deeply the pattern knows values in one another
# The patterns of values. What stands between the quotes of a text is JSON's to read where it has a backslash.
GAP = r"[ \t\r]*+"
PLAIN_NAME = r'[^"\\\x00-\x1f]*+'
TEXT = r'[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+'
NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+"
SAID: Mapping[str, str] = {"true": "Y", "false": "N"}
# By what a column holds: the pattern of a value that it holds as a rule.
PATTERNS: Mapping[Kind | None, str] = {
    "id": f'"({TEXT})"',
    "score": f"({NUMBER})",
    "grade": f"({NUMBER})",
    "decision": f'("{TEXT}"|true|false)',
}


def _any_value(nested: int) -> str:
    """The pattern of any value that holds others at most `nested` deep."""
    scalar = f'"{TEXT}"|{NUMBER}|true|false|null'
    if not nested:
        return f"(?:{scalar})"
    inside = _any_value(nested - 1)
    member = f'"{TEXT}"{GAP}:{GAP}{inside}'
    many = [f"(?:{each}(?:{GAP},{GAP}{each})*+{GAP})?+" for each in (inside, member)]
    return rf"(?:{scalar}|\[{GAP}{many[0]}\]|\{{{GAP}{many[1]}\}})"


def _object_pattern(columns: Sequence[Column], names_seen: Iterable[str]) -> re.Pattern[str]:
    """Finds each line, and in objects a group for each column, among any other members. Where a group is "", the line
    is no such object, or lacks the column or its value. A column that is there twice is not found.

    seen  names of members in the file, for those in capitals
    """
    called = [[column.name, *OTHER_NAMES.get(column.name, ())] for column in columns]
    for names, column in zip(called, columns, strict=True):
        names.extend(re.escape(name) for name in names_seen if our_name(name) == column.name and name == name.strip())
    read = "|".join(
        f'(?({group})(?!)|(?:{"|".join(names)})"{GAP}:{GAP}{PATTERNS[column.kind]})'
        for group, (names, column) in enumerate(zip(called, columns, strict=True), start=1)
    )
    ours = "|".join(name for names in called for name in names)  # also in capitals, but only in those of ASCII
    unread = rf'(?!\s*(?ai:{ours})\s*"){PLAIN_NAME}"{GAP}:{GAP}{_any_value(NESTED)}'
    # Not possessive around groups: Python 3.11.7 fails there with a SystemError.
    members = rf'(?:"(?:{read}|{unread}){GAP}(?:,{GAP}(?=")|(?=\}})))*'
    return re.compile(rf"{GAP}\{{{GAP}{members}\}}{GAP}\n|.*\n")


class _JsonRecords(_Records):
    """Finds the members that are read in many objects at once with one pattern, in whatever order and with whatever
    others. What the pattern does not know is read object by object.
    """

    def __init__(self, schemas: Sequence[Schema], problems: Problems, batches: Iterator[Batch]) -> None:
        super().__init__(schemas, problems, batches)
        self._names: dict[Names, Names] = {}  # of each kind of odd objects, as it has them and as we call them
        self._odd = 0  # objects so far
        self._find: Callable[[str], list[tuple[str, ...]]] | None = None

    def take(self, batch: Batch) -> None:
        numbers, text = batch.numbers, batch.text
        while self.rows is None and numbers:
            line, _, text = text.partition("\n")
            self._take_line(numbers[0], line)
            numbers = numbers[1:]
        if self.rows is None or not numbers:
            return
        if self._find is None:
            member_names = {name for names in self._names for name in names}
            self._find = _object_pattern([column for _, column in self.schema.read], member_names).findall
        matches = list(zip(*self._find(text), strict=True))
        columns = self._columns(matches, "\\" in text)
        odd = {row for texts in matches if "" in texts for row, value in enumerate(texts) if not value}
        lines = text.split("\n") if odd else []
        start = 0
        for at in sorted(odd):
            if start < at:
                self.rows.add_columns(numbers[start:at], [texts[start:at] for texts in columns])
            self._take_line(numbers[at], lines[at])
            start = at + 1
        self.rows.add_columns(numbers[start:], [texts[start:] for texts in columns])

    def _columns(self, matches: Sequence[Sequence[str]], escaped: bool) -> list[Sequence[str]]:
        """The texts of each column, given what the pattern found for it."""
        columns: list[Sequence[str]] = []
        for (_, column), texts in zip(self.schema.read, matches, strict=True):
            said = [SAID.get(text) or text[1:-1] for text in texts] if column.kind == "decision" else texts
            columns.append(_unescaped(said) if escaped and column.kind in ("id", "decision") else said)
        return columns

    def _take_line(self, line: int, text: str) -> None:
        if not text.strip():
            return
        try:
            names, members = _object(text)
        except Wrong as wrong:
            self.problems.add_unread(line, wrong)
            return
        self._odd += 1
        if self._odd > MOST_ODD:
            same = "give every line the same members, with texts and numbers only"
            odd = f"has more than {MOST_ODD:,} objects with values deep in one another or with odd names; {same}"
            raise rejection(self.problems.name, odd, line)
        if names not in self._names:
            if len(self._names) == MOST_ODD_KINDS:
                kinds = f"has objects of more than {MOST_ODD_KINDS} kinds; give all of them the same names"
                raise rejection(self.problems.name, kinds, line)
            self._names[names] = tuple(map(our_name, names))
        self.add(line, self._names[names], members)

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
    joined = '","'.join(texts)
    if "\\" not in joined:
        return texts
    read: list[str] = json.loads(f'["{joined}"]')
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
