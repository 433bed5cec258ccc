"""A long column of ids, held in parts."""

from collections.abc import Iterable, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats.texts import Texts, as_texts

__all__ = ["Ids"]


class Ids:
    """Ids, one a line. A part is as wide as its own longest id, so that one long id does not widen millions."""

    def __init__(self, parts: Sequence[Texts]) -> None:
        self._parts = [part for part in parts if len(part)]
        self._starts = np.array([0, *accumulate(map(len, self._parts))], np.int64)

    @classmethod
    def of(cls, ids: Iterable[str]) -> "Ids":
        return cls([as_texts(ids)])

    def __len__(self) -> int:
        return int(self._starts[-1])

    def take(self, rows: NDArray[np.int64]) -> Texts:
        """S[n]: the ids of some rows, in any order."""
        part = np.searchsorted(self._starts, rows, side="right") - 1
        order = np.argsort(part, kind="stable")
        bounds = np.searchsorted(part[order], np.arange(len(self._parts) + 1))
        chosen = [
            (order[first:last], self._parts[number])
            for number, (first, last) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))
            if first < last
        ]
        taken = np.empty(len(rows), max((ids.dtype for _, ids in chosen), key=lambda kind: kind.itemsize, default="S8"))
        for wanted, ids in chosen:
            taken[wanted] = ids[rows[wanted] - self._starts[part[wanted[0]]]]
        return taken

    def to_list(self) -> list[str]:
        """All of them, decoded."""
        return [id_.decode() for part in self._parts for id_ in part.tolist()]
