"""The values of a board's systems on every query, the easiest query first: which queries everybody misses, and which
part the systems."""

from datetime import datetime

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Content, may_see, subset_seen
from leaderboard.boards.reads import entries as table
from leaderboard.boards.reads.board import EVERYTHING, BoardQuery
from leaderboard.boards.reads.entries import Column, Entry, Paging, per_query_columns
from leaderboard.boards.reads.ranking import Show, load_standing, sort_entries
from leaderboard.evaluations.reads import evaluations as reads
from leaderboard.evaluations.reads.evaluations import EvaluationHeading
from leaderboard.frozen import frozen
from leaderboard.judgments.models import Query
from leaderboard.metrics import Floats
from leaderboard.results.reads.run import load_vectors, spread_of, value_in
from leaderboard.statistics.samples import ALIKE

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
    """A board's systems on one page of its queries.

    systems    those shown, as the board by this measure has them: the first SYSTEMS of those with `text` in their names
    names      what charts call these
    matching   how many have the text in their names; field: how many systems the medians are over
    queries    those of this page, the easiest first: by the median, then by the best value
    valueless  how many queries that count have no value by any system
    missed     queries on which no system is better than one that finds nothing
    parting    the queries on which the ends of the middle half are furthest apart, the furthest first; alike: how many
               more are as far apart as the last of these
    """

    evaluation: EvaluationHeading
    columns: tuple[Column, ...]
    column: Column
    text: str
    systems: tuple[Entry, ...]
    names: tuple[str, ...]
    matching: int
    field: int
    queries: tuple[HeatMapQuery, ...]
    paging: Paging
    valueless: int
    missed: tuple[str, ...]
    parting: tuple[HeatMapQuery, ...]
    alike: int


def heat_map(
    session: Session, actor: Actor, campaign_slug: str, slug: str, now: datetime, view: BoardQuery = EVERYTHING
) -> HeatMapPage:
    """One page of the queries, or all of them, by the measure that `view` names, else the first.

    Raises NotFound for no such evaluation and before the first judgments, NotAllowed while single queries may not be
    seen, BadInput for a measure that it does not have.
    """
    evaluation, scoring_set = reads.find_with_details(session, actor, campaign_slug, slug, now)
    columns, subset = per_query_columns(scoring_set), subset_seen(actor, evaluation, now)
    by = table.pick(columns, view.measure)
    entries = sort_entries(load_standing(session, actor, evaluation, now, by), by, "", Show.PRIMARY)
    vectors = load_vectors(session, [entry.scoring_id for entry in entries], [by.name], subset)
    entries = [entry for entry in entries if entry.scoring_id in vectors]
    values = np.vstack([vectors[entry.scoring_id][by.name] for entry in entries] or [np.empty(0)])
    matching = [at for at, own in enumerate(entries) if table.is_found(view.text, (own.system.name, own.system.team))]
    called, shown = table.disambiguate(entry.system for entry in entries), matching[:SYSTEMS]
    texts, excluded = may_see(actor, evaluation, Content.TEXTS, now), scoring_set.settings.excluded
    wanted = sa.select(Query.position, Query.external_id, Query.text).where(*reads.of_subset(evaluation.id, subset))
    known = {at: (name, text if texts else "") for at, name, text in session.execute(wanted) if name not in excluded}
    spread, (low, high) = spread_of(list(values), by), _middle_half(values)
    sign = 1.0 if by.direction == "lower" else -1.0
    medians, best = sign * spread.median, sign * spread.best  # the easiest is the lowest
    valued = [at for at in sorted(known) if value_in(medians, at) is not None]
    valued.sort(key=lambda at: (medians[at], best[at]))

    def query(at: int) -> HeatMapQuery:
        own = tuple(None if np.isnan(value) else value for value in values[shown, at].tolist())
        return HeatMapQuery(*known[at], float(spread.median[at]), float(spread.best[at]), (low[at], high[at]), own)

    of_page, paging = table.paged(valued, view.page, QUERIES)
    parted = [at for at in valued if low[at] < high[at]] if len(entries) >= LEAST_SYSTEMS else []
    parted.sort(key=lambda at: low[at] - high[at])
    last = max((low[at] - high[at] for at in parted[:PARTING]), default=0.0) + ALIKE
    nothing = sign * (by.highest if by.direction == "lower" else max(by.lowest, 0.0))  # what finding nothing gives
    return HeatMapPage(
        evaluation=reads.evaluation_heading(evaluation, now),
        columns=columns,
        column=by,
        text=view.text,
        systems=tuple(entries[at] for at in shown),
        names=tuple(called[entries[at].system.id] + (", late" if entries[at].late else "") for at in shown),
        matching=len(matching),
        field=len(entries),
        queries=tuple(map(query, of_page)),
        paging=paging,
        valueless=len(known) - len(valued),
        missed=tuple(known[at][0] for at in valued if best[at] >= nothing),
        parting=tuple(map(query, parted[:PARTING])),
        alike=sum(low[at] - high[at] <= last for at in parted[PARTING:]),
    )


def _middle_half(values: Floats) -> tuple[list[float], list[float]]:
    """(the lower end, the upper end) of the middle half of each column's values: of n, (n − 1) // 4 are below it and as
    many above. Undefined ones, NaN, are left out."""
    ordered, at = np.sort(values, axis=0), np.arange(values.shape[1])
    last = (~np.isnan(values)).sum(axis=0) - 1
    return ordered[last // 4, at].tolist(), ordered[last - last // 4, at].tolist()
