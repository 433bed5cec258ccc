"""What moved between two boards of one evaluation: by two revisions, two settings, or two sources of judgments.

Everything here is worked out from the figures and ranks of the two boards as their reader sees them, rounded where
these are: so it tells nothing that the two boards don't.
"""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Sight, may_see, require, subset_seen
from leaderboard.lookup import current_set, find_evaluation, on_boards
from leaderboard.metrics import Floats
from leaderboard.metrics.ranking import Bools, Ints
from leaderboard.models import Evaluation, Scoring, ScoringSet, Standing, Submission
from leaderboard.numbers import first_of
from leaderboard.reads.columns import Column, column, pick
from leaderboard.reads.entries import (
    NO_FIGURE,
    Entry,
    Figure,
    SystemLabel,
    load_entries,
    means_as_seen,
    told_apart,
)
from leaderboard.reads.headings import EvaluationHeading, closed_details, evaluation_heading
from leaderboard.reads.means import Wanted, load_means
from leaderboard.reads.orders import Orders, Ranked, Shared, orders, shared
from leaderboard.reads.paging import Paging, found_on_page
from leaderboard.reads.rejudged import Rejudged, rejudged
from leaderboard.reads.standings import Show, choose, show_of, stands_by
from leaderboard.reads.stood import StoodSet, differences, same_measures, seen_sets, stood_set
from leaderboard.rules.standings import KeptChoice, RunChoice, best_runs, is_ranked, places_of
from leaderboard.rules.states import STANDING

__all__ = ["Agreement", "MovedPage", "MovedSystem", "SourceRow", "SourcesPage", "moved", "sources"]


NAMED = 5  # systems that a sentence names


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

    def listed(self, text: str, page: int | None) -> tuple[tuple[MovedSystem, ...], Paging]:
        """The systems on one page of a long table, or those with this text in their name or their team's."""
        return found_on_page(self.rows, lambda row: (row.system.name, row.system.team), text, page)

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

    def listed(self, text: str, page: int | None) -> tuple[tuple[SourceRow, ...], Paging]:
        """The systems on one page of a long table, or those with this text in their name or their team's."""
        return found_on_page(self.rows, lambda row: (row.system.name, row.system.team), text, page)


