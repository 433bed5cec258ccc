"""Which columns a row of a file may have, and tables: some rows of a file as columns. Checks of single values, for what
reads a file line by line: each gives the value or raises Wrong.
"""

import re
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats.ids import WORD, Texts, byte_strings
from leaderboard.formats.plain_text import Limits, shown
from leaderboard.formats.problems import WHOLE, Part, Wrong, WrongLine
from leaderboard.numbers import GRADE_LIMIT, is_whole, read_number, read_whole

NUMBER_SIGNS = re.compile(r"[0-9.eE+-]*")
# What turns the order of writing around, or takes no room: two ids that differ in nothing else look alike on a page.
UNSEEN = re.compile(r"[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
# What identifier() refuses beyond ASCII and its blanks: control characters, blanks, and what can't be seen. A plain set
# is searched for ten times faster than a class like \s.
ODD_IN_ID = re.compile(
    r"[\x7f-\xa0\u061c\u1680\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f\u2060\u2066-\u2069\u3000\ufeff]"
)
ODD_BUT_NEWLINE = re.compile(ODD_IN_ID.pattern.replace("[", r"[\x00-\x09\x0b-\x20", 1))
PLAIN = re.compile(r"[!-~]+")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def not_utf8(error: UnicodeDecodeError) -> Wrong:
    """A line that can't be decoded."""
    kind = "no UTF-8 text; save the file as UTF-8"
    return Wrong(f"byte {error.start + 1} is {kind}", kind)


def control_character(what: str, text: str) -> Wrong:
    """A field with a control character; `what` names it."""
    return Wrong.value(what, text, "holds a control character")


def identifier(what: str, text: str, most_bytes: int) -> str:
    """The id of a query or a document (`what`), wherever it comes from: a column, a record, an archive's file name."""
    if len(text) <= most_bytes and PLAIN.fullmatch(text):
        return text
    if not text:
        raise Wrong(f"{what} id is empty")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise Wrong.value(f"{what} id", text, "is no UTF-8 text") from None
    if size > most_bytes:
        longer = f"{what} id longer than {most_bytes} bytes"
        raise Wrong(f"{longer}: {shown(text)}", longer)
    if CONTROL.search(text):
        raise control_character(f"{what} id", text)
    if unseen := UNSEEN.search(text):
        raise Wrong.value(f"{what} id", text, "holds a character that can't be seen", f", U+{ord(unseen[0]):04X}")
    if any(map(str.isspace, text)):
        raise Wrong.value(f"{what} id", text, "holds a blank")
    return text


def identifiers(texts: Sequence[str], most_bytes: int) -> Texts:
    """Ids as `identifier` takes them, many at once. Raises ValueError where it would refuse one of them."""
    joined = "\n".join(texts)
    if ODD_BUT_NEWLINE.search(joined) or joined.count("\n") >= len(texts) or not all(texts):
        raise ValueError("an odd character, or an empty id")
    encoded = joined.encode().split(b"\n")
    if max(map(len, encoded)) > most_bytes:
        raise ValueError("an id is too long")
    return byte_strings(encoded)


def scores(texts: Sequence[str]) -> NDArray[np.float64]:
    """Scores as `read_score` takes them, many at once. Raises ValueError where it would refuse one of them."""
    if not NUMBER_SIGNS.fullmatch("".join(texts)):
        raise ValueError("a sign that no number has")
    values = np.array(list(map(float, texts)))
    if not np.isfinite(values).all():
        raise ValueError("a number is too large")
    return values


def read_score(text: str) -> float:
    """The score that a field holds. Raises Wrong for what is no finite number."""
    try:
        return read_number(text)
    except ValueError:
        raise Wrong.value("score", text, "is no finite number") from None


def read_grade(text: str) -> int:
    """The grade that a field holds. Raises Wrong for what is no integer or beyond ±GRADE_LIMIT."""
    if not is_whole(text):
        raise Wrong.value("grade", text, "is no integer")
    try:
        value = read_whole(text)
    except ValueError:  # it has too many digits to be read
        value = GRADE_LIMIT + 1
    if abs(value) > GRADE_LIMIT:
        raise Wrong.value("grade", text, f"is beyond ±{GRADE_LIMIT:,}, the largest allowed")
    return value


def read_decision(text: str) -> bool:
    """Whether a field says Y. Raises Wrong for what is neither Y nor N."""
    if text not in ("Y", "N"):
        raise Wrong.value("decision", text, "is neither Y nor N")
    return text == "Y"


Kind = Literal["id", "score", "grade", "decision", "tag"]

# By what a column holds beside ids: the type of its array, and the check of one value.
HOLDS: Mapping[Kind | None, tuple[type[np.generic], Callable[[str], Any]]] = {
    "score": (np.float64, read_score),
    "grade": (np.int64, read_grade),
    "decision": (np.bool_, read_decision),
}
OUR_NAMES: Mapping[str, str] = {
    **dict.fromkeys(("query_id", "qid", "topic"), "query"),
    **dict.fromkeys(("document_id", "doc_id", "docid", "docno", "doc"), "document"),
    **dict.fromkeys(("relevance", "rel", "label"), "grade"),
    "sim": "score",
}


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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


def _value(column: Column, text: str, limits: Limits) -> Any:
    """One value of a column. Raises Wrong."""
    if column.kind == "id":
        return identifier(column.name, text, limits.id_bytes)
    if column.kind == "tag":
        return text
    return HOLDS[column.kind][1](text)


def _values(column: Column, texts: Sequence[str], limits: Limits) -> NDArray[Any]:
    """The same of many at once. Raises ValueError where one of them is wrong, and only then."""
    if not texts:
        return np.empty(0, f"S{WORD}" if column.kind in ("id", "tag") else HOLDS[column.kind][0])
    if column.kind == "id":
        return identifiers(texts, limits.id_bytes)
    if column.kind == "score":
        return scores(texts)
    if column.kind == "tag":
        return byte_strings([text.encode()[: limits.id_bytes + 1] for text in texts])
    kind, check = HOLDS[column.kind]
    return np.array([check(text) for text in texts], kind)


class CheckedRows:
    """Rows gathered one by one, and checked together."""

    def __init__(self, schema: Schema, limits: Limits, part: Part = WHOLE) -> None:
        self._schema = schema
        self._columns = [column for _, column in schema.read]
        self._limits = limits
        self._part = part
        self._empty()

    def _empty(self) -> None:
        self._wrong: list[WrongLine] = []
        self._texts: list[list[str]] = [[] for _ in self._columns]  # by column
        self._numbers = array("q")

    def __len__(self) -> int:
        """How much was noted: rows, and what is wrong with others."""
        return len(self._numbers) + len(self._wrong)

    @property
    def is_hopeless(self) -> bool:
        """Whether more is wrong than anybody reads: then nothing more need be read."""
        return len(self._wrong) > self._limits.wrong

    def add_wrong(self, line: int, wrong: Wrong) -> None:
        """Notes what is wrong with a line."""
        self._wrong.append(wrong.on(line))

    def add(self, line: int, texts: Sequence[str]) -> None:
        """Takes a row, given the texts of the columns that are read; `table` checks them."""
        for column, text in zip(self._texts, texts, strict=True):
            column.append(text)
        self._numbers.append(line)

    def add_columns(self, lines: Sequence[int], columns: Sequence[Sequence[str]]) -> None:
        """Takes many rows, given the texts of each column that is read."""
        for column, texts in zip(self._texts, columns, strict=True):
            column.extend(texts)
        self._numbers.extend(lines)

    def _checked(self, column: Column, texts: Sequence[str], bad: set[int]) -> NDArray[Any]:
        """The values of a column; none where one of them is wrong. Then all that are wrong are noted, and their rows
        added to `bad`, up to where enough is wrong.
        """
        try:
            return _values(column, texts, self._limits)
        except ValueError:  # Wrong, and what no number or UTF-8 text can be made of
            pass
        for row, text in enumerate(texts):
            try:
                _value(column, text, self._limits)
            except Wrong as wrong:
                self.add_wrong(self._numbers[row], wrong)
                bad.add(row)
                if self.is_hopeless:
                    break
        return _values(column, [], self._limits)

    def table(self, end: bytes = b"") -> Table:
        """The rows so far; the next one starts anew."""
        bad: set[int] = set()
        pairs = list(zip(self._columns, self._texts, strict=True))
        columns = {column.name: self._checked(column, texts, bad) for column, texts in pairs}
        if bad:
            sound = [] if self.is_hopeless else [row for row in range(len(self._numbers)) if row not in bad]
            self._numbers = array("q", [self._numbers[row] for row in sound])
            columns = {
                column.name: _values(column, [texts[row] for row in sound], self._limits) for column, texts in pairs
            }
        table = Table(self._schema, columns, self._numbers, self._part, self._wrong, end)
        self._empty()
        return table


def our_name(column: str) -> str:
    """What we call a column that others call otherwise."""
    column = column.strip().lower()
    return OUR_NAMES.get(column, column)
