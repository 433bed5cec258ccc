"""Every setting of an evaluation that changes a figure, and whether its measures can be computed under them."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.errors import InvalidFields
from leaderboard.metrics.stored import measures_beside
from leaderboard.models import Campaign, Evaluation, Judgment, JudgmentRevision, KnownDocument, Query, Split

__all__ = ["settings_of"]


def settings_of(
    session: Session, campaign: Campaign, evaluation: Evaluation, revision: JudgmentRevision
) -> dict[str, Any]:
    """The settings of the evaluation as it is now, as ScoringSet keeps them.

    Raises InvalidFields when a shown measure needs what the evaluation does not have.
    """
    queries = list(session.scalars(sa.select(Query).where(Query.evaluation_id == evaluation.id)))
    measures = [metrics.parse(name).at_relevance(evaluation.relevance_level) for name in _primary_first(campaign)]
    _require_needs(session, campaign, evaluation, revision, measures)
    kept = [
        part
        for measure in measures
        for part in measures_beside(measure, campaign.no_relevant.value)
        if part not in measures
    ]
    settings = {
        "beta": campaign.beta,
        "no_relevant": campaign.no_relevant.value,
        "documents": evaluation.documents,
        "relevance_level": evaluation.relevance_level,
        "judging": evaluation.judging.value,
        "compat": campaign.compat,
        "highest_grade": revision.highest_grade,
        "queries": len(queries),
        "excluded": sorted(query.external_id for query in queries if query.excluded_at is not None),
        "hidden": sorted(query.external_id for query in queries if query.split is Split.HIDDEN),
        "measures": list(dict.fromkeys(map(str, measures))),
    }
    return settings | ({"kept": list(map(str, kept))} if kept else {})


def _primary_first(campaign: Campaign) -> list[str]:
    return [campaign.primary_measure, *(name for name in campaign.measures if name != campaign.primary_measure)]


def _require_needs(
    session: Session,
    campaign: Campaign,
    evaluation: Evaluation,
    revision: JudgmentRevision,
    measures: list[metrics.Measure],
) -> None:
    known = session.scalar(sa.select(sa.exists().where(KnownDocument.revision_id == revision.id)))
    setting = metrics.Setting(documents=evaluation.documents, highest_grade=revision.highest_grade)
    fields: dict[str, list[str]] = {}
    for measure in measures:
        if "documents" in measure.needs and evaluation.documents is None:
            fields.setdefault("documents", []).append(f"{measure} needs the number of documents in the collection")
        if "beta" in measure.needs and campaign.beta is None:
            fields.setdefault("beta", []).append(f"{measure} needs β, or the cost, the value and the prior")
        if "known" in measure.needs and not known:
            fields.setdefault("known", []).append(f"{measure} needs the list of documents known to the user")
        if problem := measure.problem(setting):
            fields.setdefault("measures", []).append(problem)
    crowded = _query_without_other_documents(session, evaluation, revision, measures)
    if crowded is not None:
        fields.setdefault("documents", []).append(
            f"query {crowded} has as many relevant documents as the collection has documents, so P_fa is undefined"
        )
    overfull = _query_with_too_many_judgments(session, evaluation, revision)
    if overfull is not None:
        fields.setdefault("documents", []).append(
            f"query {overfull} has more judged documents than the collection has documents"
        )
    if fields:
        raise InvalidFields(fields)


def _query_without_other_documents(
    session: Session, evaluation: Evaluation, revision: JudgmentRevision, measures: list[metrics.Measure]
) -> str | None:
    """A query whose relevant documents leave no other one in the collection; None when there is none such."""
    if evaluation.documents is None:
        return None
    levels = [measure.arguments.get("rel", evaluation.relevance_level) for measure in measures]
    return session.scalar(
        sa.select(Query.external_id)
        .join(Judgment, Judgment.query_id == Query.id)
        .where(Judgment.revision_id == revision.id, Judgment.grade >= min(levels))
        .group_by(Query.id, Query.external_id)
        .having(sa.func.count() >= evaluation.documents)
        .limit(1)
    )


def _query_with_too_many_judgments(session: Session, evaluation: Evaluation, revision: JudgmentRevision) -> str | None:
    """A query that has more judged documents than the collection has; None when there is none such."""
    if evaluation.documents is None:
        return None
    return session.scalar(
        sa.select(Query.external_id)
        .join(Judgment, Judgment.query_id == Query.id)
        .where(Judgment.revision_id == revision.id)
        .group_by(Query.id, Query.external_id)
        .having(sa.func.count() > evaluation.documents)
        .limit(1)
    )
