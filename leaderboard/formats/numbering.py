"""Numbers query ids as they come, block after block."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats.texts import Texts, as_texts, keys

__all__ = ["Numbering"]

MOSTLY_GROUPED = 4  # lines per change of query from which a look-up for each change is the faster way
SLOTS_PER_QUERY = 64  # of the table: one query in so many shares its slot and is looked up the slow way
MOST_BITS = 20
GROWTH = 1.25


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
