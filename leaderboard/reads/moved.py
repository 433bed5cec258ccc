"""What moved between two boards of one evaluation: by two revisions, two settings, or two sources of judgments.

Everything here is worked out from the figures and ranks of the two boards as their reader sees them, rounded where
these are: so it tells nothing that the two boards don't.
"""

import datetime as dt
import math
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Sight, may_see, require
from leaderboard.lookup import current_set, find_evaluation, on_boards
from leaderboard.metrics.families.agreement import pairs, tau_ap, tau_b, tied_pairs
from leaderboard.models import Evaluation, Scoring, ScoringSet, Standing, Submission
from leaderboard.numbers import first_of
from leaderboard.reads.columns import Column, column, pick
from leaderboard.reads.entries import NO_FIGURE, Entry, Figure, SystemLabel, load_entries, told_apart
from leaderboard.reads.headings import EvaluationHeading, closed_details, evaluation_heading
from leaderboard.reads.rejudged import Rejudged, rejudged
from leaderboard.reads.standings import Show, choose, ranks, show_of, stands_by
from leaderboard.reads.stood import StoodSet, differences, same_measures, seen_set, stood_set
from leaderboard.rules.standings import KeptChoice, RunChoice
from leaderboard.rules.states import STANDING

__all__ = ["Agreement", "MovedPage", "MovedSystem", "Orders", "SourceRow", "SourcesPage", "moved", "sources"]


NAMED = 5  # systems that a sentence names


@dataclass(frozen=True, slots=True)
class Orders:
    """How two boards order the systems that both rank by the same run, by one measure.

    Where the best runs stand, another run is the judgments' doing, so that systems that both rank are compared.

    systems   that are compared
    swapped   pairs of them in one order before and in the other after: Kendall's distance, in pairs
    parted    pairs that tie on one of the two boards only
    tau       Kendall's τ-b, which takes ties into account; None where it is undefined
    tau_ap    with the first board as the reference, those that tie in it in the order of their names; None likewise
    leaders   the names of the first ones, before and after
    largest   the most places that a system went up or down
    """

    column: Column
    systems: int
    swapped: int
    parted: int
    tau: float | None
    tau_ap: float | None
    leaders: tuple[tuple[str, ...], tuple[str, ...]]
    largest: int

    @property
    def pairs(self) -> int:
        return math.comb(self.systems, 2)

    @property
    def changed(self) -> bool:
        return bool(self.swapped or self.parted)


@dataclass(frozen=True, slots=True)
class MovedSystem:
    """A system on two boards; None and NO_FIGURE where it is on one of them only, or has no rank there.

    places   how many it went up among the systems that are compared (`Orders`), below 0 down; None for others
    submission_id  the run that stands for it on the later board, else on the earlier one
    another_run    whether another one stood for it on the earlier board
    """

    system: SystemLabel
    submission_id: int
    another_run: bool
    rank_before: int | None
    rank: int | None
    places: int | None
    before: Figure
    after: Figure

    @property
    def difference(self) -> float | None:
        """Of the means as they are shown."""
        if self.before.mean is None or self.after.mean is None:
            return None
        return float(self.after.mean) - float(self.before.mean)


@dataclass(frozen=True, slots=True)
class MovedPage:
    """rows: the order after, systems without a rank last. rounded: whether means of one of the boards are.

    judgments  how many are different; None where the two are of one revision, and for whom single queries are closed
    apart  what else than judgments and settings is different, in sentences: systems that are not compared
    column_before  what the measure of the table was called before: names hold the lowest relevant grade
    """

    evaluation: EvaluationHeading
    before: StoodSet
    after: StoodSet
    changes: tuple[str, ...]
    apart: tuple[str, ...]
    judgments: Rejudged | None
    results_open: bool
    columns: tuple[Column, ...]
    column: Column
    column_before: Column
    rows: tuple[MovedSystem, ...]
    orders: tuple[Orders, ...]
    rounded: bool

    @property
    def order(self) -> Orders:
        """By the measure of the table."""
        return next(one for one in self.orders if one.column == self.column)


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A system's rank by each source, in the order of the page; None where it has none."""

    system: SystemLabel
    submission_id: int
    ranks: tuple[int | None, ...]
    figures: tuple[Figure, ...]

    @property
    def spread(self) -> int | None:
        """The most places between two sources."""
        known = [rank for rank in self.ranks if rank is not None]
        return max(known) - min(known) if len(known) > 1 else None


