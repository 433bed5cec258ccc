"""The states of a scoring, of a scoring set, and of a submission as pages show it; what organisers rule about a run.

Which run counts for a system on a board, and which runs are ranked.

How many runs a team, and a person over all of their teams, may still submit to an evaluation. Days are in UTC.

What would become of a run, said before it is submitted: from the file and what its reader may know.

Lines that can't be read and broken file rules would have it rejected: such a file is refused before it is queued.
Besides, there are warnings about what is most likely a slip: they ask for a yes. None of it follows from a judgment.
Whether a run would be taken at this moment is told beside what is said of the file.
"""

import hashlib
import io
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from datetime import UTC, date, datetime, time
from enum import StrEnum
from functools import partial
from os.path import commonprefix
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from leaderboard.errors import FileRejected, Problem
from leaderboard.evaluations.rules import FormField, ScoringSettings, Subset, answers_in_file
from leaderboard.formats import ByteSource, Limits, Run, RunRules, first_files, open_plain, read_run, whole_lines
from leaderboard.formats.metadata import header_metadata
from leaderboard.formats.plain_text import shown
from leaderboard.formats.rows import Tags
from leaderboard.frozen import frozen
from leaderboard.metrics.measure import Direction
from leaderboard.metrics.segments import Bools, Floats, Ints
from leaderboard.moments import day_in_words, moment_in_words
from leaderboard.numbers import counted, first_of, natural, written
from leaderboard.scoring import returned
from leaderboard.statistics.ranks import competition_ranks, opens_place, worst_last


class State(StrEnum):
    """Where the scoring of a submission stands."""

    QUEUED = "queued"
    SCORING = "scoring"  # a worker has it
    SCORED = "scored"
    REJECTED = "rejected"  # something is wrong with the file
    FAILED = "failed"  # something went wrong here; an organiser may have it tried again


class Ruling(StrEnum):
    """What organisers decided about a run that they took off the boards; they can take it back."""

    HIDDEN = "hidden"  # for a while, or because nobody needs to see it
    DISQUALIFIED = "disqualified"  # it does not count: its team reads so, and why


UNFINISHED = (State.QUEUED, State.SCORING)
WITHDRAWN = "withdrawn"
SHOWN_STATES = (*(state.value for state in State), *(ruling.value for ruling in Ruling), WITHDRAWN)


class SetState(StrEnum):
    """What a scoring set is to its evaluation."""

    BUILDING = "building"  # its runs are being scored; the boards still show the current set
    CURRENT = "current"  # the one that the boards show: by the official source of judgments
    BESIDE = "beside"  # what the current one is to the official source, to another one
    SUPERSEDED = "superseded"


STANDING = (SetState.CURRENT, SetState.BESIDE)  # of each source of judgments one


class SystemKind(StrEnum):
    AUTOMATIC = "automatic"
    MANUAL = "manual"
    BASELINE = "baseline"


class Designation(StrEnum):
    """What a team submits a run as. A primary one becomes its team's primary run once it is scored."""

    PRIMARY = "primary"
    CONTRASTIVE = "contrastive"


class RunChoice(StrEnum):
    """How a campaign chooses the run that stands for a system."""

    PRIMARY = "primary"  # the primary run; else the one that the team chose; else the one that was scored first
    BEST = "best"  # the best mean under the measure that ranks
    LATEST = "latest"  # the one that was received last


class StoredChoice(NamedTuple):
    """A way of choosing the run that stands, of which it is kept what it chooses (`writes.selection`).

    subset, rounded  of the best run: over which queries it is best by the set's primary measure, and whether by means
                     as they are rounded for whoever may not see single queries
    """

    run_choice: RunChoice
    subset: Subset = Subset.ALL
    rounded: bool = False


@frozen
class ScoredRun:
    """A scored run, as far as its place on a board depends on it.

    is_primary   whether it is its team's one primary run in the evaluation
    late         whether it was received after closing
    scored_at    when it was first scored; of a run of the past that nobody dated so, when it was received
    chosen_at    when its team last chose that it stands for its system; None if never
    off_board    whether its team withdrew it after closing, or organisers took it off and left its place empty: then it
                 is on no board, and where it would stand nothing does
    """

    evaluation_id: int
    submission_id: int
    scoring_id: int
    system_id: int
    is_baseline: bool
    is_primary: bool
    late: bool
    received_at: datetime
    scored_at: datetime | None
    chosen_at: datetime | None
    off_board: bool


