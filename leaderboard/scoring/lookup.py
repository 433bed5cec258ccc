"""Finds judged documents in a run: by hash at first, and by the ids themselves where hashes agree."""

from functools import cached_property

import numpy as np

from leaderboard.formats import Keys, Texts, keys, pair_keys
from leaderboard.metrics import Bools, Ints

__all__ = ["Lookup"]

SLOTS_PER_JUDGMENT = 64  # of the table: one unjudged document in so many takes the slow way
FEWEST_BITS, MOST_BITS = 16, 26
ROWS_AT_ONCE = 1 << 16  # what stays within the processor's cache


class Lookup:
    """Pairs of a query and a document, none of them twice.

    number    int64[J], the query of each
    document  S[J], ids
    """

    def __init__(self, number: Ints, document: Texts) -> None:
        key = keys(document)
        pair = pair_keys(number, key)
        self._order = np.argsort(pair)
        self._pair = pair[self._order]
        self._number = number[self._order]
        self._document = document[self._order]
        self._key = key

    @cached_property
    def _slots(self) -> tuple[np.uint64, Bools]:
        bits = (max(len(self._key), 1) * SLOTS_PER_JUDGMENT).bit_length()
        shift = np.uint64(64 - min(max(bits, FEWEST_BITS), MOST_BITS))
        taken = np.zeros(1 << (64 - int(shift)), np.bool_)
        taken[self._key >> shift] = True
        return shift, taken

    def may_hold(self, key: Keys) -> Ints:
        """The rows whose document may be one of these, given each document's hash; few of the others."""
        shift, taken = self._slots
        found = [
            start + np.flatnonzero(taken.take((key[start : start + ROWS_AT_ONCE] >> shift).view(np.int64)))
            for start in range(0, len(key), ROWS_AT_ONCE)
        ]
        return np.concatenate([np.empty(0, np.int64), *found])

    def find(self, number: Ints, key: Keys, document: Texts) -> Ints:
        """int64[n]: the place of each pair among these, -1 where it is none of them; `key` is the documents' hashes."""
        place = np.full(len(number), -1)
        pair = pair_keys(number, key)
        at = np.searchsorted(self._pair, pair)
        rows = np.flatnonzero(at < len(self._pair))
        while len(rows):
            rows = rows[self._pair[at[rows]] == pair[rows]]
            there = at[rows]
            same = (self._number[there] == number[rows]) & (self._document[there] == document[rows])
            place[rows[same]] = self._order[there[same]]
            rows = rows[~same]  # another pair with the same hash: the next one may be it
            at[rows] += 1
            rows = rows[at[rows] < len(self._pair)]
        return place