@dataclass(frozen=True, slots=True)
class Agreement:
    """How a source's boards agree with the official one's, by each measure that both have."""

    source: StoodSet
    orders: tuple[Orders, ...]


@dataclass(frozen=True, slots=True)
class SourcesPage:
    """sources: the official one first."""

    evaluation: EvaluationHeading
    sources: tuple[StoodSet, ...]
    columns: tuple[Column, ...]
    column: Column | None
    agreements: tuple[Agreement, ...]
    rows: tuple[SourceRow, ...]


@dataclass(frozen=True, slots=True)
class _Board:
    """The entries of a set, as one reader sees them. lost: the systems whose run that stood was taken away since."""

    entries: list[Entry]
    show: Show
    results_open: bool
    lost: frozenset[int]
    chosen: dict[str, list[Entry]] = field(default_factory=dict)

    def standing(self, by: Column) -> list[Entry]:
        """Those that stand, chosen once where the measure has no say in it."""
        key = by.name if self.show is Show.BEST else ""
        if key not in self.chosen:
            self.chosen[key] = choose(self.entries, self.show, by)
        return self.chosen[key]

    def ranks(self, by: Column) -> dict[int, int]:
        """System -> rank; none where the results are not open."""
        standing = self.standing(by)
        found = ranks(standing, by) if self.results_open else {}
        return {entry.system_id: found[entry.submission_id] for entry in standing if entry.submission_id in found}


def moved(
    session: Session,
    actor: Actor,
    campaign_slug: str,
    slug: str,
    before: int,
    after: int,
    now: dt.datetime,
    *,
    measure: str | None = None,
) -> MovedPage:
    """From the board by one set to that by another. Raises NotFound where one of them is not to be seen."""
    evaluation = find_evaluation(session, actor, campaign_slug, slug)
    (one, moment), (other, later) = (seen_set(session, actor, evaluation, each, now) for each in (before, after))
    called = same_measures(one.settings, other.settings) or {name: name for name in other.settings.measures}
    columns = tuple(column(name) for name in called)
    by = pick(columns, measure)
    boards = _board(session, actor, evaluation, one, moment), _board(session, actor, evaluation, other, later)
    names, by_each = _names(boards), (column(called[by.name]), by)
    compared = _compared(boards, by_each)
    rounded = not all(may_see(actor, evaluation, Sight.DETAILS, each) for each in (moment, later))
    return MovedPage(
        evaluation=evaluation_heading(evaluation, now),
        before=stood_set(evaluation, one),
        after=stood_set(evaluation, other),
        changes=differences(actor, evaluation, one, other, now),
        apart=_apart(boards, by_each, compared[0], names),
        judgments=None if rounded else rejudged(session, actor, evaluation, one, other, now),
        results_open=all(board.results_open for board in boards),
        columns=columns,
        column=by,
        column_before=by_each[0],
        rows=_rows(boards, by_each, compared),
        orders=tuple(_orders(boards, (column(called[each.name]), each), names) for each in columns),
        rounded=rounded,
    )


