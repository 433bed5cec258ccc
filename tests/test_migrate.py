"""The schema is made by migrations."""

import os
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.script import ScriptDirectory

from leaderboard import __version__, migrate
from leaderboard.config import folder
from leaderboard.db import Database
from leaderboard.errors import OtherBuild
from tests.support.processes import Process
from tests.support.shared import REPOSITORY


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
    with database.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE mail RENAME COLUMN failure TO why")
        connection.exec_driver_sql("DROP TABLE team_name")
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


AT_ONCE = 4  # twice the processors of a small machine: some begin while another is at it, some after it
UPGRADE = """
import os, sys
from contextlib import closing
from leaderboard import migrate
from leaderboard.db import Database

url, processes = sys.argv[1], int(sys.argv[2])
from alembic import command  # once, before the processes are made: they begin at the same moment
for _ in range(processes):
    if os.fork() == 0:
        with closing(Database.connect(url)) as database:
            migrate.upgrade(database)
        os._exit(0)
sys.exit(any(os.wait()[1] for _ in range(processes)))
"""


@pytest.mark.parametrize("revision", [None, "0002"])
def test_hosts_that_upgrade_at_once_have_one_of_them_do_it(
    new_database_url: Callable[[], str], revision: str | None
) -> None:
    with closing(Database.connect(new_database_url())) as database:
        if revision is not None:
            command.upgrade(migrate._config(database), revision)
        url = database.engine.url.render_as_string(hide_password=False)
        arguments = [sys.executable, "-c", UPGRADE, url, str(AT_ONCE)]
        with Process(arguments, env={**os.environ, "PYTHONPATH": str(REPOSITORY)}) as process:
            assert process.wait(seconds=60) == 0, process.output
        assert migrate.current(database) == migrate.newest()
        migrate.check(database)


def test_a_process_needs_the_revision_of_its_own_code_while_another_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = migrate.newest()
    (tmp_path / "versions").mkdir()
    (tmp_path / "versions" / "9999_of_the_next_version.py").touch()
    monkeypatch.setattr(migrate, "folder", lambda _: tmp_path)
    assert migrate.newest() == own