Scored = TypeVar("Scored", bound=ScoredRun)


def arrival(run: ScoredRun) -> tuple[datetime, int]:
    """Sorts runs in the order in which they were received."""
    return run.received_at, run.submission_id


def name_of_run(label: str, number: int, received_at: datetime) -> str:
    """`first try (run 16, 20 Nov 2026)`: runs of one label are told apart by their numbers."""
    name = f"run {number}, {day_in_words(received_at)}"
    return f"{label} ({name})" if label else name


def title_of_run(label: str, filename: str, number: int) -> str:
    """What heads a run's own page and leads to it; a run has no label of its file before the file was read."""
    return label or filename or f"Run {number}"


def run_file_name(number: int, filename: str) -> str:
    """What the file of a submission is called as a download and in commands. filename: what its sender called it"""
    packed = filename.lower().endswith((".gz", ".tgz"))
    return f"submission-{number}.txt{'.gz' if packed else ''}"


def is_ranked(run: ScoredRun) -> bool:
    """Whether a run that stands for its system is ranked: baselines and late runs are shown without a rank."""
    return not (run.late or run.is_baseline)


def places(means: Sequence[float | None], direction: Direction) -> list[int]:
    """The place of each mean, 1 is best: ties share one (`statistics.competition_ranks`), undefined ones the last.

    Where neither end is better, the highest mean comes first.
    """
    ranks: list[int] = places_of(np.array(means, dtype=float), direction).tolist()
    return ranks


def places_of(means: Floats, direction: Direction) -> Ints:
    """The same of an array, in which NaN is undefined."""
    return competition_ranks(means, "lower" if direction == "lower" else "higher")


def selected_run(
    runs: Sequence[Scored], choice: RunChoice, mean: Callable[[Scored], float | None], direction: Direction
) -> Scored:
    """The one of a system's runs (one or more) that stands for it; one that is off the board leaves its place empty.

    mean, direction  a run's mean under the measure that ranks, and which way that is better: where the campaign
                     chooses the best run they say which one it is; of equally good ones the latest stands
    """
    if choice is RunChoice.BEST:
        latest_first = sorted(runs, key=arrival, reverse=True)
        return latest_first[places([mean(run) for run in latest_first], direction).index(1)]
    if choice is RunChoice.LATEST:
        return max(runs, key=arrival)
    chosen = [run for run in runs if run.is_primary] or [run for run in runs if run.chosen_at is not None]
    if chosen:
        return max(chosen, key=lambda run: (run.chosen_at or run.received_at, run.submission_id))
    return min(runs, key=lambda run: (run.scored_at or run.received_at, run.submission_id))


def tied_for_best(groups: Ints, means: Floats, direction: Direction) -> Bools:
    """Where the best run stands, which runs may: those whose mean is the best one of their group, or ties with it.

    groups  of each run a number that those have in common of which one stands
    means   under the measure that ranks; NaN is undefined

    >>> tied_for_best(np.array([7, 7, 9, 7]), np.array([0.2, 0.3, np.nan, 0.3]), "higher").tolist()
    [False, True, True, True]
    """
    rising = worst_last(means, direction)
    order = np.lexsort((rising, groups))
    begins = np.ones(len(groups), dtype=bool)
    begins[1:] = np.diff(groups[order]) != 0
    rank = np.cumsum(begins | opens_place(rising[order]))  # counted over all groups
    is_best = np.zeros(len(groups), dtype=bool)
    is_best[order] = rank == rank[begins][np.cumsum(begins) - 1]
    return is_best


def best_runs(groups: Ints, means: Floats, direction: Direction) -> Ints:
    """The places of those that stand in arrays of runs in the order of their arrival: what `selected_run` says of each
    group, of all of them at once.

    >>> best_runs(np.array([7, 7, 9, 7]), np.array([0.2, 0.3, np.nan, 0.3]), "higher").tolist()
    [3, 2]
    """
    latest_first = np.flatnonzero(tied_for_best(groups, means, direction))[::-1]
    return latest_first[np.unique(groups[latest_first], return_index=True)[1]]


