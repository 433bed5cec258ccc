"""Only their owner reads the database, the run files and the demonstration's key, whatever the umask."""

import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from leaderboard.cli.demo import _secret_key
from leaderboard.db import Database
from leaderboard.private_files import tighten
from leaderboard.store import RunStore


@pytest.fixture(autouse=True)
def everything_for_everybody() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    """What others than the owner may do, of everything in the folder."""
    return {path.relative_to(folder).as_posix(): path.stat().st_mode & 0o077 for path in folder.rglob("*")}


def write_to(file: Path) -> Database:
    database = Database.connect(f"sqlite:///{file}")
    with database.write() as session:
        session.execute(sa.text("CREATE TABLE IF NOT EXISTS x (y)"))
        session.execute(sa.text("INSERT INTO x VALUES (1)"))
    return database


def test_nobody_else_reads_an_sqlite_database_or_the_files_beside_it(tmp_path: Path) -> None:
    database = write_to(tmp_path / "new.sqlite")
    assert modes(tmp_path) == {"new.sqlite": 0, "new.sqlite-wal": 0, "new.sqlite-shm": 0}
    database.close()


def test_a_database_that_others_could_read_is_closed_to_them_when_it_is_opened(tmp_path: Path) -> None:
    first = write_to(tmp_path / "old.sqlite")
    for path in tmp_path.iterdir():
        path.chmod(0o666)
    second = write_to(tmp_path / "old.sqlite")
    assert modes(tmp_path) == {"old.sqlite": 0, "old.sqlite-wal": 0, "old.sqlite-shm": 0}
    with second.read() as session:
        assert session.execute(sa.text("SELECT count(*) FROM x")).scalar_one() == 2
    first.close()
    second.close()


def test_nobody_else_reads_the_run_files(tmp_path: Path) -> None:
    store = RunStore(str(tmp_path / "below" / "store"))
    sha256 = store.receive(io.BytesIO(b"q1 Q0 d1 1 0.5 a\n"), "run").sha256
    found = modes(tmp_path)
    assert f"below/store/runs/{sha256[:2]}/{sha256}" in found
    assert set(found.values()) == {0}


def test_nobody_else_reads_the_key_of_the_demonstration(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    assert len(_secret_key(new)) == 64
    old.write_text("a key that was there")
    assert _secret_key(old) == "a key that was there"
    assert modes(tmp_path) == {"new": 0, "old": 0}


def test_what_is_not_ours_is_left_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    if os.geteuid():  # the administrator may change what is anybody's
        tighten(Path("/etc/passwd"))
        assert "/etc/passwd may be read by others" in caplog.text
    tighten(Path("/no/such/file"))
