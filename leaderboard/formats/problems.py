"""Collects what is wrong with one file, in line order, up to a limit."""

from collections.abc import Iterable
from heapq import nsmallest
from operator import itemgetter

from leaderboard.errors import FileRejected, Problem

__all__ = ["Problems"]


class Problems:
    """Everything wrong with a file: the first ones by line, and how many there are in all."""

    def __init__(self, name: str, keep: int) -> None:
        self.name = name
        self.keep = keep
        self.count = 0
        self._first: list[tuple[int, str]] = []

    def __bool__(self) -> bool:
        return self.count > 0

    def add(self, line: int, message: str) -> None:
        self.extend([(line, message)])

    def extend(self, found: Iterable[tuple[int, str]], uncounted: int = 0) -> None:
        """Adds problems as (line, message). `uncounted`: how many more there are that come later than these."""
        found = list(found)
        self.count += len(found) + uncounted
        self._first = nsmallest(self.keep, [*self._first, *found], key=itemgetter(0))

    def rejection(self) -> FileRejected:
        return FileRejected([Problem(line, message) for line, message in self._first], self.count, self.name)

    def raise_if_any(self) -> None:
        """Raises FileRejected when anything was added."""
        if self:
            raise self.rejection()
