"""Reads text in columns, parted by blanks: a piece at once, or line by line where something in it may be wrong.

The fast reader gives up on a piece unless every line has the right number of fields, every id is sound and short enough
and every number is a number. The slow reader then reads the piece line by line and says what is wrong with each.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats import checks
from leaderboard.formats.chunks import IS_BLANK, Piece, cut, side_by_side
from leaderboard.formats.decimals import floats, integers
from leaderboard.formats.fields import find_fields
from leaderboard.formats.ids import Codes, Places, cut_out
from leaderboard.formats.plain_text import CappedReader, Limits
from leaderboard.formats.problems import WHOLE, Part, Problems, Wrong, wrong_width
from leaderboard.formats.tables import CheckedRows, Kind, Schema, Table, schema_of_width

Bools = NDArray[np.bool_]

DELETE = 127  # the only control character of ASCII above the blank
CONTINUED, CONTINUES = 0xC0, 0x80  # the highest two bits of a byte of UTF-8, and what they are within a character
NEWLINE, BLANK, COMMENT, NO, YES = b"\n #NY"
CONTROL = re.compile(rb"[\0-\x08\x0e-\x1f]")


class Doubt(Exception):  # no error: it leads to the slow reader
    """Something in a piece may be wrong: on these lines (bool[lines]), or on any of them where that is None."""

    def __init__(self, lines: Bools | None = None) -> None:
        super().__init__()
        self.lines = lines


def read_columns(text: CappedReader, schemas: Sequence[Schema], problems: Problems) -> Iterator[Table]:
    """The rows of a text in columns; the schema goes by the number of columns in the first line that is no comment."""
    pieces = cut(text, problems)
    start = next(((piece, width) for piece in pieces if (width := _width(piece))), None)
    if start is None:
        problems.raise_empty()
    first, width = start
    schema = schema_of_width(width, schemas)

    def read(piece: Piece) -> Table:
        return read_piece(piece, schema, problems.limits)

    # Reading plain text takes hardly any time: a second thread would save less than waiting for the lock costs.
    yield from (side_by_side if text.inflates else map)(read, chain([first], pieces))


def _width(piece: Piece) -> int:
    """The number of fields in the first line that is neither empty nor a comment; 0 where there is no such line."""
    fields = piece.first_line().split()
    if not fields or fields[0].startswith(b"#"):
        fields = piece.without_comments().first_line().split()
    return len(fields)


def read_piece(piece: Piece, schema: Schema, limits: Limits, part: Part = WHOLE) -> Table:
    """The piece's rows, and what is wrong with those that can't be read."""
    try:
        return _read_fast(piece, schema, limits, part)
    except Doubt as doubt:
        wrong = doubt.lines
    if wrong is None:
        piece = piece.without_comments()
        try:
            return _read_fast(piece, schema, limits, part)
        except Doubt as doubt:
            wrong = doubt.lines
    return _read_apart(piece, wrong, schema, limits, part)


def _read_apart(piece: Piece, wrong: Bools | None, schema: Schema, limits: Limits, part: Part) -> Table:
    """As `read_piece`: fast what is sound, line by line what is not. wrong: the lines of the Doubt that led here."""
    newline = piece.newlines()
    doubtful = _doubtful_lines(piece, newline, schema.width) if wrong is None else wrong
    while not doubtful.all():
        try:
            sound = _read_fast(piece.only(~doubtful, newline), schema, limits, part)
        except Doubt as doubt:
            lines = np.flatnonzero(~doubtful)
            doubtful[lines if doubt.lines is None else lines[doubt.lines]] = True
        else:
            rest = _read_line_by_line(piece.only(doubtful, newline), schema, limits, part)
            return replace(sound.merged(rest), end=piece.last_line())
    return _read_line_by_line(piece, schema, limits, part)


def _doubtful_lines(piece: Piece, newline: Places, width: int) -> Bools:
    """bool[lines]: which lines don't have `width` fields, hold a control character or may be no UTF-8."""
    codes = piece.codes
    low = codes <= BLANK
    ends = np.flatnonzero(low[1:] > low[:-1]) + 1
    doubtful: Bools = np.diff(np.searchsorted(ends, newline, side="right"), prepend=0) != width
    control = np.flatnonzero(low & ~IS_BLANK.take(codes))
    doubtful[np.searchsorted(newline, control)] = True
    if codes.max(initial=0) >= DELETE and not _is_utf8(piece):
        doubtful[np.searchsorted(newline, np.flatnonzero(codes >= DELETE))] = True
    return doubtful


