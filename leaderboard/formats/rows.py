"""The rows of one file as they are read, and where each of them stands."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats.checks import UNKNOWN_QUERY, Wrong, shown, unknown_query
from leaderboard.formats.ids import Ids, Keys, Places, Texts, as_texts, keys, pair_keys
from leaderboard.formats.problems import Part, Problems
from leaderboard.formats.tables import Schema, Table

__all__ = ["Growing", "Numbering", "Rows", "repeated_rows"]

Scalar = TypeVar("Scalar", bound=np.generic)

FIRST_ROWS = 1 << 14
MOSTLY_GROUPED = 4  # lines per change of query from which a look-up for each change is the faster way
SLOTS_PER_QUERY = 64  # of the table: one query in so many shares its slot and is looked up the slow way
MOST_BITS = 20
GROWTH = 1.25
ROWS_AT_ONCE = 1 << 16  # what sorts within the processor's cache
NO_KEYS = np.empty(0, np.uint64)


class Rows:
    """What a file holds, as columns; its queries are numbered in the order of their first appearance.

    problems  everything wrong so far; raise it when all checks are done
    allowed   the evaluation's queries: any other is a problem; None: every query is welcome
    file_bytes  size of the file; 0: not known
    schema    which columns it has
    end       the fields of its last line, of a text in columns
    """

    def __init__(self, problems: Problems, allowed: frozenset[str] | None, file_bytes: int = 0) -> None:
        self.problems = problems
        self.allowed = allowed
        self.file_bytes = file_bytes
        self.schema: Schema | None = None
        self.end: Sequence[str] = ()
        self._numbering = Numbering()
        self._unknown = Growing(np.bool_)  # which of the queries are not allowed
        self._query = Growing(np.uint32)
        self._key = Growing(np.uint64)
        self._score = Growing(np.float64)
        self._tables: list[Table] = []
        self._starts = [0]

    def __len__(self) -> int:
        return self._starts[-1]

    @property
    def queries(self) -> tuple[str, ...]:
        return tuple(self._numbering.ids)

    @property
    def query(self) -> NDArray[np.uint32]:
        """uint32[rows], index into `queries`."""
        return self._query.values

    @property
    def key(self) -> Keys:
        """uint64[rows], a hash of each document id."""
        return self._key.values

    @property
    def score(self) -> NDArray[np.float64]:
        """float64[rows], of files that hold scores."""
        return self._score.values

    @cached_property
    def document(self) -> Ids:
        """The document ids, once all rows are there."""
        return Ids([table.columns["document"] for table in self._tables])

    def column(self, name: str) -> NDArray[Any]:
        """Any other column, in the order of the file."""
        return np.concatenate([table.columns[name] for table in self._tables])

    def reserve(self, rows: int) -> None:
        """Makes room for `rows` rows in all; an estimate, which only saves copying."""
        columns: list[Growing[Any]] = [self._query, self._key, self._score]
        for column in columns:
            column.reserve(rows)

    def add(self, table: Table) -> None:
        """Appends rows, and notes what is wrong with others."""
        self.schema = table.schema
        self.end = table.end or self.end
        if self.allowed is not None:
            self.problems.extend(
                unknown_query(query).on(line) for line, query in table.lost if query not in self.allowed
            )
        self.problems.extend(table.wrong, part=table.part)
        self.problems.lines += table.rows + len({wrong.line for wrong in table.wrong})
        about = table.part.query
        if about:
            codes = np.full(table.rows, self._numbering.number(about), np.uint32)
        else:
            codes = self._numbering.encode(table.columns["query"])
        self._query.extend(codes)
        self._key.extend(table.key)
        if "score" in table.columns:
            self._score.extend(table.columns["score"])
        kept = {name: column for name, column in table.columns.items() if name not in ("query", "score")}
        self._tables.append(replace(table, columns=kept, key=NO_KEYS, wrong=(), lost=()))
        self._starts.append(len(self) + len(codes))
        if not about:
            self._check_queries(table, codes)

    def _check_queries(self, table: Table, codes: NDArray[np.uint32]) -> None:
        if self.allowed is None:
            return
        ids = self._numbering.ids
        fresh = ids[len(self._unknown.values) :]
        self._unknown.extend(np.array([query not in self.allowed for query in fresh], np.bool_))
        rows = np.flatnonzero(self._unknown.values[codes])
        told = rows[: self.problems.keep].tolist()
        self.problems.extend(unknown_query(ids[codes[row]]).on(table.line(row)) for row in told)
        self.problems.count_more(UNKNOWN_QUERY, len(rows) - len(told))

    def tell(self, later: NDArray[np.int64], first: NDArray[np.int64], what: str) -> None:
        """Adds a problem for each of the rows that `repeated_rows` gives; `what` says it of a document."""
        told = later[: self.problems.keep]
        kind = f"a document {what} for one query"
        documents = self.document.take(told).tolist()
        for row, earlier, document in zip(told.tolist(), first.tolist(), documents, strict=False):
            (line, part), (first_line, _) = self._line(row), self._line(earlier)
            where = f"for query {shown(self._numbering.ids[self.query[row]])} (first on line {first_line})"
            self.problems.add(line, Wrong(f"document {shown(document.decode())} {what} {where}", kind), part)
        self.problems.count_more(kind, len(later) - len(told))

    def _line(self, row: int) -> tuple[int, Part]:
        """The 1-based line that a row stands on, and the file of an archive."""
        place = bisect_right(self._starts, row) - 1
        return self._tables[place].line(row - self._starts[place]), self._tables[place].part


class Growing(Generic[Scalar]):
    """An array that grows as blocks of values are appended to it."""

    def __init__(self, kind: type[Scalar]) -> None:
        self._values: NDArray[Scalar] = np.empty(FIRST_ROWS, kind)
        self._size = 0

    def reserve(self, size: int) -> None:
        """Makes room for so many values in all, so that appending them copies nothing."""
        if size > len(self._values):
            larger = np.empty(size, self._values.dtype)
            larger[: self._size] = self.values
            self._values = larger

    def extend(self, values: NDArray[Scalar]) -> None:
        size = self._size + len(values)
        if size > len(self._values):
            self.reserve(2 * size)
        self._values[self._size : size] = values
        self._size = size

    @property
    def values(self) -> NDArray[Scalar]:
        """What was appended so far; a view."""
        return self._values[: self._size]


class Numbering:
    """Query ids in the order of their first appearance, and each row's index among them."""

    def __init__(self) -> None:
        self._index: dict[str, int] = {}
        self._ids: list[str] = []
        self._texts = as_texts([""])  # of the table: the ids that were known when it was made
        self._slots = np.zeros(2, np.uint32)  # by the highest bits of an id's hash, its index

    @property
    def ids(self) -> Sequence[str]:
        return self._ids

    def number(self, query: str) -> int:
        """A query's index, given now if it had none."""
        index = self._index.setdefault(query, len(self._ids))
        if index == len(self._ids):
            self._ids.append(query)
        return index

    def encode(self, queries: Texts) -> NDArray[np.uint32]:
        """uint32[rows]: each row's query as its index in `ids`."""
        changes = np.flatnonzero(queries[1:] != queries[:-1]) + 1
        starts = np.concatenate((np.zeros(min(len(queries), 1), np.int64), changes))
        if len(starts) * MOSTLY_GROUPED <= len(queries):
            return np.repeat(self._number_each(queries[starts]), np.diff(starts, append=len(queries)))
        bits = len(self._slots).bit_length() - 1
        codes = self._slots.take((keys(queries) >> np.uint64(64 - bits)).view(np.int64))
        rest = np.flatnonzero(self._texts.take(codes) != queries)
        if len(rest):
            codes[rest] = self._encode_slowly(queries[rest])
            self._make_table()
        return codes

    def _encode_slowly(self, queries: Texts) -> NDArray[np.uint32]:
        found, first, place = np.unique(queries, return_index=True, return_inverse=True)
        codes = np.empty(len(found), np.uint32)
        by_appearance = np.argsort(first)
        codes[by_appearance] = self._number_each(found[by_appearance])
        return codes[place]

    def _number_each(self, queries: Texts) -> NDArray[np.uint32]:
        return np.array([self.number(query.decode()) for query in queries.tolist()], np.uint32)

    def _make_table(self) -> None:
        """Makes the table anew once many ids are missing from it: not for each few, or many ids would take for ever."""
        if len(self._ids) < len(self._texts) * GROWTH:
            return
        self._texts = as_texts(self._ids)
        bits = min((len(self._ids) * SLOTS_PER_QUERY).bit_length(), MOST_BITS)
        self._slots = np.zeros(1 << bits, np.uint32)
        self._slots[keys(self._texts) >> np.uint64(64 - bits)] = np.arange(len(self._texts))


