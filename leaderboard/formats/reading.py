"""Reads a whole file of rows, in whichever format it comes: the one table of readers."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy as np

from leaderboard.formats.guessing import guess_content
from leaderboard.formats.pieces import Piece, cut, side_by_side
from leaderboard.formats.plain_text import MIB, ByteSource, CappedReader, Limits, is_archive, open_plain, refuse
from leaderboard.formats.problems import Problems
from leaderboard.formats.readers.columns import read_piece
from leaderboard.formats.rows import Rows
from leaderboard.formats.tables import Schema, Table, our_name, schema_of_width

__all__ = ["HEAD_BYTES", "READERS", "FileFormat", "Schemas", "read_rows", "source_name"]

FileFormat = Literal["archive", "json", "csv", "columns"]
# Which formats a kind of file may have, and which columns in each.
Schemas = Mapping[FileFormat, Sequence[Schema]]

HEAD_BYTES = 4096  # what tells one format from another
KEPT_BYTES = 16 * MIB  # the largest of a piece's columns has 2
ROOM = 1.05  # lines may get a little shorter later in a file


def source_name(source: Path | ByteSource, name: str | None) -> str:
    """What messages call a file."""
    return name or (source.name if isinstance(source, Path) else "file")


def read_rows(
    source: Path | ByteSource,
    schemas: Schemas,
    expected: str,
    *,
    queries: Collection[str] | None,
    name: str | None,
    limits: Limits | None,
) -> Rows:
    """Reads a whole file.

    schemas   the formats that this kind of file may have, each with what its rows hold, the richest first
    expected  what the file should be, "run" or "judgments"

    Raises FileRejected at once for an empty file and for what makes reading on pointless (caps, compression); all
    other problems are in the rows' `problems`.
    """
    limits = limits or Limits()
    _keep_freed_memory()
    problems = Problems(source_name(source, name), limits)
    file_bytes = source.stat().st_size if isinstance(source, Path) else 0
    rows = Rows(problems, None if queries is None else frozenset(queries), file_bytes)
    with open_plain(source, limits, problems.name) as text:
        head = text.peek(HEAD_BYTES)
        file_format, reader = next(
            (file_format, reader)
            for file_format, reader in READERS.items()
            if reader.recognises(head) and (file_format in schemas or reader.refusal)
        )
        if file_format not in schemas:
            raise refuse(problems.name, reader.refusal)
        if file_format == "columns":
            problems.guess = guess_content(head, expected)
        for table in reader.read(text, schemas[file_format], limits, rows):
            rows.add(table)
    return rows


def _keep_freed_memory() -> None:
    """Frees a block that was never touched. glibc then keeps smaller ones when they are freed: otherwise each piece of
    a file would get its memory from the system anew, page by page, which takes a quarter of the time of reading.
    """
    np.empty(KEPT_BYTES, np.uint8)


def _read_archive(text: CappedReader, schemas: Sequence[Schema], limits: Limits, rows: Rows) -> Iterator[Table]:
    from leaderboard.formats.readers.archive import read_archive  # few files are archives: tarfile takes long to import

    return read_archive(text, schemas, limits, rows.problems, rows.allowed)


def _starts_json(head: bytes) -> bool:
    return head.decode(errors="replace").lstrip().startswith("{")


def _read_json(text: CappedReader, schemas: Sequence[Schema], limits: Limits, rows: Rows) -> Iterator[Table]:
    from leaderboard.formats.readers.records import read_records  # as above, for json and csv

    return read_records(text, "json", schemas, limits, rows.problems)


def _starts_csv(head: bytes) -> bool:
    """Whether the first line is a CSV header that names a query and a document."""
    first = head.decode(errors="replace").lstrip().partition("\n")[0]
    return {"query", "document"} <= {our_name(name.strip().strip('"')) for name in first.split(",")}


def _read_csv(text: CappedReader, schemas: Sequence[Schema], limits: Limits, rows: Rows) -> Iterator[Table]:
    from leaderboard.formats.readers.records import read_records

    return read_records(text, "csv", schemas, limits, rows.problems)


def _read_columns(text: CappedReader, schemas: Sequence[Schema], limits: Limits, rows: Rows) -> Iterator[Table]:
    pieces = cut(text, limits, rows.problems.name)
    start = next(((piece, fields) for piece in pieces if (fields := _first_fields(piece))), None)
    if start is None:
        raise refuse(rows.problems.name, "is empty")
    first, fields = start
    schema = schema_of_width(len(fields), schemas)

    def read(piece: Piece) -> Table:
        return replace(read_piece(piece, schema, limits), end=_last_fields(piece))

    for table in side_by_side(read, chain([first], pieces)):
        if not len(rows):
            rows.reserve(int(ROOM * table.rows * rows.file_bytes / first.size))
        yield table


def _first_fields(piece: Piece) -> list[str]:
    """The fields of the first line that says something; none where there is no such line."""
    return next(filter(None, map(_fields, piece.lines())), [])


def _last_fields(piece: Piece) -> list[str]:
    return next(filter(None, map(_fields, piece.last_lines())), [])


def _fields(line: bytes) -> list[str]:
    fields = [field.decode(errors="replace") for field in line.split()]
    return [] if fields and fields[0].startswith("#") else fields


@dataclass(frozen=True, slots=True)
class Reader:
    """One file format.

    recognises  whether a file that starts with these bytes has this format
    read        gives all rows of a text in this format, table by table, with what is wrong with others
    refusal     what is said where this kind of file may not have the format; "": it is then read as columns
    """

    recognises: Callable[[bytes], bool]
    read: Callable[[CappedReader, Sequence[Schema], Limits, Rows], Iterator[Table]]
    refusal: str = ""


# In the order in which they are tried.
READERS: Mapping[FileFormat, Reader] = {
    "archive": Reader(is_archive, _read_archive, "is an archive; give the file itself, plain or gzipped"),
    "json": Reader(_starts_json, _read_json),
    "csv": Reader(_starts_csv, _read_csv),
    "columns": Reader(lambda _: True, _read_columns),
}
