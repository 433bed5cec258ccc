"""MATERIAL's way to hand in a run: a .tgz with one file of decisions for each query.

It is read as a stream, under caps, and never unpacked to disk. A file is called after its query, with "q-" before it
or without; it lists `document TAB Y|N TAB score` or `document TAB score`.
"""

import re
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from leaderboard.formats.checks import identifier
from leaderboard.formats.harmless import shown
from leaderboard.formats.pieces import Piece, cut
from leaderboard.formats.plain_text import MIB, CappedReader, foreign_start, rejection
from leaderboard.formats.problems import WHOLE, Part, Problems, Wrong, unknown_query
from leaderboard.formats.readers.columns import read_piece
from leaderboard.formats.tables import CheckedRows, Schema, Table, schema_of_width
from leaderboard.numbers import is_number

__all__ = ["is_archive", "read_archive"]

TAR_MAGIC, TAR_MAGIC_AT = b"ustar", 257
ARCHIVE_START = TAR_MAGIC_AT + len(TAR_MAGIC)  # bytes that tell an archive
PREFIX = "q-"
ENDINGS = frozenset({".tsv", ".txt"})
LONGEST_HEADER = 1 << 16  # bytes of one entry's extended header
MOST_GLOBAL = 16  # records of global headers; tarfile copies them for every later entry. `git archive` writes one
WHOLE_NUMBERS = frozenset({"size", "uid", "gid", "GNU.sparse.size", "GNU.sparse.realsize"})  # in an extended header
TIMES = frozenset({"atime", "ctime", "mtime"})
DIGITS = re.compile(r"[0-9]{1,18}")
SIZE_AT = slice(124, 136)  # of a header: octal digits between blanks, up to a NUL, or a number of base 256
SIZE = re.compile(rb" *[0-7]* *(\0.*)?|[\x80\xff].*", re.DOTALL)
HEADER_WORDS = frozenset({"doc", "docid", "doc_id", "docno", "document", "document_id", "decision", "score", "y/n"})


def is_archive(start: bytes) -> bool:
    """Whether a file that starts so is a tar archive; one without files starts with its end, all NULs.

    Its first header has the magic and, unlike any text, NULs before it.
    """
    before = start[:TAR_MAGIC_AT]
    empty = len(start) >= ARCHIVE_START and not any(start[:ARCHIVE_START])
    return empty or (b"\0" in before and start[TAR_MAGIC_AT:].startswith(TAR_MAGIC))


class _Entry(tarfile.TarInfo):
    """An entry whose header must be sound: tarfile takes a bad one for the end of the archive, or stumbles over it.

    Its extended header must be small: tarfile reads it whole. Its numbers must be digits: tarfile reads them with int()
    and float(), which take 1_9 for 19.
    """

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> "_Entry":
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
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "_Entry":
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


def read_archive(text: CappedReader, schemas: Sequence[Schema], problems: Problems) -> Iterator[Table]:
    """The rows of each file, whose part names its query; a file without rows gives an empty table.

    schemas  those of a line with a decision and of one without; all files must be of one

    Raises FileRejected at once for what no honest archive holds: links, devices, absolute paths, paths that lead out,
    archives within, and more than the limits allow.
    """
    limits, allowed = problems.limits, problems.allowed
    seen: dict[str, str] = {}
    schema: Schema | None = None
    try:
        with tarfile.open(fileobj=text, mode="r|", tarinfo=_Entry) as archive:
            for place, entry in enumerate(_entries(archive)):
                _refuse_bad(entry, place, problems)
                file = archive.extractfile(entry)
                if file is None:
                    continue
                query = _query(entry.name, allowed)
                problems.part = Part(place, entry.name, query)
                try:
                    identifier("query", query, limits.id_bytes)
                except Wrong as wrong:
                    of_name = "files are called after their query"
                    problems.add(0, Wrong(f"{of_name}: {wrong.message}", f"{of_name}: {wrong.kind}"))
                    continue
                if query in seen:
                    again = f"query {shown(query)} has a file already, {shown(seen[query])}"
                    problems.add(0, Wrong(again, "the query has a file already"))
                    continue
                if allowed is not None and query not in allowed:
                    problems.add(0, unknown_query(query))
                seen[query] = entry.name
                for piece in _pieces(CappedReader(file, limits.expanded_bytes, problems.name), problems):
                    schema = schema or schema_of_width(len(next(piece.lines()).split()), schemas)
                    yield read_piece(piece, schema, limits, problems.part)
                # An empty table, so that a query counts that returned nothing.
                yield CheckedRows(schema or schemas[0], limits, problems.part).table()
            _read_end(archive)
    except tarfile.TarError as error:
        raise rejection(problems.name, f"is a damaged archive ({error}); make it again") from None
    finally:
        problems.part = WHOLE
    if not seen:
        problems.raise_empty("is an archive without files")


def _entries(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """The entries one after the other; none is kept."""
    while (entry := archive.next()) is not None:
        yield entry
        archive.members.clear()  # type: ignore[attr-defined]  # not in the stubs; it grows with every entry


def _refuse_bad(entry: tarfile.TarInfo, place: int, problems: Problems) -> None:
    name, limits = problems.name, problems.limits
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


def _read_end(archive: tarfile.TarFile) -> None:
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


def _query(name: str, allowed: frozenset[str] | None) -> str:
    """The query that a file is about: its name without ending, and without "q-" unless the query is called so."""
    path = PurePosixPath(name)
    stem = path.stem if path.suffix.lower() in ENDINGS else path.name
    if allowed is not None and stem in allowed:
        return stem
    return stem.removeprefix(PREFIX)


def _pieces(text: CappedReader, problems: Problems) -> Iterator[Piece]:
    """The lines of one file that say something, without its header."""
    start = text.peek(ARCHIVE_START)
    foreign = "is an archive within the archive" if is_archive(start) else foreign_start(start)
    if foreign:
        raise rejection(problems.name, f"holds {shown(problems.part.name)}, which {foreign}")
    for number, piece in enumerate(cut(text, problems)):
        lines = piece.without_comments()
        if number == 0 and _is_header(lines, problems.part.query):
            lines = lines.without_first()
        if lines.size:
            yield lines


def _is_header(piece: Piece, query: str) -> bool:
    """Whether the first line names the query or the columns; a row whose document is called as the query is none."""
    words = next(piece.lines(), b"").decode(errors="replace").lower().split()
    names = {query.lower(), PREFIX + query.lower()}
    return bool(words) and (HEADER_WORDS.issuperset(words) or (words[0] in names and not _is_row(words)))


def _is_row(words: list[str]) -> bool:
    """Whether these are a document, perhaps a decision, and a score."""
    decided = len(words) == len(("document", "decision", "score")) and words[1] in ("y", "n")
    return (decided or len(words) == len(("document", "score"))) and is_number(words[-1])
