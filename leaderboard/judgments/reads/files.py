"""Why judgments can't be taken in: asked by the import that refuses them, and by whoever shows what one would do.

Sources of judgments of an evaluation: which there are, and what becomes of one that is taken away.

What a file of queries would change, told before anything is written; and the queries as organisers see them.

What a file of judgments would change, told before anything is written; and the revisions that there are.

What a list of the collection's documents would rule out, told before it is taken: runs with others are refused.
"""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, open_to_all
from leaderboard.accounts.models import User
from leaderboard.audit.rules import revision_sha256, short
from leaderboard.boards.reads.entries import Paging, paged
from leaderboard.campaigns.reads import organised_evaluation
from leaderboard.db import snapshot
from leaderboard.errors import Conflict, FileRejected, InvalidFields, LeaderboardError, Problem
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.find import once_revealed, queries_stay
from leaderboard.evaluations.rules import Split
from leaderboard.formats import GRADE_LIMIT, DocumentList, Judgments, QueryRow, SubtopicJudgments
from leaderboard.formats.plain_text import shown
from leaderboard.judgments.models import Judgment, JudgmentRevision, Query
from leaderboard.numbers import counted, first_of
from leaderboard.store import RunStore
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import on_boards
from leaderboard.submissions.rules import UNFINISHED, SetState, State
from leaderboard.worker.models import Scoring, ScoringSet
from leaderboard.worker.reads import Judged, current_set, newest_revision, settings_if

NAMED = 10  # unknown queries that a message names


def query_numbers(session: Session, evaluation: Evaluation) -> dict[str, int]:
    """The row id of each of the evaluation's queries, by its own id, in their order."""
    rows = sa.select(Query.external_id, Query.id).where(Query.evaluation_id == evaluation.id)
    return {external_id: number for external_id, number in session.execute(rows.order_by(Query.position))}  # noqa: C416  # mypy can't follow dict()


def refusals(
    session: Session,
    evaluation: Evaluation,
    judgments: Judgments,
    known: Judgments | None,
    subtopics: SubtopicJudgments | None,
    source: str,
    sha256: str,
) -> Iterator[LeaderboardError]:
    """Every reason not to take these in, as what an import raises: Conflict for an evaluation without queries and where
    the source's newest revision says the same, FileRejected for queries that it lacks and grades beyond the limit.

    sha256  `revision_sha256` of the three
    """
    numbers = query_numbers(session, evaluation)
    if not numbers:
        yield Conflict(f"{evaluation.title} has no queries yet; import the queries first, then the judgments.")
        return
    files = ("judgments", judgments), ("known", known), ("subtopics", subtopics)
    for name, judged in files:
        if judged is None:
            continue
        if unknown := [query for query in judged.queries if query not in numbers]:
            lacks = f"the evaluation lacks {len(unknown):,} of the {len(judged.queries):,} queries"
            problem = Problem(None, f"{lacks}: {first_of(unknown, NAMED)}; import the queries first")
            yield FileRejected([problem], name=name)
        wide = [] if judged is known else [grade for grade in judged.grade.tolist() if abs(grade) > GRADE_LIMIT]
        if wide:
            yield FileRejected([Problem(None, f"grade {wide[0]} is beyond ±{GRADE_LIMIT:,}")], len(wide), name)
    # By a source that was set aside the same judgments may come again: they are taken up with that.
    newest = None if source in evaluation.set_aside else newest_revision(session, evaluation, source)
    if newest is not None and newest.sha256 == sha256:
        yield Conflict(f"These are the judgments of revision {newest.number}, which is the newest one already.")


class Removal(StrEnum):
    """What becomes of a source of judgments that is taken away."""

    GONE = "gone"  # for good: nothing could be scored by it
    HIDDEN = "hidden"  # nobody but organisers saw anything of it
    KEPT = "kept"  # what was seen of it stays to be read as it stood

    @property
    def in_words(self) -> str:
        """As the one who does it is told."""
        return {
            Removal.GONE: "nothing was submitted yet, so it goes for good, with its judgments",
            Removal.HIDDEN: "only organisers could see boards by it: these go, and no run is scored by it any more; "
            "its judgments stay on record",
            Removal.KEPT: "readers could see boards by it: these stay to be read as they stood, and no run is scored "
            "by it any more",
        }[self]