def selected_runs(
    runs: Iterable[Scored], choice: RunChoice, mean: Callable[[Scored], float | None], direction: Direction
) -> list[Scored]:
    """The runs that stand for their systems in each evaluation: one in time and, not ranked, one late.

    A system has none whose run was withdrawn after closing, for nothing that a team does then puts another in its
    place, or was taken off by organisers who left its place empty.
    """
    groups: dict[tuple[int, int, bool], list[Scored]] = {}
    for run in runs:
        groups.setdefault((run.evaluation_id, run.system_id, run.late), []).append(run)
    selected = [selected_run(group, choice, mean, direction) for group in groups.values()]
    return [run for run in selected if not run.off_board]


def stored_choices(settings: ScoringSettings) -> tuple[StoredChoice, ...]:
    """The ways of choosing that are kept for a scoring set with these settings: all that a campaign may have, so that
    another one, or a reader's own, finds its rows. Of the best run by its primary measure, the one that boards begin
    with."""
    best = (StoredChoice(RunChoice.BEST, subset, rounded) for subset in settings.subsets for rounded in (False, True))
    return StoredChoice(RunChoice.PRIMARY), StoredChoice(RunChoice.LATEST), *best


# Of a new evaluation whose organisers set no other: what each run's figures tell of the judgments adds up.
DAILY_QUOTA = 5
REJECTED_A_DAY = 20  # files that a team, and a person, may have rejected in one evaluation on one day


@frozen
class Quota:
    """How much of an evaluation's quotas one team has used, or one person over all of their teams.

    A limit of None is no limit. Files of today that nobody has checked yet count as if they might all be rejected, so
    that no more than REJECTED_A_DAY ever are. Files that are arriving count against every limit, so that no more are
    taken in than there is room for.
    """

    daily: int | None
    used_today: int
    total: int | None
    used: int
    rejected_today: int
    unchecked_today: int
    arriving: int
    resets_at: datetime  # the next 00:00 UTC
    of_person: bool

    @property
    def left_today(self) -> int | None:
        return None if self.daily is None else max(0, self.daily - self.used_today - self.arriving)

    @property
    def left_in_all(self) -> int | None:
        return None if self.total is None else max(0, self.total - self.used - self.arriving)

    @property
    def rejections_left(self) -> int:
        """Files that may still be sent today before some of those that wait have been checked, or the day is over."""
        return max(0, REJECTED_A_DAY - self.rejected_today - self.unchecked_today - self.arriving)

    @property
    def left(self) -> int | None:
        """Submissions that are left right now; None when there is no limit."""
        limits = [limit for limit in (self.left_today, self.left_in_all) if limit is not None]
        return min(limits, default=None) if self.rejections_left else 0

    @property
    def is_spent_for_good(self) -> bool:
        """Whether no other day brings submissions again."""
        return self.total is not None and self.used >= self.total

    @property
    def is_held(self) -> bool:
        """Whether nothing is left because of files that arrive or are not checked yet: it may be free again at once."""
        return self.left == 0 and replace(self, arriving=0, unchecked_today=0).left != 0

    @property
    def spent(self) -> str | None:
        """Why nothing is left, in words; None when something is."""
        if self.left != 0:
            return None
        who, its = ("You have", "your") if self.of_person else ("Your team has", "its")
        among = ", over all of your teams" if self.of_person else ""
        resets = f"The count starts again on {moment_in_words(self.resets_at)}."
        if self.is_held:
            files = counted(self.arriving + self.unchecked_today, "file")
            return f"{who} {files} on the way or not checked yet, which may take the rest of the quota. Try again soon."
        if self.is_spent_for_good:
            return f"{who} used {self.used} of {its} {self.total} submissions to this evaluation{among}."
        if self.left_today == 0:
            return f"{who} used {self.used_today} of {its} {self.daily} submissions for today{among}. {resets}"
        return (
            f"{who} had {self.rejected_today} files rejected or left unused here today, and no more are taken. {resets}"
        )


