"""What a file of queries or of judgments would change, told before anything is written; queries and revisions as
organisers see them.

What a list of the collection's documents would rule out, told before it is taken: runs with others are refused.
"""

import datetime as dt
import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.accounts.models import User
from leaderboard.audit.rules import rows_of, short
from leaderboard.boards.reads.entries import Paging, paged
from leaderboard.campaigns.reads import organised_evaluation
from leaderboard.db import snapshot
from leaderboard.errors import InvalidFields, LeaderboardError
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.find import queries_stay
from leaderboard.evaluations.rules import Split
from leaderboard.formats import DocumentList, QueryRow, SubtopicJudgments
from leaderboard.formats.plain_text import shown
from leaderboard.judgments.models import Judgment, JudgmentRevision, Query
from leaderboard.judgments.reads.refusals import query_numbers, refusals, removal_of_source
from leaderboard.judgments.reads.revisions import rows_of_table
from leaderboard.judgments.rules import JudgmentFiles
from leaderboard.numbers import counted
from leaderboard.store import RunStore
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import on_boards
from leaderboard.submissions.rules import UNFINISHED, SetState, State
from leaderboard.worker.models import Scoring, ScoringSet
from leaderboard.worker.reads import Judged, current_set, newest_revision, settings_if

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


def _queries(session: Session, evaluation: Evaluation) -> Sequence[Query]:
    own = Query.evaluation_id == evaluation.id
    return session.scalars(sa.select(Query).where(own).order_by(Query.position)).all()


def _judged(session: Session, evaluation: Evaluation, queries: Sequence[Query]) -> dict[int, int]:
    """Query -> how many documents the current set's judgments judge for it."""
    current = current_set(session, evaluation.id)
    of_revision = Judgment.revision_id == (current.revision_id if current else None)
    counts = sa.select(Judgment.query_id, sa.func.count()).where(of_revision).group_by(Judgment.query_id)
    own = Judgment.query_id.in_([query.id for query in queries])
    return dict(session.execute(counts.where(own)).all())


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
    session: Session, evaluation: Evaluation, files: JudgmentFiles, source: str = ""
) -> JudgmentChanges:
    """What importing these judgments would change, and why it would be refused; writes nothing. source: whose they are;
    "": the official source's.
    """
    source, judged = source or evaluation.official_source, files.judgments
    problems = [error.message for error in refusals(session, evaluation, files, source)]
    try:  # measures that need what is lacking, and a query whose relevant documents are the whole collection
        comes_with = {"known": files.known is not None, "subtopics": files.subtopics is not None}
        settings_if(session, evaluation, Judged.of_files(source, judged, **comes_with))
    except InvalidFields as error:
        problems.append(error.message)
    newest = newest_revision(session, evaluation, source)
    stored = rows_of_table(session, Judgment, newest.id) if newest is not None else ()
    before, after = ({tuple(key): grade for *key, grade in rows} for rows in (stored, rows_of(judged)))
    both = before.keys() & after.keys()
    changed = Counter((before[key], after[key]) for key in both if before[key] != after[key])
    level, places = evaluation.relevance_level, len(judged.queries)
    counts = (np.bincount(rows, minlength=places) for rows in (judged.query, judged.query[judged.grade >= level]))
    own = tuple(itertools.starmap(JudgedQuery, zip(judged.queries, *(count.tolist() for count in counts), strict=True)))
    numbers, named = query_numbers(session, evaluation), set(judged.queries)
    submitted = sa.select(sa.func.count(sa.distinct(Scoring.submission_id))).join(ScoringSet)
    return JudgmentChanges(
        source=source,
        official=source == evaluation.official_source,
        problems=tuple(problems),
        doubts=_doubts(files.subtopics),
        against=newest.number if newest is not None else None,
        judgments=len(judged),
        repeated=judged.repeated,
        grades=tuple(sorted(Counter(judged.grade.tolist()).items())),
        queries=own,
        unknown=tuple(query for query in judged.queries if query not in numbers),
        unjudged=tuple(query for query in numbers if query not in named),
        none_relevant=tuple(query.id for query in own if not query.relevant),
        added=len(after) - len(both),
        removed=len(before) - len(both),
        changed=tuple(GradeChange(*grades, count) for grades, count in sorted(changed.items())),
        runs=session.scalar(submitted.where(ScoringSet.evaluation_id == evaluation.id)) or 0,
    )


