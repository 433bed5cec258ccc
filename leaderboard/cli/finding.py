"""What an argument of a command names."""

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import lookup
from leaderboard.errors import BadInput
from leaderboard.models import Evaluation, User
from leaderboard.services.names import name_key

__all__ = ["find_evaluation", "find_user", "split_place"]


def find_user(session: Session, name: str) -> User:
    """Raises NotFound."""
    user = session.scalar(sa.select(User).where(User.name_key == name_key(name)))
    return user or lookup.missing(session, "account", name, User.name)


def find_evaluation(session: Session, place: str) -> Evaluation:
    """By the end of its address, campaign/evaluation. Raises NotFound."""
    return lookup.find_evaluation(session, *split_place(place))


def split_place(place: str) -> tuple[str, str]:
    """`trec-covid/round1` as its two slugs. Raises BadInput."""
    campaign, slash, evaluation = place.partition("/")
    if not (campaign and slash and evaluation) or "/" in evaluation:
        raise BadInput(f"{place!r} is no evaluation; expected CAMPAIGN/EVALUATION, like trec-covid/round1")
    return campaign, evaluation
