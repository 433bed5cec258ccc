"""The queries of an evaluation, and one query across all systems."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Sight, may_see, require, subset_seen
from leaderboard.errors import NotFound
from leaderboard.lookup import find_evaluation_and_set, find_query, of_subset
from leaderboard.models import Judgment, Query, ScoringSet
from leaderboard.reads.columns import Column, column, per_query_columns, pick
from leaderboard.reads.entries import Entry, told_apart
from leaderboard.reads.headings import EvaluationHeading, closed_details, evaluation_heading
from leaderboard.reads.paging import ROWS, WHOLE, Paging, paged
from leaderboard.reads.query_values import load_slices, load_vectors, spread_of, value_in
from leaderboard.reads.standings import Show, choose, known_order, load_candidates, show_of
from leaderboard.rules.settings import Subset

__all__ = [
    "PAGE",
    "QueryHeading",
    "QueryListPage",
    "QueryPage",
    "QueryResult",
    "QuerySummary",
    "neighbours",
    "query",
    "query_heading",
    "query_list",
    "relevant_documents",
]

PAGE = 500  # queries


@dataclass(frozen=True, slots=True)
class QueryHeading:
    """text, description, tags: empty until the evaluation opens. relevant: documents judged at least as relevant as the
    evaluation asks; None where that may not be seen."""

    external_id: str
    text: str
    description: str
    tags: tuple[str, ...]
    position: int
    relevant: int | None
    excluded: bool
    excluded_because: str


@dataclass(frozen=True, slots=True)
class QuerySummary:
    """The median, best and worst value over the board's systems on one query; None where no system has one."""

    query: QueryHeading
    median: float | None
    best: float | None
    worst: float | None
    best_system: str


@dataclass(frozen=True, slots=True)
class QueryListPage:
    """texts_open: whether texts and tags may be seen; details_open: whether values may; systems: how many these are
    taken over; queries: those of this page."""

    evaluation: EvaluationHeading
    texts_open: bool
    details_open: bool
    closed_because: str
    columns: tuple[Column, ...]
    column: Column | None
    systems: int
    sort: str
    tag: str
    queries: tuple[QuerySummary, ...]
    paging: Paging

    @property
    def as_file(self) -> str:
        """Id, text and tags of each, as `leaderboard score --queries` reads them."""
        rows = (
            (row.query.external_id, " ".join(row.query.text.split()), ",".join(row.query.tags)) for row in self.queries
        )
        return "".join("\t".join(row) + "\n" for row in rows)


@dataclass(frozen=True, slots=True)
class QueryResult:
    """One system on one query: its values, in the columns' order."""

    entry: Entry
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class QueryPage:
    """rows: those of this page; ends: the lowest and the highest value of the column that all are sorted by."""

    evaluation: EvaluationHeading
    query: QueryHeading
    columns: tuple[Column, ...]
    column: Column
    show: Show
    sort: str
    rows: tuple[QueryResult, ...]
    ends: tuple[float, ...]
    paging: Paging
    previous: str | None
    next: str | None


def query_list(
    session: Session,
    actor: Actor,
    campaign_slug: str,
    slug: str,
    now: dt.datetime,
    *,
    measure: str | None = None,
    sort: str | None = None,
    tag: str | None = None,
    page: int | None = 1,
) -> QueryListPage:
    """One page of the list, or all of it (`page` None), of the queries that the reader may know of. Texts and tags open
    with the evaluation, values with the details.

    Raises NotFound for no such evaluation, BadInput for a measure or an order that it does not have.
    """
    evaluation, scoring_set = find_evaluation_and_set(session, actor, campaign_slug, slug)
    details = may_see(actor, evaluation, Sight.DETAILS, now)
    texts = may_see(actor, evaluation, Sight.TEXTS, now)
    subset = subset_seen(actor, evaluation, now)
    queries = session.scalars(sa.select(Query).where(*of_subset(evaluation.id, subset)).order_by(Query.position)).all()
    if tag:
        queries = [one for one in queries if texts and tag in one.tags]
    heading = evaluation_heading(evaluation, now)
    if scoring_set is None or not details:
        plain, paging = paged(
            [QuerySummary(query_heading(one, None, texts), None, None, None, "") for one in queries], page, PAGE
        )
        because = "" if details else closed_details(evaluation)
        return QueryListPage(heading, texts, False, because, (), None, 0, "", tag or "", plain, paging)
    columns = per_query_columns(scoring_set)
    chosen = pick(columns, measure)
    entries = choose(
        load_candidates(session, actor, [evaluation], now, [chosen.name], by={evaluation.id: [chosen.name]}),
        show_of(None, evaluation.campaign.run_choice),
        chosen,
    )
    relevant = relevant_documents(session, scoring_set)
    summaries = _summaries(session, queries, entries, chosen, subset, relevant, texts)
    rows, paging = paged(_sorted(summaries, chosen, sort or ""), page, PAGE)
    return QueryListPage(heading, texts, True, "", columns, chosen, len(entries), sort or "", tag or "", rows, paging)


