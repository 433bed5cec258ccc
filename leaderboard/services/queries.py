"""An evaluation's queries: positions are handed out once, in order; a query is never deleted, only excluded."""

from collections.abc import Iterable

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, require_organiser
from leaderboard.errors import InvalidFields
from leaderboard.formats import QueryRow
from leaderboard.lookup import find_query
from leaderboard.models import Evaluation, Query
from leaderboard.rules.settings import Split
from leaderboard.services.events import present, record
from leaderboard.services.locking import locked
from leaderboard.services.scoring_sets import make_set
from leaderboard.services.texts import LONGEST_REASON, checked_text

__all__ = ["exclude_query", "import_queries", "include_query", "set_split"]


def import_queries(
    session: Session, actor: Actor, evaluation: Evaluation, rows: Iterable[QueryRow], split: Split = Split.SHOWN
) -> list[Query]:
    """Adds queries after those that are there; a known id only gets its new text and tags. Gives all that were named.

    split  whether the added ones are shown to everybody or hidden until the evaluation closes
    """
    require_organiser(actor, evaluation.campaign_id)
    locked(session, Evaluation, evaluation.id)
    there = {
        query.external_id: query
        for query in session.scalars(sa.select(Query).where(Query.evaluation_id == evaluation.id))
    }
    position = 1 + max((query.position for query in there.values()), default=-1)
    named, added = [], 0
    for row in rows:
        query = there.get(row.id)
        if query is None:
            query = Query(
                evaluation_id=evaluation.id,
                external_id=row.id,
                text=row.text,
                tags=list(row.tags),
                position=position,
                split=split,
            )
            session.add(query)
            there[row.id] = query
            position += 1
            added += 1
        else:
            query.text, query.tags = row.text, list(row.tags)
        named.append(query)
    record(session, actor, "import queries", evaluation, queries=len(named), added=added)
    if added:
        make_set(session, actor, evaluation)
    return named


def exclude_query(session: Session, actor: Actor, evaluation: Evaluation, external_id: str, because: str) -> Query:
    """Leaves a query out of all means computed from now on; sets that were scored before keep its values."""
    require_organiser(actor, evaluation.campaign_id)
    if not because.strip():
        raise InvalidFields({"because": ["say why: readers see it beside the query"]})
    query = find_query(session, evaluation, external_id)
    query.excluded_because = checked_text(because, LONGEST_REASON, "because")
    if query.excluded_at is None:
        query.excluded_at = present()
        make_set(session, actor, evaluation)
    record(session, actor, "exclude", query, because=query.excluded_because)
    return query


def include_query(session: Session, actor: Actor, evaluation: Evaluation, external_id: str) -> Query:
    """Takes an excluded query back in."""
    require_organiser(actor, evaluation.campaign_id)
    query = find_query(session, evaluation, external_id)
    if query.excluded_at is not None:
        query.excluded_at, query.excluded_because = None, ""
        make_set(session, actor, evaluation)
        record(session, actor, "include", query)
    return query


def set_split(
    session: Session, actor: Actor, evaluation: Evaluation, external_ids: Iterable[str], split: Split
) -> None:
    """Shows queries to everybody, or hides them until the evaluation closes."""
    require_organiser(actor, evaluation.campaign_id)
    names = list(external_ids)
    for external_id in names:
        find_query(session, evaluation, external_id).split = split
    make_set(session, actor, evaluation)
    record(session, actor, "set split", evaluation, queries=names, split=split.value)
