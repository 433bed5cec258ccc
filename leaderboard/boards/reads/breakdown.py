"""Tables of systems with a figure in each of several columns: by condition, by the tags of an evaluation's queries,
or by source of judgments.

One run of each system is there, received in time, with the rank that it has in each column.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from leaderboard import errors
from leaderboard.access import Actor, Content, may_see, require
from leaderboard.boards.reads import entries as table
from leaderboard.boards.reads.board import BoardQuery, Tag, positions_by_tag
from leaderboard.boards.reads.history import BoardVersion, board_version, labels_on, names_of
from leaderboard.boards.reads.judging_agreement import JudgingAgreement, judging_agreement
from leaderboard.boards.reads.ranking import ComparedBoard, Orders, load_boards, orders, shared, sorted_rows
from leaderboard.evaluations.reads import evaluations as reads
from leaderboard.frozen import frozen
from leaderboard.metrics import Floats, Ints, parse
from leaderboard.metrics.families.detection import measures_beside
from leaderboard.results.reads.run import columns_over, load_vectors
from leaderboard.submissions.rules import STANDING, SetState, places_of
from leaderboard.worker.models import ScoringSet
from leaderboard.worker.reads import sets_of


@frozen
class Cell:
    """A system's figure in a column and the run that has it; all None where it has none. rank: None for baselines, and
    by a measure that ranks nothing."""

    mean: float | None = None
    rank: int | None = None
    submission_id: int | None = None


@frozen
class SystemRow:
    """rank: by `mean`; cells: one for each column."""

    system: table.SystemLabel
    own: bool
    mean: float | None
    rank: int | None
    cells: tuple[Cell, ...]


def in_time(board: ComparedBoard) -> Ints:
    """Where the runs are that stand by the board's measure and were received in time."""
    standing = board.standing(board.by)
    return standing[~board.runs.late[standing]]


def cells_of(board: ComparedBoard, at: Ints, over: Floats | None = None) -> dict[int, Cell]:
    """System -> its cell, of the runs `in_time`, whose places `at` has. over: their figures in place of the board's"""
    column, runs = board.by, board.runs.at(at)
    means = [figure.mean for figure in board.figures[column.name].at(at)] if over is None else over.tolist()
    values = np.array(means, dtype=float)
    is_ranked = ~(runs.baseline | np.isnan(values)) & (column.direction != "none")
    ranks = np.zeros(len(values), dtype=np.int64)  # 0 for none
    ranks[is_ranked] = places_of(values[is_ranked], column.direction)
    own = (~np.isnan(values)).tolist(), runs.systems.tolist(), means, ranks.tolist(), runs.submissions.tolist()
    return {system: Cell(mean, rank or None, run) for known, system, mean, rank, run in zip(*own, strict=True) if known}


def rows_of(
    session: Session, boards: Sequence[ComparedBoard], columns: Sequence[Mapping[int, Cell]]
) -> Iterator[SystemRow]:
    """By name, of every system of the boards that has a cell in one of these columns; without mean and rank."""
    own = {system for board in boards for system in board.runs.systems[board.runs.own].tolist()}
    for system, label in sorted(labels_on(session, boards).items(), key=lambda item: item[1].name.casefold()):
        if any(system in column for column in columns):
            cells = tuple(column.get(system, Cell()) for column in columns)
            yield SystemRow(label, system in own, None, None, cells)


def rows_beside(
    session: Session, boards: Sequence[ComparedBoard], columns: Sequence[Mapping[int, Cell]]
) -> tuple[SystemRow, ...]:
    """The same with the mean and the rank of the first column, and cells of the others only; the best mean first."""
    rows = [
        SystemRow(row.system, row.own, first.mean, first.rank, tuple(cells))
        for row in rows_of(session, boards, columns)
        for first, *cells in [row.cells]
    ]
    return tuple(boards[0].by.sort(rows, lambda row: row.mean))


def listed(
    page: Any, keys: Iterable[str], view: BoardQuery, more: Mapping[str, Callable[[Any], float | None]]
) -> tuple[tuple[Any, ...], table.Paging]:
    """The rows that the reader asks for: on one page of a long table, or with a text in the name of system or team.

    Sorted by system, mean, the least of one of `more`, or a column of cells: `in:` and its key. Raises BadInput for
    others.
    """
    column, least = page.column, replace(page.column, direction="lower")
    at_name = {
        row.system.id: at for at, row in enumerate(sorted(page.rows, key=lambda row: row.system.name.casefold()))
    }
    orders = {f"in:{key}": (column, lambda row, at=at: row.cells[at].mean) for at, key in enumerate(keys)}
    more = {"system": lambda row: at_name[row.system.id], **more}
    orders |= {key: (least, value) for key, value in more.items()} | {"mean": (column, lambda row: row.mean)}
    rows = sorted_rows(page.rows, view.sort, orders)
    return table.found_on_page(rows, lambda row: (row.system.name, row.system.team), view.text, view.page)


@frozen
class TagsPage:
    """Systems by the tags of an evaluation's queries, by one measure; the mean of a row is over all queries.

    tags       the one with the most queries first; none while tags are closed
    """

    evaluation: reads.EvaluationHeading
    terms: reads.Terms
    columns: tuple[table.Column, ...]
    column: table.Column
    tags: tuple[Tag, ...]
    rows: tuple[SystemRow, ...]


