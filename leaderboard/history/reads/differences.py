"""What moved between two boards of one evaluation: by two revisions, two settings, or two sources of judgments.

Everything here is worked out from the figures and ranks of the two boards as their reader sees them, rounded where
these are: so it tells nothing that the two boards don't.
"""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Content, may_see, require, subset_seen
from leaderboard.boards.models import Standing
from leaderboard.boards.reads.arrays import ComparedBoard, Names, Orders, load_boards, orders, shared
from leaderboard.boards.reads.columns import Column, column, columns_of, pick
from leaderboard.boards.reads.entries import NO_FIGURE, Figure, SystemLabel, anonymous, told_apart
from leaderboard.boards.reads.paging import Paging, found_on_page
from leaderboard.boards.reads.ranking import Show, stands_by
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.find import find_evaluation, of_subset
from leaderboard.evaluations.reads.headings import EvaluationHeading, closed_details, evaluation_heading
from leaderboard.history.reads.boards import StoodSet, differences, same_measures, seen_sets, stood_set
from leaderboard.judgments.models import Judgment, Query
from leaderboard.numbers import first_of
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import on_boards
from leaderboard.submissions.rules import STANDING, RunChoice, StoredChoice
from leaderboard.teams.models import Pseudonym, System, Team
from leaderboard.worker.models import Scoring, ScoringSet
from leaderboard.worker.reads import current_set

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
class Rejudged:
    """Judgments of the queries that a reader may know of: new ones, those that are there no longer, those with another
    grade, and those that stayed the same."""

    added: int
    removed: int
    regraded: int
    same: int


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
        return next(order for order in self.orders if order.column == self.column)


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
        """As `MovedPage.listed`."""
        return found_on_page(self.rows, lambda row: (row.system.name, row.system.team), text, page)


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
    boards = load_boards(
        session, actor, evaluation, ((one, moment, list(called.values())), (other, later, list(called))), by_each
    )
    labels = _labels(session, evaluation, boards)
    names = _names(labels)
    rounded = not all(may_see(actor, evaluation, Content.DETAILS, each) for each in (moment, later))
    return MovedPage(
        evaluation=evaluation_heading(evaluation, now),
        before=stood_set(evaluation, one),
        after=stood_set(evaluation, other),
        changes=differences(actor, evaluation, one, other, now),
        apart=_apart(session, boards, by_each, names),
        judgments=_rejudged(session, actor, evaluation, one, other, now),
        results_open=all(board.results_open for board in boards),
        columns=columns,
        column=by,
        column_before=by_each[0],
        rows=_rows(boards, by_each, labels),
        orders=tuple(orders(each, shared(boards, (column(called[each.name]), each)), names) for each in columns),
        rounded=rounded,
    )


def sources(
    session: Session, actor: Actor, campaign_slug: str, slug: str, now: dt.datetime, *, measure: str | None = None
) -> SourcesPage:
    """The boards by every source of judgments side by side. Raises NotAllowed while single queries are closed."""
    evaluation = find_evaluation(session, actor, campaign_slug, slug)
    require(may_see(actor, evaluation, Content.DETAILS, now), closed_details(evaluation))
    current = current_set(session, evaluation.id)
    standing = session.scalars(
        sa.select(ScoringSet)
        .join(ScoringSet.revision)
        .options(sa.orm.contains_eager(ScoringSet.revision))
        .where(ScoringSet.evaluation_id == evaluation.id, ScoringSet.state.in_(STANDING))
        .order_by(ScoringSet.source)
    )
    sets = sorted(standing, key=lambda one: current is None or one.id != current.id)
    columns = columns_of(sets[0].settings) if sets else ()
    by = pick(columns, measure) if columns else None
    compared = [[each for each in columns if each.name in scoring_set.settings.measures] for scoring_set in sets]
    asked = [(scoring_set, now, [each.name for each in own]) for scoring_set, own in zip(sets, compared, strict=True)]
    boards = load_boards(session, actor, evaluation, asked, [by] * len(asked)) if by else ()
    labels = _labels(session, evaluation, boards)
    names = _names(labels)
    agreements = tuple(
        Agreement(
            stood_set(evaluation, scoring_set),
            tuple(orders(each, shared((boards[0], board), (each, each)), names) for each in own),
        )
        for scoring_set, board, own in zip(sets[1:], boards[1:], compared[1:], strict=True)
    )
    return SourcesPage(
        evaluation=evaluation_heading(evaluation, now),
        sources=tuple(stood_set(evaluation, scoring_set) for scoring_set in sets),
        columns=columns,
        column=by,
        agreements=agreements,
        rows=_side_by_side(boards, by, labels) if by else (),
    )


def _apart(
    session: Session, boards: Sequence[ComparedBoard], by: tuple[Column, Column], names: Names
) -> tuple[str, ...]:
    """Which systems are not compared, and why: what somebody did, or who came."""
    compared = set(shared(boards, by).systems.tolist())
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
            listed = first_of([name for system, name in names.of_system.items() if system in systems], NAMED)
            told.append(words.format(listed, is_="is" if len(systems) == 1 else "are"))
    return tuple(f"{words[:1].upper()}{words[1:]}." for words in told)


def _lost(session: Session, board: ComparedBoard) -> frozenset[int]:
    """The systems whose run that stood was taken away since."""
    if board.show is Show.BEST:  # the best one is found again among those that are there
        return frozenset()
    stood = sa.select(Standing.system_id).join(Scoring, Scoring.id == Standing.scoring_id).join(Submission)
    kept = stands_by(StoredChoice(RunChoice(board.show.value)))
    of_set = Standing.scoring_set_id == board.scoring_set.id, Standing.late.is_(False), kept, ~on_boards()
    return frozenset(session.scalars(stood.where(*of_set)))


