"""A board of every run, many to a system: in full it reads what one page shows, of all others the numbers that rank."""

import datetime as dt
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from leaderboard.access import Actor, subset_seen
from leaderboard.lookup import on_boards
from leaderboard.models import Evaluation, ScoringSet
from leaderboard.reads.columns import Column
from leaderboard.reads.entries import Entry, gives_interval, load_entries
from leaderboard.reads.means import Wanted, load_figures
from leaderboard.reads.paging import ROWS, WHOLE, Paging, paging_of
from leaderboard.reads.runs import load_runs
from leaderboard.reads.standings import sort_entries
from leaderboard.rules.standings import places_of

__all__ = ["APART", "EveryRun", "Whole", "beaten", "every_run"]

APART = 20  # baselines: as many stand above the rows of every page, more of them among these
OWN = 20  # rows of the reader's on other pages that are named


@dataclass(frozen=True, slots=True)
class Whole:
    """What a page of a board says of all of its rows, those too that stand on other pages.

    rows       without the baselines that stand apart
    ranked     how many of them have a rank
    baselines  all of them
    beaten     how many ranked rows are ahead of the best baseline
    ends       the lowest and the highest of all means and ends of intervals, by the measure that ranks
    has_intervals  whether one of them has an interval
    """

    rows: int = 0
    ranked: int = 0
    baselines: int = 0
    beaten: int = 0
    ends: tuple[float, ...] = ()
    has_intervals: bool = False


@dataclass(frozen=True, slots=True)
class EveryRun:
    """What a page needs of the runs.

    entries  in the order of the board: those of the page, those that lead, the reader's own and baselines that stand
             apart; each with all that share its place
    baselines  those that stand apart
    shown    those of the page
    places   submission -> rank
    ranked   the scorings of all that have a rank
    own_elsewhere  the reader's own on other pages, each with that page's number
    counts   the fewest and the most queries that a mean is over; None where none has one
    """

    entries: tuple[Entry, ...]
    baselines: tuple[Entry, ...]
    shown: tuple[Entry, ...]
    places: dict[int, int]
    ranked: frozenset[int]
    paging: Paging
    own_elsewhere: tuple[tuple[Entry, int], ...]
    counts: tuple[int, int] | None
    whole: Whole


def beaten(column: Column, baselines: Any, ranked: Any) -> int:
    """How many of the ranked means are ahead of the best baseline; NaN is an undefined one."""
    if not len(baselines):
        return 0
    places = places_of(np.concatenate([baselines, ranked]), column.direction)
    return int((places[len(baselines) :] < places[: len(baselines)].min()).sum())


