"""Reads text in columns, parted by blanks: a piece at once, or line by line where something in it may be wrong.

The fast reader finds where the fields start, for all lines at once, and reads decimal numbers, many at once, each to
the nearest float64 as Python's float() does. It gives up on a piece unless every line has the right number of fields,
every id is sound and short enough and every number is a number. The slow reader then reads the piece line by line and
says what is wrong with each.

The digits of a number are read as one integer, eight characters of all numbers at once. Dividing the integer by a
power of ten is rounded only once as long as both are exact in 64 bits; longer numbers are divided in twice the
precision. The few quotients too near the middle between two floats, and numbers of extreme size, are read one by one
by float(). Anything that is not a plain decimal number is left to the caller.
"""

import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats import tables, values
from leaderboard.formats.ids import WORD, Codes, Keys, Places, cut_out, words_of
from leaderboard.formats.plain_text import COMMENT, NEWLINE, CappedReader, Limits, Piece, cut, side_by_side
from leaderboard.formats.problems import WHOLE, Part, Problems, Wrong, not_utf8, wrong_width
from leaderboard.frozen import frozen
from leaderboard.numbers import GRADE_LIMIT

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

LONGEST = 3 * WORD  # characters
MOST_DIGITS = 19  # that always fit 64 bits
EXACT = np.uint64(1 << 53)  # whole numbers up to here are floats
TENS: Floats = np.array([10.0**power for power in range(23)])  # and so are these powers
ZERO, PLUS, MINUS = b"0+-"
# Of words of eight characters, each in its byte:
EACH = np.uint64(0x0101010101010101)
ZEROS = EACH * np.uint64(ZERO)
BIT_OF_DOT, DOT = np.uint64(4), np.uint64(0x1E)  # a dot less the bits of a zero; no digit has this bit then
BYTE = np.uint64(0xFF)
ABOVE_NINE, HIGHEST = EACH * np.uint64(0x7F - 9), EACH * np.uint64(0x80)  # 10 and more reach the highest bit
PLACES = np.uint64(0x0706050403020100)  # by where the dot is, how many characters follow it: moved to the highest byte
# Pairs of digits, then pairs of these, then of these, become one number: 10 times the first and the second.
PAIRS = [
    (np.uint64(10**digits << 8 * digits | 1), np.uint64(8 * digits), np.uint64(mask))
    for digits, mask in ((1, 0x00FF00FF00FF00FF), (2, 0x0000FFFF0000FFFF), (4, 0x00000000FFFFFFFF))
]
WHOLE_TENS = np.array([10**power for power in range(WORD + 1)], np.uint64)
MARKS = np.frombuffer(b"eE", np.uint8)  # of an exponent
SAFE = np.uint64(10**18)  # below it, whole numbers are taken
LONG = np.longdouble
LONG_BITS = np.finfo(LONG).nmant  # 63 or more, where a machine has them: then whole numbers of 64 bits are exact
MARGIN = LONG(2.0) ** -(LONG_BITS - 1)  # above the error of a quotient, relative to it


@frozen
class Digits:
    """Numbers as digits: ±number / 10^places.

    plain   bool[n]: it is written with up to 19 digits, a sign and a dot perhaps; nothing else holds for the others
    whole   bool[n]: without a dot
    """

    number: NDArray[np.uint64]
    places: Places
    negative: Bools
    plain: Bools
    whole: Bools


def integers(codes: Codes, start: Places, length: Places) -> tuple[Places, Bools]:
    """(int64[n], bool[n]): the numbers codes[start : start + length], and which of them were read: plain whole ones."""
    read = _read_digits(codes, start, length)
    sure = read.plain & read.whole & (read.number < SAFE)
    number = np.where(sure, read.number, 0).astype(np.int64)
    return np.where(read.negative, -number, number), sure


