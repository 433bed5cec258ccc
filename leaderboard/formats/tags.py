"""Run tags as the lines of a file have them: what an organiser asks of each, and whether they are all the same."""

import numpy as np

from leaderboard.formats.ids import Texts, changes
from leaderboard.formats.patterns import Pattern
from leaderboard.formats.problems import Problems, Wrong
from leaderboard.formats.sanitise import LONGEST_TAG, harmless, shown
from leaderboard.formats.tables import Table

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
        starts = np.concatenate((np.zeros(min(len(tags), 1), np.int64), changes(tags)))
        different = tags[starts]
        if len(self.named) < MOST_NAMED:
            self._name(different)
        if self.pattern is None or not len(starts):
            return
        wrong = ~self.pattern.matching(different) | (np.char.str_len(different) > problems.limits.id_bytes)
        rows = np.flatnonzero(np.repeat(wrong, np.diff(starts, append=len(tags))))
        what = f"has not the form that is asked for here: {self.pattern.text}"
        kind = f"the run tag {what}"
        first = rows[: problems.limits.problems]
        problems.extend(
            [
                Wrong(f"the run tag {shown(tag.decode(errors='replace'))} {what}", kind).on(table.numbers[row])
                for row, tag in zip(first.tolist(), tags[first].tolist(), strict=True)
            ],
            table.part,
        )
        problems.count_more(kind, len(rows) - len(first))

    def _name(self, different: Texts) -> None:
        for tag in np.unique(different).tolist() if len(different) > MOST_NAMED else different.tolist():
            name = harmless(tag.decode(errors="replace"), LONGEST_TAG)
            if name not in self.named and len(self.named) < MOST_NAMED:
                self.named.append(name)
