"""Judgments: every import is a numbered revision that never changes, and re-scores what there is."""

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import TypedDict, Unpack

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, require_organiser
from leaderboard.audit.rules import revision_sha256, rows_of, rows_of_subtopics
from leaderboard.audit.writes import present, record
from leaderboard.errors import InvalidFields
from leaderboard.evaluations.models import Evaluation
from leaderboard.formats import Judgments, SubtopicJudgments
from leaderboard.judgments.models import Judgment, JudgmentRevision, KnownDocument, SubtopicJudgment
from leaderboard.judgments.reads.refusals import query_numbers, refusals
from leaderboard.locking import locked
from leaderboard.moments import moment_in_words
from leaderboard.names import checked_slug
from leaderboard.texts import LONGEST_REASON, checked_text
from leaderboard.worker.reads import highest_grade_of
from leaderboard.worker.writes import make_set

ROWS_AT_ONCE = 5000


class RevisionSettings(TypedDict, total=False):
    """source       whose judgments these are, a short name such as `llm`; the official source's when not given
    released_at  when these were given out, where that was before they came here
    with_set     False: others follow at once, and no run is scored by these
    """

    source: str | None
    released_at: dt.datetime | None
    with_set: bool


def import_judgments(
    session: Session,
    actor: Actor,
    evaluation: Evaluation,
    judgments: Judgments,
    note: str = "",
    known: Judgments | None = None,
    subtopics: SubtopicJudgments | None = None,
    **settings: Unpack[RevisionSettings],
) -> JudgmentRevision:
    """A new revision of the evaluation's judgments, with the scoring set that follows from it.

    known  the documents that the user knew already, per query (Coverage and Novelty need them); grades don't matter
    subtopics  documents judged for one aspect of a query each, which measures of diversity need; the judgments of
        whole queries stay what `judgments` says

    Raises Conflict when the evaluation has no queries yet or nothing differs from the source's newest revision,
    FileRejected when it lacks some of the queries, InvalidFields when a query's relevant documents are the whole
    collection (its P_fa would be undefined), for a source's name that is none, and a release in the future.
    """
    note = checked_text(note, LONGEST_REASON, "note")
    require_organiser(actor, evaluation.campaign_id)
    evaluation = locked(session, Evaluation, evaluation.id)
    named, released_at = settings.get("source"), settings.get("released_at")
    source = evaluation.official_source if named is None else checked_slug(named, "source")
    sha256 = revision_sha256(judgments, known, subtopics)
    for refused in refusals(session, evaluation, judgments, known, subtopics, source, sha256):
        raise refused
    numbers = query_numbers(session, evaluation)
    now = present()
    if released_at is not None and released_at > now:
        raise InvalidFields({"released": [f"{moment_in_words(released_at)} is in the future"]})
    evaluation.set_aside = [one for one in evaluation.set_aside if one != source]
    last = session.scalar(
        sa.select(sa.func.max(JudgmentRevision.number)).where(JudgmentRevision.evaluation_id == evaluation.id)
    )
    revision = JudgmentRevision(
        evaluation_id=evaluation.id,
        number=(last or 0) + 1,
        source=source,
        sha256=sha256,
        judgments=len(judgments),
        highest_grade=highest_grade_of(judgments),
        note=note,
        imported_at=now,
        imported_by_id=actor.user_id,
        released_at=released_at or now,
    )
    session.add(revision)
    session.flush()
    _insert_rows(session, revision, numbers, judgments, known, subtopics)
    revision.finished_at = present()
    record(
        session, actor, "import judgments", evaluation, revision=revision.number, source=source,
        judgments=len(judgments), sha256=sha256,
    )  # fmt: skip
    if settings.get("with_set", True):
        make_set(session, actor, evaluation)
    return revision


def _insert_rows(
    session: Session,
    revision: JudgmentRevision,
    numbers: Mapping[str, int],
    judgments: Judgments,
    known: Judgments | None,
    subtopics: SubtopicJudgments | None,
) -> None:
    """The revision's rows. numbers: the id of each query, by its external id."""
    own = {"revision_id": revision.id}
    _insert(session, Judgment, (
        {**own, "query_id": numbers[query], "document": document, "grade": grade}
        for query, document, grade in rows_of(judgments)
    ))  # fmt: skip
    if known is not None:
        _insert(session, KnownDocument, (
            {**own, "query_id": numbers[query], "document": document} for query, document, _ in rows_of(known)
        ))  # fmt: skip
    if subtopics is not None:
        _insert(session, SubtopicJudgment, (
            {**own, "query_id": numbers[query], "subtopic": subtopic, "document": document, "grade": grade}
            for query, subtopic, document, grade in rows_of_subtopics(subtopics)
        ))  # fmt: skip


def _insert(
    session: Session, table: type[Judgment | KnownDocument | SubtopicJudgment], rows: Iterable[dict[str, object]]
) -> None:
    batch: list[dict[str, object]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == ROWS_AT_ONCE:
            session.execute(sa.insert(table), batch)
            batch = []
    if batch:
        session.execute(sa.insert(table), batch)
