"""Whether the rows that say which runs stand say what the rule says."""

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.models import Scoring, ScoringSet, Standing, System
from leaderboard.services.standing import Place, kept_standing, standing_by_rule
from leaderboard.services.verification.report import NOTHING, Report, thing_in_words

__all__ = ["check_standing"]


def check_standing(session: Session, report: Report) -> None:
    """Finds what stands of every scoring set anew, one set at a time, from all of its runs."""
    sets = session.execute(sa.select(ScoringSet.id, ScoringSet.evaluation_id).order_by(ScoringSet.id)).all()
    for set_id, evaluation_id in sets:
        kept = kept_standing(session, Standing.scoring_set_id == set_id)
        by_rule = standing_by_rule(session, of_sets=ScoringSet.id == set_id)
        report.standing += len(kept)
        for place in sorted(kept.keys() | by_rule.keys()):
            if kept.get(place) != by_rule.get(place):
                where = thing_in_words(session, f"evaluation {evaluation_id}")
                stored, expected = (_run(session, own.get(place)) for own in (kept, by_rule))
                report.add(where, _in_words(session, place), stored, expected)


def _in_words(session: Session, place: Place) -> str:
    set_id, system_id, late = place
    name = session.scalar(sa.select(System.name).where(System.id == system_id))
    return f"which {'late ' if late else ''}run of {name or f'system {system_id}'} stands in set {set_id}"


def _run(session: Session, scoring_id: int | None) -> str:
    if scoring_id is None:
        return NOTHING
    run = session.scalar(sa.select(Scoring.submission_id).where(Scoring.id == scoring_id))
    return f"scoring {scoring_id}" if run is None else f"run {run}"
