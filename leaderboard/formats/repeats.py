"""Finds documents that a query has twice, over millions of rows."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats.ids import Ids
from leaderboard.formats.texts import Keys, pair_keys

__all__ = ["repeated_rows"]

ROWS_AT_ONCE = 1 << 16  # what sorts within the processor's cache

Rows = NDArray[np.int64]


def repeated_rows(query: NDArray[np.uint32], key: Keys, document: Ids) -> tuple[Rows, Rows]:
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


def _suspects(query: NDArray[np.uint32], key: Keys) -> Iterator[Rows]:
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
