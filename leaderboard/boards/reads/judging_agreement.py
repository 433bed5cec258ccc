"""How far two sources of judgments agree on the documents that both judged."""

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from leaderboard.evaluations.reads.evaluations import of_subset
from leaderboard.evaluations.rules import Subset
from leaderboard.frozen import frozen
from leaderboard.judgments.models import Judgment, Query
from leaderboard.statistics import Kappa, distances, kappa
from leaderboard.worker.models import ScoringSet


@frozen
class JudgingAgreement:
    """documents, queries  how many both judged, of queries that count
    same       how many of the documents have the same grade
    level      the lowest grade that is relevant
    grades     in rising order
    counts     documents by grade: rows of the official source, columns of the other
    relevant, linear, quadratic  Cohen's κ: relevant or not; grades, weighted by distance, or by its square
    """

    documents: int
    queries: int
    same: int
    level: int
    grades: tuple[int, ...]
    counts: tuple[tuple[int, ...], ...]
    relevant: Kappa
    linear: Kappa
    quadratic: Kappa


def judging_agreement(
    session: Session, official: ScoringSet, source: ScoringSet, subset: Subset
) -> JudgingAgreement | None:
    """Over the queries that the reader may know of and that are not excluded; None where no document has two grades."""
    first, second = aliased(Judgment), aliased(Judgment)
    known = sa.select(Query.id).where(*of_subset(official.evaluation_id, subset), Query.excluded_at.is_(None))
    same = second.query_id == first.query_id, second.document == first.document
    judged = first.revision_id == official.revision_id, first.query_id.in_(known), first.grade >= 0, second.grade >= 0
    of_both = sa.and_(second.revision_id == source.revision_id, *same)
    columns = first.query_id, first.grade, second.grade
    statement = sa.select(*columns, sa.func.count()).join(second, of_both).where(*judged).group_by(*columns)
    rows = session.execute(statement).all()
    if not rows:
        return None
    query, one, other, count = np.array(rows).T
    grades, level = np.unique((one, other)), source.settings.relevance_level
    numbers, at = np.unique(query, return_inverse=True)
    tables = np.zeros((len(numbers), len(grades), len(grades)), np.int64)
    tables[at, np.searchsorted(grades, one), np.searchsorted(grades, other)] = count
    whole = tables.sum(axis=0)
    return JudgingAgreement(
        documents=int(whole.sum()),
        queries=len(numbers),
        same=int(np.trace(whole)),
        level=level,
        grades=tuple(grades.tolist()),
        counts=tuple(map(tuple, whole.tolist())),
        **{name: kappa(tables, distance) for name, distance in distances(grades, level).items()},
    )
