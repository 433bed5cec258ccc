"""Numbers query ids as they come, block after block."""

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats.texts import Texts

__all__ = ["Codes"]

MOSTLY_GROUPED = 4  # lines per change of query from which a look-up for each change is the faster way


class Codes:
    """Query ids in the order of their first appearance, and each row's index among them."""

    def __init__(self) -> None:
        self._index: dict[str, int] = {}

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def number(self, query: str) -> int:
        """A query's index, given now if it had none."""
        return self._index.setdefault(query, len(self._index))

    def encode(self, queries: Texts) -> NDArray[np.uint32]:
        """uint32[rows]: each row's query as its index in `ids`."""
        changes = np.flatnonzero(queries[1:] != queries[:-1]) + 1
        starts = np.concatenate((np.zeros(min(len(queries), 1), np.int64), changes))
        if len(starts) * MOSTLY_GROUPED <= len(queries):
            return np.repeat(self._number_each(queries[starts]), np.diff(starts, append=len(queries)))
        found, first, place = np.unique(queries, return_index=True, return_inverse=True)
        codes = np.empty(len(found), np.uint32)
        by_appearance = np.argsort(first)
        codes[by_appearance] = self._number_each(found[by_appearance])
        return codes[place]

    def _number_each(self, queries: Texts) -> NDArray[np.uint32]:
        return np.array([self.number(query.decode()) for query in queries.tolist()], np.uint32)
