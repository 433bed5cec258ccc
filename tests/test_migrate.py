"""The schema is made by migrations."""

from collections.abc import Callable

import pytest
import sqlalchemy as sa
from alembic.script import ScriptDirectory

from leaderboard import __version__, migrate
from leaderboard.config import folder
from leaderboard.db import Database
from leaderboard.errors import OtherBuild


def test_an_empty_database_has_no_revision_and_an_upgraded_one_the_newest(new_database_url: Callable[[], str]) -> None:
    database = Database.connect(new_database_url())
    assert migrate.current(database) is None
    migrate.upgrade(database)
    assert migrate.current(database) == migrate.newest()
    migrate.check(database)
    database.close()


def test_the_newest_revision_is_the_one_that_alembic_would_upgrade_to() -> None:
    assert migrate.newest() == ScriptDirectory(str(folder("migrations"))).get_current_head()


def test_a_database_of_another_version_is_told_from_one_that_does_not_answer(
    new_database_url: Callable[[], str],
) -> None:
    database = Database.connect(new_database_url())
    migrate.upgrade(database)
    migrate.require_this_build(database)
    with database.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE mail RENAME COLUMN failure TO why")
        connection.exec_driver_sql("DROP TABLE team_name")
    with pytest.raises(OtherBuild) as caught:
        migrate.require_this_build(database)
    assert caught.value.reason == (
        f"at revision {migrate.newest()} it differs in the columns mail.failure, mail.why, team_name.name_key and 1 "
        "more: a development version made it, or somebody changed its tables; restore a backup"
    )
    for statement in ("SELECT * FROM team_name", "SELECT failure FROM mail", "INSERT INTO mail (failure) VALUES (1)"):
        with pytest.raises(OtherBuild, match="another version"), database.write() as session:
            session.execute(sa.text(statement))
    with database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0999'")
    with pytest.raises(OtherBuild, match="another version") as caught:
        migrate.upgrade(database)
    assert caught.value.reason == (
        f"it is at revision 0999, version {__version__} knows none after {migrate.newest()}: install the version that "
        "upgraded it, or a later one"
    )
    database.close()
