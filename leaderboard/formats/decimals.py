"""Reads decimal numbers, many at once, each to the nearest float64 as Python's float() does.

The digits of a number are read as one integer, all numbers together, character by character. Dividing the integer by a
power of ten is rounded only once as long as both are exact in 64 bits; longer numbers are divided in twice the
precision. The few quotients too near the middle between two floats, and numbers of extreme size, are read one by one
by float(). Anything that is not a plain decimal number is left to the caller.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats.ids import WORD, Codes, Places, cut_out

__all__ = ["floats", "integers"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

LONGEST = 3 * WORD  # characters
SHORT = 9  # characters, whose digits fit 32 bits
MOST_DIGITS = 19  # that always fit 64 bits
EXACT = np.uint64(1 << 53)  # whole numbers up to here are floats
TENS: Floats = np.array([10.0**power for power in range(23)])  # and so are these powers
ZERO, DOT, PLUS, MINUS = b"0.+-"
NINE = 9
MARKS = np.frombuffer(b"eE", np.uint8)  # of an exponent
SAFE = np.uint64(10**18)  # below it, whole numbers are taken
SPLITTER = 2.0**27 + 1  # parts a float64 into two of half its digits (Dekker 1971)
MARGIN = 2.0**-50  # above the error of a correction, relative to it


@dataclass(frozen=True, slots=True)
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
    if len(rest):
        value[rest], sure[rest] = _read_unusual(codes, start[rest], length[rest])
    return value, sure


def _read_unusual(codes: Codes, start: Places, length: Places) -> tuple[Floats, Bools]:
    """As `floats`, for numbers with an exponent and for those that division leaves in doubt."""
    read = _read_with_exponent(codes, start, length)
    value, sure = _to_floats(read)
    doubtful = np.flatnonzero(read.plain & ~sure)
    if len(doubtful):
        texts = cut_out(codes, start[doubtful], length[doubtful])
        value[doubtful] = [float(text) for text in texts.tolist()]
        sure[doubtful] = np.isfinite(value[doubtful])
    return value, sure


def _read_digits(codes: Codes, start: Places, length: Places) -> Digits:
    texts = cut_out(codes, start, np.minimum(length, LONGEST))
    size, width = len(texts), int(min(length.max(initial=0), LONGEST))
    columns = np.ascontiguousarray(texts.view(np.uint8).reshape(size, texts.dtype.itemsize).T[:width])
    number: NDArray[Any] = np.zeros(size, np.uint32 if width <= SHORT else np.uint64)
    ten = number.dtype.type(10)
    digits, dots, places = (np.zeros(size, np.uint8) for _ in range(3))
    for column in columns:
        digit = column - np.uint8(ZERO)
        is_digit = digit <= NINE
        if is_digit.all():
            number *= ten
            number += digit
        elif is_digit.any():
            number = np.where(is_digit, number * ten + digit, number)
        digits += is_digit
        dots += column == DOT
        places += is_digit & (dots > 0)
    first = columns[0] if width else digits
    negative = first == MINUS
    signs = negative | (first == PLUS)
    plain = (digits + dots + signs == length) & (dots <= 1) & (digits > 0) & (digits <= MOST_DIGITS)
    return Digits(number.astype(np.uint64, copy=False), places.astype(np.int64), negative, plain, dots == 0)


def _read_with_exponent(codes: Codes, start: Places, length: Places) -> Digits:
    """Numbers with an exponent or without: the power of ten moves the dot."""
    texts = cut_out(codes, start, np.minimum(length, LONGEST))
    is_mark = np.isin(texts.view(np.uint8).reshape(len(texts), -1), MARKS)
    marked = is_mark.any(axis=1)
    mark = np.where(marked, is_mark.argmax(axis=1), length)
    read = _read_digits(codes, start, mark)
    power, whole = integers(codes, np.minimum(start + mark + 1, start + length), np.maximum(length - mark - 1, 0))
    return Digits(read.number, read.places - power, read.negative, read.plain & (whole | ~marked), read.whole)


def _to_floats(read: Digits) -> tuple[Floats, Bools]:
    most = len(TENS) - 1
    down, up = TENS[np.clip(read.places, 0, most)], TENS[np.clip(-read.places, 0, most)]  # one of the two is 1
    value = read.number.astype(np.float64) / down * up
    sure = read.plain & (np.abs(read.places) <= most)
    long = np.flatnonzero(sure & (read.number > EXACT))
    if len(long):
        value[long], sure[long] = _divide(read.number[long], down[long])
        sure[long] &= up[long] == 1
    return np.where(read.negative, -value, value), sure


def _divide(number: NDArray[np.uint64], by: Floats) -> tuple[Floats, Bools]:
    """number / by to the nearest float64, and where that is certain. `by` is exact."""
    high = number.astype(np.float64)
    low = (number - high.astype(np.uint64)).view(np.int64).astype(np.float64)
    quotient = high / by
    rest = _rest(high, quotient, by) + low
    correction = rest / by
    nearest = quotient + correction * (1 + MARGIN)
    return nearest, nearest == quotient + correction * (1 - MARGIN)


def _rest(number: Floats, quotient: Floats, by: Floats) -> Floats:
    """number - quotient * by, without any rounding: the product is taken as the sum of two floats."""
    product = quotient * by
    (high, low), (by_high, by_low) = _halves(quotient), _halves(by)
    error = ((high * by_high - product) + high * by_low + low * by_high) + low * by_low
    return (number - product) - error


def _halves(value: Floats) -> tuple[Floats, Floats]:
    spread = value * SPLITTER
    high = spread - (spread - value)
    return high, value - high
