"""Reads all rows of a file, in whichever format it comes, and knows where each of them stands. READERS is the one table
of file formats: how each is recognised, and what reads it.
"""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats import plain_text
from leaderboard.formats.archives import is_archive, read_archive
from leaderboard.formats.columns import read_columns
from leaderboard.formats.ids import SLOT_BITS, Ids, Pattern, Places, Texts, as_texts, keys, slots, stretches
from leaderboard.formats.metadata import HEADER_BYTES, Metadata, header_metadata
from leaderboard.formats.problems import HEAD_BYTES, Part, Problems, Wrong, guess_content, unknown_query
from leaderboard.formats.records import read_csv, read_json, starts_csv, starts_json
from leaderboard.formats.tables import Schema, Table
from leaderboard.frozen import frozen

FileFormat = Literal["archive", "json", "csv", "columns"]


@frozen
class Reader:
    """One file format.

    recognises  whether a file that starts with these bytes has this format
    read        gives all rows of a text in this format, table by table, with what is wrong with others; of the schemas
                it takes the one that fits the first row
    """

    recognises: Callable[[bytes], bool]
    read: Callable[[plain_text.CappedReader, Sequence[Schema], Problems], Iterator[Table]]


# In the order in which they are tried.
READERS: Mapping[FileFormat, Reader] = {
    "archive": Reader(is_archive, read_archive),
    "json": Reader(starts_json, read_json),
    "csv": Reader(starts_csv, read_csv),
    "columns": Reader(lambda _: True, read_columns),
}


# Which formats a kind of file may have, and which columns in each.
Schemas = Mapping[FileFormat, Sequence[Schema]]

MOST_NAMED = 3  # tags
KEPT_BYTES = 16 * plain_text.MIB  # the largest of a piece's columns has 2
MOSTLY_GROUPED = 4  # lines per change of query from which a look-up for each change is the faster way
GROWTH = 1.25  # from how many times as many queries on the table is made anew


class Numbering:
    """Ids of queries, or of subtopics, in the order of their first appearance, and each row's index among them."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self._index: dict[str, int] = {}
        self._texts = as_texts([""])  # the ids that the table has
        self._slots = np.zeros(1 << SLOT_BITS, np.uint32)  # the table: an id's index in its slot

    def number(self, query: str) -> int:
        """A query's index, given now if it had none."""
        index = self._index.setdefault(query, len(self.ids))
        if index == len(self.ids):
            self.ids.append(query)
        return index

    def encode(self, queries: Texts) -> NDArray[np.uint32]:
        """uint32[rows]: each row's query as its index in `ids`."""
        starts = stretches(queries)
        if len(starts) * MOSTLY_GROUPED <= len(queries):
            return np.repeat(self._number_each(queries[starts]), np.diff(starts, append=len(queries)))
        codes = self._slots.take(slots(keys(queries)))
        rest = np.flatnonzero(self._texts.take(codes) != queries)
        if len(rest):
            codes[rest] = self._number_each(queries[rest])
            if len(self.ids) >= len(self._texts) * GROWTH:  # making it anew for each few would take too long
                self._texts = as_texts(self.ids)
                self._slots[slots(keys(self._texts))] = np.arange(len(self.ids))
        return codes

    def _number_each(self, queries: Texts) -> NDArray[np.uint32]:
        return np.array([self.number(query.decode()) for query in queries.tolist()], np.uint32)


class Tags:
    """The run tags of a file: what an organiser asks of each, and whether they are all the same. They hardly ever
    change, so that only those are looked at that differ from the one of the line before.

    pattern  what each has to look like; None: nothing is asked
    named    the first different ones
    """

    def __init__(self, pattern: Pattern | None = None) -> None:
        self.pattern = pattern
        self.named: list[str] = []

    def check(self, table: Table, tags: Texts, problems: Problems) -> None:
        """Adds each line of a table whose tag has not the form that is asked for to the problems.

        tags  of its rows, each cut off behind the most bytes that an id may have
        """
        starts = stretches(tags)
        different = tags[starts]
        if len(self.named) < MOST_NAMED:
            texts = (tag.decode(errors="replace") for tag in dict.fromkeys(different.tolist()))
            names = (plain_text.harmless(text, plain_text.LONGEST_TAG) for text in texts)
            self.named = [*dict.fromkeys([*self.named, *names])][:MOST_NAMED]
        if self.pattern is None or not len(starts):
            return
        wrong = ~self.pattern.matching(different) | (np.char.str_len(different) > problems.limits.id_bytes)
        fault = f"has not the form that is asked for here: {self.pattern.text}"
        problems.add_first(
            np.flatnonzero(np.repeat(wrong, np.diff(starts, append=len(tags)))).tolist(),
            lambda row: Wrong.value("run tag", tags[row].decode(errors="replace"), fault),
            lambda row: (table.numbers[row], table.part),
        )


