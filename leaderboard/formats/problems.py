"""Collects what is wrong with one file: every kind of mistake with its count, and the first lines of each."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import nsmallest
from operator import itemgetter
from typing import NamedTuple

from leaderboard.errors import FileRejected, Problem
from leaderboard.formats.checks import Wrong, WrongLine, shown
from leaderboard.formats.plain_text import Limits

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


@dataclass(slots=True)
class _Mistake:
    """One kind of mistake: how often it was made, the messages of its first lines, and whether all are the same."""

    count: int = 0
    first: list[tuple[tuple[int, int], str]] = field(default_factory=list)
    same: bool = True


class Problems:
    """Everything wrong with a file.

    keep   the most lines that are listed of one kind of mistake
    lines  lines read so far that say something, good or not
    guess  what the file seems to be, for files that are wrong on most of their lines; "": nothing in particular
    part   the file of an archive that is being read
    """

    def __init__(self, name: str, limits: Limits) -> None:
        self.name = name
        self.keep = limits.problems
        self._examples = limits.examples
        self.lines = 0
        self.guess = ""
        self.part = WHOLE
        self._mistakes: dict[str, _Mistake] = {}

    def __bool__(self) -> bool:
        return bool(self._mistakes)

    def add(self, line: int, wrong: Wrong, part: Part | None = None) -> None:
        """Adds one problem; line 0 is the file as a whole."""
        self.extend([wrong.on(line)], part)

    def extend(self, found: Iterable[WrongLine], part: Part | None = None) -> None:
        """Adds problems."""
        part = part or self.part
        suffix = f" (in {shown(part.name)})" if part.name else ""
        by_kind: dict[str, list[tuple[tuple[int, int], str]]] = {}
        for line, message, kind in found:
            by_kind.setdefault(kind, []).append(((part.place, line), message + suffix))
        for kind, placed in by_kind.items():
            mistake = self._mistakes.setdefault(kind, _Mistake())
            mistake.count += len(placed)
            mistake.first = nsmallest(self.keep, [*mistake.first, *placed], key=itemgetter(0))
            mistake.same = mistake.same and all(message == mistake.first[0][1] for _, message in placed)

    def add_unread(self, line: int, wrong: Wrong) -> None:
        """Adds a line that gives no row, and counts it among the lines."""
        self.lines += 1
        self.add(line, wrong)

    def count_more(self, kind: str, lines: int) -> None:
        """Counts a kind of mistake on so many lines more, later ones than any that were added."""
        if lines:
            self._mistakes[kind].count += lines
            self._mistakes[kind].same = False

    def rejection(self) -> FileRejected:
        """The rejection: sums of the mistakes that many lines have, the commonest first, then single lines in order."""
        sums: list[Problem] = []
        listed: list[tuple[tuple[int, int], Problem]] = []
        for kind, mistake in sorted(self._mistakes.items(), key=lambda item: -item[1].count):
            on_most_lines = 2 * mistake.count > self.lines > 0
            guess = self.guess if on_most_lines and mistake.count > 1 and not sums else ""
            many = mistake.count > (self._examples if on_most_lines else self.keep)
            if many or guess:
                message = f"{self._lines_in_words(mistake)}: {mistake.first[0][1] if mistake.same else kind}"
                sums.append(Problem(None, f"{message}; it looks like {guess}" if guess else message, mistake.count))
            for (part, line), message in mistake.first[: self._examples if many else None]:
                listed.append(((part, line), Problem(line or None, message, 0 if many or guess else 1)))
        listed.sort(key=itemgetter(0))
        return FileRejected([*sums, *(problem for _, problem in listed)], name=self.name)

    def _lines_in_words(self, mistake: _Mistake) -> str:
        _, first_line = mistake.first[0][0]
        if first_line == 0:
            return f"{mistake.count:,} files"
        if mistake.count >= self.lines:
            return f"all {mistake.count:,} lines"
        return f"{mistake.count:,} of {self.lines:,} lines"

    def raise_if_any(self) -> None:
        """Raises FileRejected when anything was added."""
        if self:
            raise self.rejection()