def floats(codes: Codes, start: Places, length: Places) -> tuple[Floats, Bools]:
    """(float64[n], bool[n]): the numbers codes[start : start + length], and which of them were read."""
    value, sure = _to_floats(_read_digits(codes, start, length))
    rest = np.flatnonzero(~sure)
    if not len(rest):
        return value, sure
    # Numbers with an exponent, and those that division leaves in doubt.
    read = _read_with_exponent(codes, start[rest], length[rest])
    value[rest], sure[rest] = _to_floats(read)
    doubtful = rest[read.plain & ~sure[rest]]
    value[doubtful] = [float(text) for text in cut_out(codes, start[doubtful], length[doubtful]).tolist()]
    sure[doubtful] = np.isfinite(value[doubtful])
    return value, sure


def _read_with_exponent(codes: Codes, start: Places, length: Places) -> Digits:
    """Numbers with an exponent or without: the power of ten moves the dot."""
    texts = cut_out(codes, start, np.minimum(length, LONGEST))
    is_mark = np.isin(texts.view(np.uint8).reshape(len(texts), -1), MARKS)
    marked = is_mark.any(axis=1)
    mark = np.where(marked, is_mark.argmax(axis=1), length)
    read = _read_digits(codes, start, mark)
    power, whole = integers(codes, np.minimum(start + mark + 1, start + length), np.maximum(length - mark - 1, 0))
    return replace(read, places=read.places - power, plain=read.plain & (whole | ~marked))


def _to_floats(read: Digits) -> tuple[Floats, Bools]:
    most = len(TENS) - 1
    down = TENS.take(np.clip(read.places, 0, most))
    value = read.number.astype(np.float64) / down
    sure = read.plain & (np.abs(read.places) <= most)
    raised = read.places < 0
    if raised.any():
        value *= TENS.take(np.clip(-read.places, 0, most))
    long = np.flatnonzero(sure & (read.number > EXACT))
    if len(long):  # divided in twice the precision: certain where both ends of its error give the same
        quotient = read.number[long].astype(LONG) / down[long].astype(LONG)
        low, high = ((quotient * (1 + sign * MARGIN)).astype(np.float64) for sign in (-1, 1))
        value[long], sure[long] = high, (low == high) & (LONG_BITS >= 63) & ~raised[long]
    np.negative(value, out=value, where=read.negative)
    return value, sure


def _read_digits(codes: Codes, start: Places, length: Places) -> Digits:
    texts = words_of(codes, start, np.minimum(length, LONGEST))
    word, left = next(texts)
    first = word.astype(np.uint8)
    negative = first == MINUS
    signs = negative | (first == PLUS)
    if signs.any():
        word ^= np.where(signs, first ^ ZERO, 0).astype(np.uint64)  # a zero in its place changes no number
    number, digits, dotted, places, odd = _some(word, left)
    for more in texts:
        more_number, more_digits, dot_there, more_places, more_odd = _some(*more)
        number = number * WHOLE_TENS.take(more_digits) + more_number
        odd = odd | more_odd | (dotted & dot_there)
        places = np.where(dotted, places + more_digits, more_places)
        digits, dotted = digits + more_digits, dotted | dot_there
    digits = digits - signs
    plain = (odd == 0) & (digits > 0) & (digits <= MOST_DIGITS) & (length <= LONGEST)
    return Digits(number, places, negative, plain, ~dotted)


def _some(word: Keys, length: Places) -> tuple[Keys, Places, Bools, Places, Keys]:
    """What the first `length` characters of words hold; the first one is the lowest byte.

    uint64[n], the number that their digits are; int64[n], how many they are; bool[n], whether there is a dot; int64[n],
    how many digits are behind it, 0 without one; uint64[n], not 0 where there is anything else, or another dot.
    """
    digit = word ^ ZEROS
    digit <<= np.uint64(8 * WORD) - (length.astype(np.uint64) << np.uint64(3))  # zeros before the first
    dot = (digit >> BIT_OF_DOT) & EACH
    digit ^= dot * DOT
    dotted = dot != 0
    odd = ((digit + ABOVE_NINE) | digit) & HIGHEST
    odd |= digit & (dot * BYTE)  # another character that has the dot's bit
    odd |= dot & (dot - np.uint64(1))  # a second dot
    before = digit & ((dot | ~dotted) - np.uint64(1))
    digit ^= before
    digit |= before << np.uint64(8)  # moved over the dot
    for times, shift, mask in PAIRS:
        digit *= times
        digit >>= shift
        digit &= mask
    places = (dot * PLACES) >> np.uint64(8 * (WORD - 1))
    return digit, length - dotted, dotted, places.astype(np.int64), odd


