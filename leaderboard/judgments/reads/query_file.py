"""What a file of queries would change, told before anything is written; and the queries as organisers see them."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.audit.rules import short
from leaderboard.boards.reads.paging import Paging, paged
from leaderboard.campaigns.reads.organised import organised_evaluation
from leaderboard.db import snapshot
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.find import queries_stay
from leaderboard.evaluations.rules.scoring_settings import Split
from leaderboard.formats import QueryRow
from leaderboard.judgments.models import Judgment, Query
from leaderboard.worker.reads import current_set

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
