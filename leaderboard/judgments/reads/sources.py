"""Sources of judgments of an evaluation: which there are, and what becomes of one that is taken away."""

import datetime as dt
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import open_to_all
from leaderboard.errors import Conflict
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.visibility import once_revealed
from leaderboard.judgments.models import JudgmentRevision
from leaderboard.submissions.models import Submission
from leaderboard.worker.models import ScoringSet


class Removal(StrEnum):
    """What becomes of a source of judgments that is taken away."""

    GONE = "gone"  # for good: nothing could be scored by it
    HIDDEN = "hidden"  # nobody but organisers saw anything of it
    KEPT = "kept"  # what was seen of it stays to be read as it stood

    @property
    def in_words(self) -> str:
        """As the one who does it is told."""
        return {
            Removal.GONE: "nothing was submitted yet, so it goes for good, with its judgments",
            Removal.HIDDEN: "only organisers could see boards by it: these go, and no run is scored by it any more; "
            "its judgments stay on record",
            Removal.KEPT: "readers could see boards by it: these stay to be read as they stood, and no run is scored "
            "by it any more",
        }[self]


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
