"""Which run stands for a system, and which rank it takes."""

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Sight, may_see
from leaderboard.errors import BadInput
from leaderboard.lookup import IS_CURRENT, has_its_place
from leaderboard.models import Evaluation, Score, Scoring, ScoringSet, Submission
from leaderboard.reads.columns import Column, column
from leaderboard.reads.entries import Entry, is_seen, load_entries
from leaderboard.rules.standings import RunChoice, arrival, is_ranked, standing_runs

ONE_STANDS = Submission.evaluation_id, Submission.system_id, Submission.late  # of the runs that have these in common
NEARLY = 1e-9  # much wider than what counts as a tie (`statistics.competition_ranks`)

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
    """The scored runs of current sets that `choose` has to choose from by one of these measures, with their figures.

    Which run stands by the order of a system's runs alone is kept (`models.Standing`). Where the best or the latest one
    stands, those are found by the database that may be it, and `choose` has the last word; none of the others is read.
    But whoever sees rounded means chooses among all runs, since any two may read alike; and all are read to be shown.
    show: None for each campaign's own rule.
    """
    by_show: dict[Show, list[Evaluation]] = {}
    for one in evaluations:
        by_show.setdefault(show or Show(one.campaign.run_choice.value), []).append(one)
    wanted = list(measures)
    found: list[Entry] = []
    for chosen, own in by_show.items():
        runs: sa.SelectBase | None = None
        if chosen is Show.LATEST:
            runs = _latest(own)
        elif chosen is Show.BEST and all(may_see(actor, one, Sight.DETAILS, now) for one in own):
            runs = sa.union(*(_nearly_best(actor, own, now, column(name)) for name in wanted)) if wanted else None
        found += load_entries(session, actor, own, now, wanted, standing=chosen is Show.PRIMARY, runs=runs)
    return found


def _latest(evaluations: Sequence[Evaluation]) -> sa.Select[int]:
    """The statement on the runs that no other one of their system was received after."""
    last = sa.func.max(Submission.received_at).over(partition_by=ONE_STANDS).label("last")
    of_all = _with_a_place(sa.select(Submission.id, Submission.received_at, last), evaluations).subquery()
    return sa.select(of_all.c.id).where(of_all.c.received_at == of_all.c.last)


def _nearly_best(actor: Actor, evaluations: Sequence[Evaluation], now: dt.datetime, by: Column) -> sa.Select[int]:
    """The statement on the runs whose mean ties with their system's best one, or nearly; all where none has a mean."""
    best = (sa.func.min if by.direction == "lower" else sa.func.max)(Score.mean)
    own = Score.scoring_id == Scoring.id, Score.measure == by.name, is_seen(Score, actor, evaluations, now)
    of_all = (
        _with_a_place(
            sa.select(Submission.id, Score.mean, best.over(partition_by=ONE_STANDS).label("best")), evaluations
        )
        .outerjoin(Score, sa.and_(*own))
        .subquery()
    )
    apart = sa.func.abs(of_all.c.mean - of_all.c.best)
    ties = apart <= NEARLY * (1 + sa.func.abs(of_all.c.best))
    return sa.select(of_all.c.id).where(sa.or_(of_all.c.best.is_(None), ties))


def _with_a_place(statement: sa.Select[*tuple[Any, ...]], evaluations: Sequence[Evaluation]) -> sa.Select[Any]:
    """A statement on the runs that `load_entries` finds in current sets."""
    return (
        statement.select_from(Submission)
        .join(Scoring, Scoring.submission_id == Submission.id)
        .join(ScoringSet, ScoringSet.id == Scoring.scoring_set_id)
        .where(Submission.evaluation_id.in_([one.id for one in evaluations]), IS_CURRENT, has_its_place())
    )


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
