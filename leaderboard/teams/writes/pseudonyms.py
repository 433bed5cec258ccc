"""What systems are called while names are hidden: numbers that follow from nothing, so that nobody can work one out."""

import secrets

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.locking import insert_unless_there
from leaderboard.teams.models import Pseudonym

NUMBERS = 16**6  # of one installation, over all evaluations


def ensure_pseudonym(session: Session, evaluation_id: int, system_id: int) -> None:
    """Draws the system's number in the evaluation, where it has none yet."""
    key = (evaluation_id, system_id)
    while session.get(Pseudonym, key) is None:  # the number may be another's: drawn again
        number = secrets.randbelow(NUMBERS)
        insert_unless_there(session, Pseudonym, evaluation_id=evaluation_id, system_id=system_id, number=number)


def hand_over(session: Session, source_id: int, target_id: int) -> None:
    """Two systems become one: where the target has a number it keeps it, elsewhere it gets the source's."""
    has = sa.select(Pseudonym.evaluation_id).where(Pseudonym.system_id == target_id)
    lacking = Pseudonym.system_id == source_id, Pseudonym.evaluation_id.not_in(has)
    session.execute(
        sa.update(Pseudonym).where(*lacking).values(system_id=target_id),
        execution_options={"synchronize_session": False},
    )
