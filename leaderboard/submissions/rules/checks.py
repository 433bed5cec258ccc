"""What would become of a run, said before it is submitted: from the file and what its reader may know.

Lines that can't be read and broken file rules would have it rejected: such a file is refused before it is queued.
Besides, there are warnings about what is most likely a slip: they ask for a yes. None of it follows from a judgment.
Whether a run would be taken at this moment is told beside what is said of the file.
"""

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

import numpy as np

from leaderboard.errors import FileRejected, InvalidFields, Problem, Unconfirmed
from leaderboard.evaluations.rules import FormField, answers_in_file
from leaderboard.formats import ByteSource, Limits, Run, RunRules, first_files, open_plain, read_run, whole_lines
from leaderboard.formats.patterns import Tags
from leaderboard.formats.plain_text import shown
from leaderboard.numbers import counted, first_of, natural, written
from leaderboard.scoring import returned

CHECKED_BYTES = 16 * 2**20  # of a run's text, that the site reads: some 300,000 lines
CHECKED_FILES = 1000  # of an archive: each costs some milliseconds
# What bounds the memory of a check on the site. What it reads breaks no other limit that the worker has not, too: what
# is refused here would be rejected there.
LIMITS = Limits(expanded_bytes=2 * CHECKED_BYTES, all_id_bytes=12 * CHECKED_BYTES)
PIECE = 2**18  # bytes read at once
NAMED = 5  # ids that are told
LATE = "It would count as late: the evaluation has closed. Late runs are shown without a rank."
MOSTLY = 0.5  # the share of unknown queries from which on a run is said to be of something else