def retry_seconds(quotas: Sequence[Quota], now: datetime) -> int:
    """In how many seconds to ask again when some are spent: 60 while files arrive or are not checked yet, else
    tomorrow.
    """
    is_held = any(quota.is_held for quota in quotas)
    return 60 if is_held else math.ceil((quotas[0].resets_at - now).total_seconds())


def day_of(moment: datetime) -> date:
    """The day that a moment counts for: its date in UTC."""
    return moment.astimezone(UTC).date()


def start_of(day: date) -> datetime:
    """The first moment of a day."""
    return datetime.combine(day, time(), UTC)


CHECKED_BYTES = 16 * 2**20  # of a run's text, that the site reads: some 300,000 lines
CHECKED_FILES = 1000  # of an archive: each costs some milliseconds
# What bounds the memory of a check on the site. What it reads breaks no other limit that the worker has not, too: what
# is refused here would be rejected there.
LIMITS = Limits(expanded_bytes=2 * CHECKED_BYTES, all_id_bytes=12 * CHECKED_BYTES)
PIECE = 2**18  # bytes read at once
NAMED = 5  # ids that are told
LATE = "It would count as late: the evaluation has closed. Late runs are shown without a rank."
FATE = "The run is rejected for these, unless they are hidden queries, which only the organisers know."
MOSTLY = 0.5  # the share of unknown queries from which on a run is said to be of something else


@frozen
class Expected:
    """What an evaluation expects of a run, as far as a reader may know.

    evaluation_id  0 offline
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
    seen         the subset of queries that the reader knows of
    details_open  whether the reader sees judgments of single documents
    """

    evaluation_id: int = 0
    queries: Sequence[str] | None = None
    excluded: Sequence[str] = ()
    allowed: frozenset[str] | None = None
    verdict_only: bool = False
    rules: RunRules | None = None
    returned_by: Sequence[str] = ()
    fields: Sequence[FormField] = ()
    refused_now: str = ""
    late_now: bool = False
    seen: Subset = Subset.SHOWN
    details_open: bool = False


