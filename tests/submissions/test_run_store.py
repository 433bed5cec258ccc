"""Which run store is a database's own, from the first use on."""

import io
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
import sqlalchemy as sa

from leaderboard.db import Database
from leaderboard.errors import NoStore, OtherStore
from leaderboard.store import IDENTITY, MARK, RunStore
from leaderboard.submissions.models import Installation
from leaderboard.submissions.writes.run_store import bind, require_own, take
from tests.support.commands import run_here
from tests.support.shared import REPOSITORY
from tests.support.world import RUN, World, run_file


class Lost(Exception):
    """The transaction was rolled back."""


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


BIND = """
import os, sys
from contextlib import closing
from itertools import count
from leaderboard.db import Database
from leaderboard.store import RunStore
from leaderboard.submissions.writes.run_store import bind
from tests.support.calls import CALLS, Fault, count_files, count_statements

url, folder = sys.argv[1:]
count_statements()
count_files()
CALLS.files_below = (folder,)
for number in count(1):
    if (process := os.fork()) == 0:
        with closing(Database.connect(url)) as database:
            CALLS.failing, CALLS.counts = (number, Fault.KILL), True
            bind(database, RunStore(f"{folder}/{number}"))
        os._exit(0)
    if os.waitpid(process, 0)[1] == 0:
        break
    with closing(Database.connect(url)) as database:
        bind(database, RunStore(f"{folder}/{number}"))
        with database.write() as session:
            session.connection().exec_driver_sql("DELETE FROM installation")
print(number)
"""


def test_wherever_a_process_is_killed_that_binds_a_new_store_the_next_one_binds_it(
    database: Database, tmp_path: Path
) -> None:
    url = database.engine.url.render_as_string(hide_password=False)
    done = subprocess.run(
        [sys.executable, "-c", BIND, url, tmp_path], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 20


def test_a_store_that_was_only_offered_an_id_is_that_of_the_database_that_took_it_or_free(
    database: Database, tmp_path: Path
) -> None:
    offered, other = RunStore(str(tmp_path / "offered")), RunStore(str(tmp_path / "other"))
    with suppress(Lost), database.write() as session:
        take(session, other)
        raise Lost
    with database.write() as session:
        take(session, offered)
    assert (offered.identity, other.identity) == (None, None)
    assert not _binds(database, other)
    with database.read() as session:
        identity = require_own(session, RunStore(offered.url, must_exist=True))
    bind(database, offered)
    assert (offered.identity, offered.bound, other.identity) == (identity, identity, None)


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


@pytest.mark.usefixtures("scores_here")
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