def known_sources(session: Session, evaluation: Evaluation) -> frozenset[str]:
    """Those that judged anything, and the official one; those that are set aside too."""
    own = sa.select(JudgmentRevision.source).where(JudgmentRevision.evaluation_id == evaluation.id)
    return frozenset((evaluation.official_source, *session.scalars(own.distinct())))


def require_source(session: Session, evaluation: Evaluation, source: str) -> None:
    """Raises Conflict for one that is none of the evaluation's, naming those that are."""
    known = known_sources(session, evaluation)
    if source not in known:
        raise Conflict(f"There are no judgments by {source}; there are some by: {', '.join(sorted(known))}.")


def removal_of_source(session: Session, evaluation: Evaluation, source: str, now: dt.datetime) -> Removal:
    """What taking it away does. Raises Conflict for the official source, one that is set aside and one that is none."""
    require_source(session, evaluation, source)
    if source == evaluation.official_source:
        raise Conflict(f"Boards go by the judgments of {source}; let them go by another source first, or rename it.")
    if source in evaluation.set_aside:
        raise Conflict(f"{source} is set aside already.")
    if not session.scalar(sa.select(sa.exists().where(Submission.evaluation_id == evaluation.id))):
        return Removal.GONE
    own = ScoringSet.evaluation_id == evaluation.id, ScoringSet.source == source
    was_official = session.scalar(sa.select(sa.exists().where(*own, ScoringSet.shown_until.is_not(None))))
    was_open = "details" in open_to_all(evaluation, now) | once_revealed(session, evaluation)
    return Removal.KEPT if was_official or was_open else Removal.HIDDEN


PAGE = 200


@dataclass(frozen=True, slots=True)
class QueryChange:
    """A query that is there, as it is and as the file has it. described: the file has another description."""

    id: str
    text_before: str
    text: str
    tags_before: tuple[str, ...]
    tags: tuple[str, ...]
    described: bool

    @property
    def loses_text(self) -> bool:
        return bool(self.text_before) and not self.text


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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
    there = {query.external_id: query for query in _queries(session, evaluation)}
    named = {row.id: row for row in rows}
    changed = [
        change for row in named.values() if row.id in there and (change := _change(there[row.id], row)) is not None
    ]
    new = tuple(row for row in named.values() if row.id not in there)
    return QueryChanges(
        new=new,
        changed=tuple(changed),
        unchanged=len(named) - len(new) - len(changed),
        missing=tuple(query for query in there if query not in named),
        scores_anew=bool(new) and current_set(session, evaluation.id) is not None,
        state=short([[query.external_id, query.text, query.tags, query.description] for query in there.values()]),
    )


def organised_queries(
    session: Session, actor: Actor, campaign_slug: str, slug: str, _: dt.datetime, *, page: int | None = 1
) -> OrganisedQueries:
    """One page of all queries, hidden and excluded ones too. Raises NotFound."""
    evaluation = organised_evaluation(session, actor, campaign_slug, slug)
    queries = _queries(session, evaluation)
    shown, paging = paged(queries, page, PAGE)
    judged = _judged(session, evaluation, shown)
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


def _change(query: Query, row: QueryRow) -> QueryChange | None:
    described = row.description not in ("", query.description)
    if (query.text, tuple(query.tags)) == (row.text, row.tags) and not described:
        return None
    return QueryChange(row.id, query.text, row.text, tuple(query.tags), row.tags, described)


def _queries(session: Session, evaluation: Evaluation) -> Sequence[Query]:
    own = Query.evaluation_id == evaluation.id
    return session.scalars(sa.select(Query).where(own).order_by(Query.position)).all()


def _judged(session: Session, evaluation: Evaluation, queries: Sequence[Query]) -> dict[int, int]:
    """Query -> how many documents the current set's judgments judge for it."""
    current = current_set(session, evaluation.id)
    if current is None:
        return {}
    rows = session.execute(
        sa.select(Judgment.query_id, sa.func.count())
        .where(Judgment.revision_id == current.revision_id, Judgment.query_id.in_([query.id for query in queries]))
        .group_by(Judgment.query_id)
    )
    return dict(rows.all())


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """What a file judges for one query. relevant: from the evaluation's level on."""

    id: str
    judged: int
    relevant: int


