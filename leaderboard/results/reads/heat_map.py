"""The values of a board's systems on every query, the easiest query first: which queries everybody misses, and which
part the systems."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Content, may_see, require, subset_seen
from leaderboard.boards.reads import entries as table
from leaderboard.boards.reads.board import EVERYTHING, BoardQuery
from leaderboard.boards.reads.entries import Column, Entry, Paging, paged, per_query_columns, pick
from leaderboard.boards.reads.ranking import Show, load_standing, sort_entries
from leaderboard.evaluations.reads import evaluations as reads
from leaderboard.evaluations.reads.evaluations import EvaluationHeading, closed_details, evaluation_heading, of_subset
from leaderboard.frozen import frozen
from leaderboard.judgments.models import Query
from leaderboard.metrics import Floats
from leaderboard.results.reads.run import load_vectors, spread_of, value_in

SYSTEMS, QUERIES = 50, 250  # that are shown at once
PARTING = 3  # queries that are named for parting the systems most
LEAST_SYSTEMS = 5  # of which a middle half is spoken of


@frozen
class HeatMapQuery:
    """median, best, middle: over all systems of the board, the last the ends of their middle half; values: of the
    systems shown, in their order."""

    external_id: str
    text: str
    median: float
    best: float
    middle: tuple[float, float]
    values: tuple[float | None, ...]


@frozen
class HeatMapPage:
    """column is None before the first judgments.

    systems    those shown, as the board by this measure has them: the first SYSTEMS of those with `text` in their names
    names      what charts call these
    found      how many have the text in their names; field: how many systems the medians are over
    queries    those of this page, the easiest first: by the median, then by the best value
    valueless  how many queries that count have no value by any system
    missed     queries on which no system is better than one that finds nothing
    parting    the queries on which the ends of the middle half are furthest apart, the furthest first
    """

    evaluation: EvaluationHeading
    columns: tuple[Column, ...] = ()
    column: Column | None = None
    text: str = ""
    systems: tuple[Entry, ...] = ()
    names: tuple[str, ...] = ()
    found: int = 0
    field: int = 0
    queries: tuple[HeatMapQuery, ...] = ()
    paging: Paging = table.ONE_PAGE
    valueless: int = 0
    hardest: HeatMapQuery | None = None
    missed: tuple[str, ...] = ()
    parting: tuple[HeatMapQuery, ...] = ()


def heat_map(
    session: Session, actor: Actor, campaign_slug: str, slug: str, now: datetime, view: BoardQuery = EVERYTHING
) -> HeatMapPage:
    """One page of the queries, or all of them, by the measure that `view` names, else the first.

    Raises NotFound for no such evaluation, NotAllowed while single queries may not be seen, BadInput for a measure that
    it does not have.
    """
    evaluation, scoring_set = reads.find_evaluation_and_set(session, actor, campaign_slug, slug)
    require(may_see(actor, evaluation, Content.DETAILS, now), closed_details(evaluation))
    if scoring_set is None:
        return HeatMapPage(evaluation_heading(evaluation, now))
    columns, subset = per_query_columns(scoring_set), subset_seen(actor, evaluation, now)
    by, texts = pick(columns, view.measure), may_see(actor, evaluation, Content.TEXTS, now)
    entries = sort_entries(load_standing(session, actor, evaluation, now, by), by, "", Show.PRIMARY)
    vectors = load_vectors(session, [entry.scoring_id for entry in entries], [by.name], subset)
    entries = [entry for entry in entries if entry.scoring_id in vectors]
    called = table.disambiguate(entry.system for entry in entries)
    found = [at for at, own in enumerate(entries) if table.is_found(view.text, (own.system.name, own.system.team))]
    systems = [entries[at] for at in found[:SYSTEMS]]
    page = HeatMapPage(
        evaluation=evaluation_heading(evaluation, now),
        columns=columns,
        column=by,
        text=view.text,
        systems=tuple(systems),
        names=tuple(called[entry.system.id] + (", late" if entry.late else "") for entry in systems),
        found=len(found),
        field=len(entries),
    )
    if not entries:
        return page
    known = sa.select(Query.position, Query.external_id, Query.text).where(*of_subset(evaluation.id, subset))
    excluded = scoring_set.settings.excluded
    queries = [(at, name, text if texts else "") for at, name, text in session.execute(known) if name not in excluded]
    rows = np.vstack([vectors[entry.scoring_id][by.name] for entry in entries])
    return _with_queries(page, queries, rows, rows[found[:SYSTEMS]], by, view.page)


def _with_queries(
    page: HeatMapPage,
    known: Sequence[tuple[int, str, str]],
    field: Floats,
    shown: Floats,
    by: Column,
    number: int | None,
) -> HeatMapPage:
    """known: position, id and text of queries that count; field, shown: values of all systems and of those shown,
    float64[systems, positions]; number: of the page of queries"""
    spread, (low, high) = spread_of(list(field), by), _middle_half(field)
    sign = -1.0 if by.direction == "lower" else 1.0
    medians, best = -sign * spread.median, -sign * spread.best  # the easiest is the lowest
    valued = sorted(
        (row for row in known if value_in(medians, row[0]) is not None),
        key=lambda row: (medians[row[0]], best[row[0]], row[0]),
    )

    def query(at: int, name: str, text: str) -> HeatMapQuery:
        median, top, *middle = (float(own[at]) for own in (spread.median, spread.best, low, high))
        values = tuple(None if np.isnan(own) else own for own in shown[:, at].tolist())
        return HeatMapQuery(name, text, median, top, (middle[0], middle[1]), values)

    of_page, paging = paged(valued, number, QUERIES)
    parted = [row for row in valued if low[row[0]] < high[row[0]]] if len(field) >= LEAST_SYSTEMS else []
    parted.sort(key=lambda row: low[row[0]] - high[row[0]])
    nothing = _of_nothing(by)
    return replace(
        page,
        queries=tuple(query(*row) for row in of_page),
        paging=paging,
        valueless=len(known) - len(valued),
        hardest=query(*valued[-1]) if valued else None,
        missed=tuple(name for at, name, _ in valued if nothing is not None and best[at] >= -sign * nothing),
        parting=tuple(query(*row) for row in parted[:PARTING]),
    )


def _of_nothing(column: Column) -> float | None:
    """What a system gets on a query that finds nothing there; None where a measure does not say."""
    if column.direction == "none":
        return None
    return column.highest if column.direction == "lower" else max(column.lowest, 0.0)


def _middle_half(rows: Floats) -> tuple[Floats, Floats]:
    """(the lower end, the upper end) of the middle half of each column's values: of n, (n − 1) // 4 are below it and as
    many above. Undefined ones, NaN, are left out."""
    ordered, at = np.sort(rows, axis=0), np.arange(rows.shape[1])
    count = np.maximum((~np.isnan(rows)).sum(axis=0), 1)
    cut = (count - 1) // 4
    return ordered[cut, at], ordered[count - 1 - cut, at]
