"""Reads decimal numbers, many at once, each to the nearest float64 as Python's float() does.

The digits of a number are read as one integer, eight characters of all numbers at once. Dividing the integer by a
power of ten is rounded only once as long as both are exact in 64 bits; longer numbers are divided in twice the
precision. The few quotients too near the middle between two floats, and numbers of extreme size, are read one by one
by float(). Anything that is not a plain decimal number is left to the caller.
"""

from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats.ids import WORD, Codes, Keys, Places, cut_out, words_of

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


@dataclass(frozen=True, slots=True)
class _Some:
    """Up to eight characters of each number, or more of them joined: digits, and a dot perhaps.

    number  uint64[n], of the digits
    digits  int64[n], how many they are
    dotted  bool[n]
    places  int64[n], digits behind the dot; 0 without one
    odd     uint64[n]: not 0 where there is anything else, or another dot
    """

    number: Keys
    digits: Places
    dotted: Bools
    places: Places
    odd: Keys

    def joined(self, rest: "_Some") -> "_Some":
        """Together with the characters that follow."""
        return _Some(
            self.number * WHOLE_TENS.take(rest.digits) + rest.number,
            self.digits + rest.digits,
            self.dotted | rest.dotted,
            np.where(self.dotted, self.places + rest.digits, rest.places),
            self.odd | rest.odd | (self.dotted & rest.dotted),
        )


def _read_digits(codes: Codes, start: Places, length: Places) -> Digits:
    texts = words_of(codes, start, np.minimum(length, LONGEST))
    word, left = next(texts)
    first = word.astype(np.uint8)
    negative = first == MINUS
    signs = negative | (first == PLUS)
    if signs.any():
        word ^= np.where(signs, first ^ ZERO, 0).astype(np.uint64)  # a zero in its place changes no number
    read = reduce(_Some.joined, [_some(word, left), *(_some(*more) for more in texts)])
    digits = read.digits - signs
    plain = (read.odd == 0) & (digits > 0) & (digits <= MOST_DIGITS) & (length <= LONGEST)
    return Digits(read.number, read.places, negative, plain, ~read.dotted)


def _some(word: Keys, length: Places) -> _Some:
    """What the first `length` characters of words hold; the first one is the lowest byte."""
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
    return _Some(digit, length - dotted, dotted, places.astype(np.int64), odd)


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
    down = TENS.take(np.clip(read.places, 0, most))
    value = read.number.astype(np.float64) / down
    sure = read.plain & (np.abs(read.places) <= most)
    raised = read.places < 0
    if raised.any():
        value *= TENS.take(np.clip(-read.places, 0, most))
    long = np.flatnonzero(sure & (read.number > EXACT))
    if len(long):
        value[long], sure[long] = _divide(read.number[long], down[long])
        sure[long] &= ~raised[long]
    np.negative(value, out=value, where=read.negative)
    return value, sure


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
