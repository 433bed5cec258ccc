"""The files of a zip, tar or gzipped tar archive, one after the other, under caps; nothing is unpacked by its name.

MATERIAL's way to hand in a run is one: a .tgz with one file of decisions for each query. A file is called after its
query, with "q-" before it or without; it lists `document TAB Y|N TAB score` or `document TAB score`.
"""

import io
import stat
import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import IO

from leaderboard.errors import FileRejected
from leaderboard.formats import plain_text
from leaderboard.formats.columns import read_piece
from leaderboard.formats.problems import WHOLE, Part, Problems, Wrong, unknown_query
from leaderboard.formats.tables import Schema, Table, checked_table, schema_of_width
from leaderboard.formats.values import identifier
from leaderboard.frozen import frozen
from leaderboard.numbers import is_number, size

ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")  # of one with files, of an empty one
DIRECTORY_BYTES = 8 * plain_text.MIB  # of names and places: zipfile reads them all before the first file
TAR_MAGIC, TAR_MAGIC_AT = b"ustar", 257
ARCHIVE_START = TAR_MAGIC_AT + len(TAR_MAGIC)  # bytes that tell a tar archive
LONGEST_HEADER = 1 << 16  # bytes of one entry's extended header: tarfile reads it whole
MOST_GLOBAL = 16  # records of global headers; tarfile copies them for every later entry. `git archive` writes one
ENCRYPTED = 0x1
EXTRA, EXTRAS = "._", "__MACOSX/"  # of macOS: a file in a tar archive, a folder in a zip archive
ERRORS = (*plain_text.DAMAGED, EOFError)  # all that tarfile and zipfile raise for what is damaged or hostile


@frozen
class Member:
    """A file of an archive: its path there, parted by /, and its bytes, to be read before the next one is asked for."""

    path: str
    content: plain_text.ByteSource


def is_archive(start: bytes) -> bool:
    """Whether a file that starts so is a tar archive; one without files starts with its end, all NULs.

    Its first header has the magic and, unlike any text, NULs before it.
    """
    before = start[:TAR_MAGIC_AT]
    empty = len(start) >= ARCHIVE_START and not any(start[:ARCHIVE_START])
    return empty or (b"\0" in before and start[TAR_MAGIC_AT:].startswith(TAR_MAGIC))


def is_archive_file(path: Path) -> bool:
    """Whether a file is an archive by its first bytes; False for what can't be read as one.

    >>> is_archive_file(Path(__file__))
    False
    """
    try:
        with plain_text.open_plain(path) as text:
            return is_archive(text.peek(ARCHIVE_START))
    except FileRejected:
        return _is_zip(path)


def members(path: Path, *, limits: plain_text.Limits | None = None, name: str | None = None) -> Iterator[Member]:
    """The plain files of an archive, in its order; folders are left out.

    limits  of the archive as a whole: `members`, `expanded_bytes` of all of them together and `expanded_times` its size
    name    what messages call the archive

    Raises FileRejected for what is no archive or a damaged one, and for what no honest one holds: links, devices, paths
    that lead out of it, two files of one name, encrypted ones, and more than the limits allow.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with zipfile.ZipFile(Path(folder, "a-team.zip"), "w") as archive:
    ...         archive.writestr("2025/first.run", "q1 Q0 d7 1 2.5 first")
    ...     [(member.path, member.content.read(99)) for member in members(Path(folder, "a-team.zip"))]
    [('2025/first.run', b'q1 Q0 d7 1 2.5 first')]
    """
    limits, name = limits or plain_text.Limits(), name or path.name
    paths: set[str] = set()
    try:
        for member in _of_zip(path, limits, name) if _is_zip(path) else _of_tar(path, limits, name):
            if member.path in paths:
                raise plain_text.rejection(name, f"holds {plain_text.shown(member.path)} twice")
            paths.add(member.path)
            yield member
    except ERRORS as error:
        raise _damaged(name, error) from None


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


