"""Reads text in columns, parted by blanks: a piece at once, or line by line where something in it may be wrong.

The fast reader gives up on a piece unless every line has the right number of fields, every id is sound and short enough
and every number is a number. The slow reader then reads the piece line by line and says what is wrong with each.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats import checks
from leaderboard.formats.decimals import floats, integers
from leaderboard.formats.fields import find_fields
from leaderboard.formats.ids import Codes, Places, cut_out, keys
from leaderboard.formats.pieces import Piece, cut, side_by_side
from leaderboard.formats.plain_text import CappedReader, Limits
from leaderboard.formats.problems import WHOLE, Part, Problems, Wrong, wrong_width
from leaderboard.formats.tables import CheckedRows, Kind, Schema, Table, schema_of_width

__all__ = ["read_columns", "read_piece"]

DELETE = 127  # the only control character of ASCII above the blank
COMMENT, NO, YES = b"#NY"


class Doubt(Exception):  # no error: it leads to the slow reader
    """Something in a piece may be wrong."""


def read_columns(text: CappedReader, schemas: Sequence[Schema], problems: Problems) -> Iterator[Table]:
    """The rows of a text in columns; the schema goes by the number of columns in the first line that is no comment."""
    pieces = cut(text, problems)
    start = next(((piece, width) for piece in pieces if (width := _width(piece))), None)
    if start is None:
        problems.raise_empty()
    first, width = start
    schema = schema_of_width(width, schemas)
    yield from side_by_side(lambda piece: read_piece(piece, schema, problems.limits), chain([first], pieces))


def _width(piece: Piece) -> int:
    """The number of fields in the first line that is neither empty nor a comment; 0 where there is no such line."""
    lines = (line.split() for line in piece.lines())
    return next((len(fields) for fields in lines if fields and not fields[0].startswith(b"#")), 0)


def read_piece(piece: Piece, schema: Schema, limits: Limits, part: Part = WHOLE) -> Table:
    """The piece's rows, and what is wrong with those that can't be read."""
    try:
        return _read_fast(piece, schema, limits, part)
    except Doubt:
        pass
    piece = piece.without_comments()
    try:
        return _read_fast(piece, schema, limits, part)
    except Doubt:
        return _read_line_by_line(piece, schema, limits, part)


def _read_fast(piece: Piece, schema: Schema, limits: Limits, part: Part) -> Table:
    """The piece's rows. Raises Doubt."""
    codes = piece.codes
    width = schema.width
    if schema.open_end:
        width = max(width, len(next(piece.lines(), b"").split()))
    fields = find_fields(codes, width, [0, *(place for place, _ in schema.read)])
    if fields is None or (codes[fields[0][0]] == COMMENT).any():
        raise Doubt
    if codes.max() >= DELETE:
        try:
            odd = checks.ODD_IN_ID.search(piece.text.decode())
        except UnicodeDecodeError:
            raise Doubt from None
        if odd:
            raise Doubt
    columns = {
        column.name: FAST[column.kind or "id"](piece.room, start, length, limits)
        for (_, column), (start, length) in zip(schema.read, fields[1:], strict=True)
    }
    columns["key"] = keys(columns["document"])
    return Table(schema, columns, piece.numbers, part, end=piece.last_line(), text_bytes=piece.size)


def _ids(codes: Codes, start: Places, length: Places, limits: Limits) -> NDArray[Any]:
    if length.max() > limits.id_bytes:
        raise Doubt
    return cut_out(codes, start, length)


def _scores(codes: Codes, start: Places, length: Places, _limits: Limits) -> NDArray[Any]:
    score, sure = floats(codes, start, length)
    for row in np.flatnonzero(~sure).tolist():
        try:
            score[row] = checks.score(codes[start[row] : start[row] + length[row]].tobytes().decode())
        except Wrong:
            raise Doubt from None
    return score


def _grades(codes: Codes, start: Places, length: Places, _limits: Limits) -> NDArray[Any]:
    grade, sure = integers(codes, start, length)
    if not sure.all() or np.abs(grade).max() > checks.GRADE_LIMIT:
        raise Doubt
    return grade


def _decisions(codes: Codes, start: Places, length: Places, _limits: Limits) -> NDArray[Any]:
    letter = codes[start]
    if not ((length == 1) & ((letter == YES) | (letter == NO))).all():
        raise Doubt
    returned: NDArray[Any] = letter == YES
    return returned


FAST: Mapping[Kind, Callable[[Codes, Places, Places, Limits], NDArray[Any]]] = {
    "id": _ids,
    "score": _scores,
    "grade": _grades,
    "decision": _decisions,
}


def _read_line_by_line(piece: Piece, schema: Schema, limits: Limits, part: Part) -> Table:
    """The piece's rows, and what is wrong with each of the others."""
    rows = CheckedRows(schema, limits, part)
    for number, line in zip(piece.numbers, piece.lines(), strict=True):
        try:
            rows.add(number, _fields(line, schema))
        except Wrong as wrong:
            rows.add_wrong(number, wrong)
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
    return [fields[place].decode() for place, _ in schema.read]