def _is_utf8(piece: Piece) -> bool:
    try:
        piece.text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _odd_places(piece: Piece) -> Places:
    """int64[n]: where the characters start that no id may have. Raises Doubt where the piece is no UTF-8."""
    try:
        text = piece.text.decode()
    except UnicodeDecodeError:
        raise Doubt from None
    if not checks.ODD_IN_ID.search(text):
        return np.empty(0, np.int64)
    points = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    suspects = np.flatnonzero(points >= DELETE)
    suspects = suspects[np.isin(points[suspects], checks.odd_points())]
    starts = np.flatnonzero(piece.codes & CONTINUED != CONTINUES)
    return starts[suspects]


def _read_fast(piece: Piece, schema: Schema, limits: Limits, part: Part) -> Table:
    """The piece's rows. Raises Doubt."""
    codes = piece.codes
    width = schema.width
    if schema.open_end:
        width = max(width, len(piece.first_line().split()))
    fields = find_fields(codes, width, [index for index, _ in schema.read])
    if fields is None or (codes.take(fields[0][0]) == COMMENT).any():
        raise Doubt
    odd = _odd_places(piece) if codes.max() >= DELETE else ()
    columns: dict[str, NDArray[Any]] = {}
    wrong = np.zeros(len(fields[0][0]), np.bool_)
    for (_, column), (start, length) in zip(schema.read, fields, strict=True):
        if len(odd) and column.kind == "id":
            line = np.searchsorted(start, odd, side="right") - 1
            wrong[line[(line >= 0) & (odd < (start + length)[line])]] = True
        columns[column.name], sound = FAST[column.kind or "id"](piece.room, start, length, limits)
        if sound is not None:
            wrong |= ~sound
    if wrong.any():
        raise Doubt(wrong)
    return Table(schema, columns, piece.numbers, part, end=piece.last_line(), text_bytes=piece.size)


# Each of these gives a column, and which of its values are sound (bool[lines]); None: all of them are.
FastColumn = tuple[NDArray[Any], Bools | None]


def _ids(codes: Codes, start: Places, length: Places, limits: Limits) -> FastColumn:
    if length.max() > limits.id_bytes:
        return np.empty(0), length <= limits.id_bytes
    return cut_out(codes, start, length), None


def _scores(codes: Codes, start: Places, length: Places, limits: Limits) -> FastColumn:
    score, sound = floats(codes, start, length)
    rest = np.flatnonzero(~sound)
    if not len(rest):
        return score, None
    wrong = 0
    for row in rest.tolist():
        if wrong > limits.wrong:
            break
        try:
            score[row] = checks.score(codes[start[row] : start[row] + length[row]].tobytes().decode())
        except Wrong:
            wrong += 1
            continue
        sound[row] = True
    return score, sound


def _grades(codes: Codes, start: Places, length: Places, _limits: Limits) -> FastColumn:
    grade, sure = integers(codes, start, length)
    return grade, sure & (np.abs(grade) <= checks.GRADE_LIMIT)


def _decisions(codes: Codes, start: Places, length: Places, _limits: Limits) -> FastColumn:
    letter = codes[start]
    return letter == YES, (length == 1) & ((letter == YES) | (letter == NO))


def _tags(codes: Codes, start: Places, length: Places, limits: Limits) -> FastColumn:
    return cut_out(codes, start, np.minimum(length, limits.id_bytes + 1)), None


FAST: Mapping[Kind, Callable[[Codes, Places, Places, Limits], FastColumn]] = {
    "id": _ids,
    "score": _scores,
    "grade": _grades,
    "decision": _decisions,
    "tag": _tags,
}


def _read_line_by_line(piece: Piece, schema: Schema, limits: Limits, part: Part) -> Table:
    """The piece's rows, and what is wrong with each of the others, up to where enough is wrong."""
    rows = CheckedRows(schema, limits, part)
    for number, line in zip(piece.numbers, piece.lines(), strict=True):
        try:
            rows.add(number, _fields(line, schema))
        except Wrong as wrong:
            rows.add_wrong(number, wrong)
            if rows.is_hopeless:
                break
    return rows.table(piece.last_line())


def _fields(text: bytes, schema: Schema) -> list[str]:
    """The texts of the columns that are read."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise checks.not_utf8(error) from None
    fields = text.split()
    if len(fields) != schema.width and not (schema.open_end and len(fields) > schema.width):
        raise wrong_width(str(schema.width), len(fields), schema)
    if CONTROL.search(text):
        for column, field in zip(schema.columns, fields, strict=False):
            if column.kind in (None, "tag") and CONTROL.search(field):
                raise checks.control_character(column.name, field.decode())
    return [fields[index].decode() for index, _ in schema.read]
