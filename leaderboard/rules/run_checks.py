"""What would become of a run, said before it is submitted: from the file and what its reader may know.

Lines that can't be read and broken file rules would have it rejected. Besides, there are warnings about what is most
likely a slip: they ask for a yes before a run is queued. None of it follows from a judgment.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from leaderboard.errors import FileRejected, Problem
from leaderboard.formats import Limits, Run, RunRules, read_run
from leaderboard.numbers import counted

__all__ = ["CHECKED_BYTES", "Checked", "Expected", "Kind", "Warned", "check_run"]

CHECKED_BYTES = 16 * 2**20  # of a run's text, that the site reads: some 300,000 lines
# What bounds the memory of a check on the site, whatever the file: the worker takes more of all of it.
LIMITS = Limits(
    expanded_bytes=2 * CHECKED_BYTES, lines=4_000_000, all_id_bytes=12 * CHECKED_BYTES, queries=200_000, members=5000
)
NAMED = 5  # ids that are told
MOSTLY = 0.5  # the share of documents or queries from which on a run is said to be of something else


class Kind(StrEnum):
    """What a warning is about."""

    RETURNED = "returned"  # neither decisions nor θ, where a measure counts what was returned
    COLLECTION = "collection"  # documents of another collection
    TWIN = "twin"  # the team has submitted the same before


@dataclass(frozen=True, slots=True)
class Warned:
    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Expected:
    """What an evaluation expects of a run, as far as a reader may know.

    title        what it is called; "" offline
    queries      external ids of those that the reader knows of; None where that is nothing
    excluded     those that count no more, which a run may have a list for all the same
    rules        for files; None: there are none
    returned_by  measures on its board that count what was returned
    """

    title: str = ""
    queries: Sequence[str] | None = None
    excluded: Sequence[str] = ()
    rules: RunRules | None = None
    returned_by: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found.

    whole      whether all of the file was read; else its beginning
    problems   what it would be rejected for, and how many there are in all
    lines, queries, tag  of the run; 0 and "" where it can't be read
    depth      the fewest, the median and the most documents of a query that it lists
    decisions  whether it holds some
    threshold  θ as it would be submitted
    known      how many queries the reader knows of; None where there is nothing to compare with
    lacking    those of them without a list: how many, and the first
    unknown    queries of the run that the reader does not know of: how many, and the first
    foreign    lines whose document is not of the collection: how many, and the first documents; None where nobody knows
    said, said_problem  what the run says of itself
    seems_of   the title of another evaluation whose run it seems to be
    judged     the mean share of judged documents among the first ten of each query; None while that is not to be told
    twins      names of runs of the same team with the same text
    """

    name: str
    whole: bool
    problems: tuple[Problem, ...] = ()
    problem_count: int = 0
    lines: int = 0
    queries: int = 0
    tag: str = ""
    depth: tuple[int, int, int] = (0, 0, 0)
    decisions: bool = False
    threshold: float | None = None
    known: int | None = None
    lacking: tuple[int, tuple[str, ...]] = (0, ())
    unknown: tuple[int, tuple[str, ...]] = (0, ())
    foreign: tuple[int, tuple[str, ...]] | None = None
    said: dict[str, str] = field(default_factory=dict)
    said_problem: str = ""
    seems_of: str = ""
    judged: float | None = None
    twins: tuple[str, ...] = ()
    expected: Expected = field(default_factory=Expected)

    @property
    def is_read(self) -> bool:
        return self.lines > 0

    @property
    def is_elsewhere(self) -> bool:
        """Whether most of its documents, or of its queries, are not of this evaluation."""
        foreign = self.foreign is not None and self.foreign[0] > MOSTLY * self.lines
        return self.is_read and (foreign or self.unknown[0] > MOSTLY * self.queries)

    @property
    def warnings(self) -> tuple[Warned, ...]:
        """What asks for a yes."""
        found = []
        if self.is_read and self.expected.returned_by and not self.decisions and self.threshold is None:
            found.append(
                Warned(
                    Kind.RETURNED,
                    f"{self.expected.returned_by[0]} is shown here, and this run has neither decisions nor a threshold "
                    "θ: every document that it lists counts as returned.",
                )
            )
        if self.foreign is not None and self.foreign[0]:
            of = f" It looks like a run for {self.seems_of}." if self.seems_of and self.is_elsewhere else ""
            lines = f"{'All' if self.foreign[0] == self.lines else f'{self.foreign[0]:,} of'} {self.lines:,} lines"
            some = ", ".join(self.foreign[1])
            found.append(
                Warned(Kind.COLLECTION, f"{lines} name documents that are not of this collection, such as {some}.{of}")
            )
        elif self.is_elsewhere:
            of = f" It looks like a run for {self.seems_of}." if self.seems_of else ""
            some = ", ".join(self.unknown[1])
            queries = counted(self.queries, "query", "queries")
            found.append(
                Warned(
                    Kind.COLLECTION,
                    f"{self.unknown[0]:,} of its {queries} are not among those of this evaluation, such as {some}.{of}",
                )
            )
        if self.twins:
            found.append(
                Warned(Kind.TWIN, f"Your team has submitted a file with the same text before: {', '.join(self.twins)}.")
            )
        return tuple(found)

    def lines_in_words(self) -> list[str]:
        """The same as lines of text, for the command line."""
        lines = []
        if self.problem_count:
            lines.append(f"{self.name} would be rejected: {counted(self.problem_count, 'problem')}")
            lines += [f"  {problem}" for problem in self.problems]
        lines += [f"warning: {warned.text}" for warned in self.warnings]
        if self.is_read:
            fewest, median, most = self.depth
            depth = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,} (median {median:,})"
            size = f"{counted(self.lines, 'line')}, {counted(self.queries, 'query', 'queries')}"
            tag = f", tag {self.tag}" if self.tag else ""
            lines.append(f"{self.name}: {size}, {depth} documents a query{tag}")
            returned = f"what has a score of at least {self.threshold:g}" if self.threshold is not None else "all of it"
            lines.append(f"returned is {'what has decision Y' if self.decisions else returned}")
        if self.known is not None:
            lines.append(f"{self.known - self.lacking[0]:,} of {self.known:,} queries have a list")
        for what, (number, first) in (("no list for", self.lacking), ("queries that are not asked:", self.unknown)):
            if number:
                lines.append(f"{what} {', '.join(first)}{', …' if number > len(first) else ''}")
        if self.judged is not None:
            lines.append(f"{100 * self.judged:.0f} % of the first ten documents are judged")
        if self.said:
            lines.append(f"it says of itself: {', '.join(f'{key}: {text}' for key, text in self.said.items())}")
        if self.said_problem:
            lines.append(f"its metadata could not be read to the end: {self.said_problem}")
        if not self.problem_count and not self.warnings:
            lines.append("nothing speaks against submitting it")
        return lines


