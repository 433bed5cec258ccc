"""The judgments of a revision as they are stored.

Why judgments can't be taken in, and a source not taken away: asked by the writes and by previews of them.

What a file of queries or of judgments would change, told before anything is written; queries and revisions as
organisers see them.

What a list of the collection's documents would rule out, told before it is taken: runs with others are refused.

Judgments that the organisers have published: by query, of one query, and all of them as files of four columns.
"""

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.access import VISITOR, Actor, Content, may_see, open_to_all, require, subset_seen
from leaderboard.accounts.models import User
from leaderboard.audit.rules import rows_of, short
from leaderboard.boards.reads.entries import Paging, paged
from leaderboard.db import exists, snapshot
from leaderboard.errors import Conflict, InvalidFields, LeaderboardError
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads import evaluations as reads
from leaderboard.evaluations.rules import Split, closed_from, lacks
from leaderboard.formats import DocumentList, QueryRow
from leaderboard.formats.plain_text import shown
from leaderboard.frozen import frozen
from leaderboard.judgments.models import Judgment, JudgmentRevision, KnownDocument, Query, SubtopicJudgment
from leaderboard.judgments.rules import READERS, JudgmentFiles, Removal
from leaderboard.metrics import query_order
from leaderboard.moments import moment_in_words
from leaderboard.numbers import counted, first_of
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import UNFINISHED, SetState, State
from leaderboard.worker.models import Scoring, ScoringSet
from leaderboard.worker.reads import current_set, has_several_sources, newest_revision

# What a revision is made of: its tables, and what each says beside the query.
COLUMNS: Mapping[type[Any], tuple[Any, ...]] = {
    Judgment: (Judgment.document, Judgment.grade),
    KnownDocument: (KnownDocument.document,),
    SubtopicJudgment: (SubtopicJudgment.subtopic, SubtopicJudgment.document, SubtopicJudgment.grade),
}


def rows_of_table(session: Session, table: type[Any], revision_id: int | None, *where: sa.ColumnElement[bool]) -> Any:
    """What a table says of a revision, nothing of None: the query's id first, then its columns; in any order."""
    rows = sa.select(Query.external_id, *COLUMNS[table]).join(table, table.query_id == Query.id)
    return session.execute(rows.where(table.revision_id == revision_id, *where))


def stored_rows(session: Session, revision_id: int, *where: sa.ColumnElement[bool]) -> list[Any]:
    """(query, document, grade), (query, document) and (query, subtopic, document, grade), in any order."""
    return [rows_of_table(session, table, revision_id, *where) for table in COLUMNS]


def query_numbers(session: Session, evaluation: Evaluation) -> dict[str, int]:
    """The row id of each of the evaluation's queries, by its own id, in their order."""
    rows = sa.select(Query.external_id, Query.id).where(Query.evaluation_id == evaluation.id)
    return dict(session.execute(rows.order_by(Query.position)).all())


def queries_stay(session: Session, evaluation: Evaluation) -> str | None:
    """Why queries of an evaluation can't be removed any more, in words; None while they can."""
    for table, what in ((JudgmentRevision, "judgments"), (Submission, "submissions")):
        if exists(session, table.evaluation_id == evaluation.id):
            return f"{evaluation.title} has {what}, so its queries stay on record; exclude what shall not count."
    return None


def refusals(session: Session, evaluation: Evaluation, files: JudgmentFiles, source: str) -> Iterator[LeaderboardError]:
    """Every reason not to take these in, as what an import raises: Conflict for an evaluation without queries and where
    the source's newest revision says the same, InvalidFields for queries that it lacks.
    """
    numbers = query_numbers(session, evaluation)
    if not numbers:
        yield Conflict(f"{evaluation.title} has no queries yet; import the queries first, then the judgments.")
        return
    for name in READERS:
        judged = getattr(files, name)
        if judged is not None and (unknown := [query for query in judged.queries if query not in numbers]):
            lacks = f"the evaluation lacks {len(unknown):,} of the {len(judged.queries):,} queries"
            yield InvalidFields({name: [f"{lacks}: {first_of(unknown, 10)}; import the queries first"]})
    # By a source that was set aside the same judgments may come again: they are taken up with that.
    newest = None if source in evaluation.set_aside else newest_revision(session, evaluation, source)
    if newest and newest.sha256 == files.sha256:
        yield Conflict(f"These are the judgments of revision {newest.number}, which is the newest one already.")


