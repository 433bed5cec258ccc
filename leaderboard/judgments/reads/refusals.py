"""Why judgments can't be taken in: asked by the import that refuses them, and by whoever shows what one would do."""

from collections.abc import Iterator

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.errors import Conflict, FileRejected, InvalidFields, LeaderboardError, Problem
from leaderboard.evaluations.models import Evaluation
from leaderboard.formats import GRADE_LIMIT, Judgments, SubtopicJudgments
from leaderboard.judgments.models import Query
from leaderboard.numbers import first_of
from leaderboard.worker.reads import Judged, newest_revision, settings_if

NAMED = 10  # unknown queries that a message names


def query_numbers(session: Session, evaluation: Evaluation) -> dict[str, int]:
    """The row id of each of the evaluation's queries, by its own id, in their order."""
    rows = sa.select(Query.external_id, Query.id).where(Query.evaluation_id == evaluation.id)
    return {external_id: number for external_id, number in session.execute(rows.order_by(Query.position))}  # noqa: C416  # mypy can't follow dict()


def refusals(
    session: Session,
    evaluation: Evaluation,
    judgments: Judgments,
    known: Judgments | None,
    subtopics: SubtopicJudgments | None,
    source: str,
    sha256: str,
) -> Iterator[LeaderboardError]:
    """Every reason not to take these in, as what an import raises: Conflict for an evaluation without queries and where
    the source's newest revision says the same, FileRejected for queries that it lacks and grades beyond the limit.

    sha256  `revision_sha256` of the three
    """
    numbers = query_numbers(session, evaluation)
    if not numbers:
        yield Conflict(f"{evaluation.title} has no queries yet; import the queries first, then the judgments.")
        return
    files = ("judgments", judgments), ("known documents", known), ("judgments of subtopics", subtopics)
    for name, judged in files:
        if judged is None:
            continue
        if unknown := [query for query in judged.queries if query not in numbers]:
            lacks = f"the evaluation lacks {len(unknown):,} of the {len(judged.queries):,} queries"
            problem = Problem(None, f"{lacks}: {first_of(unknown, NAMED)}; import the queries first")
            yield FileRejected([problem], name=name)
        wide = [] if judged is known else [grade for grade in judged.grade.tolist() if abs(grade) > GRADE_LIMIT]
        if wide:
            yield FileRejected([Problem(None, f"grade {wide[0]} is beyond ±{GRADE_LIMIT:,}")], len(wide), name)
    # By a source that was set aside the same judgments may come again: they are taken up with that.
    newest = None if source in evaluation.set_aside else newest_revision(session, evaluation, source)
    if newest is not None and newest.sha256 == sha256:
        yield Conflict(f"These are the judgments of revision {newest.number}, which is the newest one already.")


def refusals_by_measures(
    session: Session,
    evaluation: Evaluation,
    judgments: Judgments,
    known: Judgments | None,
    subtopics: SubtopicJudgments | None,
    source: str,
) -> Iterator[InvalidFields]:
    """What the set that follows from them refuses: measures that need what they lack, and a query whose relevant
    documents are the whole collection.
    """
    judged = Judged.of_files(source, judgments, known=known is not None, subtopics=subtopics is not None)
    try:
        settings_if(session, evaluation, judged)
    except InvalidFields as error:
        yield error
