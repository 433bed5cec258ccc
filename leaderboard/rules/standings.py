"""Which run stands for a system on a board, and which runs are ranked."""

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, TypeVar

__all__ = [
    "Designation",
    "RunChoice",
    "ScoredRun",
    "SystemKind",
    "arrival",
    "best_first",
    "is_ranked",
    "standing_run",
    "standing_runs",
]


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


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """A scored run that is not withdrawn, as far as its place on a board depends on it.

    is_primary   whether it is its team's one primary run in the evaluation
    late         whether it was received after closing
    scored_at    when it was first scored
    chosen_at    when its team last chose that it stands for its system; None if never
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


Run = TypeVar("Run", bound=ScoredRun)


def arrival(run: ScoredRun) -> tuple[dt.datetime, int]:
    """Sorts runs in the order in which they were received."""
    return run.received_at, run.submission_id


def is_ranked(run: ScoredRun) -> bool:
    """Whether a run that stands for its system is ranked: baselines and late runs are shown without a rank."""
    return not (run.late or run.is_baseline)


def best_first(mean: float | None, direction: Literal["higher", "lower", "none"]) -> tuple[bool, float]:
    """Sorts means: the best first by the measure's direction, what is undefined last."""
    if mean is None:
        return True, 0.0
    return False, mean if direction == "lower" else -mean


def standing_run(runs: Sequence[Run], choice: RunChoice, merit: Callable[[Run], Any]) -> Run:
    """The one of a system's runs (one or more) that stands for it.

    merit  sorts the best run first; of equally good ones the latest stands
    """
    latest_first = sorted(runs, key=arrival, reverse=True)
    if choice is RunChoice.BEST:
        return min(latest_first, key=merit)
    if choice is RunChoice.LATEST:
        return latest_first[0]
    primary = [run for run in runs if run.is_primary]
    if primary:
        return primary[0]
    chosen = [(run.chosen_at, run.submission_id, run) for run in runs if run.chosen_at is not None]
    if chosen:
        return max(chosen, key=lambda each: each[:2])[2]
    return min(runs, key=lambda run: (run.scored_at or run.received_at, run.submission_id))


def standing_runs(runs: Iterable[Run], choice: RunChoice, merit: Callable[[Run], Any]) -> list[Run]:
    """The runs that stand for their systems in each evaluation: one in time and, not ranked, one late."""
    groups: dict[tuple[int, int, bool], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.evaluation_id, run.system_id, run.late), []).append(run)
    return [standing_run(group, choice, merit) for group in groups.values()]
