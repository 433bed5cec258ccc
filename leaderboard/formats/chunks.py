"""Cuts a text into pieces of whole lines or into single lines, and works on several pieces at once."""

import io
import os
from array import array
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple, TypeVar

import numpy as np

from leaderboard.errors import FileRejected
from leaderboard.formats.ids import PADDING, Codes
from leaderboard.formats.plain_text import MIB, CappedReader, rejection
from leaderboard.formats.problems import Problems, Wrong
from leaderboard.formats.tables import not_utf8

PIECE_BYTES = MIB  # a piece and what is made of it stay in the processor's cache
BATCH_BYTES = MIB // 4  # few enough records that Python need not search them for garbage
COMMENT, NEWLINE = b"#\n"
IS_BLANK = np.isin(np.arange(256), [*b"\t\n\v\f\r "])  # by character code: what bytes.strip() takes away
MOST_AT_ONCE = 4  # each piece costs memory

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Piece:
    """Some whole lines of a file; the last one ends with a newline too.

    room     the lines and PADDING bytes behind them, which `ids.cut_out` needs
    size     bytes of the lines
    numbers  of each line, 1 is the first of the file
    """

    room: bytearray
    size: int
    numbers: Sequence[int]

    @classmethod
    def of(cls, text: bytes, numbers: Sequence[int]) -> "Piece":
        return cls(bytearray(text + bytes(PADDING)), len(text), numbers)

    @property
    def padded(self) -> Codes:
        """uint8: the lines and what stands behind them."""
        return np.frombuffer(self.room, np.uint8)

    @property
    def codes(self) -> Codes:
        """uint8: the lines."""
        return self.padded[: self.size]

    @property
    def text(self) -> bytes:
        """The lines, copied."""
        return bytes(memoryview(self.room)[: self.size])

    def lines(self) -> Iterator[bytes]:
        """The lines, each with its end."""
        return io.BytesIO(self.text)

    def first_line(self) -> bytes:
        """The first line; b"" where there is none."""
        return bytes(self.room[: max(self.room.find(b"\n", 0, self.size), 0)])

    def last_line(self) -> bytes:
        """The last line with its end; b"" where there is none."""
        return bytes(self.room[self.room.rfind(b"\n", 0, max(self.size - 1, 0)) + 1 : self.size])

    def without_first(self) -> "Piece":
        """All lines but the first one."""
        return Piece.of(self.text.partition(b"\n")[2], self.numbers[1:])

    def without_comments(self) -> "Piece":
        """The piece without comments and empty lines."""
        codes = self.codes
        newline = np.flatnonzero(codes == NEWLINE)
        content = np.flatnonzero(~IS_BLANK.take(codes))
        upto = np.searchsorted(content, newline)  # how much content comes before the end of each line
        first = np.concatenate((np.zeros(min(len(upto), 1), np.int64), upto[:-1]))
        rows = upto > first
        rows[rows] = codes[content[first[rows]]] != COMMENT
        if rows.all():
            return self
        numbers = array("q", np.asarray(self.numbers, np.int64)[rows].tobytes())
        return Piece.of(codes[np.repeat(rows, np.diff(newline, prepend=-1))].tobytes(), numbers)


class Batch(NamedTuple):
    """Some whole lines of a file as text, each with its newline, and their numbers; 1 is the first of the file.

    unread  what is wrong with lines that are no UTF-8, which are empty in the text
    """

    numbers: range
    text: str
    unread: Sequence[tuple[int, Wrong]] = ()

    def lines(self) -> Iterator[str]:
        return io.StringIO(self.text, newline="\n")

    def numbered(self) -> Iterator[tuple[int, str]]:
        return zip(self.numbers, self.lines(), strict=True)