@dataclass(frozen=True, slots=True)
class GradeChange:
    """How many judgments have grade `after` in the file and grade `before` in the revision."""

    before: int
    after: int
    judgments: int


@dataclass(frozen=True, slots=True)
class JudgmentChanges:
    """What a file of judgments is, and what it would change of its source's newest revision.

    against    the number of that revision; None when there is none yet
    judgments  in the file; repeated: lines left out because they say again what an earlier one says
    grades     (grade, how many judgments have it), the lowest grade first
    queries    those that it judges, in the order of the file
    problems   why these judgments would be refused, every reason in words; none where they would be taken in
    doubts     what speaks for a mistake and is taken in all the same, in words
    unknown    queries that the evaluation lacks: none of the file is taken in then
    unjudged   queries of the evaluation that it says nothing about
    none_relevant  queries that it judges and finds nothing relevant for
    added, removed  judgments that are new, and that are there no longer
    changed    by grade before and after
    runs       how many are scored anew
    """

    source: str
    official: bool
    problems: tuple[str, ...]
    doubts: tuple[str, ...]
    against: int | None
    judgments: int
    repeated: int
    grades: tuple[tuple[int, int], ...]
    queries: tuple[JudgedQuery, ...]
    unknown: tuple[str, ...]
    unjudged: tuple[str, ...]
    none_relevant: tuple[str, ...]
    added: int
    removed: int
    changed: tuple[GradeChange, ...]
    runs: int

    @property
    def would_be_refused(self) -> bool:
        """Whether an import of the same would take nothing in."""
        return bool(self.problems)

    @property
    def below_zero(self) -> int:
        """Judgments with a grade below 0: they count as not judged where a measure says so, and never as relevant."""
        return sum(count for grade, count in self.grades if grade < 0)

    @property
    def is_nothing(self) -> bool:
        """Whether the source's newest revision says the same."""
        return self.against is not None and not (self.added or self.removed or self.changed)

    @property
    def state(self) -> str:
        """What was shown holds as long as this is the same."""
        return f"{self.source}:{self.against}"


@dataclass(frozen=True, slots=True)
class OrganisedRevision:
    """A revision on its organiser's page. stands: whether boards go by it, those of its source at least.

    released_at      when it was given out, here or before it was brought in from the past; None where nothing says
    waiting, failed  runs not yet scored by it, and those that could not be
    """

    number: int
    source: str
    judgments: int
    note: str
    imported_at: dt.datetime
    imported_by: str
    released_at: dt.datetime | None
    sha256: str
    stands: bool
    building: bool
    waiting: int
    failed: int


@dataclass(frozen=True, slots=True)
class OtherSource:
    """A source beside the official one. removal: what becomes of it where it is removed, in words."""

    name: str
    removal: str


@dataclass(frozen=True, slots=True)
class OrganisedJudgments:
    """queries: how many the evaluation has. revisions: the newest first. others: sources beside the official one;
    set_aside: those by which no run is scored any more.
    """

    queries: int
    official: str
    others: tuple[OtherSource, ...]
    set_aside: tuple[str, ...]
    revisions: tuple[OrganisedRevision, ...]
    published: bool


