"""How many judgments are different from one revision to another."""

import datetime as dt
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Sight, may_see, subset_seen
from leaderboard.lookup import of_subset
from leaderboard.models import Evaluation, Judgment, Query, ScoringSet

__all__ = ["Rejudged", "rejudged"]


@dataclass(frozen=True, slots=True)
class Rejudged:
    """Judgments of the queries that a reader may know of: new ones, those that are there no longer, those with another
    grade, and those that stayed the same."""

    added: int
    removed: int
    regraded: int
    same: int


def rejudged(
    session: Session, actor: Actor, evaluation: Evaluation, before: ScoringSet, after: ScoringSet, now: dt.datetime
) -> Rejudged | None:
    """From the judgments of one set to those of another; None where they are of one revision.

    None as well for whoever may not see single queries: these counts tell of the judgments themselves.
    """
    if before.revision_id == after.revision_id or not may_see(actor, evaluation, Sight.DETAILS, now):
        return None
    one, other = sa.orm.aliased(Judgment), sa.orm.aliased(Judgment)
    known = sa.select(Query.id).where(*of_subset(evaluation.id, subset_seen(actor, evaluation, now)))

    def judged(of: Any, scoring_set: ScoringSet) -> tuple[sa.ColumnElement[bool], ...]:
        return of.revision_id == scoring_set.revision_id, of.query_id.in_(known)

    both = sa.and_(one.query_id == other.query_id, one.document == other.document)
    was, is_now = (
        sa.select(sa.func.count()).select_from(of).where(*judged(of, each)).scalar_subquery()
        for of, each in ((sa.orm.aliased(Judgment), before), (sa.orm.aliased(Judgment), after))
    )
    counts = sa.func.count(), sa.func.count(sa.case((one.grade != other.grade, 1)))
    shared, regraded, had, has = session.execute(
        sa.select(*counts, was, is_now)
        .select_from(one)
        .join(other, both)
        .where(*judged(one, before), *judged(other, after))
    ).one()
    return Rejudged(added=has - shared, removed=had - shared, regraded=regraded, same=shared - regraded)
