"""Which run stands for a system on a board."""

import datetime as dt
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, Protocol, TypeVar

__all__ = ["ArrivedRun", "RunChoice", "arrival", "chosen_run"]


class RunChoice(StrEnum):
    """Which run stands for a system on a board."""

    PRIMARY = "primary"  # the team's primary run for its system, the latest scored one for every other
    BEST = "best"
    LATEST = "latest"


class ArrivedRun(Protocol):
    """A scored run of a system. `is_primary`: the team's one primary run of the evaluation."""

    @property
    def submission_id(self) -> int: ...
    @property
    def received_at(self) -> dt.datetime: ...
    @property
    def is_primary(self) -> bool: ...


Run = TypeVar("Run", bound=ArrivedRun)


def arrival(run: ArrivedRun) -> tuple[dt.datetime, int]:
    """Sorts the latest last."""
    return run.received_at, run.submission_id


def chosen_run(runs: Sequence[Run], rule: RunChoice, merit: Callable[[Run], Any]) -> Run:
    """The one of a system's runs that stands for it. `merit` sorts the best first and decides under `best`, the latest
    of equals; otherwise it is the team's primary run if the system made it (not under `latest`), else the one that came
    last."""
    latest = max(runs, key=arrival)
    if rule is RunChoice.BEST:
        return min(sorted(runs, key=arrival, reverse=True), key=merit)
    if rule is RunChoice.PRIMARY:
        return next((run for run in runs if run.is_primary), latest)
    return latest