class _SmallEntry(tarfile.TarInfo):
    """An entry whose extended header is small."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "_SmallEntry":
        entry = super().frombuf(buf, encoding, errors)
        if not entry.isfile() and entry.size > LONGEST_HEADER:
            raise tarfile.ReadError("an entry's header is too long")
        return entry


def tar_files(
    text: plain_text.CappedReader, limits: plain_text.Limits, name: str
) -> Iterator[tuple[int, str, IO[bytes]]]:
    """The plain files of a tar archive, one after the other, without what macOS adds: the entry's number, its name and
    its bytes.

    Raises FileRejected for what no honest archive holds, and one of ERRORS for a damaged one.
    """
    with tarfile.open(fileobj=text, mode="r|", tarinfo=_SmallEntry) as archive:
        number = -1
        while (entry := archive.next()) is not None:
            number += 1
            archive.members.clear()  # type: ignore[attr-defined]  # not in the stubs; it grows with every entry
            if len(archive.pax_headers) > MOST_GLOBAL:
                raise tarfile.ReadError(f"more than {MOST_GLOBAL} records in global headers")
            if entry.size < 0:
                raise tarfile.ReadError(f"{plain_text.shown(entry.name)} has a size below 0")
            if number >= limits.members:
                raise _too_many_files(limits, name)
            path = PurePosixPath(entry.name)
            _require_within(path, name)
            if not (entry.isfile() or entry.isdir()) or entry.issparse():
                raise plain_text.rejection(
                    name, f"holds {plain_text.shown(entry.name)}, a link or another thing that is no plain file"
                )
            file = archive.extractfile(entry)
            if file is not None and not path.name.startswith(EXTRA):
                yield number, entry.name, file
        _require_end(archive)


def _require_end(archive: tarfile.TarFile) -> None:
    """Reads on to the end of the file, where damage and loss show: tarfile stops at the first header that it can't
    read, and at the first block of NULs, which another one must follow.
    """
    rest = 0
    stream = archive.fileobj
    while stream is not None and (piece := stream.read(plain_text.MIB)):
        rest += len(piece)
        if any(piece):
            raise tarfile.ReadError("something follows its end")
    if rest < tarfile.BLOCKSIZE:
        raise tarfile.ReadError("its end is missing")


def _damaged(name: str, error: BaseException) -> FileRejected:
    return plain_text.rejection(name, f"is a damaged archive ({error}); make it again")


def _too_many_files(limits: plain_text.Limits, name: str) -> FileRejected:
    return plain_text.rejection(name, f"holds more than {limits.members:,} files, the most allowed")


def _require_within(path: PurePosixPath, name: str) -> None:
    if path.is_absolute() or ".." in path.parts or not path.name:
        raise plain_text.rejection(name, f"holds {plain_text.shown(str(path))}, a path that leads out of the archive")


def _plain_path(path: str, name: str) -> str:
    """The path of a member, without "./". Raises FileRejected for one that leads out of the archive or is none."""
    plain = PurePosixPath(path.replace("\\", "/"))
    _require_within(plain, name)
    if ":" in plain.parts[0] or not path.isprintable():
        raise plain_text.rejection(
            name, f"holds {plain_text.shown(path)}, a name with a colon or with characters that can't be seen"
        )
    return plain.as_posix()


def _is_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(ZIP_STARTS[0])) in ZIP_STARTS


def _of_tar(path: Path, limits: plain_text.Limits, name: str) -> Iterator[Member]:
    with plain_text.open_plain(path, limits, name) as text:
        if not is_archive(text.peek(ARCHIVE_START)):
            raise plain_text.rejection(name, "is no archive; give a .zip, .tar or .tar.gz")
        for _, member, file in tar_files(text, limits, name):
            yield Member(_plain_path(member, name), plain_text.CappedReader(file, limits.expanded_bytes, name))


class _SmallReads(io.FileIO):
    """A zip archive; zipfile reads its directory in one piece, which may not be large."""

    def __init__(self, path: Path, called: str) -> None:
        super().__init__(path)
        self._called = called

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > DIRECTORY_BYTES:
            raise plain_text.rejection(self._called, "is a zip archive of far too many files; give a .tar.gz")
        return super().read(size)


def _of_zip(path: Path, limits: plain_text.Limits, name: str) -> Iterator[Member]:
    left = min(limits.expanded_bytes, plain_text.EXPANDED_FREE + limits.expanded_times * path.stat().st_size)
    words = f"expands to more than {size(left)}, the most allowed for a file of this size"
    with _SmallReads(path, name) as file, zipfile.ZipFile(file) as archive:
        if len(archive.infolist()) > limits.members:
            raise _too_many_files(limits, name)
        for entry in archive.infolist():
            if entry.is_dir() or entry.filename.startswith(EXTRAS):
                continue
            is_plain = stat.S_IFMT(entry.external_attr >> 16) in (0, stat.S_IFREG)
            is_packed = entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
            if not is_plain or not is_packed or entry.flag_bits & ENCRYPTED:
                what = "no plain file, or encrypted, or packed in an unusual way"
                raise plain_text.rejection(name, f"holds {plain_text.shown(entry.filename)}, which is {what}")
            with archive.open(entry) as content:
                reader = plain_text.CappedReader(content, left, name, words)
                yield Member(_plain_path(entry.filename, name), reader)
                while reader.read(plain_text.MIB):  # its sum is checked at its end
                    pass
                left -= reader.passed


PREFIX = "q-"
ENDINGS = frozenset({".tsv", ".txt"})
HEADER_WORDS = ("doc", "docid", "doc_id", "docno", "document", "document_id")  # the first of them


def read_archive(text: plain_text.CappedReader, schemas: Sequence[Schema], problems: Problems) -> Iterator[Table]:
    """The rows of each file, whose part names its query; a file without rows gives an empty table.

    schemas  those of a line with a decision and of one without; all files must be of one

    Raises FileRejected at once for what no honest archive holds: links, devices, absolute paths, paths that lead out,
    archives within, and more than the limits allow.
    """
    limits = problems.limits
    files: dict[str, str] = {}  # by query
    schema: Schema | None = None
    try:
        for number, name, file in tar_files(text, limits, problems.name):
            query = _query(name, problems.allowed)
            problems.part = Part(number, name, query)
            if not _is_new(query, files, problems):
                continue
            files[query] = name
            for piece in _pieces(plain_text.CappedReader(file, limits.expanded_bytes, problems.name), problems):
                schema = schema or schema_of_width(len(piece.first_line().split()), schemas)
                yield read_piece(piece, schema, limits, problems.part)
            # An empty table, so that a query counts that returned nothing.
            columns = schema or schemas[0]
            yield checked_table(columns, limits, (), [()] * len(columns.read), part=problems.part)
    except ERRORS as error:
        raise _damaged(problems.name, error) from None
    finally:
        problems.part = WHOLE
    if not files:
        problems.raise_empty("is an archive without files")


def _is_new(query: str, files: dict[str, str], problems: Problems) -> bool:
    """Whether a file is read; adds what is wrong with the query that it is called after."""
    try:
        identifier("query", query, problems.limits.id_bytes)
    except Wrong as wrong:
        problems.add(0, wrong)
        return False
    if query in files:
        problems.add(0, Wrong.value("query", query, "has a file already", f", {plain_text.shown(files[query])}"))
        return False
    if problems.allowed is not None and query not in problems.allowed:
        problems.add(0, unknown_query(query))
    return True


def _query(name: str, allowed: frozenset[str] | None) -> str:
    """The query that a file is about: its name without ending, and without "q-" unless the query is called so."""
    path = PurePosixPath(name)
    stem = path.stem if path.suffix.lower() in ENDINGS else path.name
    if allowed is not None and stem in allowed:
        return stem
    return stem.removeprefix(PREFIX)


def _pieces(text: plain_text.CappedReader, problems: Problems) -> Iterator[plain_text.Piece]:
    """The lines of one file that say something, without its header."""
    start = text.peek(ARCHIVE_START)
    foreign = "is an archive within the archive" if is_archive(start) else plain_text.foreign_start(start)
    if foreign:
        raise problems.rejection(f"holds {plain_text.shown(problems.part.name)}, which {foreign}")
    for number, piece in enumerate(plain_text.cut(text, problems.limits)):
        lines = piece.without_comments()
        if number == 0 and _is_header(lines, problems.part.query):
            lines = plain_text.Piece.of(lines.text.partition(b"\n")[2], lines.numbers[1:])
        if lines.size:
            yield lines


def _is_header(piece: plain_text.Piece, query: str) -> bool:
    """Whether the first line names the query or the columns; a row whose document is called as the query is none."""
    words = piece.first_line().decode(errors="replace").lower().split()
    names = (query.lower(), PREFIX + query.lower(), *HEADER_WORDS)
    return bool(words) and words[0] in names and (len(words) == 1 or not is_number(words[-1]))
