"""Opens a file as plain text: decompresses gzip, refuses other kinds of files, and stops at a cap while reading.

Text that came with a file is made fit for messages, facts and pages here: short, on one line, every character seen.
Whatever is told of a file goes through `harmless`, so that no control character reaches the database or a page, whose
JSON and whose readers have no use for one, and no message is as long as a line of the file.
"""

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from gzip import BadGzipFile
from pathlib import Path
from typing import Any, Protocol, TypeVar

from isal import isal_zlib

from leaderboard.errors import FileRejected, Problem
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
# What isal finds wrong with blocks; with headers, lengths and sums; with a header longer than it takes in at once.
DAMAGED: tuple[Any, ...] = (isal_zlib.error, BadGzipFile, OverflowError)
LONGEST_START = max(map(len, FOREIGN_STARTS))
NO_CAP = 1 << 62

A = TypeVar("A")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps on one file, which bound what reading it costs. The largest public runs (7 million lines, 1,000 for each of
    7,000 queries) and 1,000 lines for each of 10,000 queries pass twice over.

    expanded_bytes  bytes of text, after decompression
    expanded_times  times its own size that a compressed file may expand to, once its text is longer than EXPANDED_FREE:
                    runs expand to 5 to 30 times theirs
    lines           lines of text, blank ones and comments too
    line_bytes      bytes of one line; in columns, lines up to a piece (1 MiB) are taken whatever it says
    id_bytes        bytes of a query's or a document's id
    all_id_bytes    bytes of all document ids, each as long as the longest near it: 50 for each of 20 million lines
    queries         different queries: more than any collection has
    members         files in an archive, one a query
    wrong           mistakes after which reading ends: enough to tell a slip from a file of another kind
    problems        lines that are named of one kind of mistake
    examples        lines that are listed of one kind, each with its values; where more lines have it they are summed up
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
    problems: int = 50
    examples: int = 5


class ByteSource(Protocol):
    """Anything that bytes can be read from."""

    def read(self, size: int, /) -> bytes: ...


def rejection(name: str, message: str, line: int | None = None) -> FileRejected:
    """A rejection for one reason."""
    return FileRejected([Problem(line, harmless(message, LONGEST_MESSAGE))], name=name)


def source_name(source: Path | ByteSource, name: str | None) -> str:
    """What messages call a file: `name`, else the name that it has on disk."""
    return name or (source.name if isinstance(source, Path) else "file")


def too_many_times(times: int) -> str:
    """What is wrong with a compressed file that expands to so many times its size and more."""
    return f"expands to more than {times} times its size, the most allowed beyond {size(EXPANDED_FREE)}"


class CappedReader(io.RawIOBase):
    """Reads `source` and refuses to give more than `cap` bytes, in the words of `refusal`.

    What a decompressor finds wrong is raised as FileRejected.
    """

    def __init__(self, source: ByteSource, cap: int, name: str, refusal: str = "") -> None:
        super().__init__()
        self._source = source
        self._cap = cap
        self._refusal = refusal or f"holds more than {size(cap)} of text, the most allowed"
        self._name = name
        self._start = b""  # peeked at, not yet given
        self._given = 0

    def readable(self) -> bool:
        return True

    @property
    def given(self) -> int:
        """How many bytes it has given so far."""
        return self._given

    @property
    def inflates(self) -> bool:
        """Whether reading decompresses, which takes time, but not the interpreter's lock."""
        return isinstance(self._source, _Gunzip)

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
        self._given += size
        if self._given > self._cap:
            raise rejection(self._name, self._refusal)
        return size

    def _guard(self, read: Callable[[A], T], argument: A) -> T:
        try:
            return read(argument)
        except EOFError:
            raise rejection(
                self._name,
                "ends in the middle of its gzip data, or has something else behind it; compress it and send it again",
            ) from None
        except DAMAGED:
            raise rejection(self._name, "is damaged gzip data; compress it again") from None


class _Packed(io.RawIOBase):
    """Gzip data as isal takes them in. Refuses to go on where they give hardly any text.

    text  how many bytes of it they gave so far
    """

    def __init__(self, packed: CappedReader, name: str) -> None:
        super().__init__()
        self.text = 0
        self._packed = packed
        self._name = name

    def readinto(self, buffer: Any) -> int:
        if self._packed.given > HOLLOW_FREE + HOLLOW_TIMES * self.text:
            raise rejection(self._name, "is gzip data that holds hardly any text; compress it again")
        return self._packed.readinto(buffer)


class _Gunzip:
    """Reads gzipped text, in any number of members as `cat a.gz b.gz`, bgzip and pigz write them.

    Refuses to go on where the text is far more than was received, or far less.
    """

    def __init__(self, packed: CappedReader, limits: Limits, name: str) -> None:
        self._packed = packed
        self._times = limits.expanded_times
        self._name = name
        self._given = _Packed(packed, name)
        # The one reader of isal's that writes into the memory of whoever asks.
        self._reader = isal_zlib._GzipReader(self._given)  # type: ignore[arg-type]  # it calls `readinto`

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes, at least 1 of them; b"" at the end. Raises EOFError, DAMAGED, FileRejected."""
        text = bytearray(size)
        return bytes(text[: self.readinto(text)])

    def readinto(self, buffer: Any) -> int:
        """Fills the start of `buffer`; how many bytes, 0 at the end. Raises as `read` does."""
        size = self._reader.readinto(memoryview(buffer)[:TEXT_AT_ONCE])
        self._given.text += size
        if self._given.text > EXPANDED_FREE + self._times * self._packed.given:
            raise rejection(self._name, too_many_times(self._times))
        return size


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
    if reader.peek(len(GZIP_MAGIC)) == GZIP_MAGIC:
        yield _text(_Gunzip(reader, limits, name), limits, name)
    else:
        yield _text(reader, limits, name)


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


def _text(stream: ByteSource, limits: Limits, name: str) -> CappedReader:
    text = CappedReader(stream, limits.expanded_bytes, name)
    foreign = foreign_start(text.peek(LONGEST_START))
    if foreign:
        raise rejection(name, foreign)
    if text.peek(len(BYTE_ORDER_MARK)) == BYTE_ORDER_MARK:
        text.read(len(BYTE_ORDER_MARK))
    return text