class Rows:
    """What a file holds, as columns; its queries are numbered in the order of their first appearance.

    problems  everything wrong so far; raise it when all checks are done
    schema    which columns it has
    end       its last line, of a text in columns
    said      what its comment lines before the first row say
    """

    def __init__(self, problems: Problems, tags: Tags | None = None) -> None:
        self.problems = problems
        self._tags = tags
        self.schema: Schema | None = None
        self.end = b""
        self.said = Metadata()
        self._numbering = Numbering()
        self._subtopics = Numbering()
        self._unknown = np.empty(0, np.bool_)  # which of the queries are not the evaluation's
        self._parts: dict[str, list[NDArray[Any]]] = {}  # of each column but the documents
        self._documents: list[Texts] = []
        self._id_bytes = 0
        self._places: list[tuple[Sequence[int], Part]] = []  # of each table: the lines of its rows
        self._starts = [0]

    def __len__(self) -> int:
        return self._starts[-1]

    @property
    def queries(self) -> tuple[str, ...]:
        return tuple(self._numbering.ids)

    @property
    def subtopics(self) -> tuple[str, ...]:
        """Of a file of judgments of subtopics, in the order of their first appearance."""
        return tuple(self._subtopics.ids)

    @cached_property
    def document(self) -> Ids:
        """The document ids, once all rows are there."""
        return Ids(self._documents)

    @cached_property
    def _columns(self) -> dict[str, NDArray[Any]]:
        return {name: np.concatenate(self._parts.pop(name)) for name in list(self._parts)}

    def column(self, name: str) -> NDArray[Any]:
        """Any other column in order, once all rows are there. "query" and "subtopic" are uint32, indices
        into `queries` and `subtopics`.
        """
        return self._columns[name]

    def add(self, table: Table) -> None:
        """Appends rows, and notes what is wrong with others. Raises FileRejected for a file that is wrong throughout or
        that would take too much memory.
        """
        self.schema = table.schema
        self.end = table.end or self.end
        self.problems.add_lines(table.wrong, len(table))
        columns = dict(table.columns)
        tags = columns.pop("tag", None)
        if tags is not None and self._tags is not None:
            self._tags.check(table, tags, self.problems)
        self._documents.append(columns.pop("document"))
        self._id_bytes += self._documents[-1].nbytes
        if table.part.query:
            columns["query"] = np.full(len(table), self._numbering.number(table.part.query), np.uint32)
        else:
            columns["query"] = self._numbering.encode(columns["query"])
            self._check_queries(table, columns["query"])
        if "subtopic" in columns:
            columns["subtopic"] = self._subtopics.encode(columns["subtopic"])
        for name, values in columns.items():
            self._parts.setdefault(name, []).append(values)
        self._places.append((table.numbers, table.part))
        self._starts.append(len(self) + len(table))
        limits = self.problems.limits
        self.problems.raise_if_hopeless()
        if len(self._numbering.ids) > limits.queries:
            raise self.problems.rejection(f"has more than {limits.queries:,} different queries, the most allowed")
        if self._id_bytes > limits.all_id_bytes:
            most = f"{limits.all_id_bytes // plain_text.MIB:,} MiB, the most allowed"
            raise self.problems.rejection(f"its document ids take more than {most}; shorten the longest ones")

    def _check_queries(self, table: Table, codes: NDArray[np.uint32]) -> None:
        problems, ids = self.problems, self._numbering.ids
        if problems.allowed is None:
            return
        fresh = [query not in problems.allowed for query in ids[len(self._unknown) :]]
        self._unknown = np.append(self._unknown, fresh).astype(np.bool_)
        problems.add_first(
            np.flatnonzero(self._unknown[codes]).tolist(),
            lambda row: unknown_query(ids[codes[row]]),
            lambda row: (table.numbers[row], table.part),
        )

    def add_each(self, rows: Places, kind: str, say: Callable[[str, str], str]) -> None:
        """Adds a problem for each of some rows, which are in order; `say` tells it of the row's query and document."""

        def told(row: int) -> Wrong:
            [document] = self.document.take(np.array([row])).tolist()
            return Wrong(say(self._numbering.ids[self.column("query")[row]], plain_text.shown(document.decode())), kind)

        self.problems.add_first(rows.tolist(), told, self._line)

    def add_repeats(self, later: Places, first: Places, what: str) -> None:
        """Adds a problem for each of the rows that `repeats` gives; `what` says it of a document."""
        lines = (self._line(row)[0] for row in first.tolist())
        self.add_each(
            later,
            f"a document {what} for one query",
            lambda query, document: (
                f"document {document} {what} for query {plain_text.shown(query)} (first on line {next(lines)})"
            ),
        )

    def _line(self, row: int) -> tuple[int, Part]:
        """The 1-based line that a row stands on, and the file of an archive."""
        block = bisect_right(self._starts, row) - 1
        numbers, part = self._places[block]
        return numbers[row - self._starts[block]], part


def read_rows(
    source: Path | plain_text.ByteSource,
    schemas: Schemas,
    expected: str,
    *,
    queries: Collection[str] | None = None,
    name: str | None,
    limits: plain_text.Limits | None,
    tags: Tags | None = None,
) -> Rows:
    """Reads a whole file.

    schemas   the formats that this kind of file may have, each with what its rows hold, the richest first
    expected  what the file should be, "run" or "judgments"
    tags      looks at the run tags, where schemas read them

    Raises FileRejected at once for an empty file and for what makes reading on pointless (limits, compression); all
    other problems are in the rows' `problems`.
    """
    # A block that is freed untouched. glibc then keeps smaller ones when they are freed: otherwise each piece of a file
    # would get its memory from the system anew, page by page, which takes a quarter of the time of reading.
    np.empty(KEPT_BYTES, np.uint8)
    problems = Problems(plain_text.source_name(source, name), limits or plain_text.Limits(), queries)
    rows = Rows(problems, tags)
    with plain_text.open_plain(source, problems.limits, problems.name) as text:
        head = text.peek(HEAD_BYTES)
        if head[:1] == bytes([plain_text.COMMENT]):
            rows.said = header_metadata(text.peek(HEADER_BYTES))
        if "archive" not in schemas and is_archive(head):
            raise problems.rejection("is an archive; give the file itself, plain or gzipped")
        file_format = next(name for name in READERS if name in schemas and READERS[name].recognises(head))
        if file_format == "columns":
            problems.guess = guess_content(head, expected)
        for table in READERS[file_format].read(text, schemas[file_format], problems):
            rows.add(table)
    return rows