def check_run(
    text: bytes,
    expected: Expected,
    *,
    name: str,
    whole: bool = True,
    threshold: float | None = None,
    limits: Limits = LIMITS,
) -> tuple[Checked, Run | None]:
    """What would become of a run with this text, and the run where it can be read.

    whole  whether the text is all of the file, else lines from its start

    A query that the reader does not know of is told as such, whether or not the evaluation has it: hidden ones are
    known to nobody but organisers.
    """
    found = Checked(name, whole, threshold=threshold, expected=expected)
    try:
        run = read_run(io.BytesIO(text), name=name, limits=limits)
    except FileRejected as rejected:
        return replace(found, problems=rejected.problems, problem_count=rejected.count), None
    depth = np.bincount(run.query, minlength=len(run.queries))
    found = replace(
        found,
        lines=len(run),
        queries=len(run.queries),
        tag=run.tag,
        depth=(int(depth.min()), int(np.median(depth)), int(depth.max())) if len(depth) else (0, 0, 0),
        decisions=run.decision is not None,
        said=run.said.entries,
        said_problem=run.said.problem,
    )
    if expected.queries is not None:
        listed, asked = set(run.queries), {*expected.queries, *expected.excluded}
        found = replace(
            found,
            known=len(expected.queries),
            lacking=_some([query for query in expected.queries if query not in listed]),
            unknown=_some([query for query in run.queries if query not in asked]),
        )
    if expected.rules is None:
        return found, run
    if expected.rules.rules.know_documents:
        rows = expected.rules.foreign(run.document, run.key)
        first = tuple(document.decode() for document in run.document.take(rows[:NAMED]).tolist())
        found = replace(found, foreign=(len(rows), first))
    rules = expected.rules if whole else expected.rules.of_beginning()
    try:
        read_run(io.BytesIO(text), name=name, limits=limits, rules=rules)
    except FileRejected as rejected:
        found = replace(found, problems=rejected.problems, problem_count=rejected.count)
    return found, run


def _some(ids: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    return len(ids), tuple(ids[:NAMED])