def revision_state(session: Session, evaluation: Evaluation, source: str) -> str:
    """What was shown of judgments by a source holds as long as this is the same."""
    newest = newest_revision(session, evaluation, source)
    return f"{source}:{newest.number if newest else None}"


def known_sources(session: Session, evaluation: Evaluation) -> frozenset[str]:
    """Those that judged anything, and the official one; those that are set aside too."""
    own = sa.select(JudgmentRevision.source).where(JudgmentRevision.evaluation_id == evaluation.id)
    return frozenset((evaluation.official_source, *session.scalars(own.distinct())))


def require_source(session: Session, evaluation: Evaluation, source: str) -> None:
    """Raises Conflict for one that is none of the evaluation's, naming those that are."""
    known = known_sources(session, evaluation)
    if source not in known:
        raise Conflict(f"There are no judgments by {source}; there are some by: {', '.join(sorted(known))}.")


def removal_of_source(session: Session, evaluation: Evaluation, source: str, now: datetime) -> Removal:
    """What taking it away does. Raises Conflict for the official source, one that is set aside and one that is none."""
    require_source(session, evaluation, source)
    if source == evaluation.official_source:
        raise Conflict(f"Boards use the judgments of {source}; choose another source first, or rename it.")
    if source in evaluation.set_aside:
        raise Conflict(f"{source} is set aside already.")
    if not exists(session, Submission.evaluation_id == evaluation.id):
        return Removal.GONE
    own = ScoringSet.evaluation_id == evaluation.id, ScoringSet.source == source
    was_official = exists(session, *own, ScoringSet.shown_until.is_not(None))
    was_open = "details" in open_to_all(evaluation, now) | reads.once_revealed(session, evaluation)
    return Removal.KEPT if was_official or was_open else Removal.HIDDEN


QUERIES_AT_ONCE = 200


@frozen
class QueryChange:
    """A query that is there, as it is and as the file has it. described: the file has another description."""

    id: str
    text_before: str
    text: str
    tags_before: tuple[str, ...]
    tags: tuple[str, ...]
    described: bool


@frozen
class QueryChanges:
    """What a file of queries would change.

    new        in the order of the file
    changed    those with another text, other tags or another description
    unchanged  how many stay as they are
    missing    those that are there and not in the file: nothing becomes of them
    scores_anew  whether all runs are scored again: the new queries count from then on
    state      of the evaluation's queries: what was shown holds as long as it is the same
    """

    new: tuple[QueryRow, ...]
    changed: tuple[QueryChange, ...]
    unchanged: int
    missing: tuple[str, ...]
    scores_anew: bool
    state: str

    @property
    def described(self) -> int:
        """How many get a description."""
        return sum(bool(query.description) for query in self.new) + sum(query.described for query in self.changed)

    @property
    def is_nothing(self) -> bool:
        return not (self.new or self.changed)


@frozen
class OrganisedQuery:
    """judged: documents that the newest official judgments judge for it; 0 before the first."""

    id: str
    text: str
    description: str
    tags: tuple[str, ...]
    hidden: bool
    excluded: bool
    because: str
    judged: int


@frozen
class OrganisedQueries:
    """hidden, excluded: of all queries. removable: whether those that were added by mistake can still be removed."""

    rows: tuple[OrganisedQuery, ...]
    paging: Paging
    total: int
    hidden: int
    excluded: int
    removable: bool


def query_changes(session: Session, evaluation: Evaluation, rows: Iterable[QueryRow]) -> QueryChanges:
    """What importing these queries would change; writes nothing."""
    there = {query.external_id: query for query in queries_in_order(session, evaluation)}
    named = {row.id: row for row in rows}
    new = tuple(row for row in named.values() if row.id not in there)
    changed = tuple(
        QueryChange(row.id, query.text, row.text, tuple(query.tags), row.tags, described)
        for row in named.values()
        if (query := there.get(row.id))
        if (described := row.description not in ("", query.description))
        or (query.text, tuple(query.tags)) != (row.text, row.tags)
    )
    return QueryChanges(
        new=new,
        changed=changed,
        unchanged=len(named) - len(new) - len(changed),
        missing=tuple(query for query in there if query not in named),
        scores_anew=bool(new) and current_set(session, evaluation.id) is not None,
        state=short([[query.external_id, query.text, query.tags, query.description] for query in there.values()]),
    )


