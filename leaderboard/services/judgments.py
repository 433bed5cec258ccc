"""Judgments: every import is a numbered revision that never changes, and re-scores what there is."""

import datetime as dt
import hashlib
from collections.abc import Iterable, Iterator

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, require_organiser
from leaderboard.errors import Conflict, FileRejected, InvalidFields, Problem
from leaderboard.formats import GRADE_LIMIT, Judgments, SubtopicJudgments
from leaderboard.lookup import newest_revision
from leaderboard.models import Evaluation, Judgment, JudgmentRevision, KnownDocument, Query, SubtopicJudgment
from leaderboard.numbers import first_of
from leaderboard.rules.moments import moment_in_words
from leaderboard.services.events import present, record
from leaderboard.services.locking import locked
from leaderboard.services.names import checked_slug
from leaderboard.services.scoring_sets import make_set
from leaderboard.services.texts import LONGEST_REASON, checked_text

__all__ = ["import_judgments", "judgments_sha256"]

ROWS_AT_ONCE = 5000
NAMED = 10  # unknown queries that a message names


def import_judgments(
    session: Session,
    actor: Actor,
    evaluation: Evaluation,
    judgments: Judgments,
    note: str = "",
    known: Judgments | None = None,
    subtopics: SubtopicJudgments | None = None,
    source: str | None = None,
    released_at: dt.datetime | None = None,
    *,
    of_the_past: bool = False,
    is_last: bool = True,
) -> JudgmentRevision:
    """A new revision of the evaluation's judgments, with the scoring set that follows from it.

    source  whose judgments these are, a short name such as `llm`; the official source's when not given

    known  the documents that the user knew already, per query (Coverage and Novelty need them); grades don't matter
    subtopics  documents judged for one aspect of a query each, which measures of diversity need; the judgments of
        whole queries stay what `judgments` says
    released_at, of_the_past  when these were given out, where that was before they came here: not known unless given;
        else they are given out with this
    is_last  False: others follow at once, and whoever imports them makes the set that follows from all (`make_set`)

    Raises Conflict when the evaluation has no queries yet or nothing differs from the source's newest revision,
    FileRejected when it lacks some of the queries, InvalidFields when a query's relevant documents are the whole
    collection (its P_fa would be undefined), for a source's name that is none, and a release in the future.
    """
    note = checked_text(note, LONGEST_REASON, "note")
    require_organiser(actor, evaluation.campaign_id)
    evaluation = locked(session, Evaluation, evaluation.id)
    source = evaluation.official_source if source is None else checked_slug(source, "source")
    numbers = _query_numbers(session, evaluation, judgments, "judgments")
    _check_grades(judgments)
    known_numbers = _query_numbers(session, evaluation, known, "known documents") if known is not None else {}
    if subtopics is not None:
        _query_numbers(session, evaluation, subtopics, "judgments of subtopics")
        _check_grades(subtopics)
    now = present()
    if released_at is not None and released_at > now:
        raise InvalidFields({"released": [f"{moment_in_words(released_at)} is in the future"]})
    sha256 = revision_sha256(judgments, known, subtopics)
    newest = newest_revision(session, evaluation, source)
    if newest is not None and newest.sha256 == sha256:
        raise Conflict(f"These are the judgments of revision {newest.number}, which is the newest one already.")
    last = session.scalar(
        sa.select(sa.func.max(JudgmentRevision.number)).where(JudgmentRevision.evaluation_id == evaluation.id)
    )
    revision = JudgmentRevision(
        evaluation_id=evaluation.id,
        number=(last or 0) + 1,
        source=source,
        sha256=sha256,
        judgments=len(judgments),
        highest_grade=max(0, int(judgments.grade.max(initial=0))),
        note=note,
        imported_at=now,
        imported_by_id=actor.user_id,
        released_at=released_at if of_the_past else now,
    )
    session.add(revision)
    session.flush()
    _insert(
        session,
        Judgment,
        (
            {"revision_id": revision.id, "query_id": numbers[query], "document": document, "grade": grade}
            for query, document, grade in _rows(judgments)
        ),
    )
    if known is not None:
        _insert(
            session,
            KnownDocument,
            (
                {"revision_id": revision.id, "query_id": known_numbers[query], "document": document}
                for query, document, _ in _rows(known)
            ),
        )
    if subtopics is not None:
        _insert(
            session,
            SubtopicJudgment,
            (
                {
                    "revision_id": revision.id,
                    "query_id": numbers[query],
                    "subtopic": subtopic,
                    "document": document,
                    "grade": grade,
                }
                for query, subtopic, document, grade in _rows_of_subtopics(subtopics)
            ),
        )
    revision.finished_at = present()
    record(
        session,
        actor,
        "import judgments",
        evaluation,
        revision=revision.number,
        source=source,
        judgments=len(judgments),
        sha256=sha256,
    )
    if is_last:
        make_set(session, actor, evaluation)
    return revision


