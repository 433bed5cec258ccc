"""Tables of systems with a figure in each of several columns: by condition, or by the tags of an evaluation's queries.

One run of each system is there, received in time, with the rank that it has in each column.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from math import isnan
from typing import TypeVar

import numpy as np
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Content, may_see, require
from leaderboard.boards.reads import entries as table
from leaderboard.boards.reads.board import Tag, positions_by_tag
from leaderboard.boards.reads.history import labels_on
from leaderboard.boards.reads.ranking import ComparedBoard, load_boards, sorted_rows
from leaderboard.evaluations.reads import evaluations as reads
from leaderboard.frozen import frozen
from leaderboard.metrics import Floats, Ints, parse
from leaderboard.metrics.families.detection import measures_beside
from leaderboard.results.reads.run import columns_over, load_vectors
from leaderboard.submissions.reads.run_arrays import Runs
from leaderboard.submissions.rules import RunChoice, places_of


@frozen
class Cell:
    """A system's figure in a column and the run that has it. rank: None for baselines, and by a measure that ranks
    nothing."""

    mean: float
    rank: int | None
    submission_id: int


@frozen
class SystemRow:
    """rank: by `mean`; cells: one for each column, None where the system has no figure."""

    system: table.SystemLabel
    own: bool
    rank: int | None
    mean: float | None
    cells: tuple[Cell | None, ...]


Row = TypeVar("Row", bound=SystemRow)


def in_time(board: ComparedBoard) -> Ints:
    """Where the runs are that stand by the board's measure and were received in time."""
    standing = board.standing(board.by)
    return standing[~board.runs.late[standing]]


def cells_on(board: ComparedBoard) -> dict[int, Cell]:
    """System -> its cell, as the board has it."""
    standing = in_time(board)
    means = [figure.mean for figure in board.figures[board.by.name].at(standing)]
    return cells_of(board.runs.at(standing), means, board.by)


def cells_of(runs: Runs, means: Sequence[float | None], column: table.Column) -> dict[int, Cell]:
    """System -> its cell, of the runs that have a mean by this measure. means: in their order; NaN is none"""
    values = np.array(means, dtype=float)
    is_ranked = ~(runs.baseline | np.isnan(values)) & (column.direction != "none")
    ranks = np.zeros(len(values), dtype=np.int64)  # 0 for none
    ranks[is_ranked] = places_of(values[is_ranked], column.direction)
    own = runs.systems.tolist(), means, ranks.tolist(), runs.submissions.tolist()
    return {
        system: Cell(mean, rank or None, submission)
        for system, mean, rank, submission in zip(*own, strict=True)
        if mean is not None and not isnan(mean)
    }


def best_first(rows: Sequence[Row], column: table.Column) -> tuple[Row, ...]:
    """By their means; those without one last, and those that tie by name."""
    return tuple(column.sort(sorted(rows, key=_name), lambda row: row.mean))


def _name(row: SystemRow) -> str:
    return row.system.name.casefold()


def listed(
    rows: Sequence[Row],
    column: table.Column,
    keys: Sequence[str],
    more: Mapping[str, tuple[table.Column, Callable[[Row], float | None]]],
    *,
    text: str,
    sort: str,
    page: int | None,
) -> tuple[tuple[Row, ...], table.Paging]:
    """The rows on one page of a long table, or those with this text in the name of their system or team.

    sort  `in:` and one of `keys`, which are those of the cells; system, mean, or one of `more`; with - before it the
          worst first. Raises BadInput for anything else
    """
    rising = replace(column, direction="lower")
    by_name = [row.system.id for row in sorted(rows, key=_name)]
    places = dict(zip(by_name, range(len(rows)), strict=True))

    def of_cell(at: int) -> Callable[[Row], float | None]:
        return lambda row: cell.mean if (cell := row.cells[at]) else None

    orders = {f"in:{key}": (column, of_cell(at)) for at, key in enumerate(keys)}
    orders |= {"system": (rising, lambda row: places[row.system.id]), "mean": (column, lambda row: row.mean), **more}
    return table.found_on_page(
        sorted_rows(rows, sort, orders), lambda row: (row.system.name, row.system.team), text, page
    )