def organised_queries(
    session: Session, actor: Actor, campaign_slug: str, slug: str, _: datetime, *, page: int | None = None
) -> OrganisedQueries:
    """One page of all queries, or all of them, hidden and excluded ones too. Raises NotFound."""
    evaluation = reads.organised_evaluation(session, actor, campaign_slug, slug)
    queries, current = queries_in_order(session, evaluation), current_set(session, evaluation.id)
    shown, paging = paged(queries, page, QUERIES_AT_ONCE)
    own = [Judgment.revision_id == (current.revision_id if current else None)]
    if page is not None:
        own.append(Judgment.query_id.in_([query.id for query in shown]))
    counts = sa.select(Judgment.query_id, sa.func.count()).where(*own).group_by(Judgment.query_id)
    judged: dict[int, int] = dict(session.execute(counts).all())
    return OrganisedQueries(
        rows=tuple(
            snapshot(
                OrganisedQuery,
                query,
                id=query.external_id,
                tags=tuple(query.tags),
                hidden=query.split is Split.HIDDEN,
                excluded=query.excluded_at is not None,
                because=query.excluded_because,
                judged=judged.get(query.id, 0),
            )
            for query in shown
        ),
        paging=paging,
        total=len(queries),
        hidden=sum(query.split is Split.HIDDEN for query in queries),
        excluded=sum(query.excluded_at is not None for query in queries),
        removable=queries_stay(session, evaluation) is None,
    )


def queries_in_order(session: Session, evaluation: Evaluation) -> Sequence[Query]:
    """All of the evaluation's, by their positions."""
    own = Query.evaluation_id == evaluation.id
    return session.scalars(sa.select(Query).where(own).order_by(Query.position)).all()


@frozen
class QueryInFile:
    """What a file judges for one query. relevant: from the evaluation's level on."""

    id: str
    judged: int
    relevant: int


@frozen
class GradeChange:
    """How many judgments have grade `after` in the file and grade `before` in the revision."""

    before: int
    after: int
    judgments: int


@frozen
class JudgmentChanges:
    """What a file of judgments is, and what it would change of its source's newest revision.

    against    the number of that revision; None when there is none yet
    judgments  in the file; repeated: lines left out because they say again what an earlier one says
    grades     (grade, how many judgments have it), the lowest grade first
    queries    those that it judges, in the order of the file
    problems   why these judgments would be refused, in words, but for what measures need
    doubts     what speaks for a mistake and is taken in all the same, in words
    unknown    queries that the evaluation lacks: none of the file is taken in then
    unjudged   queries of the evaluation that it says nothing about
    none_relevant  queries that it judges and finds nothing relevant for
    added, removed  judgments that are new, and that are there no longer
    changed    by grade before and after
    runs       how many are scored anew
    state      of the source's judgments: what was shown holds as long as it is the same
    """

    source: str
    official: bool
    problems: tuple[str, ...]
    doubts: tuple[str, ...]
    against: int | None
    judgments: int
    repeated: int
    grades: tuple[tuple[int, int], ...]
    queries: tuple[QueryInFile, ...]
    unknown: tuple[str, ...]
    unjudged: tuple[str, ...]
    none_relevant: tuple[str, ...]
    added: int
    removed: int
    changed: tuple[GradeChange, ...]
    runs: int
    state: str

    @property
    def would_be_refused(self) -> bool:
        """Whether an import of the same would take nothing in."""
        return bool(self.problems)


@frozen
class OrganisedRevision:
    """A revision on its organiser's page. stands: whether boards go by it, those of its source at least.

    released_at      when it was given out, here or before it was brought in from the past; None where nothing says
    waiting, failed  runs not yet scored by it, and those that could not be
    """

    number: int
    source: str
    judgments: int
    note: str
    imported_at: datetime
    imported_by: str
    released_at: datetime | None
    sha256: str
    stands: bool
    building: bool
    waiting: int
    failed: int


@frozen
class OtherSource:
    """A source beside the official one. removal: what becomes of it where it is removed, in words."""

    name: str
    removal: str