def tags(
    session: Session, actor: Actor, campaign_slug: str, slug: str, now: datetime, *, measure: str | None = None
) -> TagsPage:
    """Raises NotFound for no such evaluation and before it has judgments, BadInput for a measure that its board lacks;
    NotAllowed while single queries are closed: a tag of one query, or of all but one, gives that one's values away.
    """
    evaluation, scoring_set = reads.find_evaluation_and_set(session, actor, campaign_slug, slug)
    require(may_see(actor, evaluation, Content.DETAILS, now), reads.closed_details(evaluation))
    if scoring_set is None:
        raise errors.NotFound("figures by tag come with the first judgments")
    disclosure = table.Disclosure(actor, evaluation, scoring_set, now)
    positions = positions_by_tag(session, disclosure) if may_see(actor, evaluation, Content.TEXTS, now) else {}
    names = sorted(positions, key=lambda tag: -len(positions[tag]))
    columns = table.per_query_columns(scoring_set)
    by = table.pick(columns, measure)
    [board] = load_boards(session, [(disclosure, by, ())])
    at = in_time(board)
    by_tag = [cells_of(board, at, own) for own in _over(session, board, at, [positions[tag] for tag in names])]
    return TagsPage(
        evaluation=reads.evaluation_heading(evaluation, now),
        terms=reads.terms_of(session, actor, [(evaluation, scoring_set)], now)[evaluation.id],
        columns=columns,
        column=by,
        tags=tuple(Tag(name, len(positions[name])) for name in names),
        rows=rows_beside(session, [board], [cells_of(board, at), *by_tag]),
    )


def _over(session: Session, board: ComparedBoard, at: Ints, parts: Iterable[Sequence[int]]) -> Iterator[Floats]:
    """The figures of the runs that are there over each of these lists of positions, NaN where undefined: what
    `figure_over` gives of each, of all at once."""
    measure, disclosure = parse(board.by.name), board.disclosure
    settings, scorings = disclosure.scoring_set.settings, board.runs.scorings[at].tolist()
    names = [str(each) for each in (measure, *measures_beside(measure, settings.no_relevant.value))]
    vectors = load_vectors(session, scorings, names, disclosure.subset)
    values = {name: np.full((settings.queries, len(scorings)), np.nan) for name in names}
    for run, scoring in enumerate(scorings):
        for name, own in vectors.get(scoring, {}).items():
            values[name][:, run] = own
    for queries in parts:
        columns = columns_over(measure, values, queries, settings)
        none = np.full(len(scorings), np.nan)
        yield none if columns is None else measure.family.aggregation.combine(columns, None)


@frozen
class Agreement:
    """How a source agrees with the official one: its boards, by each measure that both have, and its judgments; None
    where no document was judged by both."""

    source: BoardVersion
    orders: tuple[Orders, ...]
    judging: JudgingAgreement | None


@frozen
class SourcesPage:
    """sources: the official one first, by which the mean and the rank of a row are; its cells are by the others."""

    evaluation: reads.EvaluationHeading
    sources: tuple[BoardVersion, ...]
    columns: tuple[table.Column, ...]
    column: table.Column
    agreements: tuple[Agreement, ...]
    rows: tuple[SystemRow, ...]


def sources(
    session: Session, actor: Actor, campaign_slug: str, slug: str, now: datetime, *, measure: str | None = None
) -> SourcesPage:
    """The boards by every source of judgments side by side. Raises NotAllowed while single queries are closed."""
    evaluation = reads.find_evaluation(session, actor, campaign_slug, slug)
    require(may_see(actor, evaluation, Content.DETAILS, now), reads.closed_details(evaluation))
    sets = sets_of(session, evaluation, ScoringSet.state.in_(STANDING))
    if not sets:
        raise errors.NotFound("boards by source come with the first judgments")
    sets.sort(key=lambda scoring_set: (scoring_set.state is SetState.BESIDE, scoring_set.source))
    columns = table.columns_of(sets[0].settings)
    by = table.pick(columns, measure)
    compared = [[each for each in columns if each.name in scoring_set.settings.measures] for scoring_set in sets]
    shown = (table.Disclosure(actor, evaluation, scoring_set, now) for scoring_set in sets)
    boards = load_boards(session, ((each, by, own) for each, own in zip(shown, compared, strict=True)))
    names = names_of(labels_on(session, boards))
    agreements = tuple(
        Agreement(
            board_version(evaluation, scoring_set),
            tuple(orders(each, shared(boards[0], each, board, each), names) for each in own),
            judging_agreement(session, sets[0], scoring_set, board.disclosure.subset),
        )
        for scoring_set, board, own in zip(sets[1:], boards[1:], compared[1:], strict=True)
    )
    return SourcesPage(
        evaluation=reads.evaluation_heading(evaluation, now),
        sources=tuple(board_version(evaluation, scoring_set) for scoring_set in sets),
        columns=columns,
        column=by,
        agreements=agreements,
        rows=rows_beside(session, boards, [cells_of(board, in_time(board)) for board in boards]),
    )
