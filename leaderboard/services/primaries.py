"""Which run is its team's primary one in an evaluation, worked out anew whenever that may have changed."""

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.models import Participation, Submission
from leaderboard.rules.standings import Designation, primary_run
from leaderboard.services.locking import locked

__all__ = ["settle_primary"]


def settle_primary(session: Session, team_id: int, evaluation_id: int) -> None:
    """Notes which of a team's runs in the evaluation is its primary one by `rules.standings.primary_run`."""
    # Locked first: whoever else is recording a score of this team waits, and then sees this one.
    participation = locked(session, Participation, (team_id, evaluation_id))
    session.flush()
    runs = session.scalars(
        sa.select(Submission).where(
            Submission.team_id == team_id,
            Submission.evaluation_id == evaluation_id,
            Submission.designation == Designation.PRIMARY,
        )
    )
    participation.primary_submission_id = primary_run(runs)