@frozen
class TagsPage:
    """Systems by the tags of an evaluation's queries, by one measure; `mean` of a row is over all queries.

    terms  None before the first judgments, and then there is nothing else
    best_runs  whether each system is there with the best of its runs over all queries
    """

    evaluation: reads.EvaluationHeading
    terms: reads.Terms | None
    columns: tuple[table.Column, ...] = ()
    column: table.Column | None = None
    best_runs: bool = False
    tags: tuple[Tag, ...] = ()
    rows: tuple[SystemRow, ...] = ()
    baselines: tuple[SystemRow, ...] = ()


def tags(
    session: Session, actor: Actor, campaign_slug: str, slug: str, now: datetime, *, measure: str | None = None
) -> TagsPage:
    """Raises NotFound for no such evaluation, NotAllowed while single queries are closed: a tag of one query, or of all
    but one, gives that query's values away. Raises BadInput for a measure that the board lacks."""
    evaluation, scoring_set = reads.find_evaluation_and_set(session, actor, campaign_slug, slug)
    require(may_see(actor, evaluation, Content.DETAILS, now), reads.closed_details(evaluation))
    heading = reads.evaluation_heading(evaluation, now)
    if scoring_set is None:
        return TagsPage(heading, None)
    disclosure = table.Disclosure(actor, evaluation, scoring_set, now)
    positions: Mapping[str, Sequence[int]] = {}
    if may_see(actor, evaluation, Content.TEXTS, now):
        positions = positions_by_tag(session, disclosure)
    columns = table.per_query_columns(scoring_set)
    by = table.pick(columns, measure)
    [board] = load_boards(session, [(disclosure, by, ())])
    runs = board.runs.at(in_time(board))
    overall = cells_on(board)
    by_tag = [cells_of(runs, means.tolist(), by) for means in _over(session, disclosure, by, runs, positions.values())]
    labels = labels_on(session, evaluation, [board])
    rows: dict[bool, list[SystemRow]] = {False: [], True: []}
    for system, own in zip(runs.systems.tolist(), runs.own.tolist(), strict=True):
        label, cell = labels[system], overall.get(system)
        cells = tuple(of_tag.get(system) for of_tag in by_tag)
        row = SystemRow(label, own, cell.rank if cell else None, cell.mean if cell else None, cells)
        rows[label.is_baseline].append(row)
    return TagsPage(
        evaluation=heading,
        terms=reads.terms_of(session, actor, [(evaluation, scoring_set)], now)[evaluation.id],
        columns=columns,
        column=by,
        best_runs=evaluation.campaign.run_choice is RunChoice.BEST,
        tags=tuple(Tag(name, len(own)) for name, own in positions.items()),
        rows=best_first(rows[False], by),
        baselines=best_first(rows[True], by),
    )


def _over(
    session: Session,
    disclosure: table.Disclosure,
    column: table.Column,
    runs: Runs,
    positions: Iterable[Sequence[int]],
) -> list[Floats]:
    """For each of these lists of positions the figures of the runs over its queries, NaN where undefined: what
    `figure_over` gives for each run alone, of all of them at once."""
    measure, settings = parse(column.name), disclosure.scoring_set.settings
    names = [str(each) for each in (measure, *measures_beside(measure, settings.no_relevant.value))]
    vectors = load_vectors(session, runs.scorings.tolist(), names, disclosure.subset)
    values = {name: np.full((settings.queries, len(runs.scorings)), np.nan) for name in names}
    for at, scoring in enumerate(runs.scorings.tolist()):
        for name, own in vectors.get(scoring, {}).items():
            values[name][:, at] = own
    combine, figures = measure.family.aggregation.combine, []
    for queries in positions:
        columns = columns_over(measure, values, queries, settings)
        figures.append(np.full(len(runs.scorings), np.nan) if columns is None else combine(columns, None))
    return figures
