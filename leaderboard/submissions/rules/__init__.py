"""The states of a scoring, of a scoring set, and of a submission as pages show it; what organisers rule about a run.

Which run stands for a system on a board, and which runs are ranked.

How many runs a team, and a person over all of their teams, may still submit to an evaluation. Days are in UTC.
"""

import datetime as dt
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from leaderboard.evaluations.rules import ScoringSettings, Subset
from leaderboard.metrics.measure import Direction
from leaderboard.metrics.segments import Bools, Floats, Ints
from leaderboard.moments import day_in_words, moment_in_words
from leaderboard.statistics import competition_ranks, is_ahead
from leaderboard.statistics.ranks import opens_place, worst_last


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


def shown_state(state: State | None, withdrawn_at: dt.datetime | None, ruling: Ruling | None) -> str:
    """The state of a submission in one word: withdrawn, hidden or disqualified, or else that of its current scoring.

    state  None when there is no such scoring, because nothing is judged yet: the submission counts as queued
    """
    if withdrawn_at is not None:
        return WITHDRAWN
    if ruling is not None:
        return ruling.value
    return (state or State.QUEUED).value


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


@dataclass(frozen=True, slots=True)
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
    received_at: dt.datetime
    scored_at: dt.datetime | None
    chosen_at: dt.datetime | None
    off_board: bool


class Received(Protocol):
    """A submission, as far as it depends on it whether it is its team's primary run."""

    id: int
    designation: Designation
    late: bool
    scored_at: dt.datetime | None
    withdrawn_at: dt.datetime | None
    ruling: Ruling | None
    holds_place: bool


Run = TypeVar("Run", bound=ScoredRun)


def arrival(run: ScoredRun) -> tuple[dt.datetime, int]:
    """Sorts runs in the order in which they were received."""
    return run.received_at, run.submission_id


def name_of_run(label: str, number: int, received_at: dt.datetime) -> str:
    """`first try (run 16, 20 Nov 2026)`: runs of one label are told apart by their numbers."""
    name = f"run {number}, {day_in_words(received_at)}"
    return f"{label} ({name})" if label else name


def title_of_run(label: str, filename: str, number: int) -> str:
    """What heads a run's own page and leads to it; a run has no label of its file before the file was read."""
    return label or filename or f"Run {number}"


def is_ranked(run: ScoredRun) -> bool:
    """Whether a run that stands for its system is ranked: baselines and late runs are shown without a rank."""
    return not (run.late or run.is_baseline)


def places(means: Sequence[float | None], direction: Direction) -> list[int]:
    """The place of each mean, 1 is best: ties share one (`statistics.competition_ranks`), undefined ones the last.

    Where neither end is better, the highest mean comes first.
    """
    ranks: list[int] = places_of(np.array([np.nan if mean is None else mean for mean in means]), direction).tolist()
    return ranks


def places_of(means: Floats, direction: Direction) -> Ints:
    """The same of an array, in which NaN is undefined."""
    return competition_ranks(means, "lower" if direction == "lower" else "higher")


def leads(mean: float | None, other: float | None, direction: Direction) -> bool:
    """Whether of these two the first has the first place alone."""
    if mean is None or other is None:
        return mean is not None
    return is_ahead(mean, other, "lower" if direction == "lower" else "higher")


def selected_run(
    runs: Sequence[Run], choice: RunChoice, mean: Callable[[Run], float | None], direction: Direction
) -> Run:
    """The one of a system's runs (one or more) that stands for it; one that is off the board leaves its place empty.

    mean, direction  a run's mean under the measure that ranks, and which way that is better: where the campaign
                     chooses the best run they say which one it is; of equally good ones the latest stands
    """
    latest_first = sorted(runs, key=arrival, reverse=True)
    if choice is RunChoice.BEST:
        return latest_first[places([mean(run) for run in latest_first], direction).index(1)]
    if choice is RunChoice.LATEST:
        return latest_first[0]
    primary = [run for run in runs if run.is_primary]
    if primary:
        return primary[0]
    chosen = [(run.chosen_at, run.submission_id, run) for run in runs if run.chosen_at is not None]
    if chosen:
        return max(chosen, key=lambda each: each[:2])[2]
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
    runs: Iterable[Run], choice: RunChoice, mean: Callable[[Run], float | None], direction: Direction
) -> list[Run]:
    """The runs that stand for their systems in each evaluation: one in time and, not ranked, one late.

    A system has none whose run was withdrawn after closing, for nothing that a team does then puts another in its
    place, or was taken off by organisers who left its place empty.
    """
    groups: dict[tuple[int, int, bool], list[Run]] = {}
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