def sources(
    session: Session, actor: Actor, campaign_slug: str, slug: str, now: dt.datetime, *, measure: str | None = None
) -> SourcesPage:
    """The boards by every source of judgments side by side. Raises NotAllowed while single queries are closed."""
    evaluation = find_evaluation(session, actor, campaign_slug, slug)
    require(may_see(actor, evaluation, Sight.DETAILS, now), closed_details(evaluation))
    current = current_set(session, evaluation.id)
    standing = session.scalars(
        sa.select(ScoringSet)
        .join(ScoringSet.revision)
        .options(sa.orm.contains_eager(ScoringSet.revision))
        .where(ScoringSet.evaluation_id == evaluation.id, ScoringSet.state.in_(STANDING))
        .order_by(ScoringSet.source)
    )
    sets = sorted(standing, key=lambda one: current is None or one.id != current.id)
    columns = tuple(column(name) for name in sets[0].settings.measures) if sets else ()
    by = pick(columns, measure) if columns else None
    boards = [_board(session, actor, evaluation, one, now) for one in sets]
    names = _names(boards)
    agreements = tuple(
        Agreement(
            stood_set(evaluation, one),
            tuple(
                _orders((boards[0], board), (each, each), names)
                for each in columns
                if each.name in one.settings.measures
            ),
        )
        for one, board in zip(sets[1:], boards[1:], strict=True)
    )
    return SourcesPage(
        evaluation=evaluation_heading(evaluation, now),
        sources=tuple(stood_set(evaluation, one) for one in sets),
        columns=columns,
        column=by,
        agreements=agreements,
        rows=_side_by_side(boards, by) if by else (),
    )


def _board(
    session: Session, actor: Actor, evaluation: Evaluation, scoring_set: ScoringSet, moment: dt.datetime
) -> _Board:
    names, show = scoring_set.settings.measures, show_of(None, evaluation.campaign.run_choice)
    standing = stands_by(KeptChoice(RunChoice.PRIMARY)) if show is Show.PRIMARY else None
    entries = load_entries(session, actor, [evaluation], moment, names, scoring_set=scoring_set, standing=standing)
    gone = frozenset[int]()
    if show is not Show.BEST:  # the best one is found again among those that are there
        stood = sa.select(Standing.system_id).join(Scoring, Scoring.id == Standing.scoring_id).join(Submission)
        kept = stands_by(KeptChoice(RunChoice(show.value)))
        of_set = Standing.scoring_set_id == scoring_set.id, Standing.late.is_(False), kept, ~on_boards()
        gone = frozenset(session.scalars(stood.where(*of_set)))
    return _Board(entries, show, may_see(actor, evaluation, Sight.RESULTS, moment), gone)


def _compared(boards: tuple[_Board, _Board], by: tuple[Column, Column]) -> tuple[dict[int, int], dict[int, int]]:
    """System -> its place before and after, among those that are compared."""
    each = tuple(zip(boards, by, strict=True))
    runs = [{entry.system_id: entry.submission_id for entry in board.standing(own)} for board, own in each]
    before, after = (board.ranks(own) for board, own in each)
    both = [
        system
        for system in before.keys() & after.keys()
        if runs[0][system] == runs[1][system] or boards[1].show is Show.BEST
    ]
    return _among(both, before), _among(both, after)


def _among(systems: Sequence[int], found: Mapping[int, int]) -> dict[int, int]:
    ordered = sorted(found[system] for system in systems)
    return {system: 1 + bisect_left(ordered, found[system]) for system in systems}


def _apart(
    boards: tuple[_Board, _Board], by: tuple[Column, Column], compared: Collection[int], names: Mapping[int, str]
) -> tuple[str, ...]:
    """Which systems are not compared, and why: what somebody did, or who came."""
    before, after = (board.ranks(own) for board, own in zip(boards, by, strict=True))
    why = {
        "another run stood for {} on the earlier board": (before.keys() & after.keys()).difference(compared),
        "of {} the run that stood on the earlier board was withdrawn or taken off since": (
            (after.keys() - before.keys()) & boards[0].lost
        ),
        "on the later board only {} {is_} ranked": (after.keys() - before.keys()) - boards[0].lost,
        "on the earlier board only {} {is_} ranked": before.keys() - after.keys(),
    }
    told = []
    for words, systems in why.items():
        if systems:
            listed = first_of([name for system, name in names.items() if system in systems], NAMED)
            told.append(words.format(listed, is_="is" if len(systems) == 1 else "are"))
    return tuple(f"{words[:1].upper()}{words[1:]}." for words in told)


