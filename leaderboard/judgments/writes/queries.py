"""An evaluation's queries: positions are handed out in order, and once figures may rest on them no query goes any more:
it is excluded.
"""

from collections.abc import Iterable

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, require_organiser
from leaderboard.audit.writes import present, record
from leaderboard.errors import Conflict, InvalidFields
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.find import find_query, queries_stay
from leaderboard.evaluations.rules.scoring_settings import Split
from leaderboard.formats import QueryRow
from leaderboard.judgments.models import Query
from leaderboard.locking import locked
from leaderboard.texts import LONGEST_REASON, checked_text
from leaderboard.worker.writes import make_set

COPIED = "external_id", "text", "description", "position", "split", "excluded_because"


def import_queries(
    session: Session, actor: Actor, evaluation: Evaluation, rows: Iterable[QueryRow], split: Split = Split.SHOWN
) -> list[Query]:
    """Adds queries after those that are there; a known id only gets its new text and tags, and the
    description where there is one (most files have no place for it). Gives all that were named.

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
                description=row.description,
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
            query.description = row.description or query.description
        named.append(query)
    record(session, actor, "import queries", evaluation, queries=len(named), added=added)
    if added:
        make_set(session, actor, evaluation)
    return named


def copy_queries(session: Session, actor: Actor, source: Evaluation, target: Evaluation) -> None:
    """Copies the queries of an evaluation into one that has none: what they ask for, their tags, which are hidden,
    and which are excluded and why, with the present as the moment: they never counted here."""
    require_organiser(actor, target.campaign_id)
    queries = session.scalars(sa.select(Query).where(Query.evaluation_id == source.id).order_by(Query.position)).all()
    for query in queries:
        copied = {name: getattr(query, name) for name in COPIED}
        excluded_at = None if query.excluded_at is None else present()
        session.add(Query(evaluation_id=target.id, tags=list(query.tags), excluded_at=excluded_at, **copied))
    record(session, actor, "import queries", target, queries=len(queries), added=len(queries))


def remove_queries(session: Session, actor: Actor, evaluation: Evaluation, external_ids: Iterable[str]) -> list[Query]:
    """Removes queries that were added by mistake; gives those that are gone. The event of the removal stays.

    Raises Conflict once the evaluation has judgments or submissions, which may rest on them, and NotFound for no such
    query.
    """
    require_organiser(actor, evaluation.campaign_id)
    locked(session, Evaluation, evaluation.id)  # what is just being submitted waits, and finds the queries that stay
    refused = queries_stay(session, evaluation)
    if refused is not None:
        raise Conflict(refused)
    removed = _found(session, evaluation, external_ids)
    for query in removed:
        session.delete(query)
    session.flush()
    left = sa.select(Query).where(Query.evaluation_id == evaluation.id).order_by(Query.position)
    for position, query in enumerate(session.scalars(left).all()):
        query.position = position
    session.flush()  # by rising ids, and so positions: no two have one position at any moment
    record(session, actor, "remove queries", evaluation, queries=[query.external_id for query in removed])
    return removed


def exclude_queries(
    session: Session, actor: Actor, evaluation: Evaluation, external_ids: Iterable[str], because: str
) -> list[Query]:
    """Leaves queries out of all means computed from now on; sets that were scored before keep their values.

    One that is excluded already gets the new reason. Raises InvalidFields without a reason, NotFound for no such query.
    """
    require_organiser(actor, evaluation.campaign_id)
    if not because.strip():
        raise InvalidFields({"because": ["say why: readers see it beside the query"]})
    because = checked_text(because, LONGEST_REASON, "because")
    named = _found(session, evaluation, external_ids)
    counted = [query for query in named if query.excluded_at is None]
    changed = [query for query in named if query.excluded_at is None or query.excluded_because != because]
    for query in changed:
        query.excluded_because = because
    for query in counted:
        query.excluded_at = present()
    if counted:
        make_set(session, actor, evaluation)
    for query in changed:
        record(session, actor, "exclude", query, because=because)
    return named


def include_queries(session: Session, actor: Actor, evaluation: Evaluation, external_ids: Iterable[str]) -> list[Query]:
    """Takes excluded queries back in; gives those that were. Raises NotFound for no such query."""
    require_organiser(actor, evaluation.campaign_id)
    excluded = [query for query in _found(session, evaluation, external_ids) if query.excluded_at is not None]
    for query in excluded:
        query.excluded_at, query.excluded_because = None, ""
    if excluded:
        make_set(session, actor, evaluation)
    for query in excluded:
        record(session, actor, "include", query)
    return excluded


def set_split(
    session: Session, actor: Actor, evaluation: Evaluation, external_ids: Iterable[str], split: Split
) -> list[Query]:
    """Shows queries to everybody, or hides them until the evaluation closes; gives those that were otherwise."""
    require_organiser(actor, evaluation.campaign_id)
    others = [query for query in _found(session, evaluation, external_ids) if query.split is not split]
    for query in others:
        query.split = split
    if others:
        make_set(session, actor, evaluation)
        names = [query.external_id for query in others]
        record(session, actor, "set split", evaluation, queries=names, split=split.value)
    return others


def _found(session: Session, evaluation: Evaluation, external_ids: Iterable[str]) -> list[Query]:
    """Each once. The evaluation is locked first, so that the set which is made sees all that others changed."""
    locked(session, Evaluation, evaluation.id)
    return [find_query(session, evaluation, external_id) for external_id in dict.fromkeys(external_ids)]
