"""Tar archives, whose headers must be sound and whose entries must be plain files within the archive."""

import re
import tarfile
from collections.abc import Iterator
from pathlib import PurePosixPath

from leaderboard.formats.harmless import shown
from leaderboard.formats.plain_text import MIB, Limits, rejection
from leaderboard.numbers import is_number

__all__ = ["ARCHIVE_START", "SoundEntry", "entries", "first_files", "is_archive", "read_end", "refuse_bad"]

TAR_MAGIC, TAR_MAGIC_AT = b"ustar", 257
ARCHIVE_START = TAR_MAGIC_AT + len(TAR_MAGIC)  # bytes that tell an archive
LONGEST_HEADER = 1 << 16  # bytes of one entry's extended header
MOST_GLOBAL = 16  # records of global headers; tarfile copies them for every later entry. `git archive` writes one
WHOLE_NUMBERS = frozenset({"size", "uid", "gid", "GNU.sparse.size", "GNU.sparse.realsize"})  # in an extended header
TIMES = frozenset({"atime", "ctime", "mtime"})
DIGITS = re.compile(r"[0-9]{1,18}")
SIZE_AT = slice(124, 136)  # of a header: octal digits between blanks, up to a NUL, or a number of base 256
SIZE = re.compile(rb" *[0-7]* *(\0.*)?|[\x80\xff].*", re.DOTALL)


def is_archive(start: bytes) -> bool:
    """Whether a file that starts so is a tar archive; one without files starts with its end, all NULs.

    Its first header has the magic and, unlike any text, NULs before it.
    """
    before = start[:TAR_MAGIC_AT]
    empty = len(start) >= ARCHIVE_START and not any(start[:ARCHIVE_START])
    return empty or (b"\0" in before and start[TAR_MAGIC_AT:].startswith(TAR_MAGIC))


def first_files(text: bytes, most: int) -> tuple[bytes, bool]:
    """An archive of the first `most` files that are whole in the beginning of one, and whether it has no others.

    Nothing is changed of what is no archive, and of one whose headers can't be read: who reads it says why.

    >>> first_files(b"q1 Q0 d1 1 0.5 tag", 1)
    (b'q1 Q0 d1 1 0.5 tag', True)
    """
    if not is_archive(text[:ARCHIVE_START]):
        return text, True
    at = end = files = 0
    while at + tarfile.BLOCKSIZE <= len(text) and any(text[at : at + tarfile.BLOCKSIZE]):
        try:
            entry = tarfile.TarInfo.frombuf(text[at : at + tarfile.BLOCKSIZE], "utf-8", "replace")
        except tarfile.HeaderError:
            return text, True
        at += tarfile.BLOCKSIZE * (1 + -(-max(entry.size, 0) // tarfile.BLOCKSIZE))
        if at > len(text) or files == most:
            return text[:end] + bytes(2 * tarfile.BLOCKSIZE), False
        if entry.isfile() or entry.isdir():  # else what belongs to the next one
            end, files = at, files + entry.isfile()
    return text, True


class SoundEntry(tarfile.TarInfo):
    """An entry whose header must be sound: tarfile takes a bad one for the end of the archive, or stumbles over it.

    Its extended header must be small: tarfile reads it whole. Its numbers must be digits: tarfile reads them with int()
    and float(), which take 1_9 for 19.
    """

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> "SoundEntry":
        if len(archive.pax_headers) > MOST_GLOBAL:  # those of the headers before this entry
            raise tarfile.ReadError(f"more than {MOST_GLOBAL} records in global headers")
        try:
            entry = super().fromtarfile(archive)
        except (ValueError, LookupError, ArithmeticError) as error:  # of a number or a map in an extended header
            raise tarfile.ReadError("a header can't be read") from error
        except RecursionError:  # each one is read within the one before it
            raise tarfile.ReadError("hundreds of headers that belong to one entry") from None
        for name, value in entry.pax_headers.items():
            if not (DIGITS.fullmatch(value) if name in WHOLE_NUMBERS else name not in TIMES or is_number(value)):
                raise tarfile.ReadError(f"a header's {name} is no number")
        return entry

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "SoundEntry":
        try:
            entry = super().frombuf(buf, encoding, errors)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]  # there since Python 3.2, but not in the stubs
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(str(error) if buf else "its end is missing") from None
        if not entry.isfile() and entry.size > LONGEST_HEADER:
            raise tarfile.ReadError("an entry's header is too long")
        if not SIZE.fullmatch(buf[SIZE_AT]):
            raise tarfile.ReadError("a header's size is no number")
        return entry


def entries(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """The entries one after the other; none is kept."""
    while (entry := archive.next()) is not None:
        yield entry
        archive.members.clear()  # type: ignore[attr-defined]  # not in the stubs; it grows with every entry


def refuse_bad(entry: tarfile.TarInfo, place: int, limits: Limits, name: str) -> None:
    """Raises FileRejected (under `name`) for what no honest archive holds, and for more entries than are allowed."""
    path = PurePosixPath(entry.name)
    if entry.size < 0:
        raise rejection(name, f"is a damaged archive ({shown(entry.name)} has a size below 0); make it again")
    if place >= limits.members:
        raise rejection(name, f"holds more than {limits.members:,} files, the most allowed")
    if path.is_absolute() or ".." in path.parts:
        raise rejection(name, f"holds {shown(entry.name)}, a path that leads out of the archive")
    if not (entry.isfile() or entry.isdir()) or entry.issparse():
        raise rejection(name, f"holds {shown(entry.name)}, a link or another thing that is no plain file")
    if path.name.startswith("._"):
        raise rejection(name, f"holds {shown(entry.name)}, an extra of macOS; set COPYFILE_DISABLE=1 and make it again")


def read_end(archive: tarfile.TarFile) -> None:
    """Reads on to the end of the file, where damage and loss show: the first block of NULs was read, one must follow.

    Raises tarfile.ReadError when another thing does.
    """
    stream = archive.fileobj
    size = 0
    while stream is not None and (piece := stream.read(MIB)):
        size += len(piece)
        if any(piece):
            raise tarfile.ReadError("something follows its end")
    if size < tarfile.BLOCKSIZE:
        raise tarfile.ReadError("its end is missing")
