"""Asking for the name of a team: taken ones are counted, by pages and API alike: nobody tries a list of them."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.orm import Session

from leaderboard.accounts.writes.rate_limits import count_team_name, take_back
from leaderboard.errors import InvalidFields
from leaderboard.names import checked_name
from leaderboard.web.context import actor, client_address, database, now, writing


@contextmanager
def counting() -> Iterator[Session]:
    """A transaction in which one name or address of a team is looked up; it counts unless the transaction succeeds.

    Raises TooManyAttempts before anything is looked up.
    """
    user_id = actor().user_id
    asked = [] if user_id is None else count_team_name(database(), user_id, client_address(), now())
    with writing() as session:
        yield session
        take_back(session, asked)


@contextmanager
def naming(name: str) -> Iterator[Session]:
    """The same for a name that somebody gives a team. One that can't be a name costs nothing: it is not looked up, and
    the service within refuses it with all else.
    """
    with counting() if _can_be_one(name) else writing() as session:
        yield session


def _can_be_one(name: str) -> bool:
    try:
        checked_name(name)
    except InvalidFields:
        return False
    return True
