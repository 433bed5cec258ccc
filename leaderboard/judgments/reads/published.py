"""Judgments that the organisers have published: by query, of one query, and all of them as files of four columns."""

import datetime as dt
import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import VISITOR, Actor, Content, may_see, require, subset_seen
from leaderboard.boards.reads.entries import Paging, paged
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.find import find_evaluation, find_query, of_subset
from leaderboard.evaluations.reads.headings import EvaluationHeading, evaluation_heading
from leaderboard.evaluations.rules import closed_from
from leaderboard.judgments.models import Judgment, JudgmentRevision, Query
from leaderboard.judgments.reads.revisions import COLUMNS, rows_of_table
from leaderboard.metrics import query_order
from leaderboard.moments import moment_in_words
from leaderboard.worker.models import ScoringSet
from leaderboard.worker.reads import current_set

PAGE = 500


class JudgmentFile(StrEnum):
    """What is published of the judgments as a file: what `leaderboard score` takes beside a run."""

    JUDGMENTS = "judgments"
    KNOWN = "known"  # what the user knew already, for Coverage and Novelty
    SUBTOPICS = "subtopics"  # judgments of single aspects of queries, for measures of diversity


TABLES = dict(zip(JudgmentFile, COLUMNS, strict=True))


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """grades: grade -> how many judgments have it. excluded: it counts in no figure and is not in the file."""

    id: str
    judged: int
    relevant: int
    grades: dict[int, int]
    excluded: bool


@dataclass(frozen=True, slots=True)
class PublishedPage:
    """The judgments of the current set. grades: all there are, the lowest first; revision: None before the first.

    sha256   of the revision, and file_sha256 of the file as the reader downloads it
    in_file  judgments that the file holds: those of excluded queries are left out
    files    those that there are
    public   whether everybody sees this, or its organisers only so far; to_publish: whether everybody is to
    """

    evaluation: EvaluationHeading
    revision: int | None
    sha256: str
    file_sha256: str
    grades: tuple[int, ...]
    relevance_level: int
    queries: tuple[JudgedQuery, ...]
    paging: Paging
    judgments: int
    in_file: int
    files: tuple[JudgmentFile, ...]
    excluded: int
    public: bool
    to_publish: bool


@dataclass(frozen=True, slots=True)
class JudgedDocument:
    document: str
    grade: int


@dataclass(frozen=True, slots=True)
class JudgedDocuments:
    """Of one query; the highest grade first, then by the document's id."""

    evaluation: EvaluationHeading
    query: str
    text: str
    excluded_because: str
    relevance_level: int
    documents: tuple[JudgedDocument, ...]
    paging: Paging


def published(
    session: Session, actor: Actor, campaign_slug: str, slug: str, now: dt.datetime, *, page: int | None = 1
) -> PublishedPage:
    """By query, in the order of the queries. Raises NotFound, and NotAllowed while judgments are not published."""
    evaluation, scoring_set = _opened(session, actor, campaign_slug, slug, now)
    queries = session.scalars(
        sa.select(Query).where(*of_subset(evaluation.id, subset_seen(actor, evaluation, now))).order_by(Query.position)
    ).all()
    rows = _rows_of(session, scoring_set, JudgmentFile.JUDGMENTS) if scoring_set else {}
    text = _text([query.external_id for query in queries], scoring_set, rows) if scoring_set else ""
    left_out = set(scoring_set.settings.excluded) if scoring_set else set()
    judged_queries = []
    for query in queries:
        grades = dict(sorted(Counter(grade for *_, grade in rows.get(query.external_id, ())).items()))
        relevant = sum(count for grade, count in grades.items() if grade >= evaluation.relevance_level)
        counts = sum(grades.values()), relevant, grades
        judged_queries.append(JudgedQuery(query.external_id, *counts, query.external_id in left_out))
    shown, paging = paged(judged_queries, page, PAGE)
    settings = scoring_set.settings if scoring_set else None
    there = dict(
        zip(JudgmentFile, (settings, settings and settings.known, settings and settings.subtopics), strict=True)
    )
    revision: JudgmentRevision | None = scoring_set.revision if scoring_set else None
    return PublishedPage(
        evaluation=evaluation_heading(evaluation, now),
        revision=revision.number if revision else None,
        sha256=revision.sha256 if revision else "",
        file_sha256=hashlib.sha256(text.encode()).hexdigest() if scoring_set else "",
        grades=tuple(sorted({grade for query in judged_queries for grade in query.grades})),
        relevance_level=evaluation.relevance_level,
        queries=shown,
        paging=paging,
        judgments=sum(query.judged for query in judged_queries),
        in_file=sum(query.judged for query in judged_queries if not query.excluded),
        files=tuple(file for file, is_there in there.items() if is_there),
        excluded=sum(query.excluded for query in judged_queries),
        public=may_see(VISITOR, evaluation, Content.JUDGMENTS, now),
        to_publish=evaluation.judgments_published,
    )


