"""Which run stands for a system, and which rank it takes."""

import datetime as dt
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, rounding_seen, subset_seen
from leaderboard.boards.models import Standing
from leaderboard.boards.reads.columns import Column, column
from leaderboard.boards.reads.entries import Disclosure, Entry, load_entries
from leaderboard.errors import BadInput
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Subset
from leaderboard.submissions.reads.run_arrays import Wanted, load_figures, load_runs
from leaderboard.submissions.reads.selection import has_its_place
from leaderboard.submissions.rules import RunChoice, StoredChoice, arrival, is_ranked, selected_runs, tied_for_best
from leaderboard.worker.models import ScoringSet
from leaderboard.worker.reads import current_sets

NAMED = 20_000  # runs that a statement may name, below the number of values that databases take


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
    by: Mapping[int, Collection[str]] | None = None,
) -> list[Entry]:
    """The scored runs of current sets that `choose` has to choose from, with their figures under these measures.

    Which run stands is kept (`models.Standing`), the best one by its set's primary measure. By another measure those
    that may be the best are found first, by the means that boards keep of all runs (`reads.runs`); only these are read
    in full. Where they are more than NAMED, and for a board of every run, all are read.

    show  None for each campaign's own rule
    by    evaluation -> the measures that `choose` is to choose the best run by; None: each set's primary measure
    """
    sets = current_sets(session, [evaluation.id for evaluation in evaluations])
    kept: dict[StoredChoice, list[int]] = {}
    others: dict[Show, list[Evaluation]] = {}
    for evaluation in evaluations:
        shown, current = show or Show(evaluation.campaign.run_choice.value), sets.get(evaluation.id)
        if current is None:
            continue
        primary = current.settings.measures[0]
        if shown is Show.ALL or (shown is Show.BEST and by and set(by[evaluation.id]) != {primary}):
            others.setdefault(shown, []).append(evaluation)
        else:
            kept.setdefault(_kept_as_seen(actor, evaluation, current, now, shown), []).append(evaluation.id)
    wanted = list(measures)
    entries: list[Entry] = []
    if kept:
        own_rows = (sa.and_(ScoringSet.evaluation_id.in_(own), stands_by(way)) for way, own in kept.items())
        ids = {each for own in kept.values() for each in own}
        chosen = [evaluation for evaluation in evaluations if evaluation.id in ids]
        entries += load_entries(session, actor, chosen, now, wanted, standing=sa.or_(*own_rows))
    for shown, own in others.items():
        runs: list[int] | None = None
        if by and shown is Show.BEST:
            runs = _may_be_best(
                session, actor, [(evaluation, sets[evaluation.id], by[evaluation.id]) for evaluation in own], now
            )
        entries += load_entries(session, actor, own, now, wanted, runs=runs)
    return entries


def load_standing(
    session: Session, actor: Actor, evaluation: Evaluation, now: dt.datetime, by: Column, show: Show | None = None
) -> list[Entry]:
    """The runs that stand on an evaluation's board by this measure. show: None for the campaign's own rule"""
    candidates = load_candidates(session, actor, [evaluation], now, [by.name], show=show, by={evaluation.id: [by.name]})
    return choose(candidates, show or Show(evaluation.campaign.run_choice.value), by)


def stands_by(kept: StoredChoice) -> sa.ColumnElement[bool]:
    """A condition on Standing: the rows of this way of choosing."""
    return sa.and_(
        Standing.run_choice == kept.run_choice, Standing.subset == kept.subset, Standing.rounded.is_(kept.rounded)
    )


def _kept_as_seen(
    actor: Actor, evaluation: Evaluation, current: ScoringSet, now: dt.datetime, show: Show
) -> StoredChoice:
    """The way of choosing whose rows say what stands for this reader, by the means as they see them."""
    if show is not Show.BEST:
        return StoredChoice(RunChoice(show.value))
    subset = subset_seen(actor, evaluation, now)
    own = subset if subset in current.settings.subsets else Subset.ALL  # without hidden queries one stands for both
    # Of an evaluation whose results are not open a reader sees runs of own teams only, and those of all teams alike.
    team_id = min(actor.teams, default=None)
    return StoredChoice(
        RunChoice.BEST, own, rounding_seen(actor, evaluation, current.settings, now, team_id) is not None
    )


def _may_be_best(
    session: Session,
    actor: Actor,
    evaluations: Sequence[tuple[Evaluation, ScoringSet, Collection[str]]],
    now: dt.datetime,
) -> list[int] | None:
    """The runs whose mean by one of these measures, as `actor` sees it, is their system's best one or ties with it;
    None where they are too many to be named."""
    runs = load_runs(session, actor, [scoring_set.id for _, scoring_set, _ in evaluations], has_its_place())
    wanted = [
        Wanted(scoring_set.id, Disclosure(actor, evaluation, scoring_set, now), list(measures), runs[scoring_set.id])
        for evaluation, scoring_set, measures in evaluations
    ]
    named: list[int] = []
    for each, figures in zip(wanted, load_figures(session, wanted), strict=True):
        may_be = np.zeros(len(each.runs.submissions), dtype=bool)
        for name, of_measure in figures.items():
            may_be |= tied_for_best(each.runs.groups, of_measure.means, column(name).direction)
        named += each.runs.submissions[may_be].tolist()
    return named if len(named) <= NAMED else None


def choose(entries: Iterable[Entry], show: Show, column: Column) -> list[Entry]:
    """The runs that stand for their systems in each evaluation, or all of them; `column` says which run is best."""
    if show is Show.ALL:
        return [entry for entry in entries if not entry.off_board]
    return selected_runs(entries, RunChoice(show.value), lambda run: run.figure(column.name).mean, column.direction)


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
