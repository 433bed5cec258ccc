"""Collects what is wrong with one file: every kind of mistake with its count, and the first lines of each; and guesses
from its first line what a file is that can't be read as what it should be.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from heapq import nsmallest
from itertools import accumulate
from operator import itemgetter
from typing import NamedTuple, NoReturn

from leaderboard.errors import FileRejected, Problem
from leaderboard.formats.plain_text import LONGEST_MESSAGE, Limits, harmless, rejection, shown
from leaderboard.numbers import is_whole

MOST_BYTES = 32 * 1024  # of all that is told of one file
ROW_BYTES = 100  # of a problem beside its message
LOOK_EVERY = 1000  # lines
UNKNOWN = "is not in this evaluation"
UNKNOWN_QUERY = f"the query {UNKNOWN}"


class Wrong(ValueError):
    """What is wrong with one line or value.

    message  with the value
    kind     the same for every line with this mistake, so that they can be counted
    """

    def __init__(self, message: str, kind: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind or message

    @classmethod
    def value(cls, what: str, text: str, fault: str, more: str = "") -> "Wrong":
        """What is wrong with a value, and `more` of this one. In quotes where it would not be seen otherwise."""
        is_seen = text and not any(map(str.isspace, text))
        quoted = shown(text) if is_seen else f"'{shown(text)}'"
        return cls(f"{what} {quoted} {fault}{more}", f"the {what} {fault}")

    def on(self, line: int) -> "WrongLine":
        return WrongLine(line, self.message, self.kind)


class WrongLine(NamedTuple):
    """What is wrong with a line, and which one it is; line 0 is the file as a whole."""

    line: int
    message: str
    kind: str


class Part(NamedTuple):
    """One file within an archive, whose lines are numbered by themselves.

    name   "" for a file that stands alone
    query  what all of its lines are about; "" where each line says so itself
    """

    place: int = 0
    name: str = ""
    query: str = ""


WHOLE = Part()


def unknown_query(query: str) -> Wrong:
    """A query that the evaluation does not have."""
    return Wrong.value("query", query, UNKNOWN)


def wrong_width(expected: str, width: int, columns: object) -> Wrong:
    """A line of `width` columns where another number was expected; `columns` names those."""
    message = f"expected {expected} {'column' if expected == '1' else 'columns'}"
    return Wrong(f"{message}, found {width} ({columns})", f"{message} ({columns})")


def _first_that_fit(problems: Sequence[Problem]) -> list[Problem]:
    """The first ones that together fit MOST_BYTES, as JSON and as rows of a page."""
    from html import escape  # brings a table of 2,000 names, and most files have no problem

    short = [replace(each, message=harmless(each.message, LONGEST_MESSAGE)) for each in problems]
    sizes = (max(len(json.dumps(each.message)), len(escape(each.message).encode())) + ROW_BYTES for each in short)
    return [each for each, size in zip(short, accumulate(sizes), strict=True) if size <= MOST_BYTES]


@dataclass(slots=True)
class _Mistake:
    """One kind of mistake: how often it was made, the messages of its first lines, and whether all are the same."""

    count: int = 0
    first: list[tuple[tuple[int, int], str]] = field(default_factory=list)
    same: bool = True

    def places(self) -> str:
        """On which lines it is, where all of them are known; those in the files of an archive are not told so."""
        lines = [line for (part, line), _ in self.first if line and not part]
        if len(lines) < self.count:
            return ""
        return f" (lines {', '.join(map(str, lines))})"


class Problems:
    """Everything wrong with a file.

    name     what messages call the file
    limits   its limits; at most `limits.problems` lines are listed of one kind of mistake
    allowed  the evaluation's queries: any other is a problem; None: every query is welcome
    lines    lines read so far, without comments and empty lines
    guess    what the file seems to be, for files that are wrong on most of their lines; "": nothing in particular
    part     the file of an archive that is being read
    """

    def __init__(self, name: str, limits: Limits, queries: Collection[str] | None = None) -> None:
        self.name = name
        self.limits = limits
        self.allowed = None if queries is None else frozenset(queries)
        self.lines = 0
        self.guess = ""
        self.part = WHOLE
        self._ended = False  # before the end of the file
        self._mistakes: dict[str, _Mistake] = {}

    def add(self, line: int, wrong: Wrong, part: Part | None = None) -> None:
        """Adds one problem; line 0 is the file as a whole."""
        self.extend([wrong.on(line)], part)

    def extend(self, wrong_lines: Iterable[WrongLine], part: Part | None = None) -> None:
        """Adds problems."""
        part = part or self.part
        suffix = f" (in {shown(part.name)})" if part.name else ""
        by_kind: dict[str, list[tuple[tuple[int, int], str]]] = {}
        for line, message, kind in wrong_lines:
            by_kind.setdefault(kind, []).append(((part.place, line), message + suffix))
        for kind, placed in by_kind.items():
            mistake = self._mistakes.setdefault(kind, _Mistake())
            mistake.count += len(placed)
            mistake.first = nsmallest(self.limits.problems, [*mistake.first, *placed], key=itemgetter(0))
            mistake.same = mistake.same and all(message == mistake.first[0][1] for _, message in placed)

    def add_unread(self, line: int, wrong: Wrong) -> None:
        """Adds a line that gives no row, and counts it among the lines. Raises FileRejected when too many are wrong."""
        self.lines += 1
        self.add(line, wrong)
        if self.lines % LOOK_EVERY == 0:
            self.raise_if_hopeless()

    def add_first(self, rows: Sequence[int], kind: str, say: Callable[[int], tuple[int, Wrong, Part]]) -> None:
        """Adds a kind of mistake in many rows, in order: `say` tells of the first ones, the rest is counted."""
        for row in rows[: self.limits.problems]:
            self.add(*say(row))
        if more := len(rows[self.limits.problems :]):
            self._mistakes[kind].count += more
            self._mistakes[kind].same = False

    @property
    def count(self) -> int:
        """How many mistakes there are so far."""
        return sum(mistake.count for mistake in self._mistakes.values())

    def raise_if_hopeless(self) -> None:
        """Raises FileRejected when so much is wrong that reading on would tell nobody more."""
        if self.count > self.limits.wrong:
            self._ended = True
            self.add(0, Wrong(f"more than {self.limits.wrong:,} mistakes; reading ended there"), WHOLE)
            self.raise_if_any()

    def raise_if_any(self) -> None:
        """Raises FileRejected when anything was added: what many lines have in common, then single lines in order."""
        if not self._mistakes:
            return
        sums: list[Problem] = []
        listed: list[tuple[tuple[int, int], Problem]] = []
        examples = self.limits.examples
        for kind, mistake in sorted(self._mistakes.items(), key=lambda item: -item[1].count):
            on_most_lines = 2 * mistake.count > self.lines > 0
            tells = mistake.count > 1 or self.lines == 1
            guess = self.guess if on_most_lines and tells and not sums else ""
            many = mistake.count > examples
            if many or guess:
                message = f"{self._lines_in_words(mistake)}: {mistake.first[0][1] if mistake.same else kind}"
                if not on_most_lines:
                    message += mistake.places()
                sums.append(Problem(None, f"{message}; it looks like {guess}" if guess else message, mistake.count))
            for (part, line), message in mistake.first[: examples if many else None]:
                listed.append(((part, line), Problem(line or None, message, 0 if many or guess else 1)))
        listed.sort(key=itemgetter(0))
        problems = _first_that_fit([*sums, *(problem for _, problem in listed)])
        raise FileRejected(problems, self.count, self.name)

    def raise_empty(self, what: str = "is empty") -> NoReturn:
        """Raises FileRejected for a file without a single row: for its problems, or else because it `is empty`."""
        self.raise_if_any()
        raise rejection(self.name, what)

    def _lines_in_words(self, mistake: _Mistake) -> str:
        _, first_line = mistake.first[0][0]
        if first_line == 0:
            return f"{mistake.count:,} files"
        if self._ended:
            return f"{mistake.count:,} of the {self.lines:,} lines read"
        if mistake.count >= self.lines:
            return {1: "its only line", 2: "both lines"}.get(mistake.count, f"all {mistake.count:,} lines")
        return f"{mistake.count:,} of {self.lines:,} lines"


TREC_EVAL = re.compile(r"(?=.{22}\t)\S+ +\t\S+\t\S+")  # it pads the measure to 22 characters
HEAD_BYTES = 4096  # what tells one format from another
RUN = "a run (query Q0 document rank score tag)"
JUDGMENTS = "judgments (query iteration document grade)"
PRINTED = "what trec_eval prints of a run; give the run itself"


def guess_content(head: bytes, expected: str) -> str:
    """What a file that begins so seems to be, to follow "it looks like"; "" when nothing in particular.

    expected  what it should be: "run", "judgments" or "queries". It is not guessed: the problems say what is wrong

    >>> guess_content(b"301 0 FBIS3-10082 1", "run")
    'judgments (query iteration document grade)'
    """
    if b"\0" in head:
        return "binary data, not text"
    if b"\r" in head and b"\n" not in head:
        return "text whose lines end with CR alone; save it with the line ends LF or CR LF"
    lines = (line.strip() for line in head.decode(errors="replace").splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    fields = first.split()
    if first.startswith(("<", "[")):
        return "HTML, XML or one JSON array; give plain text, or one JSON object a line"
    if TREC_EVAL.fullmatch(first):
        return PRINTED
    if expected != "judgments" and len(fields) == 4 and fields[2] not in ("Y", "N") and is_whole(fields[3]):
        return JUDGMENTS
    if expected != "run" and len(fields) == 6:
        return RUN
    if len(fields) <= 2 and expected != "queries" and re.search("[,;|]", first):
        return "CSV; part it by commas, and begin it with a header that names the columns"
    return ""