Field = tuple[Places, Places]  # int64[lines] each: where it starts, and its length

TAB, RETURN, BLANK = b"\t\r "
ALLOWED = np.isin(np.arange(BLANK + 1), [*b"\t\n\v\f\r "])  # by character code: may it separate fields or lines?


def find_fields(codes: Codes, width: int, wanted: Sequence[int]) -> list[Field]:
    """The fields at the places `wanted` (0 is the first of a line), for every line of a text that ends with a newline.

    Raises ValueError when any line has more or fewer than `width` fields, or when the text holds a control character
    other than a blank. Most files have single blanks between fields, so that every blank ends a field; where several
    blanks come together, the ends of fields are searched for.

    >>> [(start, length)] = find_fields(np.frombuffer(b"q1 d7\\nq1 d30\\n", np.uint8), 2, [1])
    >>> start.tolist(), length.tolist()
    ([3, 9], [2, 3])
    """
    low = codes <= BLANK
    is_single = len(low) > 0 and not low[0] and not (low[1:] & low[:-1]).any()
    if is_single:
        ends = np.flatnonzero(low)
        starts = np.append(0, ends[:-1] + 1)
        newlines = ends[width - 1 :: width]
    else:
        ends = np.flatnonzero(low[1:] > low[:-1]) + 1
        starts = np.flatnonzero(np.append(True, low[:-1]) > low)
        newlines = np.flatnonzero(codes == NEWLINE)
    lines = len(newlines)
    if not lines or len(ends) != width * lines:
        raise ValueError("more or fewer fields")
    start, end = starts.reshape(lines, width), ends.reshape(lines, width)
    if is_single:
        kinds = codes[newlines]
        if np.count_nonzero(codes == BLANK) != len(ends) - lines:
            kinds = codes[ends]  # tabs perhaps, or a control character, or a newline within a line
        odd = np.count_nonzero(kinds == NEWLINE) != lines or not ALLOWED.take(kinds).all()
        odd = odd or (codes[newlines] != NEWLINE).any()
    else:
        odd = (end[:, -1] > newlines).any() or (end[1:, 0] <= newlines[:-1]).any()
        odd = odd or np.count_nonzero(codes < BLANK) != np.count_nonzero(codes - np.uint8(TAB) <= RETURN - TAB)
    if odd:
        raise ValueError("a control character; or some line has more fields, and another one fewer")
    return [(start[:, column], end[:, column] - start[:, column]) for column in wanted]


DELETE = 127  # the only control character of ASCII above the blank
NO, YES = b"NY"
CONTROL = re.compile(rb"[\0-\x08\x0e-\x1f]")


def read_columns(text: CappedReader, schemas: Sequence[tables.Schema], problems: Problems) -> Iterator[tables.Table]:
    """The rows of a text in columns; the schema goes by the number of columns in the first line that is no comment."""
    pieces = cut(text, problems.limits)
    start = next(((piece, width) for piece in pieces if (width := _width(piece))), None)
    if start is None:
        problems.raise_empty()
    first, width = start
    schema = tables.schema_of_width(width, schemas)

    def read(piece: Piece) -> tables.Table:
        return read_piece(piece, schema, problems.limits)

    # Reading plain text takes hardly any time: a second thread would save less than waiting for the lock costs.
    yield from (side_by_side if text.inflates else map)(read, chain([first], pieces))


def _width(piece: Piece) -> int:
    """The number of fields in the first line that is neither empty nor a comment; 0 where there is no such line."""
    fields = piece.first_line().split()
    if not fields or fields[0].startswith(b"#"):
        fields = piece.without_comments().first_line().split()
    return len(fields)


