"""Sites for the tests in a browser.

`site` is a whole installation, on PostgreSQL, as those with more than one process have it. `here` serves the pages
alone, on SQLite, for tests of how they look: what forms and figures do on each engine has its own tests.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.databases import Postgres
from tests.support.site import Site, running_site, site_here


@pytest.fixture(scope="session")
def site(postgres: Postgres, migrated_postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site with one worker and an empty database; the modules that tell a story share it and fill it.

    One process: what two of them do to each other is tried by tests/web/test_server.py and by the trials.
    """
    folder: Path = tmp_path_factory.mktemp("site")
    database_url = postgres.create(migrated_postgres)
    with running_site(database_url, folder, processes=1) as site:
        yield site
    postgres.drop(database_url)


@pytest.fixture(scope="module")
def here(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site in this process with an empty database, which the tests of one module share and fill."""
    folder: Path = tmp_path_factory.mktemp("here")
    shutil.copyfile(migrated_sqlite, folder / "leaderboard.sqlite")
    with site_here(f"sqlite:///{folder / 'leaderboard.sqlite'}", folder) as site:
        yield site
