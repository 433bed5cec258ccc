"""MATERIAL's way to hand in a run: a .tgz with one file of decisions for each query.

It is read as a stream, under caps, and never unpacked to disk. A file is called after its query, with "q-" before it
or without; it lists `document TAB Y|N TAB score` or `document TAB score`.
"""

import tarfile
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from leaderboard.formats.checks import identifier
from leaderboard.formats.harmless import shown
from leaderboard.formats.pieces import Piece, cut
from leaderboard.formats.plain_text import CappedReader, foreign_start, rejection
from leaderboard.formats.problems import WHOLE, Part, Problems, Wrong, unknown_query
from leaderboard.formats.readers.columns import read_piece
from leaderboard.formats.tables import CheckedRows, Schema, Table, schema_of_width
from leaderboard.formats.tar import ARCHIVE_START, SoundEntry, entries, is_archive, read_end, refuse_bad
from leaderboard.numbers import is_number

__all__ = ["read_archive"]

PREFIX = "q-"
ENDINGS = frozenset({".tsv", ".txt"})
HEADER_WORDS = frozenset({"doc", "docid", "doc_id", "docno", "document", "document_id", "decision", "score", "y/n"})


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
        with tarfile.open(fileobj=text, mode="r|", tarinfo=SoundEntry) as archive:
            for place, entry in enumerate(entries(archive)):
                refuse_bad(entry, place, limits, problems.name)
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
            read_end(archive)
    except tarfile.TarError as error:
        raise rejection(problems.name, f"is a damaged archive ({error}); make it again") from None
    finally:
        problems.part = WHOLE
    if not seen:
        problems.raise_empty("is an archive without files")


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
