"""Which columns a row of a file may have, and tables: some rows of a file as columns."""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from leaderboard.formats.plain_text import Limits
from leaderboard.formats.problems import WHOLE, Part, Wrong, WrongLine
from leaderboard.formats.values import HOLDS, Kind, values_of
from leaderboard.frozen import frozen

OUR_NAMES: Mapping[str, str] = {
    **dict.fromkeys(("query_id", "qid", "topic"), "query"),
    **dict.fromkeys(("document_id", "doc_id", "docid", "docno", "doc"), "document"),
    **dict.fromkeys(("relevance", "rel", "label"), "grade"),
    "sim": "score",
}


@frozen
class Column:
    """One column of a file: its name, and what it holds; None: it is not read."""

    name: str
    kind: Kind | None = None


QUERY, DOCUMENT = Column("query", "id"), Column("document", "id")


@dataclass(frozen=True)
class Schema:
    """Which columns a row has, in their order; as text what messages say: "query Q0 document rank score tag". The first
    one is always read.

    open_end  more columns may follow and are not read
    """

    columns: tuple[Column, ...]
    open_end: bool = False

    def __str__(self) -> str:
        return " ".join("Y|N" if column.kind == "decision" else column.name for column in self.columns)

    @property
    def width(self) -> int:
        return len(self.columns)

    @cached_property
    def read(self) -> tuple[tuple[int, Column], ...]:
        """The columns that are read, each with its place."""
        return tuple((number, column) for number, column in enumerate(self.columns) if column.kind is not None)


def schema_of_width(width: int, schemas: Sequence[Schema]) -> Schema:
    """The schema with `width` columns; where there is none the last one, for messages to name."""
    return next((schema for schema in schemas if schema.width == width), schemas[-1])


@frozen
class Table:
    """Some rows of a file, and where they stand.

    schema   which columns the rows have
    columns  by name: ids as Texts, and tags, cut off one byte behind the longest id that is taken; scores float64,
             grades int64, decisions bool
    numbers  of each row's line, 1 is the first of the file
    part     the file of an archive
    wrong    everything wrong with other rows
    end      the last line, of a text in columns
    """

    schema: Schema
    columns: Mapping[str, NDArray[Any]]
    numbers: Sequence[int]
    part: Part = WHOLE
    wrong: Sequence[WrongLine] = ()
    end: bytes = b""

    def __len__(self) -> int:
        return len(self.numbers)


def checked_table(
    schema: Schema,
    limits: Limits,
    numbers: Sequence[int],
    texts: Sequence[Sequence[str]],
    wrong: Sequence[WrongLine] = (),
    *,
    part: Part = WHOLE,
    end: bytes = b"",
) -> Table:
    """The rows with these texts, a sequence for each column that is read. Those with a value that is wrong are left out
    and told of; where more is wrong than anybody reads, all of them are left out.

    wrong  what is wrong with other lines
    """
    columns: dict[str, NDArray[Any]] = {}
    bad: set[int] = set()
    told = list(wrong)
    for (_, column), values in zip(schema.read, texts, strict=True):
        try:
            columns[column.name] = values_of(column.kind, column.name, values, limits)
            continue
        except ValueError:  # Wrong, and what no number or UTF-8 text can be made of
            pass
        for row, text in enumerate(values):
            try:
                HOLDS[column.kind][1](text, column.name, limits)
            except Wrong as error:
                bad.add(row)
                told.append((numbers[row], error))
                if len(told) > limits.wrong:
                    break
    if not bad:
        return Table(schema, columns, numbers, part, told, end)
    sound = [] if len(told) > limits.wrong else [row for row in range(len(numbers)) if row not in bad]
    remaining = [[values[row] for row in sound] for values in texts]
    return checked_table(
        schema, limits, array("q", [numbers[row] for row in sound]), remaining, told, part=part, end=end
    )


def our_name(column: str) -> str:
    """What we call a column that others call otherwise."""
    column = column.strip().lower()
    return OUR_NAMES.get(column, column)
