"""The queries of an evaluation; one query across all systems; one run on one query: the ranked list with its grades."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Content, may_see, require, subset_seen
from leaderboard.boards.reads import entries as table
from leaderboard.boards.reads.board import EVERYTHING, BoardQuery
from leaderboard.boards.reads.ranking import Show, load_standing, show_of, sorted_rows
from leaderboard.db import snapshot
from leaderboard.errors import NotFound
from leaderboard.evaluations.reads import (
    EvaluationHeading,
    closed_details,
    evaluation_heading,
    find_evaluation_and_set,
    find_query,
    of_subset,
)
from leaderboard.evaluations.rules import Judging, Subset
from leaderboard.judgments.models import Judgment, Query
from leaderboard.results.reads.run import QuerySpread, load_slices, load_vectors, spread_of, value_in
from leaderboard.scoring import ReturnedBy, returned, returned_by
from leaderboard.store import RankedList, RunStore
from leaderboard.submissions.reads.status import find_scored, label_of
from leaderboard.worker.models import ScoringSet

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
    columns: tuple[table.Column, ...]
    column: table.Column | None
    systems: int
    sort: str
    tag: str
    queries: tuple[QuerySummary, ...]
    paging: table.Paging

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

    entry: table.Entry
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class QueryPage:
    """rows: those of this page; ends: the lowest and the highest value of the column that all are sorted by."""

    evaluation: EvaluationHeading
    query: QueryHeading
    columns: tuple[table.Column, ...]
    column: table.Column
    show: Show
    sort: str
    rows: tuple[QueryResult, ...]
    ends: tuple[float, ...]
    paging: table.Paging
    previous: str | None
    next: str | None


def query_list(
    session: Session, actor: Actor, campaign_slug: str, slug: str, now: dt.datetime, view: BoardQuery = EVERYTHING
) -> QueryListPage:
    """One page of the list, or all of it, of the queries that the reader may know of. Texts and tags open with the
    evaluation, values with the details.

    Raises NotFound for no such evaluation, BadInput for a measure or an order that it does not have.
    """
    evaluation, scoring_set = find_evaluation_and_set(session, actor, campaign_slug, slug)
    details = may_see(actor, evaluation, Content.DETAILS, now)
    texts = may_see(actor, evaluation, Content.TEXTS, now)
    subset = subset_seen(actor, evaluation, now)
    queries = session.scalars(sa.select(Query).where(*of_subset(evaluation.id, subset)).order_by(Query.position)).all()
    if view.tag:
        queries = [query for query in queries if texts and view.tag in query.tags]
    rows: Sequence[QuerySummary]
    columns: tuple[table.Column, ...] = ()
    by, systems = None, 0
    if scoring_set is None or not details:
        rows = [QuerySummary(query_heading(query, None, texts), None, None, None, "") for query in queries]
    else:
        columns = table.per_query_columns(scoring_set)
        by = table.pick(columns, view.measure)
        entries = load_standing(session, actor, evaluation, now, by)
        vectors = load_vectors(session, [entry.scoring_id for entry in entries], [by.name], subset)
        with_values = [entry for entry in entries if (entry.scoring_id, by.name) in vectors]
        spread = spread_of([vectors[entry.scoring_id, by.name] for entry in with_values], by)
        called = table.disambiguate(entry.system for entry in with_values)
        names = [called[entry.system.id] for entry in with_values]
        relevant = relevant_documents(session, scoring_set)
        rows = [_summary(query_heading(query, relevant.get(query.id, 0), texts), spread, names) for query in queries]
        systems = len(entries)
        rows = sorted_rows(
            rows,
            view.sort,
            {
                "median": (by, lambda row: row.median),
                "best": (by, lambda row: row.best),
                "relevant": (replace(by, direction="higher"), lambda row: row.query.relevant or 0),
            },
        )
    shown, paging = table.paged(rows, view.page, PAGE)
    return QueryListPage(
        evaluation=evaluation_heading(evaluation, now),
        texts_open=texts,
        details_open=by is not None,
        closed_because="" if details else closed_details(evaluation),
        columns=columns,
        column=by,
        systems=systems,
        sort=view.sort if by else "",
        tag=view.tag,
        queries=shown,
        paging=paging,
    )


def query(
    session: Session,
    actor: Actor,
    campaign_slug: str,
    slug: str,
    external_id: str,
    now: dt.datetime,
    view: BoardQuery = EVERYTHING,
) -> QueryPage:
    """One page of the systems on a query, where they are more than WHOLE, or all of them.

    Raises NotFound for no such query, NotAllowed while single queries may not be seen.
    """
    evaluation, scoring_set = find_evaluation_and_set(session, actor, campaign_slug, slug)
    require(may_see(actor, evaluation, Content.DETAILS, now), closed_details(evaluation))
    subset = subset_seen(actor, evaluation, now)
    row = find_query(session, evaluation, external_id, subset)
    if scoring_set is None:
        raise NotFound(f"nothing is known of query {external_id} yet")
    columns = table.per_query_columns(scoring_set)
    show = show_of(view.show, evaluation.campaign.run_choice)
    by = table.pick(columns, view.sort.removeprefix("-"))
    entries = load_standing(session, actor, evaluation, now, table.column(scoring_set.primary_measure), show)
    entries.sort(key=lambda entry: (entry.system.name.casefold(), entry.submission_id))
    scorings = [entry.scoring_id for entry in entries]
    sorted_by = load_slices(session, scorings, [by.name], subset, row.position)
    ends = [value for value in sorted_by.values() if value is not None]
    entries = by.sort(entries, lambda entry: sorted_by.get((entry.scoring_id, by.name)), view.sort.startswith("-"))
    shown, paging = table.paged(entries, view.page if len(entries) > table.WHOLE else None, table.ROWS)
    names = [each.name for each in columns]
    others = [name for name in names if name != by.name]
    values = sorted_by | load_slices(session, [entry.scoring_id for entry in shown], others, subset, row.position)
    relevant = relevant_documents(session, scoring_set, row.id).get(row.id, 0)
    previous, following = neighbours(session, row, subset)
    return QueryPage(
        evaluation=evaluation_heading(evaluation, now),
        query=query_heading(row, relevant, may_see(actor, evaluation, Content.TEXTS, now)),
        columns=columns,
        column=by,
        show=show,
        sort=view.sort,
        rows=tuple(
            QueryResult(entry, tuple(values.get((entry.scoring_id, name)) for name in names)) for entry in shown
        ),
        ends=(min(ends), max(ends)) if ends else (),
        paging=paging,
        previous=previous,
        next=following,
    )


def _summary(heading: QueryHeading, spread: QuerySpread, names: Sequence[str]) -> QuerySummary:
    """names: of the systems that the spread is over."""
    at = heading.position
    median, best, worst = (value_in(values, at) for values in (spread.median, spread.best, spread.worst))
    return QuerySummary(heading, median, best, worst, "" if best is None else names[spread.first[at]])


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


def neighbours(session: Session, query: Query, subset: Subset) -> tuple[str | None, str | None]:
    """The external ids of the queries of the subset before and after, in the evaluation's order."""
    of_evaluation = sa.select(Query.external_id).where(*of_subset(query.evaluation_id, subset))
    before = of_evaluation.where(Query.position < query.position).order_by(Query.position.desc()).limit(1)
    after = of_evaluation.where(Query.position > query.position).order_by(Query.position).limit(1)
    previous, following = session.execute(sa.select(before.scalar_subquery(), after.scalar_subquery())).one()
    return previous, following