def _doubts(subtopics: SubtopicJudgments | None) -> tuple[str, ...]:
    lines = 0 if subtopics is None else len(subtopics) + subtopics.repeated
    if subtopics is None or len(subtopics.subtopics) != 1 or lines == 1:
        return ()
    (only,) = subtopics.subtopics
    plain = f"these look like plain judgments (query {only} document grade)"
    return (f"judgments of subtopics: all {lines:,} lines are of subtopic {only}: {plain}",)


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
    unfinished = sa.func.count(sa.case((Scoring.state.in_(UNFINISHED), 1))).label("waiting")
    failed = sa.func.count(sa.case((Scoring.state == State.FAILED, 1))).label("failed")
    sets = session.execute(
        sa.select(ScoringSet.revision_id, ScoringSet.state, unfinished, failed)
        .outerjoin(Scoring, Scoring.scoring_set_id == ScoringSet.id)
        .where(ScoringSet.evaluation_id == evaluation.id, ScoringSet.state != SetState.SUPERSEDED)
        .group_by(ScoringSet.id, ScoringSet.revision_id, ScoringSet.state)
    ).all()
    revisions = []
    for revision, name in rows:
        own = [row for row in sets if row.revision_id == revision.id]
        states = {row.state for row in own}
        counts = {part: sum(getattr(row, part) for row in own) for part in ("waiting", "failed")}
        building, stands = SetState.BUILDING in states, bool(states - {SetState.BUILDING})
        more = {"imported_by": name or "", "stands": stands, "building": building, **counts}
        revisions.append(snapshot(OrganisedRevision, revision, **more))
    others = sorted({revision.source for revision in revisions} - {evaluation.official_source, *evaluation.set_aside})
    return OrganisedJudgments(
        queries=len(query_numbers(session, evaluation)),
        official=evaluation.official_source,
        others=tuple(OtherSource(other, removal_of_source(session, evaluation, other, now)) for other in others),
        set_aside=tuple(evaluation.set_aside),
        revisions=tuple(revisions),
        published=evaluation.judgments_published,
    )


RUNS, LISTS = 20, 10  # how many runs are looked at, the newest, and how many lists of each: somebody waits


def doubts_about(session: Session, store: RunStore, evaluation: Evaluation, listed: DocumentList) -> tuple[str, ...]:
    """Why a list of documents is most likely not the collection's, in words: held against N_total, the newest official
    judgments, and the newest scored runs.

    Of these are looked at up to 20, and up to 10 queries of each; one whose copy can't be read is left out.
    """
    doubts = []
    if evaluation.documents not in (None, listed.count):
        has = f"the collection has {counted(evaluation.documents or 0, 'document')} (N_total)"
        doubts.append(f"The list has {counted(listed.count, 'document')}, and {has}.")
    revision = newest_revision(session, evaluation, evaluation.official_source)
    judged = sorted(
        {row.document for row in rows_of_table(session, Judgment, revision.id)} if revision is not None else ()
    )
    if unlisted := listed.lacks(judged):
        of_all = f"{len(unlisted):,} of {counted(len(judged), 'judged document')}"
        doubts.append(
            f"{of_all} {'is' if len(unlisted) == 1 else 'are'} not in the list, such as {shown(unlisted[0])}."
        )
    lists = _listed_by_runs(session, store, evaluation)
    if strange := [lacking[0] for documents in lists if (lacking := listed.lacks(documents))]:
        of_all = f"{len(strange):,} of the {counted(len(lists), 'newest scored run')}"
        doubts.append(f"Documents of {of_all} are not in the list, such as {shown(strange[0])}.")
    return tuple(doubts)


def _listed_by_runs(session: Session, store: RunStore, evaluation: Evaluation) -> list[list[str]]:
    """The documents that each of the newest runs has on the first lists, of those that can be read."""
    current = current_set(session, evaluation.id)
    if current is None:
        return []
    runs = session.scalars(
        sa.select(Submission.id)
        .join(Scoring, Scoring.submission_id == Submission.id)
        .where(Scoring.scoring_set_id == current.id, Scoring.state == State.SCORED, on_boards())
        .order_by(Submission.id.desc())
        .limit(RUNS)
    ).all()
    own = Query.evaluation_id == evaluation.id
    positions = session.scalars(sa.select(Query.position).where(own).order_by(Query.position).limit(LISTS)).all()
    compat, lists = current.settings.compat, []
    for run in runs:
        with suppress(LeaderboardError):  # its copy is damaged or missing, which is noted there
            documents = (store.ranked_list(run, compat, position).documents for position in positions)
            lists.append(list(itertools.chain.from_iterable(documents)))
    return lists