def judgment_changes(
    session: Session,
    evaluation: Evaluation,
    judged: Judgments,
    known: Judgments | None = None,
    subtopics: SubtopicJudgments | None = None,
    source: str | None = None,
) -> JudgmentChanges:
    """What importing these judgments would change, and why it would be refused; writes nothing.

    known, subtopics  what comes with them
    source  whose they are; the official source's when not given
    """
    source = source or evaluation.official_source
    numbers = query_numbers(session, evaluation)
    sha256 = revision_sha256(judged, known, subtopics)
    problems = [error.message for error in refusals(session, evaluation, judged, known, subtopics, source, sha256)]
    try:  # measures that need what is lacking, and a query whose relevant documents are the whole collection
        kinds = {"known": known is not None, "subtopics": subtopics is not None}
        settings_if(session, evaluation, Judged.of_files(source, judged, **kinds))
    except InvalidFields as error:
        problems.append(error.message)
    newest = newest_revision(session, evaluation, source)
    before = _stored(session, newest)
    relevant = judged.grade >= evaluation.relevance_level
    places = len(judged.queries)
    counts, hits = np.bincount(judged.query, minlength=places), np.bincount(judged.query[relevant], minlength=places)
    own = tuple(
        JudgedQuery(query, int(count), int(hit)) for query, count, hit in zip(judged.queries, counts, hits, strict=True)
    )
    added, changed = 0, Counter[tuple[int, int]]()
    for query, document, grade in zip(
        judged.query.tolist(), judged.document.to_list(), judged.grade.tolist(), strict=True
    ):
        was = before.pop((judged.queries[query], document), None)
        if was is None:
            added += 1
        elif was != grade:
            changed[was, grade] += 1
    grades, of_grade = np.unique(judged.grade, return_counts=True)
    named = set(judged.queries)
    submitted = sa.select(sa.func.count(sa.distinct(Scoring.submission_id))).join(ScoringSet)
    return JudgmentChanges(
        source=source,
        official=source == evaluation.official_source,
        problems=tuple(problems),
        doubts=() if subtopics is None else tuple(_doubts(subtopics)),
        against=newest.number if newest is not None else None,
        judgments=len(judged),
        repeated=judged.repeated,
        grades=tuple(zip(grades.tolist(), of_grade.tolist(), strict=True)),
        queries=own,
        unknown=tuple(query for query in judged.queries if query not in numbers),
        unjudged=tuple(query for query in numbers if query not in named),
        none_relevant=tuple(query.id for query in own if not query.relevant),
        added=added,
        removed=len(before),
        changed=tuple(GradeChange(*grades, count) for grades, count in sorted(changed.items())),
        runs=session.scalar(submitted.where(ScoringSet.evaluation_id == evaluation.id)) or 0,
    )


def _doubts(subtopics: SubtopicJudgments) -> Iterator[str]:
    lines = len(subtopics) + subtopics.repeated
    if len(subtopics.subtopics) == 1 < lines:
        (only,) = subtopics.subtopics
        plain = f"these look like plain judgments (query {only} document grade)"
        yield f"judgments of subtopics: all {lines:,} lines are of subtopic {only}: {plain}"


def organised_judgments(
    session: Session, actor: Actor, campaign_slug: str, slug: str, now: dt.datetime
) -> OrganisedJudgments:
    """Raises NotFound."""
    evaluation = organised_evaluation(session, actor, campaign_slug, slug)
    rows = session.execute(
        sa.select(JudgmentRevision, User.name)
        .outerjoin(User, User.id == JudgmentRevision.imported_by_id)
        .where(JudgmentRevision.evaluation_id == evaluation.id)
        .order_by(JudgmentRevision.number.desc())
    ).all()
    unfinished = sa.func.count(sa.case((Scoring.state.in_(UNFINISHED), 1)))
    failed = sa.func.count(sa.case((Scoring.state == State.FAILED, 1)))
    sets = {
        (revision, state): (waiting, parked)
        for revision, state, waiting, parked in session.execute(
            sa.select(ScoringSet.revision_id, ScoringSet.state, unfinished, failed)
            .outerjoin(Scoring, Scoring.scoring_set_id == ScoringSet.id)
            .where(ScoringSet.evaluation_id == evaluation.id, ScoringSet.state != SetState.SUPERSEDED)
            .group_by(ScoringSet.id, ScoringSet.revision_id, ScoringSet.state)
        )
    }
    revisions = []
    for revision, name in rows:
        own = {state: counts for (of, state), counts in sets.items() if of == revision.id}
        revisions.append(
            snapshot(
                OrganisedRevision,
                revision,
                imported_by=name or "",
                stands=any(state is not SetState.BUILDING for state in own),
                building=SetState.BUILDING in own,
                waiting=sum(waiting for waiting, _ in own.values()),
                failed=sum(parked for _, parked in own.values()),
            )
        )
    others = sorted({revision.source for revision in revisions} - {evaluation.official_source, *evaluation.set_aside})
    count = session.scalar(sa.select(sa.func.count()).where(Query.evaluation_id == evaluation.id)) or 0
    return OrganisedJudgments(
        queries=count,
        official=evaluation.official_source,
        others=tuple(
            OtherSource(other, removal_of_source(session, evaluation, other, now).in_words) for other in others
        ),
        set_aside=tuple(evaluation.set_aside),
        revisions=tuple(revisions),
        published=evaluation.judgments_published,
    )


