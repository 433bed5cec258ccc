"""A small campaign that was played to its end once for each engine; every test has a copy of it.

What SQL can do to a database whose triggers are out of the way is tried in transactions that are rolled back, so that
one copy stands for many statements.
"""

import contextlib
import dataclasses
import datetime as dt
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as people
from leaderboard.campaigns import writes as campaigns
from leaderboard.db import Database
from leaderboard.judgments import writes as queries
from leaderboard.store import RunStore
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import Designation
from leaderboard.submissions.writes import submissions
from leaderboard.teams import writes as teams
from tests.support.databases import Postgres
from tests.support.scoring import WorkerHere
from tests.support.world import World, build_world, new_account, run_file, run_text


def _play(world: World) -> None:
    world.submit(designation=Designation.PRIMARY)
    other = world.submit(run_text(2))
    world.drain()
    with world.organising() as (session, campaign, evaluation):
        ben = people.create_user(session, CONSOLE, new_account("Ben"))
        campaigns.add_organiser(session, CONSOLE, campaign, ben)
        campaigns.change_campaign(session, CONSOLE, campaign, title="Another title")
        queries.exclude_queries(session, CONSOLE, evaluation, ["q3"], "it was a duplicate")
        submissions.withdraw(session, CONSOLE, session.get_one(Submission, other))
        teams.create_team(session, CONSOLE, "Others")
    world.change_evaluation(closes_at=dt.datetime(2031, 1, 1, tzinfo=dt.UTC), title="Another year")
    world.drain()
    world.submit("no run at all\n")
    failed = world.submit(run_text(3))
    run_file(world.store, world.scoring(failed).submission.sha256).write_bytes(b"damaged")
    world.drain()


def _played(url: str, folder: Path) -> World:
    """The campaign, played; nobody is connected to its database any more, so it can be copied."""
    with (
        contextlib.closing(Database.connect(url)) as database,
        contextlib.closing(build_world(database, folder)) as world,
    ):
        world.worker = WorkerHere  # the trail tells of what is recorded, whoever scored it
        _play(world)
    return world


@pytest.fixture(scope="session")
def played_on_sqlite(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("played")
    shutil.copyfile(migrated_sqlite, folder / "leaderboard.sqlite")
    return _played(f"sqlite:///{folder / 'leaderboard.sqlite'}", folder)


@pytest.fixture(scope="session")
def played_on_postgresql(postgres: Postgres, migrated_postgres: str, tmp_path_factory: pytest.TempPathFactory) -> World:
    return _played(postgres.create(migrated_postgres), tmp_path_factory.mktemp("played"))


@pytest.fixture
def played(engine_name: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """Two scored runs, one of them withdrawn; a rejected and a failed one; something of all that organisers change."""
    made: World = request.getfixturevalue(f"played_on_{engine_name}")
    name = str(made.database.engine.url.database)
    store = str(shutil.copytree(made.config.store_url, tmp_path / "store"))
    with contextlib.ExitStack() as then:
        if engine_name == "sqlite":
            file = shutil.copyfile(name, tmp_path / "leaderboard.sqlite")
            url = f"sqlite:///{file}"
        else:
            postgres: Postgres = request.getfixturevalue("postgres")
            url = postgres.create(name)
            then.callback(postgres.drop, url)
        database = then.enter_context(contextlib.closing(Database.connect(url)))
        config = dataclasses.replace(made.config, database_url=url, store_url=store)
        copy = dataclasses.replace(made, database=database, store=RunStore(store), config=config, _worker=None)
        yield then.enter_context(contextlib.closing(copy))