def query(
    session: Session,
    actor: Actor,
    campaign_slug: str,
    slug: str,
    external_id: str,
    now: dt.datetime,
    *,
    show: str | None = None,
    sort: str | None = None,
    page: int | None = None,
) -> QueryPage:
    """One page of the systems on a query, where they are more than WHOLE, or all of them (`page` None).

    Raises NotFound for no such query, NotAllowed while single queries may not be seen.
    """
    evaluation, scoring_set = find_evaluation_and_set(session, actor, campaign_slug, slug)
    require(may_see(actor, evaluation, Sight.DETAILS, now), closed_details(evaluation))
    subset = subset_seen(actor, evaluation, now)
    found = find_query(session, evaluation, external_id, subset)
    if scoring_set is None:
        raise NotFound(f"nothing is known of query {external_id} yet")
    columns = per_query_columns(scoring_set)
    primary = column(scoring_set.settings.measures[0])
    shown = show_of(show, evaluation.campaign.run_choice)
    entries = choose(load_candidates(session, actor, [evaluation], now, [primary.name], show=shown), shown, primary)
    by = pick(columns, (sort or "").removeprefix("-"))
    entries.sort(key=lambda entry: (entry.system.name.casefold(), entry.submission_id))
    scorings = [entry.scoring_id for entry in entries]
    sorted_by = load_slices(session, scorings, [by.name], subset, found.position)
    ends = [value for value in sorted_by.values() if value is not None]
    entries = by.sort(entries, lambda entry: sorted_by.get((entry.scoring_id, by.name)), (sort or "").startswith("-"))
    shown_here, paging = paged(entries, page if len(entries) > WHOLE else None, ROWS)
    names = [one.name for one in columns]
    others = [name for name in names if name != by.name]
    more = load_slices(session, [entry.scoring_id for entry in shown_here], others, subset, found.position)
    values = sorted_by | more
    rows = [QueryResult(one, tuple(values.get((one.scoring_id, name)) for name in names)) for one in shown_here]
    relevant = relevant_documents(session, scoring_set, found.id)
    previous, following = neighbours(session, found, subset)
    return QueryPage(
        evaluation=evaluation_heading(evaluation, now),
        query=query_heading(found, relevant.get(found.id, 0), may_see(actor, evaluation, Sight.TEXTS, now)),
        columns=columns,
        column=by,
        show=shown,
        sort=sort or "",
        rows=tuple(rows),
        ends=(min(ends), max(ends)) if ends else (),
        paging=paging,
        previous=previous,
        next=following,
    )


def _summaries(
    session: Session,
    queries: Sequence[Query],
    entries: Sequence[Entry],
    chosen: Column,
    subset: Subset,
    relevant: dict[int, int],
    texts: bool,
) -> list[QuerySummary]:
    vectors = load_vectors(session, [entry.scoring_id for entry in entries], [chosen.name], subset)
    keys = {(entry.scoring_id, chosen.name): entry for entry in entries if (entry.scoring_id, chosen.name) in vectors}
    called = told_apart(entry.system for entry in keys.values())
    names = [called[entry.system.id] for entry in keys.values()]
    spread = spread_of([vectors[key] for key in keys], chosen)
    rows = []
    for found in queries:
        heading = query_heading(found, relevant.get(found.id, 0), texts)
        median, best, worst = (value_in(each, found.position) for each in (spread.median, spread.best, spread.worst))
        first = names[spread.first[found.position]] if best is not None else ""
        rows.append(QuerySummary(heading, median, best, worst, first))
    return rows


def _sorted(rows: list[QuerySummary], chosen: Column, sort: str) -> tuple[QuerySummary, ...]:
    """By position; or by median, best or relevant, with "-" the other way; undefined last either way."""
    wanted, backwards = known_order(sort, ("position", "median", "best", "relevant"))
    if wanted in {"median", "best"}:
        rows = chosen.sort(rows, lambda row: getattr(row, wanted), backwards)
    elif wanted == "relevant":
        rows.sort(key=lambda row: row.query.relevant or 0, reverse=not backwards)
    return tuple(rows)


def relevant_documents(session: Session, scoring_set: ScoringSet, query_id: int | None = None) -> dict[int, int]:
    """Query id -> documents judged relevant at the set's level; queries without any are absent."""
    statement = (
        sa.select(Judgment.query_id, sa.func.count())
        .where(
            Judgment.revision_id == scoring_set.revision_id,
            Judgment.grade >= scoring_set.settings.relevance_level,
        )
        .group_by(Judgment.query_id)
    )
    if query_id is not None:
        statement = statement.where(Judgment.query_id == query_id)
    return dict(session.execute(statement).all())


def neighbours(session: Session, found: Query, subset: Subset) -> tuple[str | None, str | None]:
    """The external ids of the queries of the subset before and after, in the evaluation's order."""
    of_evaluation = sa.select(Query.external_id).where(*of_subset(found.evaluation_id, subset))
    before = of_evaluation.where(Query.position < found.position).order_by(Query.position.desc()).limit(1)
    after = of_evaluation.where(Query.position > found.position).order_by(Query.position).limit(1)
    previous, following = session.execute(sa.select(before.scalar_subquery(), after.scalar_subquery())).one()
    return previous, following


def query_heading(found: Query, relevant: int | None, texts: bool) -> QueryHeading:
    """What a page shows of a query. relevant: how many documents are relevant; None where that is not to be seen.
    texts: whether its text, description and tags may be seen."""
    return QueryHeading(
        external_id=found.external_id,
        text=found.text if texts else "",
        description=found.description if texts else "",
        tags=tuple(found.tags) if texts else (),
        position=found.position,
        relevant=relevant,
        excluded=found.excluded_at is not None,
        excluded_because=found.excluded_because,
    )