@frozen
class OrganisedJudgments:
    """queries: how many the evaluation has. lacking: measures without the number of documents that they need, so that
    no judgments are taken. revisions: the newest first. others: sources beside the official one; set_aside: those by
    which no run is scored any more.
    """

    queries: int
    lacking: tuple[str, ...]
    official: str
    others: tuple[OtherSource, ...]
    set_aside: tuple[str, ...]
    revisions: tuple[OrganisedRevision, ...]
    published: bool


def judgment_changes(
    session: Session, evaluation: Evaluation, files: JudgmentFiles, source: str = ""
) -> JudgmentChanges:
    """What importing these judgments would change, and why it would be refused; writes nothing. source: whose they are;
    "": the official source's.
    """
    source, judged = source or evaluation.official_source, files.judgments
    subtopics, doubts = files.subtopics, tuple[str, ...]()
    lines = len(subtopics) + subtopics.repeated if subtopics else 0
    if subtopics and lines > 1 and len(subtopics.subtopics) == 1:
        (only,) = subtopics.subtopics
        plain = f"these look like plain judgments (query {only} document grade)"
        doubts = (f"judgments of subtopics: all {lines:,} lines are of subtopic {only}: {plain}",)
    newest = newest_revision(session, evaluation, source)
    stored = rows_of_table(session, Judgment, newest.id if newest else None)
    before, after = ({tuple(key): grade for *key, grade in rows} for rows in (stored, rows_of(judged)))
    both = before.keys() & after.keys()
    changed = Counter((before[key], after[key]) for key in both if before[key] != after[key])
    named, numbers = Counter(query for query, _ in after), query_numbers(session, evaluation)
    relevant = Counter(query for (query, _), grade in after.items() if grade >= evaluation.relevance_level)
    submitted = sa.select(sa.func.count(sa.distinct(Scoring.submission_id))).join(ScoringSet)
    return JudgmentChanges(
        source=source,
        official=source == evaluation.official_source,
        problems=tuple(error.message for error in refusals(session, evaluation, files, source)),
        doubts=doubts,
        against=newest.number if newest else None,
        judgments=len(judged),
        repeated=judged.repeated,
        grades=tuple(sorted(Counter(after.values()).items())),
        queries=tuple(QueryInFile(query, named[query], relevant[query]) for query in judged.queries),
        unknown=tuple(query for query in judged.queries if query not in numbers),
        unjudged=tuple(query for query in numbers if query not in named),
        none_relevant=tuple(query for query in judged.queries if query not in relevant),
        added=len(after) - len(both),
        removed=len(before) - len(both),
        changed=tuple(GradeChange(*grades, count) for grades, count in sorted(changed.items())),
        runs=session.scalar(submitted.where(ScoringSet.evaluation_id == evaluation.id)) or 0,
        state=revision_state(session, evaluation, source),
    )


def organised_judgments(
    session: Session, actor: Actor, campaign_slug: str, slug: str, now: datetime
) -> OrganisedJudgments:
    """Raises NotFound."""
    evaluation = reads.organised_evaluation(session, actor, campaign_slug, slug)
    count, building = sa.func.count, ScoringSet.state == SetState.BUILDING
    own_sets = sa.and_(ScoringSet.revision_id == JudgmentRevision.id, ScoringSet.state != SetState.SUPERSEDED)
    rows = session.execute(
        sa.select(
            JudgmentRevision,
            User.name,
            count(ScoringSet.id).filter(~building) > 0,
            count(ScoringSet.id).filter(building) > 0,
            count(Scoring.id).filter(Scoring.state.in_(UNFINISHED)),
            count(Scoring.id).filter(Scoring.state == State.FAILED),
        )
        .outerjoin(User, User.id == JudgmentRevision.imported_by_id)
        .outerjoin(ScoringSet, own_sets)
        .outerjoin(Scoring, Scoring.scoring_set_id == ScoringSet.id)
        .where(JudgmentRevision.evaluation_id == evaluation.id)
        .group_by(JudgmentRevision.id, User.name)
        .order_by(JudgmentRevision.number.desc())
    )
    parts = "stands", "building", "waiting", "failed"
    revisions = tuple(
        snapshot(OrganisedRevision, revision, imported_by=name or "", **dict(zip(parts, counts, strict=True)))
        for revision, name, *counts in rows
    )
    others = sorted({revision.source for revision in revisions} - {evaluation.official_source, *evaluation.set_aside})
    shown, has = reads.campaign_measures(evaluation.campaign), evaluation.documents
    return OrganisedJudgments(
        queries=len(query_numbers(session, evaluation)),
        lacking=tuple(name for name in shown if lacks(metrics.parse(name), documents=has)),
        official=evaluation.official_source,
        others=tuple(OtherSource(other, removal_of_source(session, evaluation, other, now)) for other in others),
        set_aside=tuple(evaluation.set_aside),
        revisions=revisions,
        published=evaluation.judgments_published,
    )


