"""The files of a zip, tar or gzipped tar archive, one after the other, under caps; nothing is unpacked by its name."""

import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO

from leaderboard.errors import FileRejected
from leaderboard.formats.harmless import shown
from leaderboard.formats.plain_text import (
    EXPANDED_FREE,
    MIB,
    ByteSource,
    CappedReader,
    Limits,
    open_plain,
    rejection,
    too_many_times,
)
from leaderboard.formats.tar import ARCHIVE_START, SoundEntry, entries, is_archive, read_end, refuse_bad
from leaderboard.numbers import size

__all__ = ["Member", "is_archive_file", "members"]

ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")  # of one with files, of an empty one
ZIP_END, ZIP_END_BYTES, LONGEST_COMMENT = b"PK\x05\x06", 22, 1 << 16
ZIP64_LOCATOR, ZIP64_LOCATOR_BYTES = b"PK\x06\x07", 20
DIRECTORY_SIZE_AT = slice(12, 16)  # of the end record
DIRECTORY_BYTES = 8 * MIB  # of names and places: zipfile reads them all before the first file
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED = 0x1
EXTRAS = "__MACOSX/"
TAR_ERRORS = (tarfile.TarError,)
ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    ValueError,
    LookupError,
    RuntimeError,
)  # all that zipfile raises


@dataclass(frozen=True, slots=True)
class Member:
    """A file of an archive: its path there, parted by /, and its bytes, to be read before the next one is asked for."""

    path: str
    content: ByteSource


class _Sound:
    """A member's bytes. Raises FileRejected where the archive turns out to be damaged while they are read."""

    def __init__(self, file: IO[bytes], errors: tuple[type[Exception], ...], name: str) -> None:
        self._file = file
        self._errors = errors
        self._name = name

    def read(self, size: int, /) -> bytes:
        try:
            return self._file.read(size)
        except self._errors as error:
            raise _damaged(self._name, error) from None


def is_archive_file(path: Path) -> bool:
    """Whether a file is an archive by its first bytes; False for what can't be read as one.

    >>> is_archive_file(Path(__file__))
    False
    """
    with path.open("rb") as file:
        if file.read(len(ZIP_STARTS[0])) in ZIP_STARTS:
            return True
    try:
        with open_plain(path) as text:
            return is_archive(text.peek(ARCHIVE_START))
    except FileRejected:
        return False


def members(path: Path, *, limits: Limits | None = None, name: str | None = None) -> Iterator[Member]:
    """The plain files of an archive, in its order; folders are left out.

    limits  of the archive as a whole: `members`, `expanded_bytes` of all of them together and `expanded_times` its size
    name    what messages call the archive

    Raises FileRejected for what is no archive or a damaged one, and for what no honest one holds: links, devices, paths
    that lead out of it, two files of one name, encrypted ones, and more than the limits allow.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with zipfile.ZipFile(Path(folder, "a-team.zip"), "w") as archive:
    ...         archive.writestr("2025/first.run", "q1 Q0 d7 1 2.5 first")
    ...     [(one.path, one.content.read(99)) for one in members(Path(folder, "a-team.zip"))]
    [('2025/first.run', b'q1 Q0 d7 1 2.5 first')]
    """
    limits, name = limits or Limits(), name or path.name
    seen: set[str] = set()
    for member in _of_zip(path, limits, name) if _is_zip(path) else _of_tar(path, limits, name):
        if member.path in seen:
            raise rejection(name, f"holds {shown(member.path)} twice")
        seen.add(member.path)
        yield member


def _is_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(ZIP_STARTS[0])) in ZIP_STARTS


def _of_tar(path: Path, limits: Limits, name: str) -> Iterator[Member]:
    with open_plain(path, limits, name) as text:
        if not is_archive(text.peek(ARCHIVE_START)):
            raise rejection(name, "is no archive; give a .zip, .tar or .tar.gz")
        try:
            with tarfile.open(fileobj=text, mode="r|", tarinfo=SoundEntry) as archive:
                for place, entry in enumerate(entries(archive)):
                    refuse_bad(entry, place, limits, name)
                    file = archive.extractfile(entry)
                    if file is not None:
                        yield Member(_plain_path(entry.name, name), _Sound(file, TAR_ERRORS, name))
                read_end(archive)
        except TAR_ERRORS as error:
            raise _damaged(name, error) from None


def _of_zip(path: Path, limits: Limits, name: str) -> Iterator[Member]:
    with path.open("rb") as file:
        _require_small_directory(file, name)
        try:
            with zipfile.ZipFile(file) as archive:
                yield from _zipped(archive, limits, name, path.stat().st_size)
        except ZIP_ERRORS as error:
            raise _damaged(name, error) from None


def _zipped(archive: zipfile.ZipFile, limits: Limits, name: str, packed: int) -> Iterator[Member]:
    most, in_words = limits.expanded_bytes, f"expands to more than {size(limits.expanded_bytes)}, the most allowed"
    if most > EXPANDED_FREE + limits.expanded_times * packed:
        most, in_words = EXPANDED_FREE + limits.expanded_times * packed, too_many_times(limits.expanded_times)
    given = 0
    for place, entry in enumerate(archive.infolist()):
        if place >= limits.members:
            raise rejection(name, f"holds more than {limits.members:,} files, the most allowed")
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if entry.is_dir() or entry.filename.startswith(EXTRAS):
            continue
        if kind not in (0, stat.S_IFREG):
            raise rejection(name, f"holds {shown(entry.filename)}, a link or another thing that is no plain file")
        if entry.flag_bits & ENCRYPTED or entry.compress_type not in METHODS:
            raise rejection(name, f"holds {shown(entry.filename)}, which is encrypted or packed in an unusual way")
        with archive.open(entry) as file:
            content = CappedReader(_Sound(file, ZIP_ERRORS, name), most - given, name, in_words)
            yield Member(_plain_path(entry.filename, name), content)
            while content.read(MIB):  # its sum is checked at its end
                pass
            given += content.given


def _require_small_directory(file: BinaryIO, name: str) -> None:
    """Refuses a zip archive whose list of files takes too much memory, or lies about where it is."""
    size = file.seek(0, 2)
    file.seek(max(0, size - ZIP_END_BYTES - LONGEST_COMMENT - ZIP64_LOCATOR_BYTES))
    tail = file.read()
    at = tail.rfind(ZIP_END)
    if at < 0 or at + ZIP_END_BYTES > len(tail):
        raise rejection(name, "is a damaged zip archive (its end is missing); make it again")
    if tail[max(0, at - ZIP64_LOCATOR_BYTES) : at].startswith(ZIP64_LOCATOR):
        raise rejection(name, "is a zip archive of the large kind (zip64); give a .tar.gz")
    if int.from_bytes(tail[at:][DIRECTORY_SIZE_AT], "little") > DIRECTORY_BYTES:
        raise rejection(name, "is a zip archive of far too many files")
    file.seek(0)


def _damaged(name: str, error: Exception) -> FileRejected:
    return rejection(name, f"is a damaged archive ({error}); make it again")


def _plain_path(path: str, name: str) -> str:
    """The path of a member, without "./". Raises FileRejected for one that leads out of the archive or is none."""
    parts = PurePosixPath(path.replace("\\", "/"))
    if parts.is_absolute() or ".." in parts.parts or not parts.name or ":" in parts.parts[0]:
        raise rejection(name, f"holds {shown(path)}, a path that leads out of the archive")
    if not path.isprintable():
        raise rejection(name, f"holds {shown(path)}, a name with characters that can't be seen")
    return parts.as_posix()
