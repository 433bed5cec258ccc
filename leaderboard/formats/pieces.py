"""Cuts a text into pieces of whole lines, and works on several pieces at once."""

import io
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats.ids import WORD, Codes
from leaderboard.formats.plain_text import MIB, CappedReader, Limits, refuse

__all__ = ["PIECE_BYTES", "Lines", "Piece", "cut", "side_by_side"]

PIECE_BYTES = MIB  # a piece and what is made of it stay in the processor's cache
NEWLINE = 10
MOST_AT_ONCE = 4  # each piece costs memory

Lines = NDArray[np.int64]

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Piece:
    """Some whole lines of a file; the last one ends with a newline too.

    room     uint8: the lines and WORD bytes of padding, which `ids.cut_out` needs
    size     bytes of the lines
    first    1-based number of the first line
    numbers  int64[lines], each line's number; None: line i is first + i
    """

    room: Codes
    size: int
    first: int
    numbers: Lines | None = None

    @classmethod
    def of(cls, text: bytes, first: int, numbers: Lines | None = None) -> "Piece":
        return cls(np.frombuffer(text + bytes(WORD), np.uint8), len(text), first, numbers)

    @property
    def codes(self) -> Codes:
        """The lines."""
        return self.room[: self.size]

    @property
    def text(self) -> bytes:
        """The lines, copied."""
        return self.codes.tobytes()

    def line(self, row: int) -> int:
        """The number of a line."""
        return self.first + row if self.numbers is None else int(self.numbers[row])

    def lines(self) -> Iterator[bytes]:
        """The lines, each with its end."""
        return io.BytesIO(self.text)

    def last_lines(self) -> Iterator[bytes]:
        """The lines from the last one on."""
        end = self.size
        while end:
            start = _last_line_end(self.codes[: end - 1])
            yield self.codes[start:end].tobytes()
            end = start

    def without_first(self) -> "Piece":
        """All lines but the first one."""
        numbers = None if self.numbers is None else self.numbers[1:]
        return Piece.of(self.text.partition(b"\n")[2], self.first + 1, numbers)

    def without_comments(self) -> "Piece":
        """The piece without comments and empty lines."""
        lines = ((self.line(row), line, line.strip()) for row, line in enumerate(self.lines()))
        kept = [(number, line) for number, line, content in lines if content and not content.startswith(b"#")]
        text = b"".join([line for _, line in kept])
        return Piece.of(text, self.first, np.array([number for number, _ in kept], np.int64))


def cut(text: CappedReader, limits: Limits, name: str, size: int = PIECE_BYTES) -> Iterator[Piece]:
    """The text in pieces of up to `size` bytes. Raises FileRejected past the caps on lines or on one line."""
    size = max(size, limits.line_bytes + 1)  # so that a full window without a newline is a line too long
    held = np.empty(0, np.uint8)
    first = 1
    while True:
        room = np.empty(size + 1 + WORD, np.uint8)
        room[: len(held)] = held
        filled = _fill(text, room.data[:size], len(held))
        at_end = filled < size
        if at_end and filled and room[filled - 1] != NEWLINE:
            room[filled] = NEWLINE
            filled += 1
        end = filled if at_end else _last_line_end(room[:filled])
        if filled - end > limits.line_bytes:
            raise refuse(name, f"longer than {limits.line_bytes:,} bytes, the most allowed", first)
        if end:
            yield Piece(room[: end + WORD], end, first)
            first += int(np.count_nonzero(room[:end] == NEWLINE))
            if first - 1 > limits.lines:
                raise refuse(name, f"more than {limits.lines:,} lines, the most allowed")
        if at_end:
            return
        held = room[end:filled]


def _fill(text: CappedReader, window: memoryview, held: int) -> int:
    """Reads on behind the bytes that are held until the window is full or the text ends; bytes in the window."""
    while held < len(window) and (given := text.readinto(window[held:])):
        held += given
    return held


def _last_line_end(codes: Codes) -> int:
    """The place behind the last newline; 0 without one. As a rule it is near: the search grows from the end."""
    for back in (1 << 8, 1 << 14, len(codes)):
        newlines = np.flatnonzero(codes[-back:] == NEWLINE)
        if len(newlines):
            return max(len(codes) - back, 0) + int(newlines[-1]) + 1
    return 0


def side_by_side(work: Callable[[Item], Result], items: Iterator[Item], at_once: int | None = None) -> Iterator[Result]:
    """work(item) for each item, in order; `at_once` of them at a time, by default one per processor up to MOST_AT_ONCE.

    It uses threads: numpy releases the interpreter lock while it works. Without items no thread is started.
    """
    first = next(items, None)
    if first is None:
        return
    at_once = at_once or min(os.cpu_count() or 1, MOST_AT_ONCE)
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(at_once) as pool:
        for item in chain([first], items):
            waiting.append(pool.submit(work, item))
            if len(waiting) > at_once:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
