"""Whether the rows that say which runs stand say what the rule says."""

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.models import Scoring, ScoringSet, Standing, Submission, System
from leaderboard.rules.states import State
from leaderboard.services.standing import HAS_CEASED, Place, kept_standing, standing_by_rule
from leaderboard.services.verification.report import NOTHING, Report, thing_in_words

__all__ = ["check_standing"]

ONE_OF_ITS_OWN = "a run of this system that is scored there"


def check_standing(session: Session, report: Report) -> None:
    """Finds what stands of every scoring set anew, one set at a time, from all of its runs.

    What stood on a board of the past depends on what was chosen then: there each row is asked whether it can have been.
    What several ways of choosing have wrong alike is told once.
    """
    columns = ScoringSet.id, ScoringSet.evaluation_id, HAS_CEASED
    for set_id, evaluation_id, has_ceased in session.execute(sa.select(*columns).order_by(ScoringSet.id)).all():
        kept = kept_standing(session, Standing.scoring_set_id == set_id)
        right = _possible(session, set_id) if has_ceased else standing_by_rule(session, of_sets=ScoringSet.id == set_id)
        report.standing += len(set(kept.values()))
        differences = {
            (place.system_id, place.late, kept.get(place), right.get(place)): place
            for place in sorted(kept.keys() | right.keys())
            if kept.get(place) != right.get(place)
        }
        for (*_, is_kept, is_right), place in differences.items():
            where = thing_in_words(session, f"evaluation {evaluation_id}")
            stored, expected = _run(session, is_kept), _run(session, is_right)
            report.add(where, _in_words(session, place), stored, ONE_OF_ITS_OWN if has_ceased else expected)


def _possible(session: Session, set_id: int) -> dict[Place, int]:
    """The rows of the set whose run is of that system, in time or late as they say, and scored in the set, or of
    which an import says that it was."""
    scored = sa.select(Scoring.id).join(Scoring.submission)
    of_place = (
        Scoring.scoring_set_id == Standing.scoring_set_id,
        sa.or_(Scoring.state == State.SCORED, Scoring.of_the_past),
        Submission.system_id == Standing.system_id,
        Submission.late == Standing.late,
    )
    its_own = Standing.scoring_id.in_(scored.where(*of_place))
    return kept_standing(session, Standing.scoring_set_id == set_id, its_own)


def _in_words(session: Session, place: Place) -> str:
    system = place.system_id
    name = session.scalar(sa.select(System.name).where(System.id == system)) or f"system {system}"
    return f"which {'late ' if place.late else ''}run of {name} stands in set {place.scoring_set_id}"


def _run(session: Session, scoring_id: int | None) -> str:
    if scoring_id is None:
        return NOTHING
    run = session.scalar(sa.select(Scoring.submission_id).where(Scoring.id == scoring_id))
    return f"scoring {scoring_id}" if run is None else f"run {run}"