def _names(labels: Mapping[int, SystemLabel]) -> Names:
    """What sentences call the systems of the boards."""
    named = sorted(told_apart(labels.values()).items(), key=lambda item: (item[1].casefold(), item[0]))
    return Names(dict(named), np.array([system for system, _ in named], dtype=np.int64))


def _rows(
    boards: Sequence[ComparedBoard], by: tuple[Column, Column], labels: Mapping[int, SystemLabel]
) -> tuple[MovedSystem, ...]:
    before, after = boards[0].lines, boards[1].lines
    rank_before, rank = (board.ranked(own).of_system for board, own in zip(boards, by, strict=True))
    moves = shared(boards, by).moves
    several = len(moves) > 1
    rows = []
    for system in {**after, **before}:
        was, line = before.get(system), after.get(system)
        run = (line or before[system]).submission_id
        rows.append(
            MovedSystem(
                system=labels[system],
                submission_id=run,
                another_run=was is not None and was.submission_id != run,
                rank_before=rank_before.get(system),
                rank=rank.get(system),
                places=moves.get(system) if several else None,
                before=was.figure if was else NO_FIGURE,
                after=line.figure if line else NO_FIGURE,
            )
        )
    return tuple(sorted(rows, key=lambda row: _place(row.rank, row.system)))


def _side_by_side(
    boards: Sequence[ComparedBoard], by: Column, labels: Mapping[int, SystemLabel]
) -> tuple[SourceRow, ...]:
    lines = [board.lines for board in boards]
    ranks = [board.ranked(by).of_system for board in boards]
    runs: dict[int, int] = {}
    for own in reversed(lines):
        runs |= {system: line.submission_id for system, line in own.items()}
    rows = [
        SourceRow(
            labels[system],
            run,
            tuple(own.get(system) for own in ranks),
            tuple(own[system].figure if system in own else NO_FIGURE for own in lines),
        )
        for system, run in runs.items()
    ]
    return tuple(sorted(rows, key=lambda row: _place(row.ranks[0], row.system)))


def _place(rank: int | None, system: SystemLabel) -> tuple[bool, int, str, int]:
    """Sorts systems by rank, those without one last; where ranks are equal by name."""
    return rank is None, rank or 0, system.name.casefold(), system.id


def _rejudged(
    session: Session, actor: Actor, evaluation: Evaluation, before: ScoringSet, after: ScoringSet, now: dt.datetime
) -> Rejudged | None:
    """From the judgments of one set to those of another; None where they are of one revision.

    None as well for whoever may not see single queries: these counts tell of the judgments themselves.
    """
    if before.revision_id == after.revision_id or not may_see(actor, evaluation, Content.DETAILS, now):
        return None
    earlier, later = sa.orm.aliased(Judgment), sa.orm.aliased(Judgment)
    known = sa.select(Query.id).where(*of_subset(evaluation.id, subset_seen(actor, evaluation, now)))

    def judged(of: Any, scoring_set: ScoringSet) -> tuple[sa.ColumnElement[bool], ...]:
        return of.revision_id == scoring_set.revision_id, of.query_id.in_(known)

    both = sa.and_(earlier.query_id == later.query_id, earlier.document == later.document)
    was, is_now = (
        sa.select(sa.func.count()).select_from(of).where(*judged(of, each)).scalar_subquery()
        for of, each in ((sa.orm.aliased(Judgment), before), (sa.orm.aliased(Judgment), after))
    )
    counts = sa.func.count(), sa.func.count(sa.case((earlier.grade != later.grade, 1)))
    shared, regraded, had, has = session.execute(
        sa.select(*counts, was, is_now)
        .select_from(earlier)
        .join(later, both)
        .where(*judged(earlier, before), *judged(later, after))
    ).one()
    return Rejudged(added=has - shared, removed=had - shared, regraded=regraded, same=shared - regraded)


def _labels(session: Session, evaluation: Evaluation, boards: Sequence[ComparedBoard]) -> dict[int, SystemLabel]:
    """System -> how the reader finds it named on the last of these boards that lists it, without a run of each at hand.
    In one statement, by the systems' ids."""
    named: dict[int, bool] = {}
    for board in boards:
        is_named = board.runs.baseline | board.disclosure.sees_each(Content.NAMES, board.runs.own)
        named.update(zip(board.runs.systems.tolist(), is_named.tolist(), strict=True))
    statement = (
        sa.select(System.id, System.name, System.kind, System.slug, Team.name, Team.slug)
        .join(Team, Team.id == System.team_id)
        .where(System.id.in_(sa.select(Submission.system_id).where(Submission.evaluation_id == evaluation.id)))
        .order_by(System.id)
    )
    if not all(named.values()):
        in_place = Pseudonym.system_id == System.id, Pseudonym.evaluation_id == evaluation.id
        statement = statement.outerjoin(Pseudonym, sa.and_(*in_place)).add_columns(Pseudonym.number)
    labels: dict[int, SystemLabel] = {}
    rows: Iterable[Any] = session.execute(statement)
    for system, name, kind, slug, team, team_slug, *number in rows:
        if system in named:
            label = SystemLabel(system, name, kind, slug, team, team_slug)
            labels[system] = label if named[system] else anonymous(system, kind, *number)
    return labels