@dataclass(frozen=True, slots=True)
class _Board:
    """What a set's board lists, as one reader sees it.

    entries  the runs from which those that stand are chosen, in the order of their arrival, with the figures by the
             measure of the table; systems, runs and may_rank are theirs, as arrays
    means    by every measure that is compared, the means of these runs as the reader sees them; NaN for none
    """

    scoring_set: ScoringSet
    moment: dt.datetime
    entries: list[Entry]
    systems: Ints
    runs: Ints
    may_rank: Bools
    show: Show
    results_open: bool
    means: dict[str, Floats] = field(default_factory=dict)
    chosen: dict[str, Ints] = field(default_factory=dict)
    ranks: dict[str, Ranked] = field(default_factory=dict)

    def standing(self, by: Column) -> Ints:
        """Where those that stand are in `entries`, found once where the measure has no say in it."""
        key = by.name if self.show is Show.BEST else ""
        if key not in self.chosen:
            self.chosen[key] = self._best(by) if self.show is Show.BEST else self._chosen(by)
        return self.chosen[key]

    def _chosen(self, by: Column) -> Ints:
        at = {entry.submission_id: place for place, entry in enumerate(self.entries)}
        return np.array([at[entry.submission_id] for entry in choose(self.entries, self.show, by)], dtype=np.int64)

    def _best(self, by: Column) -> Ints:
        groups = 2 * self.systems + np.array([entry.late for entry in self.entries], dtype=np.int64)
        stand = best_runs(groups, self._means(by), by.direction).tolist()
        return np.array([place for place in stand if not self.entries[place].off_board], dtype=np.int64)

    def _means(self, by: Column) -> Floats:
        return self.means.get(by.name, np.full(len(self.entries), np.nan))

    def by_system(self, by: Column) -> dict[int, Entry]:
        """System -> the run that stands for it."""
        return {one.system_id: one for one in (self.entries[place] for place in self.standing(by).tolist())}

    def ranked(self, by: Column) -> Ranked:
        """Nothing where the results are not open. Found once for each measure."""
        if by.name not in self.ranks:
            self.ranks[by.name] = self._ranked(by)
        return self.ranks[by.name]

    def _ranked(self, by: Column) -> Ranked:
        standing, means = self.standing(by), self._means(by)
        if not self.results_open or by.direction == "none":
            standing = standing[:0]
        standing = standing[self.may_rank[standing] & ~np.isnan(means[standing])]
        return Ranked(self.systems[standing], self.runs[standing], places_of(means[standing], by.direction))


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
    (one, moment), (other, later) = seen_sets(session, actor, evaluation, (before, after), now)
    called = same_measures(one.settings, other.settings) or {name: name for name in other.settings.measures}
    columns = tuple(column(name) for name in called)
    by = pick(columns, measure)
    by_each = column(called[by.name]), by
    board, board_after = (
        _board(session, actor, evaluation, each, as_of, own)
        for each, as_of, own in ((one, moment, by_each[0]), (other, later, by))
    )
    boards = board, board_after
    _add_means(session, actor, evaluation, ((board, list(called.values())), (board_after, list(called))))
    names = _names(boards)
    rounded = not all(may_see(actor, evaluation, Sight.DETAILS, each) for each in (moment, later))
    return MovedPage(
        evaluation=evaluation_heading(evaluation, now),
        before=stood_set(evaluation, one),
        after=stood_set(evaluation, other),
        changes=differences(actor, evaluation, one, other, now),
        apart=_apart(session, boards, by_each, names),
        judgments=None if rounded else rejudged(session, actor, evaluation, one, other, now),
        results_open=all(board.results_open for board in boards),
        columns=columns,
        column=by,
        column_before=by_each[0],
        rows=_rows(boards, by_each),
        orders=tuple(orders(each, _shared(boards, (column(called[each.name]), each)), names) for each in columns),
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
    boards = [_board(session, actor, evaluation, one, now, by) for one in sets] if by else []
    compared = [[each for each in columns if each.name in one.settings.measures] for one in sets]
    _add_means(
        session,
        actor,
        evaluation,
        [(board, [each.name for each in own]) for board, own in zip(boards, compared, strict=True)],
    )
    names = _names(boards)
    agreements = tuple(
        Agreement(
            stood_set(evaluation, one),
            tuple(orders(each, _shared((boards[0], board), (each, each)), names) for each in own),
        )
        for one, board, own in zip(sets[1:], boards[1:], compared[1:], strict=True)
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
    session: Session,
    actor: Actor,
    evaluation: Evaluation,
    scoring_set: ScoringSet,
    moment: dt.datetime,
    by: Column,
) -> _Board:
    show = show_of(None, evaluation.campaign.run_choice)
    standing = stands_by(KeptChoice(RunChoice.PRIMARY)) if show is Show.PRIMARY else None
    entries = load_entries(session, actor, [evaluation], moment, [by.name], scoring_set=scoring_set, standing=standing)
    return _Board(
        scoring_set=scoring_set,
        moment=moment,
        entries=entries,
        systems=np.array([entry.system_id for entry in entries], dtype=np.int64),
        runs=np.array([entry.submission_id for entry in entries], dtype=np.int64),
        may_rank=np.array([is_ranked(entry) for entry in entries], dtype=bool),
        show=show,
        results_open=may_see(actor, evaluation, Sight.RESULTS, moment),
    )


def _add_means(
    session: Session, actor: Actor, evaluation: Evaluation, boards: Sequence[tuple[_Board, Sequence[str]]]
) -> None:
    """Adds the means of each board's runs by these measures, as the reader sees them."""
    wanted = [
        Wanted(
            board.scoring_set.id,
            subset_seen(actor, evaluation, board.moment),
            names,
            np.array([entry.scoring_id for entry in board.entries], dtype=np.int64),
        )
        for board, names in boards
    ]
    for (board, _), means in zip(boards, load_means(session, wanted), strict=True):
        own = np.array([entry.own for entry in board.entries], dtype=bool)
        for name, all_digits in means.items():
            board.means[name] = means_as_seen(actor, evaluation, board.scoring_set, board.moment, own, name, all_digits)


def _shared(boards: Sequence[_Board], by: tuple[Column, Column]) -> Shared:
    """The systems that are compared by a measure, which each board has its own name of."""
    before, after = (board.ranked(own) for board, own in zip(boards, by, strict=True))
    return shared(before, after, any_run=boards[1].show is Show.BEST)


def _apart(
    session: Session, boards: tuple[_Board, _Board], by: tuple[Column, Column], names: Mapping[int, str]
) -> tuple[str, ...]:
    """Which systems are not compared, and why: what somebody did, or who came."""
    compared = set(_shared(boards, by).systems.tolist())
    before, after = (set(board.ranked(own).systems.tolist()) for board, own in zip(boards, by, strict=True))
    lost = _lost(session, boards[0]) if after - before else frozenset[int]()
    why = {
        "another run stood for {} on the earlier board": (before & after) - compared,
        "of {} the run that stood on the earlier board was withdrawn or taken off since": (after - before) & lost,
        "on the later board only {} {is_} ranked": after - before - lost,
        "on the earlier board only {} {is_} ranked": before - after,
    }
    told = []
    for words, systems in why.items():
        if systems:
            listed = first_of([name for system, name in names.items() if system in systems], NAMED)
            told.append(words.format(listed, is_="is" if len(systems) == 1 else "are"))
    return tuple(f"{words[:1].upper()}{words[1:]}." for words in told)


def _lost(session: Session, board: _Board) -> frozenset[int]:
    """The systems whose run that stood was taken away since."""
    if board.show is Show.BEST:  # the best one is found again among those that are there
        return frozenset()
    stood = sa.select(Standing.system_id).join(Scoring, Scoring.id == Standing.scoring_id).join(Submission)
    kept = stands_by(KeptChoice(RunChoice(board.show.value)))
    of_set = Standing.scoring_set_id == board.scoring_set.id, Standing.late.is_(False), kept, ~on_boards()
    return frozenset(session.scalars(stood.where(*of_set)))


def _names(boards: Iterable[_Board]) -> dict[int, str]:
    """System -> what it is called on them, in the order of the names."""
    names = told_apart(entry.system for board in boards for entry in board.entries)
    return dict(sorted(names.items(), key=lambda item: (item[1].casefold(), item[0])))


def _rows(boards: tuple[_Board, _Board], by: tuple[Column, Column]) -> tuple[MovedSystem, ...]:
    each = tuple(zip(boards, by, strict=True))
    before, after = (board.by_system(own) for board, own in each)
    rank_before, rank = (board.ranked(own).of_system for board, own in each)
    moves = _shared(boards, by).moves
    several = len(moves) > 1
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
                places=moves.get(system) if several else None,
                before=before[system].figure(by[0].name) if system in before else NO_FIGURE,
                after=after[system].figure(by[1].name) if system in after else NO_FIGURE,
            )
        )
    return tuple(sorted(rows, key=lambda row: (row.rank is None, row.rank or 0, row.system.name.casefold())))


def _side_by_side(boards: Sequence[_Board], by: Column) -> tuple[SourceRow, ...]:
    standing = [board.by_system(by) for board in boards]
    found = [board.ranked(by).of_system for board in boards]
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
