"""CSV and JSON lines: columns by name."""

import csv
from array import array
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any

from leaderboard.formats.plain_text import CappedReader, cut, shown
from leaderboard.formats.problems import BATCH_BYTES, Problems, Wrong, decoded, numbered_lines, wrong_width
from leaderboard.formats.tables import Schema, Table, checked_table, our_name

Names = Sequence[str]


def starts_csv(head: bytes) -> bool:
    """Whether the first line is a CSV header that names a query and a document."""
    first = head.decode(errors="replace").lstrip().partition("\n")[0]
    return {"query", "document"} <= {our_name(name.strip().strip('"')) for name in first.split(",")}


def starts_json(head: bytes) -> bool:
    """Whether the first line begins a JSON object."""
    return head.decode(errors="replace").lstrip().startswith("{")


def _schema(line: int, names: Names, schemas: Sequence[Schema], problems: Problems) -> Schema:
    """The first of the schemas, the richest first, whose columns the first record has. Others are left alone."""
    for schema in schemas:
        if all(column.name in names for _, column in schema.read):
            return schema
    columns = shown(", ".join(names)) or "none"
    raise problems.rejection(f"expected the columns {schemas[-1]}, found {columns}", line)


def _places(names: Names, schema: Schema) -> list[int]:
    """Where in a record the columns stand that are read. Raises Wrong where one is missing or there twice."""
    columns = [column.name for _, column in schema.read]
    if missing := [column for column in columns if column not in names]:
        raise Wrong(f"no {' and no '.join(missing)} ({schema})")
    if twice := [column for column in columns if names.count(column) > 1]:
        raise Wrong(f"gives {' and '.join(twice)} twice")
    return [names.index(column) for column in columns]


def read_csv(
    text: CappedReader, schemas: Sequence[Schema], problems: Problems, size: int = BATCH_BYTES
) -> Iterator[Table]:
    """The rows of a CSV file with a header: a table for each piece of the file, so that none takes much memory."""
    names: Names = []
    schema, places, passed = None, [0], 0
    numbers, records = array("q"), []
    for line, record in csv_records(text, problems, size):
        if not names:
            names = [our_name(name) for name in record]
        elif len(record) != len(names):
            problems.add_unread(line, wrong_width(str(len(names)), len(record), shown(", ".join(names))))
        else:
            if schema is None:
                schema = _schema(line, names, schemas, problems)
                try:
                    places = _places(names, schema)
                except Wrong as wrong:
                    raise problems.rejection(wrong.message, line) from None
            numbers.append(line)
            records.append(record)
            if text.passed > passed:
                yield _table_of_records(schema, problems, numbers, records, places)
                numbers, records, passed = array("q"), [], text.passed
    if schema is None:
        problems.raise_empty()
    yield _table_of_records(schema, problems, numbers, records, places)


def _table_of_records(
    schema: Schema, problems: Problems, numbers: Sequence[int], records: Sequence[Sequence[str]], places: Sequence[int]
) -> Table:
    texts = [[record[place] for record in records] for place in places]
    return checked_table(schema, problems.limits, numbers, texts)


def csv_records(
    text: CappedReader, problems: Problems, size: int, delimiter: str = ","
) -> Iterator[tuple[int, list[str]]]:
    """The records that hold something, each with its first line, up to one that is no CSV."""
    lines = (line for _, line in numbered_lines(text, problems, size))
    reader = csv.reader(lines, strict=True, delimiter=delimiter)
    while True:
        first = reader.line_num + 1
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problems.add_unread(first, Wrong(f"is no CSV: {error}; reading ended here"))
            return
        if record:
            yield first, record


def read_json(
    text: CappedReader, schemas: Sequence[Schema], problems: Problems, size: int = BATCH_BYTES
) -> Iterator[Table]:
    """The rows of a file with one JSON object a line. Objects like the first one are read fast, whatever other members
    they have; others slowly, which finds what is wrong with them.
    """
    reader = _JsonReader(schemas, problems)
    for piece in cut(text, problems.limits, size):
        try:
            records = reader.decoder.decode_lines(piece.text.decode()) if reader.decoder else ()
        except (ValueError, RecursionError):  # msgspec's errors are the former
            records = ()
        numbers: Sequence[int] = piece.numbers
        if len(records) != len(numbers):  # some line is blank or odd, or has a problem
            by_line = {number: reader.read(number, line) for number, line in decoded(piece, problems)}
            numbers = array("q", [number for number, record in by_line.items() if record is not None])
            records = [by_line[number] for number in numbers]
        if reader.schema is not None:
            yield _table_of_objects(reader.schema, problems, numbers, records)
    if reader.schema is None:
        problems.raise_empty()


class _JsonReader:
    """Reads objects one by one.

    schema   None before the first
    decoder  of objects like the first one
    """

    def __init__(self, schemas: Sequence[Schema], problems: Problems) -> None:
        self.schema: Schema | None = None
        self.decoder: Any = None
        self._own: Any = None  # of objects whose members have our names
        self._schemas = schemas
        self._problems = problems

    def read(self, number: int, line: str) -> Any:
        """The object on a line; None for a blank line, and where it is a problem."""
        if line.isspace():
            return None
        try:
            if self.decoder:
                return self.decoder.decode(line)
        except (ValueError, RecursionError):
            pass
        try:
            return self._odd_record(number, line)
        except Wrong as wrong:
            self._problems.add_unread(number, wrong)
        return None

    def _odd_record(self, number: int, line: str) -> Any:
        """An object unlike the first as one like it. Nothing of another kind is made to fit."""
        import msgspec  # loads a library, which most files can do without

        members = [*json_object(line, msgspec.Raw).items()]
        names = [our_name(name) for name, _ in members]
        self.schema = self.schema or _schema(number, names, self._schemas, self._problems)
        ours = {names[place]: members[place] for place in _places(names, self.schema)}
        if self.decoder is None:
            kinds: dict[str | None, Any] = {"id": str, "decision": bool | str}
            fields = [(column.name, kinds.get(column.kind, msgspec.Raw)) for _, column in self.schema.read]
            called = {name: theirs for name, (theirs, _) in ours.items()}
            self.decoder, self._own = (
                msgspec.json.Decoder(msgspec.defstruct("Record", fields, rename=rename, gc=False))
                for rename in (called, None)
            )
        try:
            return self._own.decode(msgspec.json.encode({name: value for name, (_, value) in ours.items()}))
        except msgspec.ValidationError as error:
            raise Wrong(str(error)) from None


def _table_of_objects(schema: Schema, problems: Problems, numbers: Sequence[int], records: Sequence[Any]) -> Table:
    texts: list[Sequence[str]] = []
    for _, column in schema.read:
        values = list(map(attrgetter(column.name), records))
        if column.kind == "decision":
            values = [{True: "Y", False: "N"}.get(value, value) for value in values]
        elif column.kind != "id":
            values = [str(value, "utf-8") for value in values]  # a number as it is written
        texts.append(values)
    return checked_table(schema, problems.limits, numbers, texts)


def json_object(line: str, kind: Any = Any) -> dict[str, Any]:
    """The members of the object on a line, of one kind of msgspec's. Raises Wrong for what is no object.

    >>> json_object('{"id": "q1"}')
    {'id': 'q1'}
    """
    import msgspec  # as above

    try:
        return msgspec.json.decode(line, type=dict[str, kind])
    except (ValueError, RecursionError) as error:
        raise Wrong(f"is no JSON object: {error}", "is no JSON object") from None