def query_heading(query: Query, relevant: int | None, texts: bool) -> QueryHeading:
    """What a page shows of a query. relevant: how many documents are relevant; None where that is not to be seen.
    texts: whether its text, description and tags may be seen."""
    return snapshot(
        QueryHeading,
        query,
        text=query.text if texts else "",
        description=query.description if texts else "",
        tags=tuple(query.tags) if texts else (),
        relevant=relevant,
        excluded=query.excluded_at is not None,
    )


DOCUMENTS = 100  # lines


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """A line of the run. grade: None when not judged; returned: whether AQWV and the set measures count it so."""

    rank: int
    document: str
    score: float
    grade: int | None
    relevant: bool
    returned: bool


@dataclass(frozen=True, slots=True)
class MissedDocument:
    """A relevant document that the run does not list."""

    document: str
    grade: int


@dataclass(frozen=True, slots=True)
class RankedListPage:
    """lines: those of this page; the counts are over the whole list, `relevant` over the judgments.

    complete  whether a document without a judgment counts as not relevant; nothing is `unjudged` then
    missed   relevant documents that the run does not list, best first; empty unless `judgments_open`
    returned_by  what decides what counts as returned: "decisions", "threshold" or "all"
    """

    submission_id: int
    system: table.SystemLabel
    label: str
    evaluation: EvaluationHeading
    query: QueryHeading
    columns: tuple[table.Column, ...]
    values: tuple[float | None, ...]
    threshold: float | None
    returned_by: ReturnedBy
    lines: tuple[ListedDocument, ...]
    paging: table.Paging
    retrieved: int
    returned: int
    found: int
    unjudged: int
    complete: bool
    relevant: int
    judgments_open: bool
    missed: tuple[MissedDocument, ...]
    previous: str | None
    next: str | None


