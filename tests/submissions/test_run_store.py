"""Which run store is a database's own, from the first use on."""

import io
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa

from leaderboard.db import Database
from leaderboard.errors import NoStore, OtherStore
from leaderboard.store import IDENTITY, MARK, RunStore
from leaderboard.submissions.models import Installation
from leaderboard.submissions.writes.run_store import bind
from tests.support.commands import run_here
from tests.support.world import RUN, World, run_file


def _binds(database: Database, store: RunStore) -> bool:
    try:
        bind(database, store)
    except OtherStore:
        return False
    return True


@pytest.mark.parametrize("process", [["serve", "--port", "0"], ["worker", "--once"], ["submit"], ["import-campaign"]])
def test_a_process_with_another_store_refuses_and_says_where_and_what_to_do(
    world: World, tmp_path: Path, process: list[str]
) -> None:
    bind(world.database, world.store)
    (tmp_path / "run.txt").write_text(RUN)
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "manifest.toml").write_text(
        '[campaign]\nslug = "past"\ntitle = "Past"\nmeasures = ["AP"]\n'
    )
    more = {
        "submit": ["small/2026", str(tmp_path / "run.txt"), "--team", "northern-lights", "--system", "a"],
        "import-campaign": [str(tmp_path / "archive")],
    }
    environment = {
        "LEADERBOARD_DATABASE_URL": world.config.database_url,
        "LEADERBOARD_SECRET_KEY": "a secret that only the tests know",
    }
    arguments = [*process, *more.get(process[0], [])]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = run_here(arguments, {**environment, "LEADERBOARD_STORE_URL": "store"}, folder=elsewhere)
    assert done.status == 2
    said = done.err.strip().removeprefix(f"{tmp_path / 'run.txt'}: ").removeprefix("not taken: ")
    assert said.startswith(f"{elsewhere / 'store'} is no run store: it has no leaderboard-run-store")
    assert "Set LEADERBOARD_STORE_URL" in done.err
    assert not (elsewhere / "store").exists()
    new = RunStore(str(tmp_path / "new"))
    done = run_here(arguments, {**environment, "LEADERBOARD_STORE_URL": new.url}, folder=elsewhere)
    assert done.status == 2
    said = done.err.strip().removeprefix(f"{tmp_path / 'run.txt'}: ").removeprefix("not taken: ")
    assert said.startswith(f"{new.url} is the run store of another database, or a new one. Set LEADERBOARD_STORE_URL")
    assert new.identity is None
    assert not (tmp_path / "new" / "runs").exists()


def test_of_processes_that_begin_at_once_with_stores_of_their_own_one_is_taken(
    database: Database, tmp_path: Path
) -> None:
    stores = [RunStore(str(tmp_path / name)) for name in "abcd"]
    with ThreadPoolExecutor() as pool:
        bound = list(pool.map(lambda store: _binds(database, store), stores))
    assert bound.count(True) == 1
    with database.read() as session:
        identity = session.scalars(sa.select(Installation.store)).one()
    assert [store.identity for store in stores] == [identity if own else None for own in bound]


def test_a_new_database_leaves_the_store_of_another_alone_until_its_id_is_taken_away(
    world: World, tmp_path: Path
) -> None:
    used = RunStore(str(tmp_path / "used"))
    used.identify("of another database")
    run = run_file(used, used.receive(io.BytesIO(RUN.encode()), "run.txt").sha256)
    os.utime(run, (0, 0))  # so old that a worker would sweep a file without a row
    environment = {"LEADERBOARD_DATABASE_URL": world.config.database_url, "LEADERBOARD_STORE_URL": used.url}
    done = run_here(["worker", "--once"], environment)
    assert (done.status, run.exists(), used.identity) == (2, True, "of another database")
    assert f"{used.url} is the run store of another database, or a new one. Set LEADERBOARD_STORE_URL" in done.err
    assert "or, for a new database, to a new folder" in done.err
    with world.database.read() as session:
        assert session.scalar(sa.select(Installation.store)) is None
    (Path(used.url) / MARK / IDENTITY).unlink()
    assert _binds(world.database, used)
    assert not _binds(world.database, RunStore(str(tmp_path / "new")))


def test_a_copied_installation_works_and_a_store_that_went_away_is_not_made_anew(world: World, tmp_path: Path) -> None:
    bind(world.database, world.store)
    run = world.submit()
    copy = RunStore(str(shutil.copytree(world.store.url, tmp_path / "copy")), must_exist=True)
    bind(world.database, copy)
    assert run_file(copy, world.scoring(run).submission.sha256).read_text() == RUN
    environment = {"LEADERBOARD_DATABASE_URL": world.config.database_url, "LEADERBOARD_STORE_URL": copy.url}
    assert run_here(["worker", "--once"], environment).status == 0
    done = run_here(["verify"], environment)
    assert (done.status, "nothing differs" in done.out) == (0, True), done
    shutil.rmtree(copy.url)
    with pytest.raises(NoStore):
        bind(world.database, RunStore(copy.url, must_exist=True))
    assert not Path(copy.url).exists()
