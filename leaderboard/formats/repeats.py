"""Finds the rows whose query and document an earlier row has too, some queries at a time while a file is still read."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats.ids import Ids, Keys, Places, Texts, pair_keys

Queries = NDArray[np.uint32]

ROWS_AT_ONCE = 1 << 15
MOST_BY_SLOT = 1 << 16  # rows: among more, most would share a slot with another one
SLOT_BITS = 18  # few slots are shared by ROWS_AT_ONCE rows, and all stay in the processor's cache
SLOT_SHIFT = np.uint64(64 - SLOT_BITS)


class Repeats:
    """The search in rows that are still coming. As long as queries come one after the other, all rows but those of the
    last query can be searched at any time; otherwise there are none to find before the end.
    """

    def __init__(self) -> None:
        self._suspects: list[Places] = []
        self._searched = 0  # rows: whole queries
        self._seen = 0  # rows whose queries are known to come one after the other
        self._grouped = True

    def go_on(self, query: Queries, documents: Sequence[Texts]) -> None:
        """Searches what can be searched of the rows so far, once it is worth it.

        query      uint32[L]
        documents  their L ids, in parts
        """
        if not self._grouped or len(query) - self._searched <= ROWS_AT_ONCE:
            return
        self._look_at_queries(query)
        last = int(np.searchsorted(query, query[-1]))
        if self._grouped and last > self._searched:
            self._search(query, Ids(documents), last)

    def end(self, query: Queries, document: Ids) -> tuple[Places, Places]:
        """(int64[n], int64[n]): the rows whose query and document an earlier row has too, in order, and the first such
        row. query, document: of all rows.
        """
        self._look_at_queries(query)
        if self._grouped:
            self._search(query, document, len(query))
        else:
            self._suspects = [_suspects(query, document, 0, len(query))]
        return _confirmed(np.concatenate([np.empty(0, np.int64), *self._suspects]), query, document)

    def _look_at_queries(self, query: Queries) -> None:
        new = query[max(self._seen - 1, 0) :]
        self._grouped = self._grouped and bool((new[1:] >= new[:-1]).all())
        self._seen = len(query)

    def _search(self, query: Queries, document: Ids, end: int) -> None:
        """Searches the rows up to `end`, some whole queries at a time."""
        while self._searched < end:
            upto = min(self._searched + ROWS_AT_ONCE, end)
            if upto < end:
                upto = int(np.searchsorted(query, query[upto - 1], side="right"))
            self._suspects.append(_suspects(query, document, self._searched, upto))
            self._searched = upto


def repeated_rows(query: Queries, document: Ids) -> tuple[Places, Places]:
    """What `Repeats.end` gives, of rows that are all there."""
    return Repeats().end(query, document)


def _suspects(query: Queries, document: Ids, start: int, end: int) -> Places:
    """Rows from `start` to `end` whose query and hash some other of these rows has too."""
    pair = pair_keys(query[start:end], document.keys(start, end))
    some = _not_alone(pair) if len(pair) <= MOST_BY_SLOT else slice(None)
    pair = pair[some]
    ordered = np.sort(pair)
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    return np.arange(start, end)[some][np.isin(pair, again)] if len(again) else np.empty(0, np.int64)


def _not_alone(pair: Keys) -> Places:
    """Those that share their slot with another one: all equal ones, and a few more. Each row writes its number into its
    slot; whoever finds another number there shares it with that row.
    """
    slot = (pair >> SLOT_SHIFT).view(np.int64)
    row = np.arange(len(pair), dtype=np.uint32)
    owner = np.empty(1 << SLOT_BITS, np.uint32)  # what no row writes, none reads
    owner[slot] = row
    other = owner.take(slot)
    shares = other != row
    shares[other[shares]] = True
    return np.flatnonzero(shares)


def _confirmed(rows: Places, query: Queries, document: Ids) -> tuple[Places, Places]:
    """Of these rows, as `Repeats.end` gives them, by their documents as texts."""
    documents = document.take(rows)
    order = np.lexsort((rows, documents, query[rows]))
    rows, documents = rows[order], documents[order]
    same = (query[rows[1:]] == query[rows[:-1]]) & (documents[1:] == documents[:-1])
    starts = np.flatnonzero(np.concatenate((np.ones(min(len(rows), 1), np.bool_), ~same)))
    first = np.repeat(rows[starts], np.diff(starts, append=len(rows)))
    later = np.flatnonzero(rows > first)
    later = later[np.argsort(rows[later])]
    return rows[later], first[later]