class Kind(StrEnum):
    """What a warning is about."""

    RETURNED = "returned"  # neither decisions nor θ, where a measure counts what was returned
    THRESHOLD = "threshold"  # a θ by which nothing, or everything, counts as returned
    COLLECTION = "collection"  # queries of another evaluation
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
    allowed      ids of all queries that there are, where a run with any other is refused: at submission hidden ones
                 are among them, so they are told to nobody; None where the reader does not know all of them
    verdict_only  whether some of `allowed` may be closed to the reader, who is told of them what the worker's verdict
                 would tell, at its price
    rules        for files; None: there are none
    returned_by  measures on its board that count what was returned
    fields       those of its form, some of which read the run's own metadata; none where the form itself is checked
    refused_now  why no run of the reader's is taken at this moment, in words; "" where one is
    late_now     whether one that is taken now counts as late
    """

    title: str = ""
    queries: Sequence[str] | None = None
    excluded: Sequence[str] = ()
    allowed: frozenset[str] | None = None
    verdict_only: bool = False
    rules: RunRules | None = None
    returned_by: Sequence[str] = ()
    fields: Sequence[FormField] = ()
    refused_now: str = ""
    late_now: bool = False


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found.

    whole      whether all of the file was read; else its beginning
    problems   what it would be rejected for, and how many there are in all
    lines, queries, tag  of the run; 0 and "" where it can't be read
    tags       the first different ones that its lines have
    depth      the fewest, the median and the most documents of a query that it lists
    decisions  whether it holds some
    threshold  θ as it would be submitted
    returned   how many of the lines count as returned by it, or by the decisions
    scores     the lowest and the highest
    known      how many queries the reader knows of; None where there is nothing to compare with
    lacking    those of them without a list: how many, and the first
    unknown    queries of the run that the reader does not know of: how many, and the first
    said, said_problem  what the run says of itself
    wrong_answers, lacking_answers  what of that is no answer to a field that reads it, for which it would not be taken
                        as it is; and which answers are still to be given with it, in words
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
    tags: tuple[str, ...] = ()
    depth: tuple[int, int, int] = (0, 0, 0)
    decisions: bool = False
    threshold: float | None = None
    returned: int = 0
    scores: tuple[float, float] = (0.0, 0.0)
    known: int | None = None
    lacking: tuple[int, tuple[str, ...]] = (0, ())
    unknown: tuple[int, tuple[str, ...]] = (0, ())
    said: dict[str, str] = field(default_factory=dict)
    said_problem: str = ""
    wrong_answers: tuple[str, ...] = ()
    lacking_answers: tuple[str, ...] = ()
    judged: float | None = None
    twins: tuple[str, ...] = ()
    expected: Expected = field(default_factory=Expected)

    @property
    def is_read(self) -> bool:
        return self.lines > 0

    @property
    def is_sound(self) -> bool | None:
        """Whether nothing in the file speaks against submitting it, at whatever moment; None where only its
        evaluation's hidden queries can tell, or the part of it that was not read."""
        if self.problem_count or self.wrong_answers or self.warnings or (self.unsettled and not self.expected.title):
            return False
        return None if self.unsettled or not self.whole else True

    @property
    def refused_now(self) -> str:
        """Why no run of the reader's is taken at this moment; "" where one is."""
        return self.expected.refused_now

    @property
    def late_now(self) -> bool:
        """Whether it would count as late, submitted at this moment."""
        return self.expected.late_now

    @property
    def verdict(self) -> str:
        """That nothing in the file speaks against it; "" where something does."""
        return "nothing in the file speaks against submitting it" if self.is_sound else ""

    @property
    def moment(self) -> str:
        """What would become of it for the moment at which it comes; "" where it would be in time."""
        if self.refused_now:
            return f"It would not be taken now: {self.refused_now}"
        return LATE if self.late_now else ""

    @property
    def unsettled(self) -> str:
        """That it has queries that the reader does not know of, which may be hidden ones; "" where it has none."""
        if self.expected.allowed is not None or not self.unknown[0]:
            return ""
        fate = "A run with a query that its evaluation does not have is rejected."
        if self.expected.title:
            fate = "The run is rejected for these, unless they are hidden queries, which only the organisers know."
        unknown = counted(self.unknown[0], "query is", "queries are")
        return f"{unknown} not among those listed here: {_first_of(self.unknown)}. {fate}"

    @property
    def tells_of_hidden(self) -> bool:
        """Whether its being refused, or not, says which queries there are beside those that the reader knows of."""
        return self.expected.verdict_only and self.unknown[0] > 0

    @property
    def warnings(self) -> tuple[Warned, ...]:
        """What asks for a yes."""
        warnings = []
        expected, theta = self.expected, self.threshold
        if self.is_read and expected.returned_by and not self.decisions and theta is None:
            text = (
                f"{expected.returned_by[0]} is shown here, and this run has neither decisions nor a threshold θ: every "
                "document that it lists counts as returned."
            )
            warnings.append(Warned(Kind.RETURNED, text))
        counts = bool(expected.returned_by) or not expected.title  # offline nobody knows what is shown
        if counts and self.is_read and not self.decisions and theta is not None and self.returned in (0, self.lines):
            low, high = map(written, self.scores)
            returned = f"{self.returned:,} of the {self.lines:,} documents read"
            text = f"With θ = {written(theta)} the run returns {returned}, whose scores lie between {low} and {high}."
            warnings.append(Warned(Kind.THRESHOLD, text))
        if self.is_read and expected.allowed is None and self.unknown[0] > MOSTLY * self.queries:
            text = f"{self.unknown[0]:,} of its {self.queries:,} queries are unknown here"
            warnings.append(Warned(Kind.COLLECTION, f"Is it for this evaluation? {text}: {_first_of(self.unknown)}."))
        if self.twins:
            text = f"Your team has submitted a file with the same text before: {', '.join(self.twins)}."
            warnings.append(Warned(Kind.TWIN, text))
        return tuple(warnings)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What else is to be said of it, a sentence each."""
        remarks = []
        without_use = self.decisions or (self.expected.title and not self.expected.returned_by)
        if self.threshold is not None and without_use:
            why = "the file holds decisions" if self.decisions else "no measure here counts what was returned"
            remarks.append(f"θ plays no part: {why}.")
        if len(self.tags) > 1:
            remarks.append(
                f"Its lines have different run tags, such as {', '.join(map(shown, self.tags))}: is it one run?"
            )
        if self.lacking[0] and self.whole:
            lacking = counted(self.lacking[0], "query")
            remarks.append(f"No list for {lacking}, scored as empty lists: {_first_of(self.lacking)}.")
        remarks += [f"{lacking}." for lacking in self.lacking_answers]
        if self.said_problem:
            remarks.append(f"The metadata at the start of the file could not be read to its end: {self.said_problem}.")
        return tuple(remarks)

    @property
    def in_words(self) -> tuple[str, ...]:
        """All of it as lines of text, for the command line."""
        lines = []
        if self.problem_count:
            lines.append(f"{self.name} would be rejected: {counted(self.problem_count, 'problem')}")
            lines += [f"  {problem}" for problem in self.problems]
        lines += [f"It would not be taken as it is: {wrong}." for wrong in self.wrong_answers]
        lines += [f"warning: {warned.text}" for warned in self.warnings]
        if self.unsettled:
            lines.append(f"warning: {self.unsettled}")
        if not self.whole:
            lines.append(
                "warning: the file is long, and only its beginning was looked at: what follows is about that. "
                "leaderboard check without --server looks at all of it, on your computer"
            )
        if self.is_read:
            fewest, median, most = self.depth
            size = f"{counted(self.lines, 'line')}, {counted(self.queries, 'query')}"
            tag = f", tag {self.tag}" if self.tag else ""
            depth = f"{fewest:,} to {most:,} documents a query, median {median:,}"
            lines.append(f"{self.name}: {size}, {depth}{tag}")
            returned = f"what has a score of at least {self.threshold:g}" if self.threshold is not None else "all of it"
            lines.append(f"returned is {'what has decision Y' if self.decisions else returned}")
        if self.known:
            lines.append(f"lists for {self.known - self.lacking[0]:,} of {counted(self.known, 'query')}")
        lines += self.remarks
        if self.judged is not None:
            lines.append(f"{100 * self.judged:.0f} % of the first ten documents are judged")
        if self.said:
            lines.append(f"it says of itself: {', '.join(f'{key}: {text}' for key, text in self.said.items())}")
        return (*lines, *filter(None, (self.verdict, self.moment)))


@dataclass(frozen=True, slots=True)
class Looked:
    """A file that was looked at.

    text         its first lines; whole: whether that is all of it
    text_sha256  of all of its text
    refused      why it can't be read as text; None where it can
    """

    filename: str
    text: bytes
    whole: bool
    text_sha256: str
    refused: FileRejected | None = None


def look_at(file: Path | ByteSource, filename: str, most: int, text_bytes: int) -> Looked:
    """Reads a file to its end and keeps the first `most` bytes of its text. text_bytes: the longest text at all."""
    digest = hashlib.sha256()
    text = io.BytesIO()
    whole = True
    try:
        with open_plain(file, Limits(expanded_bytes=text_bytes), filename) as plain:
            while piece := plain.read(PIECE):
                digest.update(piece)
                room = most - text.tell()
                whole = whole and len(piece) <= room
                text.write(piece[:room])
    except FileRejected as refused:
        return Looked(filename, b"", True, "", refused)
    return Looked(filename, text.getvalue() if whole else whole_lines(text.getvalue()), whole, digest.hexdigest())


def check_run(
    looked: Looked, expected: Expected, *, threshold: float | None = None, everything: bool = False
) -> tuple[Checked, Run | None]:
    """What would become of a file that was looked at, and the run where it can be read.

    everything  all of it, as the worker does; else as much as bounds what it costs
    """
    if looked.refused is not None:
        checked = Checked(looked.filename, True, looked.refused.problems, looked.refused.count, expected=expected)
        return checked, None
    text, whole = looked.text, looked.whole
    if not (everything and whole):
        text, all_files = first_files(text, CHECKED_FILES)
        whole = whole and all_files
    limits = Limits() if everything else LIMITS
    return check_text(text, expected, name=looked.filename, whole=whole, threshold=threshold, limits=limits)


def require_sound(checked: Checked, *, yes: bool) -> None:
    """Raises InvalidFields (run) for a file that would be rejected, and Unconfirmed where a yes is lacking."""
    if checked.problem_count:
        rejected = FileRejected(checked.problems, checked.problem_count, checked.name)
        raise InvalidFields({"run": rejected.lines})
    if checked.warnings and not yes:
        raise Unconfirmed([warned.text for warned in checked.warnings])


def check_text(
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
    known to nobody but organisers. With `expected.allowed` one that there is not is a problem.
    """
    checked = Checked(name, whole, threshold=threshold, expected=expected)
    try:
        tags = Tags()
        run = read_run(io.BytesIO(text), name=name, limits=limits, tags=tags)
    except FileRejected as rejected:
        return replace(checked, problems=rejected.problems, problem_count=rejected.count), None
    depth = np.bincount(run.query, minlength=len(run.queries))
    checked = replace(
        checked,
        lines=len(run),
        queries=len(run.queries),
        tag=run.tag,
        tags=tuple(tags.named),
        depth=(int(depth.min()), int(np.median(depth)), int(depth.max())) if len(depth) else (0, 0, 0),
        decisions=run.decision is not None,
        returned=int(np.count_nonzero(returned(run.score, run.decision, threshold))),
        scores=(float(run.score.min()), float(run.score.max())) if len(run) else (0.0, 0.0),
        said=run.said.entries,
        said_problem=run.said.problem,
    )
    wrong, lacking = answers_in_file(expected.fields, run.said.entries)
    checked = replace(checked, wrong_answers=wrong, lacking_answers=lacking)
    if expected.queries is not None:
        listed, asked = set(run.queries), {*expected.queries, *expected.excluded}
        checked = replace(
            checked,
            known=len(expected.queries),
            lacking=_some([query for query in expected.queries if query not in listed]),
            unknown=_some([query for query in run.queries if query not in asked]),
        )
    rules, allowed = expected.rules, expected.allowed
    if rules is None and (allowed is None or allowed.issuperset(run.queries)):
        return checked, run
    if rules is not None and not whole:
        rules = rules.of_beginning()
    try:
        read_run(io.BytesIO(text), queries=allowed, name=name, limits=limits, rules=rules)
    except FileRejected as rejected:
        checked = replace(checked, problems=rejected.problems, problem_count=rejected.count)
    return checked, run


def _some(ids: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    return len(ids), tuple(sorted(ids, key=natural)[:NAMED])


def _first_of(some: tuple[int, tuple[str, ...]]) -> str:
    number, first = some
    return first_of(list(map(shown, first)), NAMED, number)