def ranked_list(
    session: Session,
    actor: Actor,
    store: RunStore,
    submission_id: int,
    external_id: str,
    now: dt.datetime,
    page: int | None = 1,
) -> RankedListPage:
    """One page of the list, or all of it (`page` None).

    Raises NotFound for no such scored run or query, NotAllowed while single documents may not be seen.
    """
    scored = find_scored(session, actor, submission_id, now)
    run, scoring, scoring_set, subset = scored.run, scored.scoring, scored.scoring_set, scored.subset
    evaluation = run.evaluation
    require(scored.details, closed_details(evaluation))
    query = find_query(session, evaluation, external_id, subset)
    level = scoring_set.settings.relevance_level
    judged = Judgment.revision_id == scoring_set.revision_id, Judgment.query_id == query.id
    grades = dict(session.execute(sa.select(Judgment.document, Judgment.grade).where(*judged)).all())
    listed = store.ranked_list(run.id, scoring_set.settings.compat, query.position)
    lines, decided_by = _lines(listed, grades, level, run.threshold, scoring_set.settings.compat)
    documents = {line.document for line in lines}
    relevant = {document: grade for document, grade in grades.items() if grade >= level}
    judgments = may_see(actor, evaluation, Content.JUDGMENTS, now, run.team_id)
    missed = sorted((grade, document) for document, grade in relevant.items() if document not in documents)
    columns = table.per_query_columns(scoring_set)
    values = load_slices(session, [scoring.id], [column.name for column in columns], subset, query.position)
    shown, paging = table.paged(lines, page, DOCUMENTS)
    complete = scoring_set.settings.judging is Judging.COMPLETE
    previous, following = neighbours(session, query, subset)
    return RankedListPage(
        submission_id=run.id,
        system=label_of(session, actor, run, now),
        label=run.label if scored.named else "",
        evaluation=evaluation_heading(evaluation, now),
        query=query_heading(query, len(relevant), may_see(actor, evaluation, Content.TEXTS, now)),
        columns=columns,
        values=tuple(values.get((scoring.id, column.name)) for column in columns),
        threshold=run.threshold,
        returned_by=decided_by,
        lines=shown,
        paging=paging,
        retrieved=len(lines),
        returned=sum(line.returned for line in lines),
        found=sum(line.relevant for line in lines),
        unjudged=0 if complete else sum(line.grade is None for line in lines),
        complete=complete,
        relevant=len(relevant),
        judgments_open=judgments,
        missed=tuple(MissedDocument(document, grade) for grade, document in reversed(missed)) if judgments else (),
        previous=previous,
        next=following,
    )


def _lines(
    listed: RankedList, grades: dict[str, int], level: int, threshold: float | None, compat: Literal[9, 10]
) -> tuple[tuple[ListedDocument, ...], ReturnedBy]:
    """The lines with their grades, and what decides which of them are returned."""
    is_returned = returned(listed.scores, listed.decisions, threshold, compat).tolist()
    lines = []
    for rank, line in enumerate(zip(listed.documents, listed.scores.tolist(), is_returned, strict=True), 1):
        document, score, here = line
        grade = grades.get(document)
        lines.append(ListedDocument(rank, document, score, grade, grade is not None and grade >= level, here))
    return tuple(lines), returned_by(listed.decisions, threshold)
