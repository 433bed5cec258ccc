"""The scoring sets and judgments that count: current, standing, newest.

What a scoring set goes by: the settings of an evaluation by a revision of judgments, as they are or once were.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.campaigns.models import Campaign
from leaderboard.db import exists, read_so_far
from leaderboard.errors import InvalidFields, NotFound
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import OF_CAMPAIGN, OF_EVALUATION, ScoringSettings, Split
from leaderboard.formats import Judgments
from leaderboard.frozen import frozen
from leaderboard.judgments.models import Judgment, JudgmentRevision, KnownDocument, Query, SubtopicJudgment
from leaderboard.metrics.families.detection import measures_beside
from leaderboard.metrics.measure import NEEDED
from leaderboard.submissions.rules import STANDING, SetState
from leaderboard.worker.models import ScoringSet

IS_CURRENT = ScoringSet.state == SetState.CURRENT


CURRENT_SETS = "current sets"  # evaluation id -> its current set or None, as far as a session of reads knows it


def current_set(session: Session, evaluation_id: int) -> ScoringSet | None:
    """The set that the evaluation's board reads, with its judgment revision; None before the first judgments."""
    return current_sets(session, [evaluation_id]).get(evaluation_id)


def standing_set(session: Session, evaluation_id: int, source: str) -> ScoringSet | None:
    """The set that stands for one source of judgments; None before its first judgments."""
    return session.scalar(
        sa.select(ScoringSet).where(
            ScoringSet.evaluation_id == evaluation_id, ScoringSet.source == source, ScoringSet.state.in_(STANDING)
        )
    )


WITH_REVISION = sa.select(ScoringSet).join(ScoringSet.revision).options(sa.orm.contains_eager(ScoringSet.revision))


def sets_of(session: Session, evaluation: Evaluation, which: sa.ColumnElement[bool]) -> list[ScoringSet]:
    """The evaluation's sets, by a condition on ScoringSet, with their judgment revisions."""
    return list(session.scalars(WITH_REVISION.where(ScoringSet.evaluation_id == evaluation.id, which)))


def find_sets(session: Session, evaluation: Evaluation, ids: Sequence[int]) -> list[ScoringSet]:
    """The evaluation's sets with these ids, with their judgment revisions. Raises NotFound, and tells of no others."""
    by_id = {row.id: row for row in sets_of(session, evaluation, ScoringSet.id.in_(ids))}
    if by_id.keys() != {*ids}:
        raise NotFound
    return [by_id[set_id] for set_id in ids]


def newest_revision(session: Session, evaluation: Evaluation, source: str) -> JudgmentRevision | None:
    """The newest revision of a source, one that is set aside too; None before its first."""
    return session.scalar(
        sa.select(JudgmentRevision)
        .where(JudgmentRevision.evaluation_id == evaluation.id, JudgmentRevision.source == source)
        .order_by(JudgmentRevision.number.desc())
        .limit(1)
    )


def note_current_set(session: Session, evaluation_id: int, current: ScoringSet | None) -> None:
    """Has `current_sets` ask no more for a set that a statement has read beside something else, with its revision."""
    read_so_far(session, CURRENT_SETS)[evaluation_id] = current


def current_sets(session: Session, evaluation_ids: Iterable[int]) -> dict[int, ScoringSet]:
    """Evaluation id -> its current set, as `current_set` gives it; at most one statement for all."""
    wanted = list(evaluation_ids)
    known: dict[int, ScoringSet | None] = read_so_far(session, CURRENT_SETS)
    if unread := [key for key in wanted if key not in known]:
        known.update(dict.fromkeys(unread))
        sets = session.scalars(WITH_REVISION.where(ScoringSet.evaluation_id.in_(unread), IS_CURRENT))
        known.update((scoring_set.evaluation_id, scoring_set) for scoring_set in sets)
    return {key: number for key in wanted if (number := known[key]) is not None}


