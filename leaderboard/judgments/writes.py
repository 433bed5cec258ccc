"""An evaluation's queries: positions are handed out in order, and once figures may rest on them no query goes any more:
it is excluded.

Judgments: every import is a numbered revision that never changes, and re-scores what there is.

Sources of judgments: one whose name was mistyped is renamed, one that came by mistake is taken away.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, locked_to_organise, require_organiser
from leaderboard.audit.writes import present, record
from leaderboard.boards.models import Board
from leaderboard.db import insert_many
from leaderboard.errors import Conflict, InvalidFields, NotFound
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.evaluations import find_query
from leaderboard.evaluations.rules import Split
from leaderboard.formats import QueryRow
from leaderboard.formats.plain_text import shown
from leaderboard.judgments import reads
from leaderboard.judgments.inputs import RevisionWords
from leaderboard.judgments.models import JudgmentRevision, Query
from leaderboard.judgments.rules import JudgmentFiles, Removal
from leaderboard.moments import moment_in_words
from leaderboard.names import checked_slug
from leaderboard.numbers import first_of
from leaderboard.submissions.rules import SetState
from leaderboard.texts import LONGEST_REASON, checked_text
from leaderboard.worker.models import ScoringSet
from leaderboard.worker.writes import make_set, supersede

COPIED = "external_id", "text", "description", "position", "split", "excluded_because"


def import_queries(
    session: Session, actor: Actor, evaluation: Evaluation, rows: Iterable[QueryRow], split: Split = Split.SHOWN
) -> list[Query]:
    """Adds queries after those that are there; a known id only gets its new text and tags, and the
    description where there is one (most files have no place for it). Gives all that were named.

    split  whether the added ones are shown to everybody or hidden until the evaluation closes
    """
    evaluation = locked_to_organise(session, actor, evaluation)
    there = {query.external_id: query for query in reads.queries_in_order(session, evaluation)}
    known, named = len(there), []
    for row in rows:
        if row.id not in there:
            position = len(there)
            there[row.id] = Query(evaluation_id=evaluation.id, external_id=row.id, position=position, split=split)
            session.add(there[row.id])
        query = there[row.id]
        query.text, query.tags = row.text, list(row.tags)
        query.description = row.description or query.description or ""
        named.append(query)
    added = len(there) - known
    record(session, actor, "import queries", evaluation, queries=len(named), added=added)
    if added:
        make_set(session, actor, evaluation)
    return named


def import_previewed_queries(
    session: Session, actor: Actor, evaluation: Evaluation, rows: Collection[QueryRow], split: Split, state: str
) -> list[Query]:
    """The same of what was previewed. state: that of the preview, "" without one. Raises Conflict where the queries are
    others by now.
    """
    if state and state != reads.query_changes(session, evaluation, rows).state:
        raise Conflict("The queries have changed since that preview; look at another before you send them.")
    return import_queries(session, actor, evaluation, rows, split)


def copy_queries(session: Session, actor: Actor, source: Evaluation, target: Evaluation) -> None:
    """Copies the queries of an evaluation into one that has none: what they ask for, their tags, which are hidden,
    and which are excluded and why, with the present as the moment: they never counted here."""
    require_organiser(actor, target.campaign_id)
    queries = reads.queries_in_order(session, source)
    for query in queries:
        copied = {name: getattr(query, name) for name in COPIED}
        excluded_at = query.excluded_at and present()
        session.add(Query(evaluation_id=target.id, tags=list(query.tags), excluded_at=excluded_at, **copied))
    record(session, actor, "import queries", target, queries=len(queries), added=len(queries))


def remove_queries(session: Session, actor: Actor, evaluation: Evaluation, external_ids: Iterable[str]) -> list[Query]:
    """Removes queries that were added by mistake; gives those that are gone. The event of the removal stays.

    Raises Conflict once the evaluation has judgments or submissions, which may rest on them, and InvalidFields
    for no such query.
    """
    removed = _named(session, actor, evaluation, external_ids)
    if refused := reads.queries_stay(session, evaluation):
        raise Conflict(refused)
    for query in removed:
        session.delete(query)
    session.flush()
    for position, query in enumerate(reads.queries_in_order(session, evaluation)):
        query.position = position
    session.flush()  # by rising ids, and so positions: no two have one position at any moment
    record(session, actor, "remove queries", evaluation, queries=[query.external_id for query in removed])
    return removed


def exclude_queries(
    session: Session, actor: Actor, evaluation: Evaluation, external_ids: Iterable[str], because: str
) -> list[Query]:
    """Leaves queries out of all means computed from now on; sets that were scored before keep their values.

    One that is excluded already gets the new reason. Raises InvalidFields without a reason, and for no such query.
    """
    named = _named(session, actor, evaluation, external_ids)
    because = checked_text(because, LONGEST_REASON, "because")
    if not because:
        raise InvalidFields({"because": ["say why: readers see it beside the query"]})
    changed = [query for query in named if query.excluded_because != because]
    counts_no_more = any(not query.excluded_at for query in changed)
    for query in changed:
        query.excluded_because, query.excluded_at = because, query.excluded_at or present()
    if counts_no_more:
        make_set(session, actor, evaluation)
    for query in changed:
        record(session, actor, "exclude", query, because=because)
    return named


def include_queries(session: Session, actor: Actor, evaluation: Evaluation, external_ids: Iterable[str]) -> list[Query]:
    """Takes excluded queries back in; gives those that were. Raises InvalidFields for no such query."""
    excluded = [query for query in _named(session, actor, evaluation, external_ids) if query.excluded_at]
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
    others = [query for query in _named(session, actor, evaluation, external_ids) if query.split is not split]
    for query in others:
        query.split = split
    if others:
        make_set(session, actor, evaluation)
        names = [query.external_id for query in others]
        record(session, actor, "set split", evaluation, queries=names, split=split.value)
    return others


def _named(session: Session, actor: Actor, evaluation: Evaluation, external_ids: Iterable[str]) -> list[Query]:
    """Each once, to be changed. The evaluation is locked first, so that the set which is made sees all that others
    changed. Raises InvalidFields (queries) for no such query.
    """
    evaluation = locked_to_organise(session, actor, evaluation)
    try:
        return [find_query(session, evaluation, external_id) for external_id in dict.fromkeys(external_ids)]
    except NotFound as error:
        raise InvalidFields({"queries": [error.message]}) from None


def import_judgments(
    session: Session,
    actor: Actor,
    evaluation: Evaluation,
    files: JudgmentFiles,
    note: str = "",
    source: str | None = None,
    released_at: datetime | None = None,
    with_set: bool = True,
) -> JudgmentRevision:
    """A new revision of the evaluation's judgments, with the scoring set that follows from it.

    source       whose judgments these are, a short name such as `llm`; the official source's when not given
    released_at  when these were given out, where that was before they came here
    with_set     False: others follow at once, and no run is scored by these

    Raises Conflict when the evaluation has no queries yet or nothing differs from the source's newest revision,
    InvalidFields when it lacks some of the queries and when a query's relevant documents are the whole collection
    (its P_fa would be undefined), for a source's name that is none, and a release in the future.
    """
    note = checked_text(note, LONGEST_REASON, "note")
    evaluation = locked_to_organise(session, actor, evaluation)
    source = checked_slug(source, "source") if source else evaluation.official_source
    for refused in reads.refusals(session, evaluation, files, source):
        raise refused
    now = present()
    if released_at and released_at > now:
        raise InvalidFields({"released": [f"{moment_in_words(released_at)} is in the future"]})
    evaluation.set_aside = [other for other in evaluation.set_aside if other != source]
    numbers = sa.select(sa.func.max(JudgmentRevision.number)).where(JudgmentRevision.evaluation_id == evaluation.id)
    facts: dict[str, Any] = {"source": source, "judgments": len(files.judgments), "sha256": files.sha256}
    revision = JudgmentRevision(
        evaluation_id=evaluation.id,
        number=(session.scalar(numbers) or 0) + 1,
        highest_grade=int(files.judgments.grade.max(initial=0)),
        note=note,
        imported_at=now,
        imported_by_id=actor.user_id,
        released_at=released_at or now,
        **facts,
    )
    session.add(revision)
    session.flush()
    ids = reads.query_numbers(session, evaluation)
    for (table, columns), rows in zip(reads.COLUMNS.items(), files.rows, strict=True):
        names = "revision_id", "query_id", *(column.key for column in columns)
        numbered = ((revision.id, ids[query], *row) for query, *row in rows)
        insert_many(session.connection(), table.__table__, names, numbered)
    revision.finished_at = present()
    record(session, actor, "import judgments", evaluation, revision=revision.number, **facts)
    if with_set:
        make_set(session, actor, evaluation)
    return revision


def import_previewed(
    session: Session, actor: Actor, evaluation: Evaluation, files: JudgmentFiles, words: RevisionWords
) -> JudgmentRevision:
    """The same of what was previewed. Raises Conflict for another state than that of the preview, too."""
    source = words.source or evaluation.official_source
    if words.state and words.state != reads.revision_state(session, evaluation, source):
        raise Conflict("There is a newer revision than that preview's; look at another before you send this one.")
    return import_judgments(session, actor, evaluation, files, words.note, source)


def rename_source(session: Session, actor: Actor, evaluation: Evaluation, source: str, name: str) -> None:
    """Gives a source of judgments another name, on its old boards too; the trail keeps the one before.

    Raises Conflict for a source that is none of the evaluation's, and InvalidFields for a name that is none or taken.
    """
    evaluation = locked_to_organise(session, actor, evaluation)
    reads.require_source(session, evaluation, source)
    name = checked_slug(name, "name")
    if name in reads.known_sources(session, evaluation):
        raise InvalidFields({"name": [f"there is a source {name} already; give another name"]})
    sets = _of_source(session, ScoringSet, evaluation, source)
    for row in (*sets, *_of_source(session, JudgmentRevision, evaluation, source)):
        row.source = name
    evaluation.set_aside = [name if other == source else other for other in evaluation.set_aside]
    if evaluation.official_source == source:
        evaluation.official_source = name
    record(session, actor, "rename source", evaluation, about=sets[:1], source=name, before=source)


def remove_source(session: Session, actor: Actor, evaluation: Evaluation, source: str) -> Removal:
    """Takes away a source of judgments, such as one that came by mistake, and says what became of it.

    It goes for good while nothing was submitted. Afterwards judgments and what was scored by them stay on record, as
    the locks of the database have it: the source is set aside, so that no run is scored by it any more. Of what nobody
    but organisers could see nothing is shown then; what readers could see stays to be read as it stood. Judgments that
    come by it later take it up again.

    Raises Conflict for the official source, one that is set aside, and one that is none of the evaluation's.
    """
    evaluation = locked_to_organise(session, actor, evaluation)
    removal = reads.removal_of_source(session, evaluation, source, present())
    sets = _of_source(session, ScoringSet, evaluation, source)
    if removal is Removal.GONE:
        others = session.scalars(sa.select(ScoringSet).where(ScoringSet.evaluation_id == evaluation.id).limit(1))
        record(session, actor, "remove source", evaluation, about=others.all(), source=source)
        session.execute(sa.delete(Board).where(Board.scoring_set_id.in_([row.id for row in sets])))
        for row in (*sets, *_of_source(session, JudgmentRevision, evaluation, source)):
            session.delete(row)
        session.flush()
        return removal
    set_aside_sources(session, actor, evaluation, [source], evaluation.official_source)
    for scoring_set in sets if removal is Removal.HIDDEN else ():
        scoring_set.switched_at = None
    return removal


def set_aside_sources(
    session: Session, actor: Actor, evaluation: Evaluation, sources: Collection[str], official: str
) -> None:
    """Lets nothing be scored by these sources any more; what was stays as it stood.

    official  the source that boards go by, at the end of an import too

    Raises InvalidFields for the official one, and for those that are none of the evaluation's.
    """
    require_organiser(actor, evaluation.campaign_id)
    if lost := {*sources} - (reads.known_sources(session, evaluation) - {official}):
        words = first_of([*map(shown, sorted(lost))], 3)
        raise InvalidFields({"set_aside": [f"{words}: no source beside the official one"]})
    for source in sources:
        sets = _of_source(session, ScoringSet, evaluation, source)
        for scoring_set in sets:
            if scoring_set.state is not SetState.SUPERSEDED:
                supersede(session, scoring_set)
        evaluation.set_aside = sorted({*evaluation.set_aside, source})
        record(session, actor, "set source aside", evaluation, about=sets[:1], source=source)


def _of_source(session: Session, table: type[Any], evaluation: Evaluation, source: str) -> list[Any]:
    """The scoring sets, or the revisions of judgments, of a source."""
    own = table.evaluation_id == evaluation.id, table.source == source
    return list(session.scalars(sa.select(table).where(*own).order_by(table.id)))