def _names(boards: Iterable[_Board]) -> dict[int, str]:
    """System -> what it is called on them, in the order of the names."""
    names = told_apart(entry.system for board in boards for entry in board.entries)
    return dict(sorted(names.items(), key=lambda item: (item[1].casefold(), item[0])))


def _orders(boards: tuple[_Board, _Board], by: tuple[Column, Column], names: Mapping[int, str]) -> Orders:
    """Of the systems that are compared, by each board's own name of one measure."""
    before, after = _compared(boards, by)
    both = [system for system in names if system in before]
    items = np.array([str(system) for system in both])
    places = [np.array([float(order[system]) for system in both]) for order in (before, after)]
    tied = [tied_pairs(place) for place in places]
    tied_on_both = tied_pairs(places[0] * (1 + max(after.values(), default=0)) + places[1])
    concordant, discordant = pairs(*places)
    lists = [items[np.argsort(place, kind="stable")] for place in places]
    tau = _defined(tau_b(places[0], places[1], concordant, discordant))
    return Orders(
        column=by[1],
        systems=len(both),
        swapped=discordant,
        parted=sum(tied) - 2 * tied_on_both,
        tau=tau,
        tau_ap=None if tau is None else _defined(tau_ap(lists[0], lists[1]).value),
        leaders=(_leaders(before, names), _leaders(after, names)),
        largest=max((abs(before[system] - after[system]) for system in both), default=0),
    )


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value


def _leaders(order: Mapping[int, int], names: Mapping[int, str]) -> tuple[str, ...]:
    return tuple(sorted(names[system] for system, rank in order.items() if rank == 1))


def _rows(
    boards: tuple[_Board, _Board], by: tuple[Column, Column], compared: tuple[Mapping[int, int], Mapping[int, int]]
) -> tuple[MovedSystem, ...]:
    each = tuple(zip(boards, by, strict=True))
    before, after = ({entry.system_id: entry for entry in board.standing(own)} for board, own in each)
    rank_before, rank = (board.ranks(own) for board, own in each)
    several = len(compared[0]) > 1
    rows = []
    for system in {**after, **before}:
        entry = after.get(system) or before[system]
        rows.append(
            MovedSystem(
                system=entry.system,
                submission_id=entry.submission_id,
                another_run=system in before and before[system].submission_id != entry.submission_id,
                rank_before=rank_before.get(system),
                rank=rank.get(system),
                places=compared[0][system] - compared[1][system] if several and system in compared[0] else None,
                before=before[system].figure(by[0].name) if system in before else NO_FIGURE,
                after=after[system].figure(by[1].name) if system in after else NO_FIGURE,
            )
        )
    return tuple(sorted(rows, key=lambda row: (row.rank is None, row.rank or 0, row.system.name.casefold())))


def _side_by_side(boards: Sequence[_Board], by: Column) -> tuple[SourceRow, ...]:
    standing = [{entry.system_id: entry for entry in board.standing(by)} for board in boards]
    found = [board.ranks(by) for board in boards]
    systems: dict[int, Entry] = {}
    for own in standing:
        systems = {**own, **systems}
    rows = [
        SourceRow(
            entry.system,
            entry.submission_id,
            tuple(own.get(system) for own in found),
            tuple(own[system].figure(by.name) if system in own else NO_FIGURE for own in standing),
        )
        for system, entry in systems.items()
    ]
    return tuple(sorted(rows, key=lambda row: (row.ranks[0] is None, row.ranks[0] or 0, row.system.name.casefold())))
