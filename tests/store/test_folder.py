"""Files in a folder: what is there, what is old enough to go, and a folder that can't be written."""

import io
import os
import time
from pathlib import Path

import pytest

from leaderboard.errors import BadInput, NoStore, NotFound, Unavailable
from leaderboard.store import RunStore
from tests.store.conftest import files

TEXT = b"q1 Q0 d1 1 2.0 tag\n"
DAY = 24 * 3600.0


def test_a_store_that_can_not_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Unavailable, match="does not answer"):
        RunStore(str(tmp_path / "file" / "store"))
    with pytest.raises(BadInput, match="ftp is no kind of run store"):
        RunStore("ftp://example.org/runs")


def test_a_file_that_is_not_there_is_not_found(store: RunStore) -> None:
    store.receive(io.BytesIO(TEXT), "run")
    store.keep_ranked_lists(2, 10, 1, [])
    with pytest.raises(NotFound), store.run_file("0" * 64):
        pass


def test_a_file_that_is_not_there_because_the_whole_store_is_away_is_the_stores_fault(store: RunStore) -> None:
    sha256 = store.receive(io.BytesIO(TEXT), "run").sha256
    Path(store.url).rename(Path(store.url).with_name("elsewhere"))
    away = RunStore(store.url, must_exist=True)
    with pytest.raises(NoStore), away.run_file(sha256):
        pass
    with pytest.raises(NoStore):
        away.receive(io.BytesIO(TEXT), "run")
    assert not Path(store.url).exists()  # an empty one would hide the other when it is mounted again


def test_only_old_files_are_candidates_and_a_file_received_again_is_young(store: RunStore) -> None:
    sha256 = store.receive(io.BytesIO(TEXT), "run").sha256
    assert list(store.orphan_candidates(DAY)) == []
    (file,) = files(store)
    os.utime(file, (time.time() - 2 * DAY,) * 2)
    assert list(store.orphan_candidates(DAY)) == [sha256]
    store.receive(io.BytesIO(TEXT), "run")
    assert not store.remove_run(sha256, DAY)
    with store.run_file(sha256) as path:
        assert path.read_bytes() == TEXT
    os.utime(file, (time.time() - 2 * DAY,) * 2)
    assert store.remove_run(sha256, DAY)
    assert not store.remove_run(sha256, DAY)
    assert files(store) == []


def test_what_killed_processes_left_half_written_is_swept(store: RunStore) -> None:
    incoming = Path(store.url) / "incoming"
    (incoming / "young").write_bytes(b"x")
    (incoming / "old").write_bytes(b"x")
    os.utime(incoming / "old", (time.time() - 2 * DAY,) * 2)
    store.sweep_incoming()
    assert [path.name for path in incoming.iterdir()] == ["young"]
