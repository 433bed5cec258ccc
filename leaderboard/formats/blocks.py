"""Cuts a text into pieces of whole lines, and makes each as plain as the fast reader needs it.

A clean piece has lines ended by one newline and fields parted by one separator, no comment and no empty line. Most
files are clean as they come; the others (tabs and blanks mixed, several blanks, CRLF, comments) are made so here,
without losing track of line numbers.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats.limits import MIB, Limits
from leaderboard.formats.plain import CappedReader, refuse

__all__ = ["PIECE_BYTES", "Block", "Lines", "Piece", "cut", "tidy"]

PIECE_BYTES = 8 * MIB
WINDOW_BYTES = MIB // 4  # one scan's working set stays in the processor's cache

TAB, NEWLINE, BLANK = 9, 10, 32
BLANK_CONTROLS = 5  # tab, newline, vertical tab, form feed, carriage return: 9 to 13
BLANKS_TO_SPACE = bytes.maketrans(b"\t\v\f\r", b"    ")

Lines = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Piece:
    """Whole lines of a file as they come, the last one ended too; `first` is the 1-based number of the first."""

    text: bytes
    first: int
    lines: int


@dataclass(frozen=True, slots=True)
class Block:
    """A piece made plain: comments and empty lines are left out, each run of blanks is one separator.

    text       ends with a newline, or is empty
    separator  what parts the fields; None: some control character is left, the block must be read line by line
    separators how many of them there are
    first      1-based number of its first line in the file
    numbers    int64[rows], each row's line number; None: row i is line first + i
    """

    text: bytes
    separator: str | None
    separators: int
    first: int
    numbers: Lines | None


def cut(text: CappedReader, limits: Limits, name: str, size: int = PIECE_BYTES) -> Iterator[Piece]:
    """The text in pieces of up to `size` bytes. Raises FileRejected past the caps on lines or on one line."""
    size = max(size, limits.line_bytes + 1)  # so that a full window without a newline is a line too long
    buffer = bytearray(size)
    window = memoryview(buffer)
    held = 0
    first = 1
    while True:
        filled = _fill(text, window, held)
        at_end = filled < size
        end = filled if at_end else buffer.rfind(b"\n", 0, filled) + 1
        if filled - end > limits.line_bytes:
            raise refuse(name, f"longer than {limits.line_bytes:,} bytes, the most allowed", first)
        whole = bytes(window[:end])
        if at_end and whole and not whole.endswith(b"\n"):
            whole += b"\n"
        if whole:
            lines = _count_lines(whole)
            yield Piece(whole, first, lines)
            first += lines
            if first - 1 > limits.lines:
                raise refuse(name, f"more than {limits.lines:,} lines, the most allowed")
        if at_end:
            return
        held = filled - end
        buffer[:held] = buffer[end:filled]


def tidy(piece: Piece) -> Block:
    """The piece without comments, empty lines and blanks that say nothing."""
    text, first = piece.text, piece.first
    look = _look(text, piece.lines)
    if look.separator is None:
        text = _with_single_blanks(text)
        look = _look(text, piece.lines)
    if look.separator is None and (text.startswith(b" ") or b"\n " in text):
        text = text.replace(b"\n ", b"\n").removeprefix(b" ")
        look = _look(text, piece.lines)
    if look.separator is not None and not _has_comments(text):
        return Block(text, look.separator, look.separators, first, None)
    text, numbers = _without_empty_lines(text, first)
    look = _look(text, len(numbers)) if text else Look(" ", 0)
    return Block(text, look.separator, look.separators, first, numbers)


def _fill(text: CappedReader, window: memoryview, held: int) -> int:
    """Reads on behind the bytes that are held until the window is full or the text ends; bytes in the window."""
    while held < len(window) and (given := text.readinto(window[held:])):
        held += given
    return held


def _count_lines(text: bytes) -> int:
    codes = np.frombuffer(text, np.uint8)
    return sum(
        int(np.count_nonzero(codes[start : start + WINDOW_BYTES] == NEWLINE))
        for start in range(0, len(codes), WINDOW_BYTES)
    )


@dataclass(frozen=True, slots=True)
class Look:
    """What one pass over a text finds. `separator` is None unless single ones part all fields and no line is empty."""

    separator: str | None
    separators: int


def _look(text: bytes, lines: int) -> Look:
    codes = np.frombuffer(text, np.uint8)
    if codes[0] <= BLANK:
        return Look(None, 0)
    controls = lows = 0
    for start in range(0, len(codes), WINDOW_BYTES):
        low = codes[start : start + WINDOW_BYTES + 1] <= BLANK
        if (low[1:] & low[:-1]).any():
            return Look(None, 0)
        lows += int(np.count_nonzero(low[:WINDOW_BYTES]))
        controls += int(np.count_nonzero(codes[start : start + WINDOW_BYTES] < BLANK))
    separators = lows - lines
    if controls == lines:
        return Look(" ", separators)
    if controls == lows and separators == text.count(b"\t"):
        return Look("\t", separators)
    return Look(None, 0)


def _has_comments(text: bytes) -> bool:
    return b"#" in text and (text.startswith(b"#") or b"\n#" in text)


def _with_single_blanks(text: bytes) -> bytes:
    """Every blank as a space, runs of them as one, none at the end of a line, at most one at its start.

    A text with other control characters stays as it is. Blanks that go are set to NUL, and translating takes these
    out: much faster than picking what stays.
    """
    codes = np.frombuffer(text, np.uint8)
    if np.count_nonzero(codes < BLANK) != np.count_nonzero(codes - TAB < BLANK_CONTROLS):
        return text
    parts = []
    for start in range(0, len(codes), WINDOW_BYTES):
        window = codes[start : start + WINDOW_BYTES + 1]
        inner = window[:WINDOW_BYTES]
        visible = window > BLANK
        stays = visible[:WINDOW_BYTES] | (inner == NEWLINE)
        stays[: len(window) - 1] |= visible[1:]
        parts.append((inner * stays).tobytes().translate(BLANKS_TO_SPACE, b"\0"))
    return b"".join(parts)


def _without_empty_lines(text: bytes, first: int) -> tuple[bytes, Lines]:
    """Leaves comments and empty lines out; int64[rows], the line numbers of what is left."""
    lines = ((number, line, line.strip()) for number, line in enumerate(text.split(b"\n"), first))
    kept = [(number, line) for number, line, content in lines if content and not content.startswith(b"#")]
    joined = b"".join([line + b"\n" for _, line in kept])
    return joined, np.array([number for number, _ in kept], np.int64)