def primary_run(runs: Iterable[Received]) -> int | None:
    """The id of a team's primary run in an evaluation, of its submissions there; None without one.

    It is the one submitted last of those that were submitted as primary, came in time and have been scored, whenever
    that was. One that was withdrawn or taken off by organisers is left out, unless it holds its place, which so stays
    empty.
    """
    return max(
        (run.id for run in runs if run.designation is Designation.PRIMARY and _may_be_primary(run)), default=None
    )


def _may_be_primary(run: Received) -> bool:
    on_boards = run.withdrawn_at is None and run.ruling is None
    return not run.late and run.scored_at is not None and (on_boards or run.holds_place)


# Of a new evaluation whose organisers set no other: what each run's figures tell of the judgments adds up.
DAILY_QUOTA = 5
REJECTED_A_DAY = 20  # files that a team, and a person, may have rejected in one evaluation on one day


class Limits(Protocol):
    """An evaluation, as far as its quotas go; None is no limit."""

    daily_quota: int | None
    total_quota: int | None


class Use(Protocol):
    """What a team or a person has used in an evaluation. `used_today` and `rejected_today` count the day `day`."""

    day: dt.date
    used_today: int
    rejected_today: int
    used: int


@dataclass(frozen=True, slots=True)
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
    resets_at: dt.datetime  # the next 00:00 UTC
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
        if self.rejections_left == 0:
            return 0
        return min(limits, default=None)

    @property
    def is_spent_for_good(self) -> bool:
        """Whether no other day brings submissions again."""
        return self.total is not None and self.used >= self.total

    @property
    def spent(self) -> str | None:
        """Why nothing is left, in words; None when something is."""
        resets = f"The count starts again on {moment_in_words(self.resets_at)}."
        used, its = ("You have used", "your") if self.of_person else ("Your team has used", "its")
        among = ", over all of your teams" if self.of_person else ""
        files = "of your files" if self.of_person else "files of your team"
        if self.total is not None and self.used >= self.total:
            return f"{used} {self.used} of {its} {self.total} submissions to this evaluation{among}."
        if self.daily is not None and self.used_today >= self.daily:
            return f"{used} {self.used_today} of {its} {self.daily} submissions for today{among}. {resets}"
        if self.rejected_today >= REJECTED_A_DAY:
            return f"{self.rejected_today} {files} were rejected here today, and no more are taken. {resets}"
        if self.rejected_today + self.unchecked_today >= REJECTED_A_DAY:
            return (
                f"{self.unchecked_today} {files} that came today are not checked yet, and at most {REJECTED_A_DAY} may "
                f"be rejected in a day. Send the next one when some of them are checked. {resets}"
            )
        if self.left != 0:
            return None
        return f"The rest of the quota is reserved for {files} in progress ({self.arriving}). Send the next one later."

    @property
    def is_held(self) -> bool:
        """Whether what is left is held for files that arrive, and may be free again before tomorrow."""
        used = self.is_spent_for_good or (self.daily is not None and self.used_today >= self.daily)
        return self.left == 0 and not used and self.rejected_today + self.unchecked_today < REJECTED_A_DAY


def retry_seconds(quotas: Iterable[Quota], now: dt.datetime) -> int:
    """In how many seconds to ask again when some are spent: 60 while files arrive or are not checked yet, else
    tomorrow.
    """
    spent = [quota for quota in quotas if quota.left == 0]
    if any(quota.is_held or (quota.rejections_left == 0 and quota.unchecked_today) for quota in spent):
        return 60
    return math.ceil((start_of(day_of(now) + dt.timedelta(days=1)) - now).total_seconds())


def day_of(moment: dt.datetime) -> dt.date:
    """The day that a moment counts for: its date in UTC."""
    return moment.astimezone(dt.UTC).date()


def start_of(day: dt.date) -> dt.datetime:
    """The first moment of a day."""
    return dt.datetime.combine(day, dt.time(), dt.UTC)


def quota_of(
    limits: Limits,
    use: Use | None,
    now: dt.datetime,
    *,
    unchecked: int = 0,
    arriving: int = 0,
    of_person: bool = False,
) -> Quota:
    """The quotas of a team, or of a person, at `now`.

    use        None before the first submission to the evaluation
    unchecked  files sent on the day of `now` that are neither scored, nor rejected, nor failed yet
    arriving   files on their way
    """
    today = use if use is not None and use.day == day_of(now) else None
    return Quota(
        daily=limits.daily_quota,
        used_today=today.used_today if today is not None else 0,
        total=limits.total_quota,
        used=use.used if use is not None else 0,
        rejected_today=today.rejected_today if today is not None else 0,
        unchecked_today=unchecked,
        arriving=arriving,
        resets_at=start_of(day_of(now) + dt.timedelta(days=1)),
        of_person=of_person,
    )
