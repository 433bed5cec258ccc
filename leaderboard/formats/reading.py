"""Reads a whole file of rows, in whichever format it comes."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from leaderboard.formats.guessing import guess_content
from leaderboard.formats.plain_text import MIB, ByteSource, Limits, open_plain, rejection, source_name
from leaderboard.formats.problems import Problems
from leaderboard.formats.readers import READERS, FileFormat
from leaderboard.formats.rows import Rows
from leaderboard.formats.tables import Schema

__all__ = ["HEAD_BYTES", "Schemas", "read_rows"]

# Which formats a kind of file may have, and which columns in each.
Schemas = Mapping[FileFormat, Sequence[Schema]]

HEAD_BYTES = 4096  # what tells one format from another
KEPT_BYTES = 16 * MIB  # the largest of a piece's columns has 2


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

    Raises FileRejected at once for an empty file and for what makes reading on pointless (limits, compression); all
    other problems are in the rows' `problems`.
    """
    _keep_freed_memory()
    problems = Problems(source_name(source, name), limits or Limits(), queries)
    rows = Rows(problems, source.stat().st_size if isinstance(source, Path) else 0)
    with open_plain(source, problems.limits, problems.name) as text:
        head = text.peek(HEAD_BYTES)
        file_format, reader = next(
            (file_format, reader)
            for file_format, reader in READERS.items()
            if reader.recognises(head) and (file_format in schemas or reader.refusal)
        )
        if file_format not in schemas:
            raise rejection(problems.name, reader.refusal)
        if file_format == "columns":
            problems.guess = guess_content(head, expected)
        for table in reader.read(text, schemas[file_format], problems):
            rows.add(table)
    return rows


def _keep_freed_memory() -> None:
    """Frees a block that was never touched. glibc then keeps smaller ones when they are freed: otherwise each piece of
    a file would get its memory from the system anew, page by page, which takes a quarter of the time of reading.
    """
    np.empty(KEPT_BYTES, np.uint8)