def doubts_about(session: Session, evaluation: Evaluation, listed: DocumentList) -> tuple[str, ...]:
    """Why a list of documents is most likely not the collection's, in words: held against N_total and the newest
    official judgments.
    """
    doubts = []
    if evaluation.documents not in (None, listed.count):
        has = f"the collection has {counted(evaluation.documents or 0, 'document')} (N_total)"
        doubts.append(f"The list has {counted(listed.count, 'document')}, and {has}.")
    revision = newest_revision(session, evaluation, evaluation.official_source)
    rows = rows_of_table(session, Judgment, revision.id if revision else None)
    judged = sorted({row.document for row in rows})
    if unlisted := listed.lacks(judged):
        of_all = f"{len(unlisted):,} of {counted(len(judged), 'judged document')}"
        doubts.append(f"Not in the list: {of_all}, such as {shown(unlisted[0])}.")
    return tuple(doubts)


PAGE = 500


class JudgmentFile(StrEnum):
    """What is published of the judgments as a file: what `leaderboard score` takes beside a run."""

    JUDGMENTS = "judgments"
    KNOWN = "known"  # what the user knew already, for Coverage and Novelty
    SUBTOPICS = "subtopics"  # judgments of single aspects of queries, for measures of diversity


TABLES = dict(zip(JudgmentFile, COLUMNS, strict=True))


@frozen
class JudgedQuery:
    """grades: grade -> how many judgments have it. excluded: it counts in no figure and is not in the file."""

    id: str
    judged: int
    relevant: int
    grades: dict[int, int]
    excluded: bool


@frozen
class PublishedPage:
    """The judgments of the current set. grades: all there are, the lowest first.

    sha256   of the revision, and file_sha256 of the file as the reader downloads it
    in_file  judgments that the file holds: those of excluded queries are left out
    files    those that there are
    public   whether everybody sees this, or its organisers only so far; to_publish: whether everybody is to
    several_sources  whether boards by several stand side by side, where the reader sees them
    """

    evaluation: reads.EvaluationHeading
    revision: int
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
    several_sources: bool


@frozen
class JudgedDocument:
    document: str
    grade: int


@frozen
class JudgedDocuments:
    """Of one query; the highest grade first, then by the document's id."""

    evaluation: reads.EvaluationHeading
    query: str
    text: str
    excluded_because: str
    relevance_level: int
    documents: tuple[JudgedDocument, ...]
    paging: Paging


def published(
    session: Session, actor: Actor, campaign_slug: str, slug: str, now: datetime, *, page: int | None = None
) -> PublishedPage:
    """By query, in the order of the queries. Raises NotFound, NotAllowed while judgments are not published, and
    Conflict before the first.
    """
    evaluation, scoring_set, by_query, text = _file(session, actor, campaign_slug, slug, now, JudgmentFile.JUDGMENTS)
    settings, revision = scoring_set.settings, scoring_set.revision
    judged_queries = []
    for query, rows in by_query.items():
        grades = dict(sorted(Counter(grade for *_, grade in rows).items()))
        relevant = sum(count for grade, count in grades.items() if grade >= evaluation.relevance_level)
        judged_queries.append(JudgedQuery(query, len(rows), relevant, grades, query in settings.excluded))
    shown, paging = paged(judged_queries, page, PAGE)
    return PublishedPage(
        evaluation=reads.evaluation_heading(evaluation, now),
        revision=revision.number,
        sha256=revision.sha256,
        file_sha256=hashlib.sha256(text.encode()).hexdigest(),
        grades=tuple(sorted({grade for query in judged_queries for grade in query.grades})),
        relevance_level=evaluation.relevance_level,
        queries=shown,
        paging=paging,
        judgments=sum(query.judged for query in judged_queries),
        in_file=text.count("\n"),
        files=tuple(itertools.compress(JudgmentFile, (True, settings.known, settings.subtopics))),
        excluded=sum(query.excluded for query in judged_queries),
        public=may_see(VISITOR, evaluation, Content.JUDGMENTS, now),
        to_publish=evaluation.judgments_published,
        several_sources=may_see(actor, evaluation, Content.DETAILS, now)
        and session.scalars(sa.select(has_several_sources(evaluation))).one(),
    )


