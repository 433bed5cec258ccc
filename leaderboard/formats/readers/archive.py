"""MATERIAL's way to hand in a run: a .tgz with one file of decisions for each query.

It is read as a stream, under caps, and never unpacked to disk. A file is called after its query, with "q-" before it
or without; it lists `document TAB Y|N TAB score` or `document TAB score`.
"""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from leaderboard.formats.checks import identifier
from leaderboard.formats.chunks import Piece, cut
from leaderboard.formats.members import ARCHIVE_START, ERRORS, is_archive, tar_files
from leaderboard.formats.plain_text import CappedReader, foreign_start, rejection
from leaderboard.formats.problems import WHOLE, Part, Problems, Wrong, unknown_query
from leaderboard.formats.readers.columns import read_piece
from leaderboard.formats.sanitise import shown
from leaderboard.formats.tables import CheckedRows, Schema, Table, schema_of_width
from leaderboard.numbers import is_number

PREFIX = "q-"
ENDINGS = frozenset({".tsv", ".txt"})
HEADER_WORDS = frozenset({"doc", "docid", "doc_id", "docno", "document", "document_id", "decision", "score", "y/n"})


def read_archive(text: CappedReader, schemas: Sequence[Schema], problems: Problems) -> Iterator[Table]:
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
            for piece in _pieces(CappedReader(file, limits.expanded_bytes, problems.name), problems):
                schema = schema or schema_of_width(len(piece.first_line().split()), schemas)
                yield read_piece(piece, schema, limits, problems.part)
            # An empty table, so that a query counts that returned nothing.
            yield CheckedRows(schema or schemas[0], limits, problems.part).table()
    except ERRORS as error:
        raise rejection(problems.name, f"is a damaged archive ({error}); make it again") from None
    finally:
        problems.part = WHOLE
    if not files:
        problems.raise_empty("is an archive without files")


def _is_new(query: str, files: dict[str, str], problems: Problems) -> bool:
    """Whether a file is read; adds what is wrong with the query that it is called after."""
    try:
        identifier("query", query, problems.limits.id_bytes)
    except Wrong as wrong:
        words = "files are called after their query"
        problems.add(0, Wrong(f"{words}: {wrong.message}", f"{words}: {wrong.kind}"))
        return False
    if query in files:
        again = f"query {shown(query)} has a file already, {shown(files[query])}"
        problems.add(0, Wrong(again, "the query has a file already"))
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