@frozen
class Judged:
    """What settings depend on of judgments, in a revision or in files that are to be one.

    known, subtopics  whether they come with known documents, and with judgments of subtopics
    with_at_least     (a number of documents, a grade) -> a query with as many judged from this grade on, whatever their
                      grade for None; None where there is no such query
    """

    source: str
    highest_grade: int
    known: bool
    subtopics: bool
    with_at_least: Callable[[int, int | None], str | None]

    @classmethod
    def of_files(cls, source: str, judgments: Judgments, *, known: bool, subtopics: bool) -> "Judged":
        """Of judgments that are in no revision yet."""

        def with_at_least(documents: int, grade: int | None) -> str | None:
            counted = judgments.query if grade is None else judgments.query[judgments.grade >= grade]
            queries = np.flatnonzero(np.bincount(counted, minlength=len(judgments.queries)) >= documents)
            return judgments.queries[int(queries[0])] if queries.size else None

        return cls(source, int(judgments.grade.max(initial=0)), known, subtopics, with_at_least)


def settings_by(session: Session, evaluation: Evaluation, revision: JudgmentRevision) -> ScoringSettings:
    """The settings of the evaluation as it is now, by this revision.

    Raises InvalidFields when a shown measure needs what the evaluation does not have.
    """

    def with_at_least(documents: int, grade: int | None) -> str | None:
        return session.scalar(
            sa.select(Query.external_id)
            .join(Judgment, Judgment.query_id == Query.id)
            .where(Judgment.revision_id == revision.id, *([] if grade is None else [Judgment.grade >= grade]))
            .group_by(Query.id, Query.external_id)
            .having(sa.func.count() >= documents)
            .limit(1)
        )

    tables = KnownDocument, SubtopicJudgment
    known, subtopics = (exists(session, table.revision_id == revision.id) for table in tables)
    return settings_if(
        session, evaluation, Judged(revision.source, revision.highest_grade, known, subtopics, with_at_least)
    )


def settings_if(session: Session, evaluation: Evaluation, judged: Judged) -> ScoringSettings:
    """The same, and raised alike, by judgments that may be in no revision yet."""
    campaign = session.get_one(Campaign, evaluation.campaign_id)
    queries = session.scalars(sa.select(Query).where(Query.evaluation_id == evaluation.id)).all()
    shown = (metrics.parse(name) for name in (campaign.primary_measure, *campaign.measures))
    measures = list(dict.fromkeys(measure.at_relevance(evaluation.relevance_level) for measure in shown))
    if judged.source != evaluation.official_source:
        # What a second source does not judge keeps no setting of the campaign from changing.
        lacks = {need for need in ("known", "subtopics") if not getattr(judged, need)}
        measures = [measure for measure in measures if not lacks & set(measure.needs)] or measures
    others = [other for measure in measures for other in measures_beside(measure, campaign.no_relevant.value)]
    settings = ScoringSettings(
        **{name: getattr(campaign, name) for name in OF_CAMPAIGN},
        **{name: getattr(evaluation, name) for name in OF_EVALUATION},
        queries=len(queries),
        excluded=tuple(sorted(query.external_id for query in queries if query.excluded_at is not None)),
        hidden=tuple(sorted(query.external_id for query in queries if query.split is Split.HIDDEN)),
        highest_grade=judged.highest_grade,
        known=judged.known,
        subtopics=judged.subtopics,
        measures=tuple(map(str, measures)),
        kept=tuple(str(measure) for measure in others if measure not in measures),
    )
    _require_needs(judged, settings, measures)
    return settings


def _require_needs(judged: Judged, settings: ScoringSettings, measures: Sequence[metrics.Measure]) -> None:
    fields: dict[str, list[str]] = {}
    for measure in measures:
        for need in settings.lacks(measure):
            fields.setdefault(need, []).append(f"{measure} needs {NEEDED[need]}")
        if problem := measure.problem(settings.metric):
            fields.setdefault("measures", []).append(problem)
    if settings.documents is not None:
        lowest = min(measure.arguments.get("rel", settings.relevance_level) for measure in measures)
        for documents, grade, words in (
            (settings.documents, lowest, "as many relevant documents as the collection has, so P_fa is undefined"),
            (settings.documents + 1, None, "more judged documents than the collection has documents"),
        ):
            if (query := judged.with_at_least(documents, grade)) is not None:
                fields.setdefault("documents", []).append(f"query {query} has {words}")
    if fields:
        raise InvalidFields(fields)