def documents_of(
    session: Session,
    actor: Actor,
    campaign_slug: str,
    slug: str,
    external_id: str,
    now: datetime,
    *,
    page: int | None = None,
) -> JudgedDocuments:
    """Raises NotFound also for a query that the reader may not know of, NotAllowed as `published` does."""
    evaluation, scoring_set = _published_set(session, actor, campaign_slug, slug, now)
    query = reads.find_query(session, evaluation, external_id, subset_seen(actor, evaluation, now))
    rows = rows_of_table(session, Judgment, scoring_set.revision_id, Query.id == query.id)
    ordered = sorted((JudgedDocument(*row[1:]) for row in rows), key=lambda judged: (-judged.grade, judged.document))
    shown, paging = paged(ordered, page, PAGE)
    return JudgedDocuments(
        evaluation=reads.evaluation_heading(evaluation, now),
        query=query.external_id,
        text=query.text if may_see(actor, evaluation, Content.TEXTS, now) else "",
        excluded_because=query.excluded_because,
        relevance_level=evaluation.relevance_level,
        documents=shown,
        paging=paging,
    )


def qrels(
    session: Session,
    actor: Actor,
    campaign_slug: str,
    slug: str,
    now: datetime,
    *,
    file: JudgmentFile = JudgmentFile.JUDGMENTS,
) -> str:
    """Lines of TREC's four columns, for trec_eval and `leaderboard score`: query, 0, document, grade, as bytes rising.
    In place of 0 a file of subtopics has them.

    Queries that the board leaves out are left out, and hidden ones as long as the reader may not know of them. Raises
    as `published` does.
    """
    return _file(session, actor, campaign_slug, slug, now, file)[-1]


def _file(
    session: Session, actor: Actor, campaign_slug: str, slug: str, now: datetime, file: JudgmentFile
) -> tuple[Evaluation, ScoringSet, dict[str, list[tuple[Any, ...]]], str]:
    """Whose it is; of each query that the reader knows of, in their order, the other columns of its lines; the file."""
    evaluation, scoring_set = _published_set(session, actor, campaign_slug, slug, now)
    own = reads.of_subset(evaluation.id, subset_seen(actor, evaluation, now))
    known = session.scalars(sa.select(Query.external_id).where(*own).order_by(Query.position))
    by_query = {query: list[tuple[Any, ...]]() for query in known}
    first = () if file is JudgmentFile.SUBTOPICS else ("0",)
    for query, *columns in rows_of_table(session, TABLES[file], scoring_set.revision_id, *own):
        by_query[query].append((*first, *columns, 1)[:3])  # a known document, which has no grade, gets 1
    for rows in by_query.values():
        rows.sort()
    counted = query_order(by_query.keys() - {*scoring_set.settings.excluded})
    lines = (f"{query} {of} {document} {grade}\n" for query in counted for of, document, grade in by_query[query])
    return evaluation, scoring_set, by_query, "".join(lines)


def _published_set(
    session: Session, actor: Actor, campaign_slug: str, slug: str, now: datetime
) -> tuple[Evaluation, ScoringSet]:
    evaluation, scoring_set = reads.find_evaluation_and_set(session, actor, campaign_slug, slug)
    end, words = closed_from(evaluation), "Judgments are not public yet: the organisers have not published them."
    if evaluation.judgments_published and end:
        words = f"Judgments are not public yet: they will be when the evaluation has closed, {moment_in_words(end)}."
    require(may_see(actor, evaluation, Content.JUDGMENTS, now), words)
    if not scoring_set:
        raise Conflict("There are no judgments yet.")
    return evaluation, scoring_set