def every_run(
    session: Session,
    actor: Actor,
    evaluation: Evaluation,
    scoring_set: ScoringSet,
    now: dt.datetime,
    column: Column,
    page: int,
    run: int | None,
) -> EveryRun | None:
    """One page, or the one that submission `run` stands on, for a reader who sees everybody's means with
    all their digits. None where up to WHOLE rows stand on one page, and where each system has one run: that is the
    board of the runs that stand.
    """
    lines = _lines(session, actor, evaluation, scoring_set, now, column)
    if lines is None:
        return None
    late, baseline, means = lines.late, lines.baseline, lines.means
    # As `sort_entries` has it, but for the order of those that share a place: they come from it, when they are known.
    place = places_of(means, column.direction)
    apart = baseline if baseline.sum() <= APART else np.zeros(len(place), dtype=bool)
    keys = place + (len(place) + 1) * (2 * late + np.isnan(means))
    order = np.argsort(keys, kind="stable")
    order = order[~apart[order]]
    if len(order) <= WHOLE:
        return None
    group = np.cumsum(np.diff(keys[order], prepend=keys[order[0]]) != 0)
    ids = lines.submissions[order]
    rank = _ranks(column, lines)
    paging = paging_of(len(order), page, ROWS)
    first, last = _rows_of(paging)
    if run is not None and (found := np.flatnonzero(ids == run)).size:
        ties = np.flatnonzero(group == group[found[0]])  # it stands on one of their pages: on which is known below
        first, last = ties[0] // ROWS * ROWS, ties[-1] // ROWS * ROWS + ROWS
    own = np.flatnonzero(lines.own[order])
    own = own[(own < first) | (own >= last)][:OWN]
    leaders = np.flatnonzero(np.isin(rank[order], np.unique(rank[rank > 0])[:2]))
    on_page = group[first:last]
    wanted = np.isin(group, np.unique(np.concatenate([on_page, group[leaders], group[own]])))
    runs = [*ids[wanted].tolist(), *lines.submissions[apart].tolist()]
    names = [column.name]
    entries = load_entries(session, actor, [evaluation], now, names, scoring_set=scoring_set, runs=runs)
    entries = sort_entries(entries, column, [column])
    group_of = dict(zip(ids[wanted].tolist(), group[wanted].tolist(), strict=True))
    at: dict[int, int] = {}  # submission -> where it stands in the order of the board
    before: Counter[int] = Counter()
    for entry in entries:
        if (own_group := group_of.get(entry.submission_id)) is not None:
            at[entry.submission_id] = int(np.searchsorted(group, own_group)) + before[own_group]
            before[own_group] += 1
    if run in at:
        paging = paging_of(len(order), at[run] // ROWS + 1, ROWS)
    first, last = _rows_of(paging)
    shown = tuple(entry for entry in entries if first <= at.get(entry.submission_id, -1) < last)
    elsewhere = tuple(
        (entry, at[entry.submission_id] // ROWS + 1)
        for entry in entries
        if entry.own and entry.submission_id in at and not first <= at[entry.submission_id] < last
    )
    loaded = np.isin(lines.submissions, runs)
    ranks = dict(zip(lines.submissions[loaded].tolist(), rank[loaded].tolist(), strict=True))
    ranked = rank > 0
    counts = lines.counts[lines.counts > 0]
    lows, highs = _ends(lines)
    known = np.concatenate([means[~np.isnan(means)], lows, highs])
    return EveryRun(
        entries=tuple(entries),
        baselines=tuple(entry for entry in entries if entry.submission_id not in at),
        shown=shown,
        places={one.submission_id: ranks[one.submission_id] for one in entries if ranks[one.submission_id]},
        ranked=frozenset(lines.scorings[ranked].tolist()),
        paging=paging,
        own_elsewhere=elsewhere[:OWN],
        counts=(int(counts.min()), int(counts.max())) if counts.size else None,
        whole=Whole(
            rows=len(order),
            ranked=int(ranked.sum()),
            baselines=int(baseline.sum()),
            beaten=beaten(column, means[baseline], means[ranked]),
            ends=(float(known.min()), float(known.max())) if known.size else (),
            has_intervals=bool(lows.size),
        ),
    )


def _rows_of(paging: Paging) -> tuple[int, int]:
    """Between which places of all rows those of the page stand."""
    return paging.before(ROWS), paging.before(ROWS) + ROWS


@dataclass(frozen=True, slots=True)
class _Lines:
    """The numbers of every run that the board shows, as arrays; NaN where there is none."""

    submissions: Any
    scorings: Any
    late: Any
    baseline: Any
    own: Any
    means: Any
    lows: Any
    highs: Any
    counts: Any


def _lines(
    session: Session, actor: Actor, evaluation: Evaluation, scoring_set: ScoringSet, now: dt.datetime, column: Column
) -> _Lines | None:
    """None where no system has several runs."""
    runs = load_runs(session, actor, [scoring_set.id], on_boards())[scoring_set.id]
    if not runs.has_several:
        return None
    names = [column.name]
    wanted = Wanted(scoring_set.id, subset_seen(actor, evaluation, now), names, runs.scorings, in_full=names)
    means, counts, lows, highs = load_figures(session, [wanted])[0][column.name]
    late, baseline, own = runs.late, runs.baseline, runs.own
    return _Lines(runs.submissions, runs.scorings, late, baseline, own, means, lows, highs, np.nan_to_num(counts))


def _ranks(column: Column, lines: _Lines) -> Any:
    """The rank of each line among those that have one (`reads.standings.ranks`); 0 for all others."""
    rank = np.zeros(len(lines.means), dtype=np.int64)
    if column.direction != "none":
        has_rank = ~(lines.late | lines.baseline | np.isnan(lines.means))
        rank[has_rank] = places_of(lines.means[has_rank], column.direction)
    return rank


def _ends(lines: _Lines) -> tuple[Any, Any]:
    """The ends of all intervals that are given."""
    given = gives_interval(lines.counts) & ~np.isnan(lines.lows) & ~np.isnan(lines.highs)
    return lines.lows[given], lines.highs[given]