def revision_sha256(
    judgments: Judgments, known: Judgments | None = None, subtopics: SubtopicJudgments | None = None
) -> str:
    """The hash that a revision of these has."""
    return judgments_sha256(
        _rows(judgments),
        (row[:2] for row in _rows(known)) if known is not None else (),
        _rows_of_subtopics(subtopics) if subtopics is not None else (),
    )


def _query_numbers(
    session: Session, evaluation: Evaluation, judgments: Judgments | SubtopicJudgments, name: str
) -> dict[str, int]:
    """The row id of each of the evaluation's queries. Raises FileRejected (under `name`) when it lacks some of them."""
    rows = session.execute(sa.select(Query.external_id, Query.id).where(Query.evaluation_id == evaluation.id))
    numbers = {external_id: number for external_id, number in rows}  # noqa: C416  # mypy can't follow dict()
    unknown = [query for query in judgments.queries if query not in numbers]
    if not numbers:
        raise Conflict(f"{evaluation.title} has no queries yet; import the queries first, then the judgments.")
    if unknown:
        lacks = f"the evaluation lacks {len(unknown):,} of the {len(judgments.queries):,} queries"
        raise FileRejected([Problem(None, f"{lacks}: {first_of(unknown, NAMED)}; import the queries first")], name=name)
    return numbers


def _check_grades(judgments: Judgments | SubtopicJudgments) -> None:
    wide = [grade for grade in judgments.grade.tolist() if abs(grade) > GRADE_LIMIT]
    if wide:
        raise FileRejected([Problem(None, f"grade {wide[0]} is beyond ±{GRADE_LIMIT:,}")], len(wide), "judgments")


def _rows(judgments: Judgments) -> Iterator[tuple[str, str, int]]:
    queries = judgments.queries
    for query, document, grade in zip(
        judgments.query.tolist(), judgments.document.to_list(), judgments.grade.tolist(), strict=True
    ):
        yield queries[query], document, grade


def _rows_of_subtopics(judged: SubtopicJudgments) -> Iterator[tuple[str, str, str, int]]:
    for query, subtopic, document, grade in zip(
        judged.query.tolist(),
        judged.subtopic.tolist(),
        judged.document.to_list(),
        judged.grade.tolist(),
        strict=True,
    ):
        yield judged.queries[query], judged.subtopics[subtopic], document, grade


def judgments_sha256(
    judged: Iterable[tuple[str, str, int]],
    known: Iterable[tuple[str, str]],
    subtopics: Iterable[tuple[str, str, str, int]],
) -> str:
    """Of (query, document, grade), (query, document) and (query, subtopic, document, grade), whatever their order."""
    digest = hashlib.sha256()
    for query, document, grade in sorted(judged):
        digest.update(f"{query}\t{document}\t{grade}\n".encode())
    for query, document in sorted(known):
        digest.update(f"{query}\t{document}\tknown\n".encode())
    for query, subtopic, document, grade in sorted(subtopics):
        digest.update(f"{query}\t{subtopic}\t{document}\t{grade}\n".encode())
    return digest.hexdigest()


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
