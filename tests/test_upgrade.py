"""Installations of released versions, stored as their own code made them (tests/stored/make.py), are brought here."""

import csv
import io
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from leaderboard import migrate
from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.web.app import create_app
from tests.support.commands import run_here
from tests.support.scoring import drain_here
from tests.support.world import run_text

STORED = Path(__file__).parent / "stored"
Rows = dict[str, list[dict[str, Any]]]


@pytest.fixture(params=sorted(path.name for path in STORED.iterdir() if path.is_dir()))
def installation(
    request: pytest.FixtureRequest, engine_name: str, new_database_url: Callable[[], str], tmp_path: Path
) -> Config:
    """A released version's database and store, as they were."""
    with tarfile.open(STORED / request.param / f"{engine_name}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    url = f"sqlite:///{tmp_path / 'leaderboard.sqlite'}"
    if engine_name == "postgresql":
        url = new_database_url()
        with closing(sa.create_engine(url.replace("postgresql", "postgresql+psycopg", 1)).raw_connection()) as raw:
            raw.cursor().execute((tmp_path / "leaderboard.sql").read_text())
            raw.commit()
    return Config(database_url=url, store_url=str(tmp_path / "store"), secret_key="a secret that only the tests know")


def _rows(database: Database, columns: Rows | None = None) -> Rows:
    """Table -> its rows in the order of their keys, with every column or those that the rows of `columns` have."""
    held, tables = {}, sa.MetaData()
    with database.engine.connect() as connection:
        tables.reflect(connection)
        for table in tables.tables.values():
            if table.name == migrate.VERSION or (columns is not None and table.name not in columns):
                continue
            wanted = [table.c[name] for name in columns[table.name][0]] if columns else list(table.c)
            rows = connection.execute(sa.select(*wanted).order_by(*table.primary_key))
            held[table.name] = [dict(row) for row in rows.mappings()]
    return held


def test_every_row_of_a_released_version_is_kept_and_its_record_is_in_order(installation: Config) -> None:
    environment = installation.as_environment()
    with closing(Database.connect(installation.database_url)) as database:
        before = _rows(database)
        assert all(before.values()), "each table has rows"
        is_newest = migrate.current(database) == migrate.newest()
        asked = run_here(["db", "current"], environment)
        assert (asked.status, "run `leaderboard db upgrade`" in asked.out) == (int(not is_newest), not is_newest), asked
        assert run_here(["db", "upgrade"], environment).status == 0
        migrate.check(database)
        assert _rows(database, before) == before
    asked = run_here(["db", "current"], environment)
    assert (asked.status, asked.out.rpartition(" is at ")[2]) == (
        0,
        f"revision {migrate.newest()}, which this version needs\n",
    )
    verified = run_here(["verify", "--figures"], environment)
    assert verified.status == 0, verified
    assert "\nnothing differs: " in f"\n{verified.out}"


def test_the_boards_of_a_released_version_are_shown_and_take_runs(installation: Config) -> None:
    environment = installation.as_environment()
    assert run_here(["db", "upgrade"], environment).status == 0
    app = create_app(installation)
    with closing(app.extensions["database"]) as database:
        client = app.test_client()
        assert "Boards of old" in client.get("/").text
        # The run that was neither withdrawn nor hidden: q1's relevant document third, q2's first, and q3 has none. To a
        # visitor means are rounded.
        [row] = csv.DictReader(io.StringIO(client.get("/campaigns/small/2026.csv").text))
        assert (row["team"], row["label"]) == ("Southern lights", "run-0")
        assert (row["AP"], row["P@1"]) == (f"{(1 / 3 + 1) / 3:.1f}", f"{1 / 3:.1f}")
        (run := Path(installation.store_url).parent / "new.run").write_text(run_text(9))
        sent = ["submit", "small/2026", run, "--team", "northern-lights", "--new-system", "Newcomer", "--wait", "0"]
        done = run_here([*sent, "--confirm"], environment)
        assert done.status == 0, done
        drain_here(database, app.extensions["store"], installation)
        assert "Newcomer" in client.get("/campaigns/small/2026").text