def read_piece(piece: Piece, schema: tables.Schema, limits: Limits, part: Part = WHOLE) -> tables.Table:
    """The piece's rows, and what is wrong with those that can't be read."""
    with suppress(ValueError):
        return _read_fast(piece, schema, limits, part)
    lines = piece.without_comments()
    if lines is not piece:
        with suppress(ValueError):
            return _read_fast(lines, schema, limits, part)
    rows: list[list[str]] = []
    numbers, wrong = array("q"), []
    for number, line in zip(lines.numbers, lines.lines(), strict=True):
        try:
            rows.append(_fields(line, schema))
            numbers.append(number)
        except Wrong as error:
            wrong.append((number, error))
            if len(wrong) > limits.wrong:
                break
    texts = [*zip(*rows, strict=True)] or [()] * len(schema.read)
    return tables.checked_table(schema, limits, numbers, texts, wrong, part=part, end=lines.last_line())


def _read_fast(piece: Piece, schema: tables.Schema, limits: Limits, part: Part) -> tables.Table:
    """The piece's rows. Raises ValueError where something in it may be wrong."""
    codes = piece.codes
    width = schema.width
    if schema.open_end:
        width = max(width, len(piece.first_line().split()))
    fields = find_fields(codes, width, [index for index, _ in schema.read])
    if (codes.take(fields[0][0]) == COMMENT).any():
        raise ValueError("a comment")
    if codes.max() >= DELETE and values.ODD_IN_ID.search(piece.text.decode()):
        raise ValueError("a character that no id may have")
    columns = {
        column.name: FAST[column.kind](piece.padded, start, length, limits)
        for (_, column), (start, length) in zip(schema.read, fields, strict=True)
    }
    return tables.Table(schema, columns, piece.numbers, part, end=piece.last_line())


# Each of these gives a column, or raises ValueError.


def _ids(codes: Codes, start: Places, length: Places, limits: Limits) -> NDArray[Any]:
    if length.max() > limits.id_bytes:
        raise ValueError("an id is too long")
    return cut_out(codes, start, length)


def _scores(codes: Codes, start: Places, length: Places, _limits: Limits) -> NDArray[Any]:
    score, sound = floats(codes, start, length)
    for row in np.flatnonzero(~sound).tolist():
        score[row] = values.read_score(codes[start[row] : start[row] + length[row]].tobytes().decode())
    return score


def _grades(codes: Codes, start: Places, length: Places, _limits: Limits) -> NDArray[Any]:
    grade, sure = integers(codes, start, length)
    if not sure.all() or np.abs(grade).max() > GRADE_LIMIT:
        raise ValueError("no grade")
    return grade


def _decisions(codes: Codes, start: Places, length: Places, _limits: Limits) -> NDArray[Any]:
    letter = codes[start]
    if not ((length == 1) & ((letter == YES) | (letter == NO))).all():
        raise ValueError("no decision")
    return np.asarray(letter == YES)


def _tags(codes: Codes, start: Places, length: Places, limits: Limits) -> NDArray[Any]:
    return cut_out(codes, start, np.minimum(length, limits.id_bytes + 1))


FAST: Mapping[values.Kind | None, Callable[[Codes, Places, Places, Limits], NDArray[Any]]] = {
    "id": _ids,
    "score": _scores,
    "grade": _grades,
    "decision": _decisions,
    "tag": _tags,
}


def _fields(text: bytes, schema: tables.Schema) -> list[str]:
    """The texts of the columns that are read."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise not_utf8(error) from None
    fields = text.split()
    if len(fields) != schema.width and not (schema.open_end and len(fields) > schema.width):
        raise wrong_width(str(schema.width), len(fields), schema)
    if CONTROL.search(text):
        for column, field in zip(schema.columns, fields, strict=False):
            if column.kind in (None, "tag") and CONTROL.search(field):
                raise values.control_character(column.name, field.decode())
    return [fields[index].decode() for index, _ in schema.read]
