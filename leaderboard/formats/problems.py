"""Collects what is wrong with one file, in line order, up to a limit."""

from collections.abc import Iterable
from heapq import nsmallest
from operator import itemgetter
from typing import NamedTuple

from leaderboard.errors import FileRejected, Problem
from leaderboard.formats.values import shown

__all__ = ["WHOLE", "Part", "Problems"]


class Part(NamedTuple):
    """One file within an archive, whose lines are numbered by themselves.

    name   "" for a file that stands alone
    query  what all of its lines are about; "" where each line says so itself
    """

    place: int = 0
    name: str = ""
    query: str = ""


WHOLE = Part()


class Problems:
    """Everything wrong with a file: the first ones by line, and how many there are in all.

    part  the file of an archive that is being read
    """

    def __init__(self, name: str, keep: int) -> None:
        self.name = name
        self.keep = keep
        self.count = 0
        self.part = WHOLE
        self._first: list[tuple[tuple[int, int], str]] = []

    def __bool__(self) -> bool:
        return self.count > 0

    def add(self, line: int, message: str, part: Part | None = None) -> None:
        """Adds one problem; line 0 is the file as a whole."""
        self.extend([(line, message)], part=part)

    def extend(self, found: Iterable[tuple[int, str]], uncounted: int = 0, part: Part | None = None) -> None:
        """Adds problems as (line, message). `uncounted`: how many more there are that come later than these."""
        part = part or self.part
        suffix = f" (in {shown(part.name)})" if part.name else ""
        placed = [((part.place, line), message + suffix) for line, message in found]
        self.count += len(placed) + uncounted
        self._first = nsmallest(self.keep, [*self._first, *placed], key=itemgetter(0))

    def rejection(self) -> FileRejected:
        problems = [Problem(line or None, message) for (_, line), message in self._first]
        return FileRejected(problems, self.count, self.name)

    def raise_if_any(self) -> None:
        """Raises FileRejected when anything was added."""
        if self:
            raise self.rejection()
