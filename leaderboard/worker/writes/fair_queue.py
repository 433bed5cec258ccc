"""Whose run is scored next: teams take turns, so that one with many runs in the queue holds up nobody else's.

Every queue entry is given a turn when it is queued, and of equal priority those of lower turns go first. A team's
entries have turns one after the other; its first begins at the turn that is being served. So a team that sends one run
waits for at most one run of each other team, however many those have queued, and nothing has to be counted when a
worker claims one.
"""

from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules.states import UNFINISHED, State
from leaderboard.worker.models import IN_QUEUE, Scoring


def next_turns(session: Session, teams: Collection[int], priority: int) -> dict[int, int]:
    """Team id -> the turn of the next entry that it queues with this priority; those after it count on from there."""
    session.flush()
    of_priority = sa.and_(sa.text(IN_QUEUE), Scoring.priority == priority)
    serving = session.scalar(sa.select(sa.func.max(Scoring.turn)).where(Scoring.state == State.SCORING, of_priority))
    if serving is None:
        serving = session.scalar(sa.select(sa.func.min(Scoring.turn)).where(Scoring.state == State.QUEUED, of_priority))
    last = session.execute(
        sa.select(Submission.team_id, sa.func.max(Scoring.turn))
        .join(Submission, Submission.id == Scoring.submission_id)
        .where(Scoring.state.in_(UNFINISHED), of_priority, Submission.team_id.in_(teams))
        .group_by(Submission.team_id)
    )
    first = serving or 0
    return dict.fromkeys(teams, first) | {team: max(turn + 1, first) for team, turn in last}