def cut(text: CappedReader, problems: Problems, size: int = PIECE_BYTES) -> Iterator[Piece]:
    """The text in pieces of up to `size` bytes. Raises FileRejected past the limits on lines or on one line."""
    limits = problems.limits
    size = max(size, limits.line_bytes + 1)  # so that a full window without a newline is a line too long
    held = bytearray()
    first, filled = 1, size
    while filled == size:
        room = bytearray(size + 1 + PADDING)
        room[: len(held)] = held
        filled = _fill(text, memoryview(room)[:size], len(held))
        end = room.rfind(b"\n", 0, filled) + 1
        if filled < size and end < filled:
            room[filled] = NEWLINE
            end = filled + 1
        if filled - end > limits.line_bytes:
            raise _line_too_long(problems, first)
        if end:
            numbers = range(first, first + int(np.count_nonzero(np.frombuffer(room, np.uint8, end) == NEWLINE)))
            yield Piece(room, end, numbers)
            first = numbers.stop
            if first - 1 > limits.lines:
                raise _too_many_lines(problems)
        held = room[end:filled]


def batches(text: CappedReader, problems: Problems, size: int = BATCH_BYTES) -> Iterator[Batch]:
    """The text in batches of about `size` bytes. Raises FileRejected as `cut` does."""
    most = problems.limits.line_bytes
    reader = io.BufferedReader(text, PIECE_BYTES)
    held = b""
    first = 1
    while (piece := reader.read(size)) or held:
        held += piece if piece or held.endswith(b"\n") else b"\n"
        if len(held) > most:
            for number, line in enumerate(io.BytesIO(held), first):
                if len(line) > most:
                    raise _line_too_long(problems, number)
        end = held.rfind(b"\n") + 1
        numbers = range(first, first + held.count(b"\n"))
        if numbers.stop - 1 > problems.limits.lines:
            raise _too_many_lines(problems)
        if numbers:
            yield _decoded(held[:end], numbers)
        first, held = numbers.stop, held[end:]


def _decoded(whole: bytes, numbers: range) -> Batch:
    try:
        return Batch(numbers, whole.decode())
    except UnicodeDecodeError:
        pass
    lines, unread = [], []
    for number, line in zip(numbers, io.BytesIO(whole), strict=True):
        try:
            lines.append(line.decode())
        except UnicodeDecodeError as error:
            unread.append((number, not_utf8(error)))
            lines.append("\n")
    return Batch(numbers, "".join(lines), unread)


def numbered_lines(text: CappedReader, problems: Problems) -> Iterator[tuple[int, str]]:
    """Each line of all `batches` with its number. One that is no UTF-8 text is a problem, and empty."""
    for batch in batches(text, problems):
        for line, wrong in batch.unread:
            problems.add_unread(line, wrong)
        yield from batch.numbered()


def _line_too_long(problems: Problems, line: int) -> FileRejected:
    return rejection(problems.name, f"longer than {problems.limits.line_bytes:,} bytes, the most allowed", line)


def _too_many_lines(problems: Problems) -> FileRejected:
    return rejection(problems.name, f"more than {problems.limits.lines:,} lines, the most allowed")


def _fill(text: CappedReader, window: memoryview, held: int) -> int:
    """Reads on behind the bytes that are held until the window is full or the text ends; bytes in the window."""
    while held < len(window) and (size := text.readinto(window[held:])):
        held += size
    return held


def side_by_side(work: Callable[[Item], Result], items: Iterator[Item], at_once: int | None = None) -> Iterator[Result]:
    """work(item) for each item, in order; `at_once` of them at a time, MOST_AT_ONCE at most unless it is given.

    It uses threads: numpy releases the interpreter lock while it works. By default one processor is left to whoever
    makes the items: one thread more would mostly wait for the lock. For less than two items no thread is started.
    """
    first = list(islice(items, 2))
    if len(first) < 2:
        yield from map(work, first)
        return
    at_once = at_once or min(max((os.cpu_count() or 1) - 1, 1), MOST_AT_ONCE)
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(at_once) as pool:
        for item in chain(first, items):
            waiting.append(pool.submit(work, item))
            if len(waiting) > at_once:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