def repeated_rows(query: NDArray[np.uint32], key: Keys, document: Ids) -> tuple[Places, Places]:
    """(int64[n], int64[n]): the rows whose query and document an earlier row has too, in order, and the first such row.

    query     uint32[L]
    key       uint64[L], a hash of each document id
    document  L ids
    """
    rows = np.concatenate([np.empty(0, np.int64), *_suspects(query, key)])
    documents = document.take(rows)
    order = np.lexsort((rows, documents, query[rows]))
    rows, documents = rows[order], documents[order]
    same = (query[rows[1:]] == query[rows[:-1]]) & (documents[1:] == documents[:-1])
    starts = np.flatnonzero(np.concatenate((np.ones(min(len(rows), 1), np.bool_), ~same)))
    first = np.repeat(rows[starts], np.diff(starts, append=len(rows)))
    later = np.flatnonzero(rows > first)
    later = later[np.argsort(rows[later])]
    return rows[later], first[later]


def _suspects(query: NDArray[np.uint32], key: Keys) -> Iterator[Places]:
    """Rows whose query and hash some other row has too, in order."""
    for start, end in _stretches(query):
        pair = pair_keys(query[start:end], key[start:end])
        ordered = np.sort(pair)
        again = ordered[1:][ordered[1:] == ordered[:-1]]
        if len(again):
            yield start + np.flatnonzero(np.isin(pair, again))


def _stretches(query: NDArray[np.uint32]) -> Iterator[tuple[int, int]]:
    """Parts [start, end) that hold whole queries: one of all rows unless the queries come one after the other."""
    size = len(query)
    if not (query[1:] >= query[:-1]).all():
        yield 0, size
        return
    start = 0
    while start < size:
        end = min(start + ROWS_AT_ONCE, size)
        if end < size:
            end = int(np.searchsorted(query, query[end - 1], side="right"))
        yield start, end
        start = end