def _stored(session: Session, revision: JudgmentRevision | None) -> dict[tuple[str, str], int]:
    """(query, document) -> grade, of every judgment of the revision; none where there is none."""
    if revision is None:
        return {}
    rows = session.execute(
        sa.select(Query.external_id, Judgment.document, Judgment.grade)
        .join(Query, Query.id == Judgment.query_id)
        .where(Judgment.revision_id == revision.id)
    )
    return {(query, document): grade for query, document, grade in rows}


RUNS, LISTS = 20, 10  # how many runs are looked at, the newest, and how many lists of each: somebody waits


@dataclass(frozen=True, slots=True)
class ListedDocuments:
    """A list of documents, held against what is known of the collection.

    listed     how many documents it has
    documents  N_total; None where it is not given
    judged     documents that are judged; unlisted: how many of them are not in the list; example: one of these
    runs       scored runs that were looked at; strange: how many of them name others, as far as was looked; named: one
    """

    listed: int
    documents: int | None
    judged: int
    unlisted: int
    example: str
    runs: int
    strange: int
    named: str

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why it is most likely not the collection's list, in words."""
        doubts = []
        if self.documents is not None and self.documents != self.listed:
            has = f"the collection has {counted(self.documents, 'document')} (N_total)"
            doubts.append(f"The list has {counted(self.listed, 'document')}, and {has}.")
        if self.unlisted:
            of_all = f"{self.unlisted:,} of {counted(self.judged, 'judged document')}"
            doubts.append(f"{of_all} {'is' if self.unlisted == 1 else 'are'} not in the list, such as {self.example}.")
        if self.strange:
            of_all = f"{self.strange:,} of the {counted(self.runs, 'newest scored run')}"
            verb = "names" if self.strange == 1 else "name"
            doubts.append(f"{of_all} {verb} documents that are not in the list, such as {self.named}.")
        return tuple(doubts)

    @property
    def in_words(self) -> str:
        """What the list holds, where nothing is doubtful."""
        held = [f"The collection has {counted(self.listed, 'document')}"]
        if self.judged:
            held.append(f"all {counted(self.judged, 'judged document')} among them")
        return f"{', '.join(held)}."


def listed_documents(
    session: Session, store: RunStore, evaluation: Evaluation, listed: DocumentList
) -> ListedDocuments:
    """Holds a list against N_total, the newest official judgments, and the newest scored runs.

    Of these are looked at up to 20, and up to 10 queries of each; one whose copy can't be read is left out.
    """
    revision = newest_revision(session, evaluation, evaluation.official_source)
    judged: list[str] = []
    if revision is not None:
        documents = sa.select(Judgment.document).where(Judgment.revision_id == revision.id).distinct()
        judged = sorted(session.scalars(documents))
    unlisted = listed.lacks(judged)
    looked, strange = _of_runs(session, store, evaluation, listed)
    return ListedDocuments(
        listed=listed.count,
        documents=evaluation.documents,
        judged=len(judged),
        unlisted=len(unlisted),
        example=shown(unlisted[0]) if unlisted else "",
        runs=looked,
        strange=len(strange),
        named=shown(strange[0]) if strange else "",
    )


def _of_runs(session: Session, store: RunStore, evaluation: Evaluation, listed: DocumentList) -> tuple[int, list[str]]:
    """How many runs could be looked at, and of each that names a document that is not in the list the first one."""
    current = current_set(session, evaluation.id)
    if current is None:
        return 0, []
    runs = session.scalars(
        sa.select(Submission.id)
        .join(Scoring, Scoring.submission_id == Submission.id)
        .where(Scoring.scoring_set_id == current.id, Scoring.state == State.SCORED, on_boards())
        .order_by(Submission.id.desc())
        .limit(RUNS)
    ).all()
    own = Query.evaluation_id == evaluation.id
    positions = session.scalars(sa.select(Query.position).where(own).order_by(Query.position).limit(LISTS)).all()
    looked, strange = 0, []
    for run in runs:
        documents: list[str] = []
        try:
            for position in positions:
                documents += store.ranked_list(run, current.settings.compat, position).documents
        except LeaderboardError:  # its copy is damaged or missing, which is noted there
            continue
        looked += 1
        strange += listed.lacks(documents)[:1]
    return looked, strange
