"""Opens a file as plain text: decompresses gzip, refuses other kinds of files, and stops at a cap while reading. Cuts
it into pieces of whole lines, and works on several pieces at once.

Text that came with a file is made fit for messages, facts and pages here: short, on one line, every character seen.
Whatever is told of a file goes through `harmless`, so that no control character reaches the database or a page, whose
JSON and whose readers have no use for one, and no message is as long as a line of the file.
"""

import io
import os
import re
import tarfile
import zipfile
import zlib
from array import array
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from gzip import BadGzipFile
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from isal import isal_zlib

from leaderboard.errors import FileRejected, Problem
from leaderboard.formats.ids import PADDING, Codes
from leaderboard.frozen import frozen
from leaderboard.numbers import size

SHOWN_CHARACTERS = 60  # of a value, within a message
LONGEST_TAG = 80  # characters
LONGEST_MESSAGE = 400
# What turns the order of writing around, also of what stands behind the text on a page.
TURNING = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
IN_ITS_PLACE = "\N{REPLACEMENT CHARACTER}"


def harmless(text: str, most: int) -> str:
    """The first `most` characters, with "…" where there are more; those that can't be seen are replaced.

    >>> harmless("a\\0b" + "c" * 9, 5)
    'a�bcc…'
    """
    cut = text[:most]
    if not cut.isprintable():
        cut = "".join(character if character.isprintable() else IN_ITS_PLACE for character in cut)
    return cut if len(text) <= most else f"{cut}…"


def shown(text: str) -> str:
    """A value of the file as a message shows it."""
    return harmless(text, SHOWN_CHARACTERS)


MIB = 1024 * 1024

GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
FOREIGN_STARTS = {
    GZIP_MAGIC: "is compressed twice; compress it once",
    b"PK\x03\x04": "is a zip archive or an office document; give plain text or gzip",
    b"\xd0\xcf\x11\xe0": "is an office document; give plain text or gzip",
    b"%PDF": "is a PDF document; give plain text or gzip",
    b"7z\xbc\xaf": "is a 7z archive; give plain text or gzip",
    b"Rar!": "is a RAR archive; give plain text or gzip",
    b"BZh": "is compressed with bzip2; give plain text or gzip",
    b"\xfd7zXZ\x00": "is compressed with xz; give plain text or gzip",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd; give plain text or gzip",
    b"\xff\xfe": "is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "is UTF-16 text; save it as UTF-8",
    b"PAR1": "is a Parquet file; give plain text or gzip",
}
EXPANDED_FREE = 16 * MIB
# Bytes of gzip data beyond which it may not be longer than so many times its text: blocks that hold nothing cost the
# decompressor a third of a second a megabyte.
HOLLOW_FREE, HOLLOW_TIMES = MIB, 4
TEXT_AT_ONCE = MIB // 4  # after which text is counted: so much of it may take as much gzip data, within HOLLOW_FREE
# What isal, tarfile and zipfile find wrong with blocks, headers, lengths and sums.
DAMAGED: tuple[Any, ...] = (
    isal_zlib.error, zlib.error, tarfile.TarError, zipfile.BadZipFile,
    BadGzipFile, ValueError, LookupError, ArithmeticError, RuntimeError,
)  # fmt: skip
LONGEST_START = max(map(len, FOREIGN_STARTS))
NO_CAP = 1 << 62

A = TypeVar("A")
T = TypeVar("T")


@frozen
class Limits:
    """Caps on one file, which bound what reading it costs. The largest public runs (7 million lines, 1,000 for each of
    7,000 queries) and 1,000 lines for each of 10,000 queries pass twice over.

    expanded_bytes  bytes of text, after decompression
    expanded_times  times its own size that a compressed file may expand to, once its text is longer than EXPANDED_FREE:
                    runs expand to 5 to 30 times theirs
    lines           lines of text, blank ones and comments too
    line_bytes      bytes of one line
    id_bytes        bytes of a query's or a document's id
    all_id_bytes    bytes of all document ids, each as long as the longest near it: 50 for each of 20 million lines
    queries         different queries: more than any collection has
    members         files in an archive, one a query
    wrong           mistakes after which reading ends: enough to tell a slip from a file of another kind
    problems        lines that are listed of one kind of mistake; where more lines have it they are summed up as well
    """

    expanded_bytes: int = 4096 * MIB
    expanded_times: int = 200
    lines: int = 20_000_000
    line_bytes: int = MIB
    id_bytes: int = 255
    all_id_bytes: int = 1024 * MIB
    queries: int = 1_000_000
    members: int = 20_000
    wrong: int = 10_000
    problems: int = 10


