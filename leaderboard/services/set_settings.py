"""What a scoring set goes by: the settings of an evaluation by a revision of judgments, as they are or once were."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.errors import InvalidFields
from leaderboard.metrics.measure import NEEDED
from leaderboard.metrics.stored import measures_beside
from leaderboard.models import (
    Campaign,
    Evaluation,
    Judgment,
    JudgmentRevision,
    KnownDocument,
    Query,
    SubtopicJudgment,
)
from leaderboard.rules.settings import OF_CAMPAIGN, OF_EVALUATION, ScoringSettings, Split

__all__ = ["settings_by", "terms_of"]


def terms_of(session: Session, evaluation: Evaluation, relevance_level: int | None = None) -> dict[str, Any]:
    """What of a set's settings organisers decide, as the evaluation is now, by the names of `ScoringSettings`; not what
    the campaign's first result fixes for good. relevance_level: another one, which the names of measures hold.
    """
    campaign = session.get_one(Campaign, evaluation.campaign_id)
    queries = list(session.scalars(sa.select(Query).where(Query.evaluation_id == evaluation.id)))
    level = evaluation.relevance_level if relevance_level is None else relevance_level
    shown = (campaign.primary_measure, *campaign.measures)
    measures = dict.fromkeys(str(metrics.parse(name).at_relevance(level)) for name in shown)
    return {
        **{name: getattr(evaluation, name) for name in OF_EVALUATION},
        "relevance_level": level,
        "compat": campaign.compat,
        "queries": len(queries),
        "excluded": tuple(sorted(query.external_id for query in queries if query.excluded_at is not None)),
        "hidden": tuple(sorted(query.external_id for query in queries if query.split is Split.HIDDEN)),
        "measures": tuple(measures),
    }


def settings_by(
    session: Session,
    evaluation: Evaluation,
    revision: JudgmentRevision,
    otherwise: Mapping[str, Any] = MappingProxyType({}),
) -> ScoringSettings:
    """The settings of the evaluation as it is now, by this revision. otherwise: of `terms_of`, what was otherwise.

    Raises InvalidFields when a shown measure needs what the evaluation does not have.
    """
    campaign = session.get_one(Campaign, evaluation.campaign_id)
    terms = terms_of(session, evaluation, otherwise.get("relevance_level")) | dict(otherwise)
    measures = [metrics.parse(name) for name in terms.pop("measures")]
    known, subtopics = _has(session, KnownDocument, revision), _has(session, SubtopicJudgment, revision)
    if revision.source != evaluation.official_source and "measures" not in otherwise:
        # What a second source does not judge keeps no setting of the campaign from changing.
        has = {"known": known, "subtopics": subtopics}
        needs = {need for need, there in has.items() if not there}
        measures = [measure for measure in measures if not needs & set(measure.needs)] or measures
    beside = [other for measure in measures for other in measures_beside(measure, campaign.no_relevant.value)]
    settings = ScoringSettings(
        **{name: getattr(campaign, name) for name in OF_CAMPAIGN if name not in terms},
        **terms,
        highest_grade=revision.highest_grade,
        known=known,
        subtopics=subtopics,
        measures=tuple(map(str, measures)),
        kept=tuple(str(measure) for measure in beside if measure not in measures),
    )
    _require_needs(session, revision, settings, measures)
    return settings


def _has(session: Session, table: type[KnownDocument | SubtopicJudgment], revision: JudgmentRevision) -> bool:
    """Whether the revision has rows of this table."""
    return bool(session.scalar(sa.select(sa.exists().where(table.revision_id == revision.id))))


def _require_needs(
    session: Session,
    revision: JudgmentRevision,
    settings: ScoringSettings,
    measures: Sequence[metrics.Measure],
) -> None:
    fields: dict[str, list[str]] = {}
    for measure in measures:
        for need in settings.lacks(measure):
            fields.setdefault(need, []).append(f"{measure} needs {NEEDED[need]}")
        if problem := measure.problem(settings.metric):
            fields.setdefault("measures", []).append(problem)
    crowded = _query_without_other_documents(session, revision, settings, measures)
    if crowded is not None:
        fields.setdefault("documents", []).append(
            f"query {crowded} has as many relevant documents as the collection has documents, so P_fa is undefined"
        )
    overfull = _query_with_too_many_judgments(session, revision, settings)
    if overfull is not None:
        fields.setdefault("documents", []).append(
            f"query {overfull} has more judged documents than the collection has documents"
        )
    if fields:
        raise InvalidFields(fields)


def _query_without_other_documents(
    session: Session, revision: JudgmentRevision, settings: ScoringSettings, measures: Sequence[metrics.Measure]
) -> str | None:
    """A query whose relevant documents leave no other one in the collection; None when there is none such."""
    if settings.documents is None:
        return None
    levels = [measure.arguments.get("rel", settings.relevance_level) for measure in measures]
    return session.scalar(
        sa.select(Query.external_id)
        .join(Judgment, Judgment.query_id == Query.id)
        .where(Judgment.revision_id == revision.id, Judgment.grade >= min(levels))
        .group_by(Query.id, Query.external_id)
        .having(sa.func.count() >= settings.documents)
        .limit(1)
    )


def _query_with_too_many_judgments(
    session: Session, revision: JudgmentRevision, settings: ScoringSettings
) -> str | None:
    """A query that has more judged documents than the collection has; None when there is none such."""
    if settings.documents is None:
        return None
    return session.scalar(
        sa.select(Query.external_id)
        .join(Judgment, Judgment.query_id == Query.id)
        .where(Judgment.revision_id == revision.id)
        .group_by(Query.id, Query.external_id)
        .having(sa.func.count() > settings.documents)
        .limit(1)
    )
