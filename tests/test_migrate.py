"""The schema is made by migrations."""

from collections.abc import Callable

from leaderboard import migrate
from leaderboard.db import Database


def test_an_empty_database_has_no_revision_and_an_upgraded_one_the_newest(new_database_url: Callable[[], str]) -> None:
    database = Database.connect(new_database_url())
    assert migrate.current(database) is None
    migrate.upgrade(database)
    assert migrate.current(database) == migrate.newest() is not None
    migrate.check(database)
    database.close()