def documents_of(
    session: Session,
    actor: Actor,
    campaign_slug: str,
    slug: str,
    external_id: str,
    now: dt.datetime,
    *,
    page: int | None = 1,
) -> JudgedDocuments:
    """Raises NotFound also for a query that the reader may not know of, NotAllowed as `published` does."""
    evaluation, scoring_set = _opened(session, actor, campaign_slug, slug, now)
    query = find_query(session, evaluation, external_id, subset_seen(actor, evaluation, now))
    rows = session.execute(
        sa.select(Judgment.document, Judgment.grade).where(
            Judgment.revision_id == (scoring_set.revision_id if scoring_set else None), Judgment.query_id == query.id
        )
    )
    ordered = sorted((JudgedDocument(*row) for row in rows), key=lambda judged: (-judged.grade, judged.document))
    shown, paging = paged(ordered, page, PAGE)
    return JudgedDocuments(
        evaluation=evaluation_heading(evaluation, now),
        query=query.external_id,
        text=query.text if may_see(actor, evaluation, Content.TEXTS, now) else "",
        excluded_because=query.excluded_because if query.excluded_at is not None else "",
        relevance_level=evaluation.relevance_level,
        documents=shown,
        paging=paging,
    )


def qrels(
    session: Session,
    actor: Actor,
    campaign_slug: str,
    slug: str,
    now: dt.datetime,
    *,
    file: JudgmentFile = JudgmentFile.JUDGMENTS,
) -> str:
    """Lines of TREC's four columns, for trec_eval and `leaderboard score`: query, 0, document, grade, as bytes rising.
    In place of 0 a file of subtopics has them.

    Queries that the board leaves out are left out, and hidden ones as long as the reader may not know of them. Raises
    as `published` does.
    """
    evaluation, scoring_set = _opened(session, actor, campaign_slug, slug, now)
    if scoring_set is None:
        return ""
    own = of_subset(evaluation.id, subset_seen(actor, evaluation, now))
    known = session.scalars(sa.select(Query.external_id).where(*own)).all()
    return _text(known, scoring_set, _rows_of(session, scoring_set, file))


def _rows_of(session: Session, scoring_set: ScoringSet, file: JudgmentFile) -> dict[str, list[Sequence[Any]]]:
    """Query -> the other columns of each of its lines, in the order of the file."""
    by_query: dict[str, list[Sequence[Any]]] = {}
    for query, *columns in rows_of_table(session, TABLES[file], scoring_set.revision_id):
        whole = columns if file is JudgmentFile.SUBTOPICS else ("0", columns[0], *(columns[1:] or [1]))
        by_query.setdefault(query, []).append(whole)
    for rows in by_query.values():
        rows.sort(key=lambda row: (row[0].encode(), row[1].encode()))
    return by_query


def _text(known: Collection[str], scoring_set: ScoringSet, rows: Mapping[str, list[Sequence[Any]]]) -> str:
    """known: the queries that the reader knows of."""
    return "".join(
        f"{query} {of} {document} {grade}\n"
        for query in query_order(set(known) - set(scoring_set.settings.excluded))
        for of, document, grade in rows.get(query, ())
    )


def _opened(
    session: Session, actor: Actor, campaign_slug: str, slug: str, now: dt.datetime
) -> tuple[Evaluation, ScoringSet | None]:
    evaluation = find_evaluation(session, actor, campaign_slug, slug)
    require(may_see(actor, evaluation, Content.JUDGMENTS, now), _closed(evaluation))
    return evaluation, current_set(session, evaluation.id)


def _closed(evaluation: Evaluation) -> str:
    """Why the judgments can't be read."""
    end = closed_from(evaluation)
    if not evaluation.judgments_published or end is None:
        return "The organisers have not published the judgments."
    return f"The judgments are published when the evaluation has closed, {moment_in_words(end)}."
