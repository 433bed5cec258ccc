"""Tables of systems with a figure in each of several columns: by condition, by the tags of an evaluation's queries,
or by source of judgments.

One run of each system is there, received in time, with the rank that it has in each column.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Content, may_see
from leaderboard.boards.reads import entries as table
from leaderboard.boards.reads.board import BoardQuery, Tag, positions_by_tag
from leaderboard.boards.reads.history import BoardVersion, board_version, labels_on, names_of
from leaderboard.boards.reads.judging_agreement import JudgingAgreement, judging_agreement
from leaderboard.boards.reads.ranking import ComparedBoard, Orders, load_boards, orders, shared, sorted_rows
from leaderboard.evaluations.reads import evaluations as reads
from leaderboard.frozen import frozen
from leaderboard.metrics import Floats, Ints, parse, query_order
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
    labels: Mapping[int, table.SystemLabel], boards: Sequence[ComparedBoard], columns: Sequence[Mapping[int, Cell]]
) -> Iterator[tuple[table.SystemLabel, bool, list[Cell]]]:
    """(a system, whether it is the reader's own, its cells), by name, of those that have a cell in a column.
    labels: as `labels_on` gives them"""
    own = {system for board in boards for system in board.runs.systems[board.runs.own].tolist()}
    for system, label in sorted(labels.items(), key=lambda item: item[1].name.casefold()):
        if any(system in column for column in columns):
            yield label, system in own, [column.get(system, Cell()) for column in columns]


def rows_beside(
    labels: Mapping[int, table.SystemLabel], boards: Sequence[ComparedBoard], columns: Sequence[Mapping[int, Cell]]
) -> tuple[SystemRow, ...]:
    """As rows with the mean and the rank of the first column, and cells of the others only; the best mean first."""
    rows = rows_of(labels, boards, columns)
    made = [SystemRow(label, own, first.mean, first.rank, tuple(cells)) for label, own, (first, *cells) in rows]
    return tuple(boards[0].by.sort(made, lambda row: row.mean))


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

    tags       the one with the most queries first, with those that its figures are over; none while tags are closed
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
    evaluation, scoring_set = reads.find_with_details(session, actor, campaign_slug, slug, now)
    disclosure = table.Disclosure(actor, evaluation, scoring_set, now)
    positions = positions_by_tag(session, disclosure) if may_see(actor, evaluation, Content.TEXTS, now) else {}
    names = sorted(positions, key=lambda tag: -len(positions[tag]))
    columns = table.per_query_columns(scoring_set)
    by = table.pick(columns, measure)
    [board] = load_boards(session, [(disclosure, by, ())])
    at = in_time(board)
    values = _values(session, board, at, [by.name])
    valued = [_valued(board, values, by.name, positions[tag]) for tag in names]
    by_tag = [cells_of(board, at, _over(board, values, by.name, own)) for own in valued]
    return TagsPage(
        evaluation=reads.evaluation_heading(evaluation, now),
        terms=reads.terms_of(session, actor, [(evaluation, scoring_set)], now)[evaluation.id],
        columns=columns,
        column=by,
        tags=tuple(Tag(name, len(own)) for name, own in zip(names, valued, strict=True)),
        rows=rows_beside(labels_on(session, [board]), [board], [cells_of(board, at), *by_tag]),
    )


def _values(session: Session, board: ComparedBoard, at: Ints, measures: Iterable[str]) -> dict[str, Floats]:
    """float64[positions, runs] of the runs that are there: of these measures and what they are worked out from."""
    settings, scorings = board.disclosure.scoring_set.settings, board.runs.scorings[at].tolist()
    parsed = [parse(name) for name in measures]
    beside = (measures_beside(measure, settings.no_relevant.value) for measure in parsed)
    names = set(map(str, chain(parsed, *beside)))
    values = {name: np.full((settings.queries, len(scorings)), np.nan) for name in names}
    vectors = load_vectors(session, scorings, names, board.disclosure.subset)
    for run, scoring in enumerate(scorings):
        for name, own in vectors.get(scoring, {}).items():
            values[name][:, run] = own
    return values


def _over(board: ComparedBoard, values: dict[str, Floats], name: str, queries: Sequence[int]) -> Floats:
    """The figures of the runs over these positions, NaN where undefined: what `figure_over` gives of each, of all at
    once."""
    columns = columns_over(parse(name), values, queries, board.disclosure.scoring_set.settings)
    none = np.full(values[name].shape[1], np.nan)
    return none if columns is None or not queries else parse(name).family.aggregation.combine(columns, None)


def _valued(board: ComparedBoard, values: dict[str, Floats], name: str, queries: Sequence[int]) -> list[int]:
    """Those of the positions on which a run has a value."""
    columns = columns_over(parse(name), values, queries, board.disclosure.scoring_set.settings)
    return [] if columns is None else np.array(queries)[(~np.isnan(columns[-1])).any(axis=1)].tolist()


def _over_shared(
    boards: Sequence[ComparedBoard], values: Sequence[dict[str, Floats]], name: str, queries: Sequence[int]
) -> tuple[int, list[ComparedBoard]]:
    """(how many of these positions have a value on every board; the boards with the means over these alone)."""
    for board, own in zip(boards, values, strict=True):
        queries = _valued(board, own, name, queries)
    over = (_over(board, own, name, queries)[np.newaxis] for board, own in zip(boards, values, strict=True))
    figures = (replace(board.figures[name], stored=means) for board, means in zip(boards, over, strict=True))
    own_figures = zip(boards, figures, strict=True)
    return len(queries), [replace(board, figures={**board.figures, name: own}) for board, own in own_figures]


@frozen
class Agreement:
    """How a source agrees with the official one: its board by the measure, over the queries on which both give values,
    so many; and its judgments, None where no document was judged by both."""

    source: BoardVersion
    order: Orders
    queries: int
    judging: JudgingAgreement | None


@frozen
class SourcesPage:
    """sources: the official one first, by which the mean and the rank of a row are; its cells are by the others. All
    are over the `queries` on which every source gives values."""

    evaluation: reads.EvaluationHeading
    sources: tuple[BoardVersion, ...]
    columns: tuple[table.Column, ...]
    column: table.Column
    agreements: tuple[Agreement, ...]
    queries: int
    rows: tuple[SystemRow, ...]


def sources(
    session: Session, actor: Actor, campaign_slug: str, slug: str, now: datetime, *, measure: str | None = None
) -> SourcesPage:
    """The boards by every source of judgments side by side. Raises NotFound before the first judgments, and NotAllowed
    while single queries are closed."""
    evaluation, _ = reads.find_with_details(session, actor, campaign_slug, slug, now)
    sets = sets_of(session, evaluation, ScoringSet.state.in_(STANDING))
    sets.sort(key=lambda scoring_set: (scoring_set.state is SetState.BESIDE, scoring_set.source))
    common = set[str].intersection(*(set(scoring_set.settings.measures) for scoring_set in sets))
    columns = tuple(column for column in table.per_query_columns(sets[0]) if column.name in common)
    by = table.pick(columns, measure)
    shown = (table.Disclosure(actor, evaluation, scoring_set, now) for scoring_set in sets)
    boards: Sequence[ComparedBoard] = load_boards(session, ((each, by, ()) for each in shown))
    labels = labels_on(session, boards)
    names = names_of(labels)
    values = [_values(session, board, np.arange(len(board.runs.systems)), [by.name]) for board in boards]
    fewest = min(sets, key=lambda scoring_set: scoring_set.settings.queries)
    positions = {query.external_id: query.position for query in reads.judged_queries(session, fewest)}
    counted = fewest.settings.counted(positions, boards[0].disclosure.subset)
    queries = [positions[query] for query in query_order(counted)]
    agreements = []
    for scoring_set, board, own in zip(sets[1:], boards[1:], values[1:], strict=True):
        count, (first, other) = _over_shared([boards[0], board], [values[0], own], by.name, queries)
        agreements.append(
            Agreement(
                board_version(evaluation, scoring_set),
                orders(by, shared(first, by, other, by), names),
                count,
                judging_agreement(session, sets[0], scoring_set, board.disclosure.subset),
            )
        )
    count, boards = _over_shared(boards, values, by.name, queries)
    in_columns = (cells_of(board, at := in_time(board), board.figures[by.name].means[at]) for board in boards)
    return SourcesPage(
        evaluation=reads.evaluation_heading(evaluation, now),
        sources=tuple(board_version(evaluation, scoring_set) for scoring_set in sets),
        columns=columns,
        column=by,
        agreements=tuple(agreements),
        queries=count,
        rows=rows_beside(labels, boards, list(in_columns)),
    )
