"""CSV and JSON lines: columns by name.

Lines are read a batch at a time, column by column, as long as each holds one plain record. The other ones are read
record by record, which finds what is wrong with one.
"""

import csv
import json
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any

from leaderboard.formats.chunks import BATCH_BYTES, Batch, batches
from leaderboard.formats.plain_text import CappedReader, rejection, shown
from leaderboard.formats.problems import Problems, Wrong, wrong_width
from leaderboard.formats.tables import CheckedRows, Column, Schema, Table, our_name

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

    def begin(self, line: int, names: Names) -> CheckedRows:
        """Finds the schema of the first record, which has these columns."""
        schemas = (schema for schema in self._schemas if all(column.name in names for _, column in schema.read))
        schema = next(schemas, None)
        if schema is None:
            columns = shown(", ".join(names)) or "none"
            raise rejection(self.problems.name, f"expected the columns {self._schemas[-1]}, found {columns}", line)
        self.schema = schema
        self.rows = CheckedRows(schema, self.problems.limits)
        return self.rows

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
    _read: Callable[[Sequence[Any]], Sequence[Any]]  # the columns that are read of all

    def take(self, batch: Batch) -> None:
        numbers: Sequence[int] = batch.numbers
        try:
            records = list(csv.reader(batch.lines(), strict=True))
        except csv.Error:
            records = []
        if len(records) != len(numbers):  # quotes hold newlines, or something is wrong
            numbers, records = self._read_one_by_one(batch)
        start = 0
        while start < len(records) and self.rows is None:
            self._begin(numbers[start], records[start])
            start += self.rows is None
        if self.rows is None:
            return
        width = len(self._names)
        for number, record in zip(numbers[start:], records[start:], strict=True):
            if record and len(record) != width:
                self.problems.add_unread(number, wrong_width(str(width), len(record), self._header))
        fit = [row for row in range(start, len(records)) if len(records[row]) == width]
        if fit:
            columns = tuple(zip(*(records[row] for row in fit), strict=True))
            self.rows.add_columns([numbers[row] for row in fit], self._read(columns))

    def _begin(self, line: int, fields: Sequence[str]) -> None:
        """Takes the header, or with the first record under it the schema."""
        if not self._names:
            self._names = tuple(our_name(name) for name in fields)
            self._header = shown(", ".join(self._names))
        elif len(fields) == len(self._names):
            self.begin(line, self._names)
            try:
                self._read = itemgetter(*self.places(self._names))
            except Wrong as wrong:
                raise rejection(self.problems.name, wrong.message, line) from None
        elif fields:
            self.problems.add_unread(line, wrong_width(str(len(self._names)), len(fields), self._header))

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


MOST_ODD = 50_000  # objects that are not like the first: reading one takes as long as five others


class _JsonRecords(_Records):
    """Reads objects that are like the first one many at once, whatever other members they have; any others one by one,
    which finds what is wrong with them.
    """

    def __init__(self, schemas: Sequence[Schema], problems: Problems, batches: Iterator[Batch]) -> None:
        super().__init__(schemas, problems, batches)
        self._odd = 0  # objects so far
        self._decoder: Any = None  # of objects like the first one

    def take(self, batch: Batch) -> None:
        try:
            objects = self._decoder.decode_lines(batch.text) if self._decoder else ()
        except (ValueError, RecursionError):  # msgspec's errors are the former
            objects = ()
        if len(objects) == len(batch.numbers):
            self._add(batch.numbers, objects)
        else:
            self._take_each(batch)

    def _add(self, numbers: Sequence[int], objects: Sequence[Any]) -> None:
        if self.rows is not None and objects:
            self.rows.add_columns(numbers, [_texts(column, objects) for _, column in self.schema.read])

    def _take_each(self, batch: Batch) -> None:
        """Reads a batch in which a line is blank or odd, or has a problem."""
        for number, line in batch.numbered():
            if not line.strip():
                continue
            try:
                plain = [self._decoder.decode(line)] if self._decoder else []
            except (ValueError, RecursionError):
                plain = []
            if plain:
                self._add([number], plain)
                continue
            try:
                self._take_odd(number, line)
            except Wrong as wrong:
                self.problems.add_unread(number, wrong)

    def _take_odd(self, number: int, line: str) -> None:
        import msgspec  # loads a library, which most files can do without

        members = json_object(line, DECODER)
        names, values = zip(*members, strict=True) if members else ((), ())
        self._odd += 1
        if self._odd > MOST_ODD:
            odd = f"has more than {MOST_ODD:,} objects unlike the first; give every line the same members"
            raise rejection(self.problems.name, odd, number)
        ours = tuple(map(our_name, names))
        rows = self.rows if self.rows is not None else self.begin(number, ours)
        columns = [column for _, column in self.schema.read]
        places = self.places(ours)
        if self._decoder is None:
            called = {column.name: names[place] for column, place in zip(columns, places, strict=True)}
            kinds = {"id": str, "decision": bool | str}
            fields = [(column.name, kinds.get(column.kind or "", msgspec.Raw)) for column in columns]
            self._decoder = msgspec.json.Decoder(msgspec.defstruct("Record", fields, rename=called, gc=False))
        rows.add(number, [_odd_text(column, values[place]) for column, place in zip(columns, places, strict=True)])


def _texts(column: Column, objects: Sequence[Any]) -> Sequence[str]:
    """The values of a column as the checks of single values take them."""
    values = [getattr(each, column.name) for each in objects]
    if column.kind == "decision":
        return [{True: "Y", False: "N"}.get(value, value) for value in values]
    return values if column.kind == "id" else [str(value, "utf-8") for value in values]  # a number as it is written


class _Number(str):
    """A number of JSON as it is written: the checks of single values read it, and it may be of any length."""

    __slots__ = ()


DECODER = json.JSONDecoder(parse_int=_Number, parse_float=_Number, parse_constant=_Number, object_pairs_hook=tuple)


def json_object(line: str, decoder: json.JSONDecoder | None = None) -> Any:
    """The object on a line, as the decoder makes one. Raises Wrong for what is none.

    >>> json_object('{"id": "q1"}')
    {'id': 'q1'}
    """
    try:
        value = decoder.decode(line) if decoder else json.loads(line)
    except (ValueError, RecursionError) as error:
        odd = "it is nested too deeply, or holds a number that is too long"
        reason = error.msg if isinstance(error, json.JSONDecodeError) else odd
        raise Wrong(f"is no JSON: {reason}", "is no JSON") from None
    if not isinstance(value, dict if decoder is None else tuple):
        raise Wrong(f"expected an object, found {shown(line.strip())}", "expected an object")
    return value


def _odd_text(column: Column, value: Any) -> str:
    """A JSON value as the checks of single values take it. Nothing of another kind is made to fit."""
    is_number = isinstance(value, _Number)
    if isinstance(value, str) and not is_number and column.kind in ("id", "decision"):
        return str(value)
    if isinstance(value, bool) and column.kind == "decision":
        return "Y" if value else "N"
    try:
        written = value if is_number else json.dumps(value, ensure_ascii=False)
    except RecursionError:
        written = "of many values in one another"
    if column.kind == "id":
        raise Wrong.value(f"{column.name} id", written, "is no text; put it in quotes")
    return str(written)
