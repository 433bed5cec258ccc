"""The schema is made by migrations."""

from collections.abc import Callable

from alembic.script import ScriptDirectory

from leaderboard import migrate
from leaderboard.config import folder
from leaderboard.db import Database


def test_an_empty_database_has_no_revision_and_an_upgraded_one_the_newest(new_database_url: Callable[[], str]) -> None:
    database = Database.connect(new_database_url())
    assert migrate.current(database) is None
    migrate.upgrade(database)
    assert migrate.current(database) == migrate.newest()
    migrate.check(database)
    database.close()


def test_the_newest_revision_is_the_one_that_alembic_would_upgrade_to() -> None:
    assert migrate.newest() == ScriptDirectory(str(folder("migrations"))).get_current_head()
