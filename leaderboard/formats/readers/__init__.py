"""The one table of file formats that rows are read from: how each is recognised, and what reads it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from leaderboard.formats.members import is_archive
from leaderboard.formats.plain_text import CappedReader
from leaderboard.formats.problems import Problems
from leaderboard.formats.readers.archive import read_archive
from leaderboard.formats.readers.columns import read_columns
from leaderboard.formats.readers.records import read_csv, read_json, starts_csv, starts_json
from leaderboard.formats.tables import Schema, Table

FileFormat = Literal["archive", "json", "csv", "columns"]


@dataclass(frozen=True, slots=True)
class Reader:
    """One file format.

    recognises  whether a file that starts with these bytes has this format
    read        gives all rows of a text in this format, table by table, with what is wrong with others; of the schemas
                it takes the one that fits the first row
    refusal     what is said where this kind of file may not have the format; "": it is then read as columns
    """

    recognises: Callable[[bytes], bool]
    read: Callable[[CappedReader, Sequence[Schema], Problems], Iterator[Table]]
    refusal: str = ""


# In the order in which they are tried.
READERS: Mapping[FileFormat, Reader] = {
    "archive": Reader(is_archive, read_archive, "is an archive; give the file itself, plain or gzipped"),
    "json": Reader(starts_json, read_json),
    "csv": Reader(starts_csv, read_csv),
    "columns": Reader(lambda _: True, read_columns),
}
