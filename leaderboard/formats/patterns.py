"""Patterns of ids and tags: RE2's regular expressions, which match the whole text in time linear in its length. Run
tags as the lines of a file have them: what an organiser asks of each, and whether they are all the same.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaderboard.errors import BadInput
from leaderboard.formats.ids import Texts, byte_strings, stretches
from leaderboard.formats.plain_text import LONGEST_TAG, harmless
from leaderboard.formats.problems import Part, Problems, Wrong
from leaderboard.formats.tables import Table

LONGEST_PATTERN = 200  # characters
MOST_MEMORY = 1 << 20  # bytes of what RE2 makes of a pattern; longer ones are refused
IDS_AT_ONCE = 4096


class Pattern:
    r"""A pattern ready to be held against any number of ids.

    >>> Pattern(r"doc-\d{1,5}").matches("doc-17"), Pattern("[a-z]+").matches("d7")
    (True, False)
    """

    def __init__(self, text: str) -> None:
        """Raises BadInput that says what is wrong with the pattern."""
        if len(text) > LONGEST_PATTERN:
            raise BadInput(f"a pattern has at most {LONGEST_PATTERN} characters")
        if not all("!" <= sign <= "~" for sign in text):
            raise BadInput("a pattern holds ASCII letters, digits and signs only, and no blank")
        if r"\C" in text:  # the one sign that would match a line end, below
            raise BadInput(r"a pattern holds no \C: it would match parts of characters")
        self.text = text
        self._id = _compiled(text)
        # Whole lines, each with its end: nothing in the pattern matches a line end, so that \C after $ is one.
        self._lines = _compiled(rf"(?:(?:{text})(?m:$)\C)*")

    def matches(self, text: str) -> bool:
        return bool(self.matching(byte_strings([text.encode()]))[0])

    def matching(self, texts: Texts) -> NDArray[np.bool_]:
        """bool[n]: which of the texts it matches. None of them holds a line end.

        Many texts are matched by one call; only where one of them is wrong, each by its own.
        """
        matching = np.ones(len(texts), np.bool_)
        for start in range(0, len(texts), IDS_AT_ONCE):
            block = texts[start : start + IDS_AT_ONCE].tolist()
            if not self._lines.fullmatch(b"\n".join([*block, b""])):
                matching[start : start + len(block)] = [bool(self._id.fullmatch(text)) for text in block]
        return matching


def _compiled(text: str) -> Any:
    import re2  # loads a library, which most files can do without

    options = re2.Options()
    options.never_nl = True
    options.never_capture = True
    options.log_errors = False
    options.max_mem = MOST_MEMORY
    try:
        return re2.compile(text, options)
    except re2.error as error:
        raise BadInput(f"this is no pattern: {error.args[0].decode()}") from None


MOST_NAMED = 3


class Tags:
    """The run tags of a file. They hardly ever change, so that only those are looked at that differ from the one of the
    line before.

    pattern  what each has to look like; None: nothing is asked
    named    the first different ones
    """

    def __init__(self, pattern: Pattern | None = None) -> None:
        self.pattern = pattern
        self.named: list[str] = []

    def check(self, table: Table, tags: Texts, problems: Problems) -> None:
        """Adds each line of a table whose tag has not the form that is asked for to the problems.

        tags  of its rows, each cut off behind the most bytes that an id may have
        """
        starts = stretches(tags)
        different = tags[starts]
        if len(self.named) < MOST_NAMED:
            self._name(different)
        if self.pattern is None or not len(starts):
            return
        wrong = ~self.pattern.matching(different) | (np.char.str_len(different) > problems.limits.id_bytes)
        fault = f"has not the form that is asked for here: {self.pattern.text}"

        def told(row: int) -> tuple[int, Wrong, Part]:
            tag = tags[row].decode(errors="replace")
            return table.numbers[row], Wrong.value("run tag", tag, fault), table.part

        rows = np.flatnonzero(np.repeat(wrong, np.diff(starts, append=len(tags))))
        problems.add_first(rows.tolist(), f"the run tag {fault}", told)

    def _name(self, different: Texts) -> None:
        for tag in np.unique(different).tolist() if len(different) > MOST_NAMED else different.tolist():
            name = harmless(tag.decode(errors="replace"), LONGEST_TAG)
            if name not in self.named and len(self.named) < MOST_NAMED:
                self.named.append(name)