@frozen
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
    unknown_prefix  what the ids of all of these begin with, without digits at its end
    said, said_problem  what the run says of itself
    wrong_answers, lacking_answers  what of that is no answer to a field that reads it, for which it would not be taken
                        as it is; and which answers are still to be given with it, in words
    judged     the mean share of judged documents among the first ten of each query; None while that is not to be told
    twins      names of runs of the same team with the same text
    text_sha256  of its text; "" where that can't be read
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
    unknown_prefix: str = ""
    said: dict[str, str] = field(default_factory=dict)
    said_problem: str = ""
    wrong_answers: tuple[str, ...] = ()
    lacking_answers: tuple[str, ...] = ()
    judged: float | None = None
    twins: tuple[str, ...] = ()
    text_sha256: str = ""
    expected: Expected = field(default_factory=Expected)

    @property
    def is_sound(self) -> bool | None:
        """Whether nothing in the file speaks against submitting it, at whatever moment; None where only its
        evaluation's hidden queries can tell, or the part of it that was not read."""
        if (
            self.problem_count
            or self.wrong_answers
            or self.warnings
            or (self.unsettled and not self.expected.evaluation_id)
        ):
            return False
        return None if self.unsettled or not self.whole else True

    @property
    def verdict(self) -> str:
        """What would become of it, submitted at this moment, as a heading."""
        if self.problem_count:
            return "This run would be rejected"
        if self.wrong_answers or self.refused_now:
            return f"This run would not be accepted {'as it is' if self.wrong_answers else 'now'}"
        if self.is_strange or self.unsettled:
            return "This run may be rejected"
        run = "This run" if self.whole else "The part of this run that was read"
        return f"{run} would be accepted{' once you confirm it' if self.warnings else ''}"

    @property
    def refused_now(self) -> str:
        """Why no run of the reader's is taken at this moment; "" where one is."""
        return self.expected.refused_now

    @property
    def late_now(self) -> bool:
        """Whether it would count as late, submitted at this moment."""
        return self.expected.late_now

    @property
    def moment(self) -> str:
        """What would become of it for the moment at which it comes; "" where it would be in time."""
        if self.refused_now:
            return f"It would not be taken now: {self.refused_now}"
        return LATE if self.late_now else ""

    @property
    def unsettled(self) -> str:
        """That it has queries that the reader does not know of, which may be hidden ones; "" where it has none, or a
        warning says so."""
        if self.expected.allowed is not None or not self.unknown[0] or self.is_strange:
            return ""
        unknown = counted(self.unknown[0], "query is", "queries are")
        return f"{unknown} not among those listed here: {_first_of(self.unknown)}. {FATE}"

    @property
    def is_strange(self) -> bool:
        """Whether most of its queries are none that the reader knows of, who does not know all."""
        return bool(self.lines) and self.expected.allowed is None and self.unknown[0] > MOSTLY * self.queries

    @property
    def _strange(self) -> str:
        ours, first = sorted(self.expected.queries or (), key=natural), self.unknown[1]
        size = f"{self.unknown[0]:,} of its {self.queries:,} queries are unknown here: {_first_of(self.unknown)}"
        if ours and self.unknown[0] == self.queries:
            begin = self.unknown_prefix
            is_apart = begin and not any(query.startswith(begin) for query in ours)
            theirs = f"begin {shown(begin)}" if is_apart else f"look like {', '.join(map(shown, first[:3]))}"
            size = f"Your query ids {theirs}; ours look like {', '.join(map(shown, ours[:3]))}"
        return f"Is it for this evaluation? {size}.{f' {FATE}' if self.expected.evaluation_id else ''}"

    @property
    def tells_of_hidden(self) -> bool:
        """Whether its being refused, or not, says which queries there are beside those that the reader knows of."""
        return self.expected.verdict_only and self.unknown[0] > 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is most likely a slip, and asks for a yes: neither decisions nor θ where a measure counts what was
        returned; a θ by which nothing, or everything, is; queries of another evaluation; a file that was sent before.
        """
        expected, theta, warnings = self.expected, self.threshold, list[str]()
        undecided = self.lines and not self.decisions
        if undecided and expected.returned_by and theta is None:
            warnings.append(
                f"{expected.returned_by[0]} is shown here, and this run has neither decisions nor a threshold θ: every "
                "document that it lists counts as returned."
            )
        counts = bool(expected.returned_by) or not expected.evaluation_id  # offline nobody knows what is shown
        if undecided and counts and theta is not None and self.returned in (0, self.lines):
            low, high = map(written, self.scores)
            size = f"{self.returned:,} of the {self.lines:,} documents read"
            warnings.append(
                f"With θ = {written(theta)} the run returns {size}, whose scores lie between {low} and {high}."
            )
        if self.is_strange:
            warnings.append(self._strange)
        if self.twins:
            warnings.append(f"Your team has submitted a file with the same text before: {', '.join(self.twins)}.")
        return tuple(warnings)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What else is to be said of it, a sentence each."""
        remarks = []
        without_use = self.decisions or (self.expected.evaluation_id and not self.expected.returned_by)
        if self.threshold is not None and without_use:
            why = "the file holds decisions" if self.decisions else "no measure here counts what was returned"
            remarks.append(f"θ plays no part: {why}.")
        if len(self.tags) > 1:
            remarks.append(
                f"Its lines have different run tags, such as {', '.join(map(shown, self.tags))}: is it one run?"
            )
        if self.lacking[0] and self.whole and self.unknown[0] < self.queries:  # else all are strange, as is said
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
        lines += [f"It would not be accepted: {wrong}." for wrong in self.wrong_answers]
        lines += [f"warning: {warning}" for warning in self.warnings]
        if self.unsettled:
            lines.append(f"warning: {self.unsettled}")
        if not self.whole:
            lines.append(
                "warning: the file is long, and only its beginning was looked at: what follows is about that. "
                "leaderboard check without --evaluation looks at all of it, on your computer"
            )
        if self.lines:
            fewest, median, most = self.depth
            size = f"{counted(self.lines, 'line')}, {counted(self.queries, 'query')}"
            tag = f", tag {self.tag}" if self.tag else ""
            several = f"{fewest:,} to {most:,} documents a query, median {median:,}"
            depth = f"{counted(most, 'document')} a query" if fewest == most else several
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
        if self.is_sound:
            lines.append("nothing in the file speaks against submitting it")
        return tuple(filter(None, [*lines, self.moment]))


