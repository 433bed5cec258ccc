"""Which run stands for a system, and which rank it takes."""

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import Any

from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.errors import BadInput
from leaderboard.models import Evaluation
from leaderboard.reads.columns import Column
from leaderboard.reads.entries import Entry, load_entries
from leaderboard.rules.standings import RunChoice, arrival, is_ranked, standing_runs

__all__ = ["Show", "choose", "known_order", "load_candidates", "ranks", "show_of", "sort_entries"]


class Show(StrEnum):
    """Which runs a board lists: one of each system, by the campaign's rule or another, or all."""

    PRIMARY = "primary"
    BEST = "best"
    LATEST = "latest"
    ALL = "all"


def show_of(asked: str | None, rule: RunChoice) -> Show:
    """What the reader asks for, or the campaign's own choice. Raises BadInput that lists the choices."""
    if not asked:
        return Show(rule.value)
    if asked not in set(Show):
        raise BadInput(f"show={asked}: this page shows one of {', '.join(Show)}")
    return Show(asked)


def known_order(asked: str, keys: Iterable[str]) -> tuple[str, bool]:
    """The key to sort a page by, and whether backwards ("-" before it); "" is the page's own order.

    Raises BadInput that lists the keys when it is none of them.
    """
    wanted = asked.removeprefix("-")
    known = tuple(keys)
    if asked and wanted not in known:
        raise BadInput(f"sort={asked}: this page sorts by one of {', '.join(known)}")
    return wanted, asked.startswith("-")


def load_candidates(
    session: Session,
    actor: Actor,
    evaluations: Sequence[Evaluation],
    now: dt.datetime,
    measures: Iterable[str],
    *,
    show: Show | None = None,
) -> list[Entry]:
    """The scored runs of current sets that `choose` has to choose from, with these figures.

    Where the order of a system's runs alone says which one stands, that is kept (`models.Standing`), and no other run
    is read. Where the best or the latest stands, or all are shown, it is all of them. show: None for each campaign's
    own rule.
    """
    kept = [one for one in evaluations if (show or Show(one.campaign.run_choice.value)) is Show.PRIMARY]
    others = [one for one in evaluations if one not in kept]
    wanted = list(measures)
    return [
        *load_entries(session, actor, kept, now, wanted, standing=True),
        *load_entries(session, actor, others, now, wanted),
    ]


def choose(entries: Iterable[Entry], show: Show, column: Column) -> list[Entry]:
    """The runs that stand for their systems in each evaluation, or all of them; `column` says which run is best."""
    if show is Show.ALL:
        return [entry for entry in entries if not entry.off_board]
    return standing_runs(entries, RunChoice(show.value), lambda run: run.figure(column.name).mean, column.direction)


def ranks(entries: Iterable[Entry], column: Column) -> dict[int, int]:
    """Submission -> rank among the runs that are ranked.

    Without a rank are baselines, late runs and undefined means, and all runs under a measure without a better end.
    """
    if column.direction == "none":
        return {}
    means = {
        entry.submission_id: mean
        for entry in entries
        if is_ranked(entry) and (mean := entry.figure(column.name).mean) is not None
    }
    return dict(zip(means, column.places(list(means.values())), strict=True))


def sort_entries(entries: Iterable[Entry], column: Column, columns: Sequence[Column], sort: str = "") -> list[Entry]:
    """Best first by `column`; or by `sort`: system, team, kind, date or one of the columns, with "-" the other way.

    Raises BadInput for anything else. Undefined means and late runs are last either way. Those that tie, and so share
    a rank, are sorted by name, then by arrival.
    """
    by_name: dict[str, Column] = {other.name: other for other in columns}
    keys: dict[str, Callable[[Entry], Any]] = {
        "system": lambda entry: entry.system.name.casefold(),
        "team": lambda entry: entry.system.team.casefold(),
        "kind": lambda entry: entry.system.kind.value,
        "date": lambda entry: entry.date,
    }
    wanted, backwards = known_order(sort, (*keys, *by_name))
    ordered = sorted(entries, key=lambda entry: (entry.system.name.casefold(), *arrival(entry)))
    if wanted in keys:
        ordered.sort(key=keys[wanted], reverse=backwards)
        return ordered
    by = by_name.get(wanted, column)
    ordered = by.sort(ordered, lambda entry: entry.figure(by.name).mean, backwards)
    if wanted not in by_name:
        ordered.sort(key=lambda entry: entry.late)
    return ordered
