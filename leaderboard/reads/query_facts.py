"""What every page on single queries says of them, and when it may."""

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.models import Evaluation, Judgment, Query, ScoringSet
from leaderboard.reads.columns import Column, column
from leaderboard.rules.moments import moment_in_words
from leaderboard.rules.phases import Opening

__all__ = [
    "QueryHeading",
    "closed_details",
    "neighbours",
    "per_query_columns",
    "query_heading",
    "relevant_documents",
]


@dataclass(frozen=True, slots=True)
class QueryHeading:
    """`relevant`: documents judged at least as relevant as the evaluation asks; None where that may not be seen."""

    external_id: str
    text: str
    tags: tuple[str, ...]
    position: int
    relevant: int | None
    excluded: bool
    excluded_because: str


def closed_details(evaluation: Evaluation) -> str:
    """Why single queries can't be seen, and from when."""
    never = Opening.NEVER in (evaluation.details, evaluation.results)
    if evaluation.closes_at is None or never:
        return "Single queries would give the judgments away; the organisers keep them to themselves."
    closing = moment_in_words(evaluation.closes_at)
    return f"Single queries would give the judgments away; they open when the evaluation closes, {closing}."


def per_query_columns(scoring_set: ScoringSet) -> tuple[Column, ...]:
    """The set's measures that have a value on one query; all of them in the odd case that none has."""
    columns = tuple(column(name) for name in scoring_set.settings["measures"])
    return tuple(one for one in columns if one.per_query) or columns


def relevant_documents(session: Session, scoring_set: ScoringSet, query_id: int | None = None) -> dict[int, int]:
    """Query id -> documents judged relevant at the set's level; queries without any are absent."""
    statement = (
        sa.select(Judgment.query_id, sa.func.count())
        .where(
            Judgment.revision_id == scoring_set.revision_id,
            Judgment.grade >= scoring_set.settings["relevance_level"],
        )
        .group_by(Judgment.query_id)
    )
    if query_id is not None:
        statement = statement.where(Judgment.query_id == query_id)
    return dict(session.execute(statement).all())


def neighbours(session: Session, found: Query) -> tuple[str | None, str | None]:
    """The external ids of the queries before and after, in the evaluation's order."""
    of_evaluation = sa.select(Query.external_id).where(Query.evaluation_id == found.evaluation_id)
    before = of_evaluation.where(Query.position < found.position).order_by(Query.position.desc()).limit(1)
    after = of_evaluation.where(Query.position > found.position).order_by(Query.position).limit(1)
    return session.scalar(before), session.scalar(after)


def query_heading(found: Query, relevant: int | None) -> QueryHeading:
    return QueryHeading(
        external_id=found.external_id,
        text=found.text,
        tags=tuple(found.tags),
        position=found.position,
        relevant=relevant,
        excluded=found.excluded_at is not None,
        excluded_because=found.excluded_because,
    )
