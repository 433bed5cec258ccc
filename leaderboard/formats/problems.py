"""Collects what is wrong with one file: every kind of mistake with its count, and the first lines of each; and guesses
from its first line what a file is that can't be read as what it should be.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple, NoReturn

from leaderboard.errors import FileRejected, Problem
from leaderboard.formats import plain_text
from leaderboard.numbers import is_whole

MOST_TOLD = 80  # of all problems of one file
BATCH_BYTES = plain_text.MIB // 4  # few enough lines that Python need not search them for garbage
LOOK_EVERY = 1000  # lines


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
        quoted = plain_text.shown(text) if is_seen else f"'{plain_text.shown(text)}'"
        return cls(f"{what} {quoted} {fault}{more}", f"the {what} {fault}")


WrongLine = tuple[int, Wrong]  # line 0 is the file as a whole


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
    return Wrong.value("query", query, "is not in this evaluation")


def wrong_width(expected: str, width: int, columns: object) -> Wrong:
    """A line of `width` columns where another number was expected; `columns` names those."""
    message = f"expected {expected} {'column' if expected == '1' else 'columns'}"
    return Wrong(f"{message}, found {width} ({columns})", f"{message} ({columns})")


def not_utf8(error: UnicodeDecodeError) -> Wrong:
    """A line that can't be decoded."""
    kind = "no UTF-8 text; save the file as UTF-8"
    return Wrong(f"byte {error.start + 1} is {kind}", kind)


class Problems:
    """Everything wrong with a file.

    name     what messages call the file
    limits   its limits; at most `limits.problems` lines are listed of one kind of mistake
    allowed  the evaluation's queries: any other is a problem; None: every query is welcome
    lines    lines read so far, without comments and empty lines
    guess    what the file seems to be, for files that are wrong on most of their lines; "": nothing in particular
    part     the file of an archive that is being read
    """

    def __init__(self, name: str, limits: plain_text.Limits, queries: Collection[str] | None = None) -> None:
        self.name = name
        self.limits = limits
        self.allowed = None if queries is None else frozenset(queries)
        self.lines = 0
        self.guess = ""
        self.part = WHOLE
        self._counts = Counter[str]()  # by the kind of mistake
        self._first = defaultdict[str, list[tuple[int, int, str]]](list)  # the archive's file, line and message of some

    def add(self, line: int, wrong: Wrong, part: Part | None = None) -> None:
        """Adds one problem; line 0 is the file as a whole."""
        part = part or self.part
        message = plain_text.harmless(wrong.message, plain_text.LONGEST_MESSAGE) + (
            f" (in {plain_text.shown(part.name)})" if part.name else ""
        )
        self._counts[wrong.kind] += 1
        if len(self._first[wrong.kind]) < self.limits.problems:
            self._first[wrong.kind].append((part.place, line, message))

    def add_lines(self, wrong_lines: Iterable[WrongLine], rows: int) -> None:
        """Adds the problems of lines among which so many rows were sound, and counts all of them."""
        numbers = set()
        for line, wrong in wrong_lines:
            self.add(line, wrong)
            numbers.add(line)
        self.lines += rows + len(numbers)

    def add_unread(self, line: int, wrong: Wrong) -> None:
        """Adds a line that gives no row, and counts it among the lines. Raises FileRejected when too many are wrong."""
        self.lines += 1
        self.add(line, wrong)
        if self.lines % LOOK_EVERY == 0:
            self.raise_if_hopeless()

    def add_first(
        self, rows: Sequence[int], say: Callable[[int], Wrong], line_of: Callable[[int], tuple[int, Part]]
    ) -> None:
        """Adds a kind of mistake in many rows, in order: `say` tells of the first ones, the rest is counted."""
        for row in rows[: self.limits.problems]:
            wrong = say(row)
            self.add(line_of(row)[0], wrong, line_of(row)[1])
        if more := len(rows[self.limits.problems :]):
            self._counts[wrong.kind] += more

    @property
    def count(self) -> int:
        """How many mistakes there are so far."""
        return self._counts.total()

    def raise_if_hopeless(self) -> None:
        """Raises FileRejected when so much is wrong that reading on would tell nobody more."""
        if self.count > self.limits.wrong:
            self.add(0, Wrong(f"more than {self.limits.wrong:,} mistakes; reading ended there"), WHOLE)
            self.raise_if_any()

    def raise_if_any(self) -> None:
        """Raises FileRejected when anything was added: what many lines have in common, then single lines in order."""
        if not self.count:
            return
        sums: list[Problem] = []
        listed: list[tuple[int, int, str, int]] = []
        for kind, count in self._counts.most_common():
            first = self._first[kind]
            on_most_lines = 2 * count > self.lines > 0
            guess = f"; it looks like {self.guess}" if self.guess and on_most_lines and not sums else ""
            is_summed_up = count > self.limits.problems or guess != ""
            if is_summed_up:
                what = f"{count:,} of {self.lines:,} lines" if first[0][1] else f"{count:,} files"
                sums.append(Problem(None, f"{what}: {kind}{guess}", count))
            listed += [(*example, 0 if is_summed_up else 1) for example in first]
        listed.sort(key=lambda item: item[:2])
        single = [Problem(line or None, message, stands_for) for _, line, message, stands_for in listed]
        raise FileRejected([*sums, *single][:MOST_TOLD], self.count, self.name)

    def rejection(self, message: str, line: int | None = None) -> FileRejected:
        """A rejection of the file for one reason."""
        return plain_text.rejection(self.name, message, line)

    def raise_empty(self, what: str = "is empty") -> NoReturn:
        """Raises FileRejected for a file without a single row: for its problems, or else because it `is empty`."""
        self.raise_if_any()
        raise self.rejection(what)


def numbered_lines(
    text: plain_text.CappedReader, problems: Problems, size: int = BATCH_BYTES
) -> Iterator[tuple[int, str]]:
    """Each line with its number, 1 is the first. One that is no UTF-8 text is a problem, and empty.

    size  how many bytes are read at once. Raises FileRejected as `cut` does.
    """
    for piece in plain_text.cut(text, problems.limits, size):
        yield from decoded(piece, problems)


def decoded(piece: plain_text.Piece, problems: Problems) -> Iterator[tuple[int, str]]:
    """The same of a piece."""
    for number, line in zip(piece.numbers, piece.lines(), strict=True):
        try:
            content = line.decode()
        except UnicodeDecodeError as error:
            problems.add_unread(number, not_utf8(error))
            content = "\n"
        yield number, content


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
