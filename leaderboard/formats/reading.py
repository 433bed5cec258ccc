"""Reads a whole file of rows, in whichever of its forms it comes."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from leaderboard.formats.blocks import Piece, cut
from leaderboard.formats.columns import read_piece
from leaderboard.formats.layouts import Layout, Table
from leaderboard.formats.limits import MIB, Limits
from leaderboard.formats.plain import ByteSource, CappedReader, open_plain, refuse
from leaderboard.formats.problems import Problems
from leaderboard.formats.rows import Rows
from leaderboard.formats.side_by_side import side_by_side
from leaderboard.formats.sniffing import RecordKind, is_archive, record_kind

__all__ = ["Forms", "read_rows", "source_name"]

HEAD_BYTES = 4096  # what tells one form from another
KEPT_BYTES = 16 * MIB  # the largest of a piece's columns has 2
ROOM = 1.05  # lines may get a little shorter later in a file


@dataclass(frozen=True, slots=True)
class Forms:
    """What a kind of file may look like.

    columns  gives the layout of a text in columns from the fields of its first line
    records  layouts of CSV and JSON lines, the richest first; none: a text in columns it must be
    archive  layouts of the files in an archive, one file a query: with decisions and without; none: no archives
    """

    columns: Callable[[list[str]], Layout]
    records: Sequence[Layout] = ()
    archive: Sequence[Layout] = ()


def source_name(source: Path | ByteSource, name: str | None) -> str:
    """What messages call a file."""
    return name or (source.name if isinstance(source, Path) else "file")


def read_rows(
    source: Path | ByteSource,
    forms: Forms,
    *,
    queries: Collection[str] | None,
    name: str | None,
    limits: Limits | None,
) -> Rows:
    """Reads a whole file.

    Raises FileRejected at once for an empty file and for what makes reading on pointless (caps, compression); all
    other problems are in the rows' `problems`.
    """
    limits = limits or Limits()
    _keep_freed_memory()
    problems = Problems(source_name(source, name), limits.problems)
    rows = Rows(problems, None if queries is None else frozenset(queries))
    with open_plain(source, limits, problems.name) as text:
        head = text.peek(HEAD_BYTES)
        if is_archive(head):
            _read_archive(text, forms, limits, rows)
        elif forms.records and (kind := record_kind(head)):
            _read_records(text, kind, forms, limits, rows)
        else:
            _read_columns(text, forms.columns, limits, rows, source.stat().st_size if isinstance(source, Path) else 0)
    return rows


def _keep_freed_memory() -> None:
    """Frees a block that was never touched. glibc then keeps smaller ones when they are freed: otherwise each piece of
    a file would get its memory from the system anew, page by page, which takes a quarter of the time of reading.
    """
    np.empty(KEPT_BYTES, np.uint8)


def _read_archive(text: CappedReader, forms: Forms, limits: Limits, rows: Rows) -> None:
    from leaderboard.formats.archive import read_archive  # few files are archives: tarfile takes long to import

    if not forms.archive:
        raise refuse(rows.problems.name, "is an archive; give the file itself, plain or gzipped")
    for layout, table in read_archive(text, forms.archive, limits, rows.problems, rows.allowed):
        rows.add(layout, table)


def _read_records(text: CappedReader, kind: RecordKind, forms: Forms, limits: Limits, rows: Rows) -> None:
    from leaderboard.formats.records import read_records  # as above, for csv and json

    for layout, table in read_records(text, kind, forms.records, limits, rows.problems):
        rows.add(layout, table)


def _read_columns(
    text: CappedReader, choose: Callable[[list[str]], Layout], limits: Limits, rows: Rows, size: int
) -> None:
    """Adds every line of a text in columns. `size` is that of the file, in bytes; 0: not known."""
    pieces = cut(text, limits, rows.problems.name)
    start = next(((piece, fields) for piece in pieces if (fields := _first_fields(piece))), None)
    if start is None:
        raise refuse(rows.problems.name, "is empty")
    piece, fields = start
    layout = choose(fields)

    def read(piece: Piece) -> tuple[Table, list[str]]:
        return read_piece(piece, layout, limits), _last_fields(piece)

    for place, (table, end) in enumerate(side_by_side(read, chain([piece], pieces))):
        if place == 0:
            rows.reserve(int(ROOM * table.rows * size / piece.size))
        rows.add(layout, table)
        rows.end = end or rows.end


def _first_fields(piece: Piece) -> list[str]:
    """The fields of the first line that says something; none where there is no such line."""
    return next(filter(None, map(_fields, piece.lines())), [])


def _last_fields(piece: Piece) -> list[str]:
    return next(filter(None, map(_fields, piece.last_lines())), [])


def _fields(line: bytes) -> list[str]:
    fields = [field.decode(errors="replace") for field in line.split()]
    return [] if fields and fields[0].startswith("#") else fields
