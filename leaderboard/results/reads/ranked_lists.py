"""One run on one query: the ranked list, each document with its grade."""

import datetime as dt
from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Content, may_see, require, subset_seen
from leaderboard.boards.reads.columns import Column, per_query_columns
from leaderboard.boards.reads.entries import SystemLabel
from leaderboard.boards.reads.paging import Paging, paged
from leaderboard.errors import NotFound
from leaderboard.evaluations.reads.find import find_query
from leaderboard.evaluations.reads.headings import EvaluationHeading, closed_details, evaluation_heading
from leaderboard.evaluations.rules import Judging
from leaderboard.judgments.models import Judgment, Query
from leaderboard.results.reads.queries import QueryHeading, neighbours, query_heading
from leaderboard.results.reads.query_values import load_slices
from leaderboard.scoring import ReturnedBy, returned, returned_by
from leaderboard.store import RankedList, RunStore
from leaderboard.submissions.reads.status import find_submission, label_of
from leaderboard.submissions.rules import State
from leaderboard.worker.models import ScoringSet
from leaderboard.worker.reads import current_set

PAGE = 100  # lines


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
    system: SystemLabel
    label: str
    evaluation: EvaluationHeading
    query: QueryHeading
    columns: tuple[Column, ...]
    values: tuple[float | None, ...]
    threshold: float | None
    returned_by: ReturnedBy
    lines: tuple[ListedDocument, ...]
    paging: Paging
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
    run, scoring = find_submission(session, actor, submission_id, now)
    evaluation = run.evaluation
    scoring_set = current_set(session, evaluation.id)
    if scoring_set is None or scoring is None or scoring.state != State.SCORED:
        raise NotFound(f"submission {submission_id} has no list for a query {external_id}")
    require(may_see(actor, evaluation, Content.DETAILS, now, run.team_id), closed_details(evaluation))
    subset = subset_seen(actor, evaluation, now)
    query = find_query(session, evaluation, external_id, subset)
    level = scoring_set.settings.relevance_level
    grades = _grades(session, scoring_set, query)
    listed = store.ranked_list(run.id, scoring_set.settings.compat, query.position)
    lines, decided_by = _lines(listed, grades, level, run.threshold, scoring_set.settings.compat)
    documents = {line.document for line in lines}
    relevant = {document: grade for document, grade in grades.items() if grade >= level}
    judgments = may_see(actor, evaluation, Content.JUDGMENTS, now, run.team_id)
    missed = sorted((grade, document) for document, grade in relevant.items() if document not in documents)
    columns = per_query_columns(scoring_set)
    values = load_slices(session, [scoring.id], [column.name for column in columns], subset, query.position)
    shown, paging = paged(lines, page, PAGE)
    complete = scoring_set.settings.judging is Judging.COMPLETE
    previous, following = neighbours(session, query, subset)
    named = may_see(actor, evaluation, Content.NAMES, now, run.team_id)
    return RankedListPage(
        submission_id=run.id,
        system=label_of(session, actor, run, now),
        label=run.label if named else "",
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


def _grades(session: Session, scoring_set: ScoringSet, query: Query) -> dict[str, int]:
    rows = session.execute(
        sa.select(Judgment.document, Judgment.grade).where(
            Judgment.revision_id == scoring_set.revision_id, Judgment.query_id == query.id
        )
    )
    return dict(rows.all())


def _lines(
    listed: RankedList, grades: dict[str, int], level: int, threshold: float | None, compat: Literal[9, 10]
) -> tuple[tuple[ListedDocument, ...], ReturnedBy]:
    """The lines with their grades, and what decides which of them are returned."""
    is_returned = returned(listed.scores, listed.decisions, threshold, compat).tolist()
    lines = []
    for rank, (document, score, here) in enumerate(
        zip(listed.documents, listed.scores.tolist(), is_returned, strict=True), 1
    ):
        grade = grades.get(document)
        lines.append(ListedDocument(rank, document, score, grade, grade is not None and grade >= level, here))
    return tuple(lines), returned_by(listed.decisions, threshold)
