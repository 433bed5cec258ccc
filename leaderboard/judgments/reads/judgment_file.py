"""What a file of judgments would change, told before anything is written; and the revisions that there are."""

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.accounts.models import User
from leaderboard.audit.rules import revision_sha256
from leaderboard.campaigns.reads.organised import organised_evaluation
from leaderboard.db import snapshot
from leaderboard.evaluations.models import Evaluation
from leaderboard.formats import Judgments, SubtopicJudgments
from leaderboard.judgments.models import Judgment, JudgmentRevision, Query
from leaderboard.judgments.reads.refusals import query_numbers, refusals, refusals_by_measures
from leaderboard.judgments.reads.sources import removal_of_source
from leaderboard.submissions.rules import UNFINISHED, SetState, State
from leaderboard.worker.models import Scoring, ScoringSet
from leaderboard.worker.reads import newest_revision


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


def query_ids(session: Session, evaluation: Evaluation) -> frozenset[str]:
    """The ids of all of its queries: a line of judgments for any other is a mistake."""
    return frozenset(session.scalars(sa.select(Query.external_id).where(Query.evaluation_id == evaluation.id)))


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
    given = judged, known, subtopics, source
    refused = [
        *refusals(session, evaluation, *given, revision_sha256(judged, known, subtopics)),
        *refusals_by_measures(session, evaluation, *given),
    ]
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
        problems=tuple(error.message for error in refused),
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