def check_file(
    file: Path | ByteSource,
    filename: str,
    expected: Expected,
    text_bytes: int,
    text_sha256: str = "",
    threshold: float | None = None,
    *,
    everything: bool = False,
) -> tuple[Checked, Run | None]:
    """What would become of a file, whose text may have text_bytes, and the run where it can be read.

    text_sha256  of its text; without it the file is read to its end
    everything   all of it, as the worker does; else as much as bounds what it costs

    A query that the reader does not know of is told as such, whether or not the evaluation has it: hidden ones are
    known to nobody but organisers. With `expected.allowed` one that there is not is a problem.
    """
    values: dict[str, Any] = {"whole": True}
    run, allowed, file_rules = None, expected.allowed, expected.rules
    read = partial(read_run, name=filename, limits=Limits() if everything else LIMITS)
    try:
        with open_plain(file, Limits(expanded_bytes=text_bytes), filename) as plain:
            beginning = _beginning(plain, text_bytes if everything else CHECKED_BYTES, text_sha256)
        text, values["whole"], values["text_sha256"] = beginning
        values["said"] = header_metadata(text).entries
        if not (everything and values["whole"]):
            text, all_files = first_files(text, CHECKED_FILES)
            values["whole"] &= all_files
        tags = Tags()
        run = read(io.BytesIO(text), tags=tags)
        values |= {"tags": tuple(tags.named), **_shape(run, expected, threshold)}
        if file_rules is not None or not (allowed is None or allowed.issuperset(run.queries)):
            of_text = file_rules if file_rules is None or values["whole"] else file_rules.of_beginning()
            read(io.BytesIO(text), queries=allowed, rules=of_text)
    except FileRejected as rejected:
        values |= {"problems": rejected.problems, "problem_count": rejected.count}
    return Checked(filename, threshold=threshold, expected=expected, **values), run


def _beginning(plain: ByteSource, most: int, text_sha256: str) -> tuple[bytes, bool, str]:
    """(the first `most` bytes of a text up to the end of a line; whether that is all of it; its SHA-256)."""
    digest, text, whole = hashlib.sha256(), io.BytesIO(), True
    while (whole or not text_sha256) and (piece := plain.read(PIECE)):
        if not text_sha256:
            digest.update(piece)
        room = most - text.tell()
        whole = whole and len(piece) <= room
        text.write(piece[:room])
    kept = text.getvalue() if whole else whole_lines(text.getvalue())
    return kept, whole, text_sha256 or digest.hexdigest()


def _shape(run: Run, expected: Expected, threshold: float | None) -> dict[str, Any]:
    """What `Checked` says of a run that can be read."""
    depth = np.bincount(run.query, minlength=len(run.queries))
    wrong, lacking = answers_in_file(expected.fields, run.said.entries)
    shape: dict[str, Any] = {
        "lines": len(run),
        "queries": len(run.queries),
        "tag": run.tag,
        "decisions": run.decision is not None,
        "returned": int(np.count_nonzero(returned(run.score, run.decision, threshold))),
        "said": run.said.entries,
        "said_problem": run.said.problem,
        "wrong_answers": wrong,
        "lacking_answers": lacking,
    }
    if len(run):
        shape["depth"] = int(depth.min()), int(np.median(depth)), int(depth.max())
        shape["scores"] = float(run.score.min()), float(run.score.max())
    if expected.queries is not None:
        listed, asked = set(run.queries), {*expected.queries, *expected.excluded}
        shape["known"] = len(expected.queries)
        shape["lacking"] = _some([query for query in expected.queries if query not in listed])
        unknown = [query for query in run.queries if query not in asked]
        prefix = commonprefix(unknown)  # noqa: RUF071  # of ids, which are no paths
        shape |= {"unknown": _some(unknown), "unknown_prefix": prefix.rstrip("0123456789")}
    return shape


def _some(ids: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    return len(ids), tuple(sorted(ids, key=natural)[:NAMED])


def _first_of(some: tuple[int, tuple[str, ...]]) -> str:
    number, first = some
    return first_of(list(map(shown, first)), NAMED, number)
