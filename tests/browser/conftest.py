"""A running site for the tests in a browser, on PostgreSQL, as installations with more than one process have it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.databases import Postgres
from tests.support.site import Site, running_site


@pytest.fixture(scope="module")
def site(postgres: Postgres, migrated_postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site with one worker and an empty database; the tests of one module share it and fill it."""
    folder: Path = tmp_path_factory.mktemp("site")
    database_url = postgres.create(migrated_postgres)
    with running_site(database_url, folder) as site:
        yield site
    postgres.drop(database_url)
