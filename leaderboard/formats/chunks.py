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
from numpy.typing import NDArray

from leaderboard.errors import FileRejected
from leaderboard.formats.ids import PADDING, Codes, Places
from leaderboard.formats.plain_text import MIB, CappedReader, rejection
from leaderboard.formats.problems import Problems, Wrong
from leaderboard.formats.tables import not_utf8

PIECE_BYTES = MIB  # a piece and what is made of it stay in the processor's cache
BATCH_BYTES = MIB // 4  # few enough records that Python need not search them for garbage
COMMENT, NEWLINE = b"#\n"
IS_BLANK = np.isin(np.arange(256), [*b"\t\n\v\f\r "])  # by character code: what bytes.strip() takes away
MOST_AT_ONCE = 4  # each piece costs memory
WINDOWS = 1 << 8, 1 << 14  # bytes in which the first or the last line is looked for before the whole piece is searched

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Piece:
    """Some whole lines of a file; the last one ends with a newline too.

    room     uint8: the lines and PADDING bytes behind them, which `ids.cut_out` needs
    size     bytes of the lines
    numbers  of each line, 1 is the first of the file
    """

    room: Codes
    size: int
    numbers: Sequence[int]

    @classmethod
    def of(cls, text: bytes, numbers: Sequence[int]) -> "Piece":
        return cls(np.frombuffer(text + bytes(PADDING), np.uint8), len(text), numbers)

    @property
    def codes(self) -> Codes:
        """The lines."""
        return self.room[: self.size]

    @property
    def text(self) -> bytes:
        """The lines, copied."""
        return self.codes.tobytes()

    def lines(self) -> Iterator[bytes]:
        """The lines, each with its end."""
        return io.BytesIO(self.text)

    def first_line(self) -> bytes:
        """The first line; b"" where there is none. As a rule it is short: what is copied grows from the start."""
        for most in WINDOWS:
            line, newline, _ = self.codes[:most].tobytes().partition(b"\n")
            if newline:
                return line
        return self.text.partition(b"\n")[0]

    def last_line(self) -> bytes:
        """The last line; b"" where there is none."""
        return self.codes[_last_line_end(self.codes[:-1]) :].tobytes()

    def without_first(self) -> "Piece":
        """All lines but the first one."""
        return Piece.of(self.text.partition(b"\n")[2], self.numbers[1:])

    def newlines(self) -> Places:
        """int64[lines]: where each line ends."""
        return np.flatnonzero(self.codes == NEWLINE)

    def without_comments(self) -> "Piece":
        """The piece without comments and empty lines."""
        codes, newline = self.codes, self.newlines()
        content = np.flatnonzero(~IS_BLANK.take(codes))
        upto = np.searchsorted(content, newline)  # how much content comes before the end of each line
        first = np.concatenate((np.zeros(min(len(upto), 1), np.int64), upto[:-1]))
        rows = upto > first
        rows[rows] = codes[content[first[rows]]] != COMMENT
        return self.only(rows, newline)

    def only(self, mask: NDArray[np.bool_], newline: Places) -> "Piece":
        """Some of the lines. kept: bool[lines]; newline: what `newlines` gives."""
        if mask.all():
            return self
        chosen = np.repeat(mask, np.diff(newline, prepend=-1))
        size = int(np.count_nonzero(chosen))
        room = np.zeros(size + PADDING, np.uint8)
        room[:size] = self.codes[chosen]
        numbers = array("q", np.asarray(self.numbers, np.int64)[mask].tobytes())
        return Piece(room, size, numbers)


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
    held = np.empty(0, np.uint8)
    first = 1
    while True:
        room = np.empty(size + 1 + PADDING, np.uint8)
        room[: len(held)] = held
        filled = _fill(text, room.data[:size], len(held))
        at_end = filled < size
        if at_end and filled and room[filled - 1] != NEWLINE:
            room[filled] = NEWLINE
            filled += 1
        end = filled if at_end else _last_line_end(room[:filled])
        if filled - end > limits.line_bytes:
            raise _line_too_long(problems, first)
        if end:
            numbers = range(first, first + int(np.count_nonzero(room[:end] == NEWLINE)))
            yield Piece(room[: end + PADDING], end, numbers)
            first = numbers.stop
            if first - 1 > limits.lines:
                raise _too_many_lines(problems)
        if at_end:
            return
        held = room[end:filled]


def batches(text: CappedReader, problems: Problems, size: int = BATCH_BYTES) -> Iterator[Batch]:
    """The text in batches of about `size` bytes. Raises FileRejected as `cut` does."""
    limits = problems.limits
    reader = io.BufferedReader(text, PIECE_BYTES)
    held = b""
    first = 1
    while (piece := reader.read(size)) or held:
        held += piece
        end = held.rfind(b"\n") + 1
        if not piece and end < len(held):
            held += b"\n"
            end = len(held)
        whole, held = held[:end], held[end:]
        numbers = range(first, first + whole.count(b"\n"))
        if len(whole) > limits.line_bytes:
            for number, line in zip(numbers, io.BytesIO(whole), strict=True):
                if len(line) > limits.line_bytes:
                    raise _line_too_long(problems, number)
        if len(held) > limits.line_bytes:
            raise _line_too_long(problems, numbers.stop)
        if numbers.stop - 1 > limits.lines:
            raise _too_many_lines(problems)
        if numbers:
            yield _decoded(whole, numbers)
        first = numbers.stop


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


def _last_line_end(codes: Codes) -> int:
    """The place behind the last newline; 0 without one. As a rule it is near: the search grows from the end."""
    for back in (*WINDOWS, len(codes)):
        newlines = np.flatnonzero(codes[-back:] == NEWLINE)
        if len(newlines):
            return max(len(codes) - back, 0) + int(newlines[-1]) + 1
    return 0


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