class ByteSource(Protocol):
    """Anything that bytes can be read from."""

    def read(self, size: int, /) -> bytes: ...


def rejection(name: str, message: str, line: int | None = None) -> FileRejected:
    """A rejection for one reason."""
    return FileRejected([Problem(line, harmless(message, LONGEST_MESSAGE))], name=name)


def source_name(source: Path | ByteSource, name: str | None) -> str:
    """What messages call a file: `name`, else the name that it has on disk."""
    return name or (source.name if isinstance(source, Path) else "file")


class CappedReader(io.RawIOBase):
    """Reads `source` and refuses to give more than `cap` bytes, in the words of `refusal`.

    What a decompressor finds wrong is raised as FileRejected.
    """

    def __init__(self, source: ByteSource, cap: int, name: str, refusal: str = "") -> None:
        self.name = name
        self.passed = 0  # bytes that it has given
        self.inflates = isinstance(source, _Gunzip)  # which takes time, but not the interpreter's lock
        self._source = source
        self._cap = cap
        self._refusal = refusal or f"holds more than {size(cap)} of text, the most allowed"
        self._start = b""  # peeked at, not yet given

    def readable(self) -> bool:
        return True

    def peek(self, size: int) -> bytes:
        """The next `size` bytes, fewer only at the end; they stay to be read."""
        while len(self._start) < size and (piece := self._guard(self._source.read, size - len(self._start))):
            self._start += piece
        return self._start[:size]

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes, all that is left when negative; b"" at the end. Raises FileRejected past the cap."""
        return super().read(size) or b""

    def readinto(self, buffer: Any) -> int:
        """Fills the start of `buffer`; how many bytes, 0 at the end. Raises FileRejected past the cap."""
        read_into = getattr(self._source, "readinto", None)
        if read_into is not None and not self._start:
            size: int = self._guard(read_into, buffer)
        else:
            piece = self._start[: len(buffer)] or self._guard(self._source.read, len(buffer))
            self._start = self._start[len(piece) :]
            size = len(piece)
            buffer[:size] = piece
        self.passed += size
        if self.passed > self._cap:
            raise rejection(self.name, self._refusal)
        return size

    def _guard(self, read: Callable[[A], T], argument: A) -> T:
        try:
            return read(argument)
        except EOFError:
            cut_off = "ends in the middle of its gzip data, or has something else behind it"
            raise rejection(self.name, f"{cut_off}; compress it and send it again") from None
        except DAMAGED:
            raise rejection(self.name, "is damaged; compress it again") from None


class _Packed(io.RawIOBase):
    """Gzip data as isal takes them in. Refuses to go on where they give hardly any text.

    text  how many bytes of it they gave so far
    """

    def __init__(self, packed: CappedReader) -> None:
        self.text = 0
        self._packed = packed

    def readinto(self, buffer: Any) -> int:
        if self._packed.passed > HOLLOW_FREE + HOLLOW_TIMES * self.text:
            raise rejection(self._packed.name, "is gzip data that holds hardly any text; compress it again")
        return self._packed.readinto(buffer)


class _Gunzip(io.RawIOBase):
    """Reads gzipped text, in any number of members as `cat a.gz b.gz`, bgzip and pigz write them.

    Refuses to go on where the text is far more than was received, or far less.
    """

    def __init__(self, packed: CappedReader, times: int) -> None:
        self._packed = packed
        self._times = times
        self._counted = _Packed(packed)
        # The one reader of isal's that writes into the memory of whoever asks.
        self._reader = isal_zlib._GzipReader(self._counted)  # type: ignore[arg-type]  # it calls `readinto`

    def readinto(self, buffer: Any) -> int:
        """Fills the start of `buffer`; how many bytes, 0 at the end. Raises EOFError, DAMAGED, FileRejected."""
        read = self._reader.readinto(memoryview(buffer)[:TEXT_AT_ONCE])
        self._counted.text += read
        if self._counted.text > EXPANDED_FREE + self._times * self._packed.passed:
            most = f"{self._times} times its size, the most allowed beyond {size(EXPANDED_FREE)}"
            raise rejection(self._packed.name, f"expands to more than {most}")
        return read


@contextmanager
def open_plain(
    source: Path | ByteSource, limits: Limits | None = None, name: str | None = None
) -> Iterator[CappedReader]:
    """The text of a plain or gzipped file as bytes, without a byte order mark.

    Raises FileRejected for another compression, UTF-16, damaged gzip data, or, while it is being read, when the
    text grows past `limits.expanded_bytes`.

    >>> import gzip
    >>> with open_plain(io.BytesIO(gzip.compress(b"q1 0 d7 1"))) as text:
    ...     text.read()
    b'q1 0 d7 1'
    """
    limits = limits or Limits()
    name = source_name(source, name)
    if isinstance(source, Path):
        with source.open("rb", buffering=0) as stream, open_plain(stream, limits, name) as text:
            yield text
        return
    reader = CappedReader(source, NO_CAP, name)
    is_packed = reader.peek(len(GZIP_MAGIC)) == GZIP_MAGIC
    content: ByteSource = _Gunzip(reader, limits.expanded_times) if is_packed else reader
    text = CappedReader(content, limits.expanded_bytes, name)
    if foreign := foreign_start(text.peek(LONGEST_START)):
        raise rejection(name, foreign)
    if text.peek(len(BYTE_ORDER_MARK)) == BYTE_ORDER_MARK:
        text.read(len(BYTE_ORDER_MARK))
    yield text


def beginning(source: Path | ByteSource, most: int, name: str | None = None) -> tuple[bytes, bool]:
    r"""The first `most` bytes of a file's text, up to the end of a line, and whether that is all of it.

    Raises FileRejected as `open_plain` does.

    >>> beginning(io.BytesIO(b"first line\nsecond line\n"), 15)
    (b'first line\n', False)
    """
    with open_plain(source, Limits(expanded_bytes=NO_CAP), name) as text:
        read = text.peek(most + 1)
    return (read, True) if len(read) <= most else (whole_lines(read[:most]), False)


def whole_lines(read: bytes) -> bytes:
    r"""What was read of a text up to the end of its last whole line; all of it where no line has ended.

    >>> whole_lines(b"first line\nsecond")
    b'first line\n'
    """
    return read[: read.rfind(b"\n") + 1] or read


def foreign_start(start: bytes) -> str:
    """What is wrong with a file that starts so: another compression, another encoding; "" when nothing is."""
    return next((message for magic, message in FOREIGN_STARTS.items() if start.startswith(magic)), "")


PIECE_BYTES = MIB  # a piece and what is made of it stay in the processor's cache
COMMENT, NEWLINE = b"#\n"
IS_BLANK = np.isin(np.arange(256), [*b"\t\n\v\f\r "])  # by character code: what bytes.strip() takes away


@frozen
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

    def without_comments(self) -> "Piece":
        """The piece without comments and empty lines."""
        if not self.text.strip():  # a line for each byte, perhaps: what follows takes its time by line
            return Piece.of(b"", ())
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


def cut(text: CappedReader, limits: Limits, size: int = PIECE_BYTES) -> Iterator[Piece]:
    """The text in pieces of about `size` bytes, more where a line is longer. Raises FileRejected past the limits on
    lines or on one line.
    """
    size = min(size, limits.line_bytes)  # so that only the first line of what is read at once can be too long
    rest = bytearray()
    first, goes_on = 1, True
    while goes_on:
        filled, full = len(rest), len(rest) + size
        room = bytearray(full + 1 + PADDING)
        room[:filled] = rest
        while filled < full and (more := text.readinto(memoryview(room)[filled:full])):
            filled += more
        goes_on = filled == full
        end = room.rfind(b"\n", 0, filled) + 1
        if (room.find(b"\n", 0, end) if end else filled) > limits.line_bytes:
            raise rejection(text.name, f"longer than {limits.line_bytes:,} bytes, the most allowed", first)
        if not goes_on and end < filled:
            room[filled] = NEWLINE
            end = filled = filled + 1
        numbers = range(first, first + int(np.count_nonzero(np.frombuffer(room, np.uint8, end) == NEWLINE)))
        if end:
            yield Piece(room, end, numbers)
        first = numbers.stop
        if first - 1 > limits.lines:
            raise rejection(text.name, f"more than {limits.lines:,} lines, the most allowed")
        rest = room[end:filled]


MOST_AT_ONCE = min(max((os.cpu_count() or 1) - 1, 1), 4)  # one processor is left to whoever makes the items


def side_by_side(work: Callable[[A], T], items: Iterator[A], at_once: int = MOST_AT_ONCE) -> Iterator[T]:
    """work(item) for each item, in order; `at_once` of them at a time: each piece costs memory.

    It uses threads: numpy releases the interpreter lock while it works. One thread more would mostly wait for the lock.
    """
    waiting: deque[Future[T]] = deque()
    with ThreadPoolExecutor(at_once) as pool:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > at_once:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
