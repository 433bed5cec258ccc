"""Which run stands for a system on a board, and which runs are ranked."""

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from leaderboard.evaluations.rules.scoring_settings import ScoringSettings, Subset
from leaderboard.metrics.measure import Direction
from leaderboard.metrics.segments import Bools, Floats, Ints
from leaderboard.moments import day_in_words
from leaderboard.statistics import competition_ranks, is_ahead
from leaderboard.statistics.ranks import opens_place, worst_last
from leaderboard.submissions.rules.states import Ruling


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


class KeptChoice(NamedTuple):
    """A way of choosing the run that stands, of which it is kept what it chooses (`services.standing`).

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

    @property
    def id(self) -> int: ...
    @property
    def designation(self) -> Designation: ...
    @property
    def late(self) -> bool: ...
    @property
    def scored_at(self) -> dt.datetime | None: ...
    @property
    def withdrawn_at(self) -> dt.datetime | None: ...
    @property
    def ruling(self) -> Ruling | None: ...
    @property
    def holds_place(self) -> bool: ...


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
    found: list[int] = places_of(np.array([np.nan if mean is None else mean for mean in means]), direction).tolist()
    return found


def places_of(means: Floats, direction: Direction) -> Ints:
    """The same of an array, in which NaN is undefined."""
    return competition_ranks(means, "lower" if direction == "lower" else "higher")


def leads(mean: float | None, other: float | None, direction: Direction) -> bool:
    """Whether of these two the first has the first place alone."""
    if mean is None or other is None:
        return mean is not None
    return is_ahead(mean, other, "lower" if direction == "lower" else "higher")


def standing_run(
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
    place = np.cumsum(begins | opens_place(rising[order]))  # counted over all groups
    found = np.zeros(len(groups), dtype=bool)
    found[order] = place == place[begins][np.cumsum(begins) - 1]
    return found


def best_runs(groups: Ints, means: Floats, direction: Direction) -> Ints:
    """The places of those that stand in arrays of runs in the order of their arrival: what `standing_run` says of each
    group, of all of them at once.

    >>> best_runs(np.array([7, 7, 9, 7]), np.array([0.2, 0.3, np.nan, 0.3]), "higher").tolist()
    [3, 2]
    """
    latest_first = np.flatnonzero(tied_for_best(groups, means, direction))[::-1]
    return latest_first[np.unique(groups[latest_first], return_index=True)[1]]


def standing_runs(
    runs: Iterable[Run], choice: RunChoice, mean: Callable[[Run], float | None], direction: Direction
) -> list[Run]:
    """The runs that stand for their systems in each evaluation: one in time and, not ranked, one late.

    A system has none whose run was withdrawn after closing, for nothing that a team does then puts another in its
    place, or was taken off by organisers who left its place empty.
    """
    groups: dict[tuple[int, int, bool], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.evaluation_id, run.system_id, run.late), []).append(run)
    found = [standing_run(group, choice, mean, direction) for group in groups.values()]
    return [run for run in found if not run.off_board]


def kept_choices(settings: ScoringSettings) -> tuple[KeptChoice, ...]:
    """The ways of choosing that are kept for a scoring set with these settings: all that a campaign may have, so that
    another one, or a reader's own, finds its rows. Of the best run by its primary measure, the one that boards begin
    with."""
    best = (KeptChoice(RunChoice.BEST, subset, rounded) for subset in settings.subsets for rounded in (False, True))
    return KeptChoice(RunChoice.PRIMARY), KeptChoice(RunChoice.LATEST), *best


def primary_run(runs: Iterable[Received]) -> int | None:
    """The id of a team's primary run in an evaluation, of its submissions there; None without one.

    It is the one submitted last of those that were submitted as primary, came in time and have been scored, whenever
    that was. One that was withdrawn or taken off by organisers is left out, unless it holds its place, which so stays
    empty.
    """
    return max(
        (
            run.id
            for run in runs
            if run.designation is Designation.PRIMARY
            and not run.late
            and run.scored_at is not None
            and ((run.withdrawn_at is None and run.ruling is None) or run.holds_place)
        ),
        default=None,
    )
