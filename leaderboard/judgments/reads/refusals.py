"""Why judgments can't be taken in, and a source not taken away: asked by the writes and by previews of them."""

import datetime as dt
from collections.abc import Iterator

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import open_to_all
from leaderboard.errors import Conflict, FileRejected, LeaderboardError, Problem
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.find import once_revealed
from leaderboard.formats import GRADE_LIMIT
from leaderboard.judgments.models import JudgmentRevision, Query
from leaderboard.judgments.rules import JudgmentFiles, Removal
from leaderboard.numbers import first_of
from leaderboard.submissions.models import Submission
from leaderboard.worker.models import ScoringSet
from leaderboard.worker.reads import newest_revision

NAMED = 10  # unknown queries that a message names


def query_numbers(session: Session, evaluation: Evaluation) -> dict[str, int]:
    """The row id of each of the evaluation's queries, by its own id, in their order."""
    rows = sa.select(Query.external_id, Query.id).where(Query.evaluation_id == evaluation.id)
    return dict(session.execute(rows.order_by(Query.position)).all())


def refusals(session: Session, evaluation: Evaluation, files: JudgmentFiles, source: str) -> Iterator[LeaderboardError]:
    """Every reason not to take these in, as what an import raises: Conflict for an evaluation without queries and where
    the source's newest revision says the same, FileRejected for queries that it lacks and grades beyond the limit.
    """
    numbers = query_numbers(session, evaluation)
    if not numbers:
        yield Conflict(f"{evaluation.title} has no queries yet; import the queries first, then the judgments.")
        return
    for name in ("judgments", "known", "subtopics"):
        if (judged := getattr(files, name)) is None:
            continue
        if unknown := [query for query in judged.queries if query not in numbers]:
            lacks = f"the evaluation lacks {len(unknown):,} of the {len(judged.queries):,} queries"
            problem = Problem(None, f"{lacks}: {first_of(unknown, NAMED)}; import the queries first")
            yield FileRejected([problem], name=name)
        wide = judged.grade[np.abs(judged.grade) > GRADE_LIMIT]
        if wide.size and name != "known":
            yield FileRejected([Problem(None, f"grade {wide[0]} is beyond ±{GRADE_LIMIT:,}")], wide.size, name)
    # By a source that was set aside the same judgments may come again: they are taken up with that.
    newest = None if source in evaluation.set_aside else newest_revision(session, evaluation, source)
    if newest is not None and newest.sha256 == files.sha256:
        yield Conflict(f"These are the judgments of revision {newest.number}, which is the newest one already.")


def revision_state(session: Session, evaluation: Evaluation, source: str) -> str:
    """What was shown of judgments by a source holds as long as this is the same."""
    newest = newest_revision(session, evaluation, source)
    return f"{source}:{newest.number if newest is not None else None}"


def known_sources(session: Session, evaluation: Evaluation) -> frozenset[str]:
    """Those that judged anything, and the official one; those that are set aside too."""
    own = sa.select(JudgmentRevision.source).where(JudgmentRevision.evaluation_id == evaluation.id)
    return frozenset((evaluation.official_source, *session.scalars(own.distinct())))


def require_source(session: Session, evaluation: Evaluation, source: str) -> None:
    """Raises Conflict for one that is none of the evaluation's, naming those that are."""
    known = known_sources(session, evaluation)
    if source not in known:
        raise Conflict(f"There are no judgments by {source}; there are some by: {', '.join(sorted(known))}.")


def removal_of_source(session: Session, evaluation: Evaluation, source: str, now: dt.datetime) -> Removal:
    """What taking it away does. Raises Conflict for the official source, one that is set aside and one that is none."""
    require_source(session, evaluation, source)
    if source == evaluation.official_source:
        raise Conflict(f"Boards go by the judgments of {source}; let them go by another source first, or rename it.")
    if source in evaluation.set_aside:
        raise Conflict(f"{source} is set aside already.")
    if not session.scalar(sa.select(sa.exists().where(Submission.evaluation_id == evaluation.id))):
        return Removal.GONE
    own = ScoringSet.evaluation_id == evaluation.id, ScoringSet.source == source
    was_official = session.scalar(sa.select(sa.exists().where(*own, ScoringSet.shown_until.is_not(None))))
    was_open = "details" in open_to_all(evaluation, now) | once_revealed(session, evaluation)
    return Removal.KEPT if was_official or was_open else Removal.HIDDEN
