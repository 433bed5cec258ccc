"""The scoring sets and judgments that count: current, standing, newest.

What a scoring set goes by: the settings of an evaluation by a revision of judgments, as they are or once were.
"""

from collections.abc import Iterable, Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import db, errors, metrics
from leaderboard.campaigns.models import Campaign
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import JUDGED, OF_CAMPAIGN, OF_EVALUATION, Judging, ScoringSettings, Split
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


def has_several_sources(evaluation: Evaluation) -> sa.ColumnElement[bool]:
    """Whether boards by several sources of judgments stand side by side, for a statement to select."""
    stand = ScoringSet.evaluation_id == evaluation.id, ScoringSet.state.in_(STANDING)
    return sa.select(sa.func.count() > 1).where(*stand).scalar_subquery()


def find_sets(session: Session, evaluation: Evaluation, ids: Sequence[int]) -> list[ScoringSet]:
    """The evaluation's sets with these ids, with their judgment revisions. Raises NotFound, and tells of no others."""
    by_id = {row.id: row for row in sets_of(session, evaluation, ScoringSet.id.in_(ids))}
    if by_id.keys() != {*ids}:
        raise errors.NotFound
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
    db.read_so_far(session, CURRENT_SETS)[evaluation_id] = current


def current_sets(session: Session, evaluation_ids: Iterable[int]) -> dict[int, ScoringSet]:
    """Evaluation id -> its current set, as `current_set` gives it; at most one statement for all."""
    wanted = list(evaluation_ids)
    known: dict[int, ScoringSet | None] = db.read_so_far(session, CURRENT_SETS)
    if unread := [key for key in wanted if key not in known]:
        known.update(dict.fromkeys(unread))
        sets = session.scalars(WITH_REVISION.where(ScoringSet.evaluation_id.in_(unread), IS_CURRENT))
        known.update((scoring_set.evaluation_id, scoring_set) for scoring_set in sets)
    return {key: number for key in wanted if (number := known[key]) is not None}


def settings_by(session: Session, evaluation: Evaluation, revision: JudgmentRevision) -> ScoringSettings:
    """The settings of the evaluation as it is now, by this revision.

    Raises InvalidFields when a shown measure needs what the evaluation does not have.
    """
    tables = KnownDocument, SubtopicJudgment
    known, subtopics = (db.exists(session, table.revision_id == revision.id) for table in tables)
    campaign = session.get_one(Campaign, evaluation.campaign_id)
    queries = session.scalars(sa.select(Query).where(Query.evaluation_id == evaluation.id)).all()
    shown = (metrics.parse(name) for name in (campaign.primary_measure, *campaign.measures))
    measures = list(dict.fromkeys(measure.at_relevance(evaluation.relevance_level) for measure in shown))
    if revision.source != evaluation.official_source:
        # What a second source does not judge keeps no setting of the campaign from changing.
        lacks = {need for need, there in (("known", known), ("subtopics", subtopics)) if not there}
        measures = [measure for measure in measures if not lacks & set(measure.family.needs)] or measures
    others = [other for measure in measures for other in measures_beside(measure, campaign.no_relevant.value)]
    if evaluation.judging is Judging.POOLED:
        others.append(metrics.parse(JUDGED))
    settings = ScoringSettings(
        **{name: getattr(campaign, name) for name in OF_CAMPAIGN},
        **{name: getattr(evaluation, name) for name in OF_EVALUATION},
        queries=len(queries),
        excluded=tuple(sorted(query.external_id for query in queries if query.excluded_at is not None)),
        hidden=tuple(sorted(query.external_id for query in queries if query.split is Split.HIDDEN)),
        highest_grade=revision.highest_grade,
        known=known,
        subtopics=subtopics,
        measures=tuple(map(str, measures)),
        kept=tuple(str(measure) for measure in others if measure not in measures),
    )
    _require_needs(session, revision, settings, measures)
    return settings


def _require_needs(
    session: Session, revision: JudgmentRevision, settings: ScoringSettings, measures: Sequence[metrics.Measure]
) -> None:
    fields: dict[str, list[str]] = {}
    for measure in measures:
        for need in settings.lacks(measure):
            fields.setdefault(need, []).append(f"{measure} needs {NEEDED[need]}")
        if problem := measure.problem(settings.metric):
            fields.setdefault("measures", []).append(problem)
    if settings.documents is not None:
        lowest = min(measure.arguments.get("rel", settings.relevance_level) for measure in measures)
        by_query = (
            sa.select(Query.external_id)
            .join(Judgment, Judgment.query_id == Query.id)
            .where(Judgment.revision_id == revision.id)
            .group_by(Query.id, Query.external_id)
            .limit(1)
        )
        relevant = by_query.where(Judgment.grade >= lowest)
        documents = sa.func.count(type_=sa.BigInteger)  # so that PostgreSQL takes a larger number beside it
        for found, words in (
            (
                relevant.having(documents >= settings.documents),
                "as many relevant documents as the collection has, so P_fa is undefined",
            ),
            (
                by_query.having(documents > settings.documents),
                "more judged documents than the collection has documents",
            ),
        ):
            if (query := session.scalar(found)) is not None:
                fields.setdefault("documents", []).append(f"query {query} has {words}")
    if fields:
        raise errors.InvalidFields(fields)
