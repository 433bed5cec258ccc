"""What is kept of an upload and what is refused; files that are old enough to go; ranked lists of which one is read."""

import gzip
import hashlib
import io
import os
import time
from collections.abc import Collection
from pathlib import Path

import numpy as np
import pytest

from leaderboard.config import Config
from leaderboard.errors import BadInput, Damaged, Missing, NoStore, TooLarge, Unavailable
from leaderboard.store import RankedList, RunStore
from tests.support.stores import BOTH_STORES
from tests.support.world import run_file


@pytest.fixture
def store(store_url: str) -> RunStore:
    """An empty store, for files of at most 1,000 bytes and 5,000 bytes of text."""
    return RunStore(store_url, Config(upload_bytes=1000, text_bytes=5000))


def files(store: RunStore) -> list[Path]:
    """Those of a store in a folder."""
    return [path for path in Path(store.url).rglob("*") if path.is_file()]


def names(store: RunStore) -> list[str]:
    """All that a store keeps, of either kind."""
    return [name for prefix in ("incoming", "runs", "set-aside", "ranked") for name, _ in store.place.names(prefix)]


def content(store: RunStore, sha256: str) -> bytes:
    with store.reading(sha256) as path:
        return path.read_bytes()


TEXT = b"q1 Q0 d1 1 2.0 tag\nq1 Q0 d2 2 1.0 tag\n"


class CutOff(io.RawIOBase):
    """A sender that stops in the middle."""

    def __init__(self, start: bytes) -> None:
        super().__init__()
        self._start = start

    def read(self, size: int = -1) -> bytes:
        piece, self._start = self._start[:size], self._start[size:]
        if not piece:
            raise ConnectionResetError("the sender is gone")
        return piece


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@BOTH_STORES
def test_a_file_is_kept_once_byte_for_byte_under_its_hash(store: RunStore) -> None:
    received = store.receive(io.BytesIO(TEXT), "run.txt")
    assert store.receive(io.BytesIO(TEXT), "other") != received
    assert len(names(store)) == 1
    assert (received.sha256, received.size) == (_sha256(TEXT), len(TEXT))
    assert received.md5 == hashlib.md5(TEXT).hexdigest()
    assert (received.text_sha256, received.text_size) == (_sha256(TEXT), len(TEXT))
    assert content(store, received.sha256) == TEXT


@pytest.mark.parametrize("members", [1, 2])
def test_a_compressed_file_is_kept_as_it_is_and_measured_as_text(store: RunStore, members: int) -> None:
    packed = b"".join(gzip.compress(part, mtime=0) for part in ([TEXT] if members == 1 else [TEXT[:19], TEXT[19:]]))
    received = store.receive(io.BytesIO(packed), "run.gz")
    assert (received.sha256, received.size) == (_sha256(packed), len(packed))
    assert (received.text_sha256, received.text_size) == (_sha256(TEXT), len(TEXT))
    assert run_file(store, received.sha256).read_bytes() == packed


@pytest.mark.parametrize(
    "broken", [gzip.compress(TEXT, mtime=0)[:-6], gzip.compress(TEXT, mtime=0) + b"more", b"PK\x03\x04rest", b""]
)
@BOTH_STORES
def test_what_is_no_text_is_kept_whole_for_its_problems_to_be_told_later(store: RunStore, broken: bytes) -> None:
    received = store.receive(io.BytesIO(broken), "run.gz")
    assert (received.sha256, received.text_sha256) == (_sha256(broken), _sha256(broken))
    assert content(store, received.sha256) == broken


@BOTH_STORES
def test_an_upload_that_is_cut_off_leaves_no_file(store: RunStore) -> None:
    for start in (b"", TEXT[:10], TEXT, gzip.compress(TEXT)[:20]):
        with pytest.raises(ConnectionResetError):
            store.receive(CutOff(start), "run")
    assert names(store) == []


@BOTH_STORES
def test_a_file_is_put_in_its_place_when_all_around_it_has_come_and_not_when_that_breaks(store: RunStore) -> None:
    with pytest.raises(ConnectionResetError), store.receiving(io.BytesIO(TEXT), "run"):
        raise ConnectionResetError
    assert names(store) == []
    with store.receiving(io.BytesIO(TEXT), "run") as (received, _):
        assert [name for name in names(store) if not name.startswith("incoming/")] == []
    with store.open_run(received.sha256) as stream:
        assert stream.read(1000) == TEXT


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"x" * 1001, "larger than 1,000 bytes"),
        (gzip.compress(b"x" * 5001, mtime=0), "expands to more than 5,000 bytes"),
    ],
)
def test_a_file_over_a_cap_is_refused_and_leaves_nothing(store: RunStore, content: bytes, says: str) -> None:
    with pytest.raises(TooLarge, match=says):
        store.receive(io.BytesIO(content), "run")
    assert files(store) == []


def test_a_bomb_is_stopped_while_it_expands(store: RunStore) -> None:
    packed = gzip.compress(gzip.compress(b"\0" * 300_000_000))
    assert len(packed) < 1000
    store.receive(io.BytesIO(packed), "twice.gz")  # one layer is looked into: the rest is no text
    bomb = gzip.compress(b"\0" * 900_000)
    assert len(bomb) < 1000
    with pytest.raises(TooLarge):
        store.receive(io.BytesIO(bomb), "once.gz")


@pytest.mark.parametrize(
    ("filename", "plain"),
    [
        ("a/b/run.txt", "run.txt"),
        ("C:\\runs\\run.txt", "run.txt"),
        ("ru\x00n\n.txt", "run.txt"),
        ("", "run"),
        ("..", ".."),
    ],
)
def test_a_file_name_loses_its_folders_and_what_can_not_be_seen(store: RunStore, filename: str, plain: str) -> None:
    assert store.receive(io.BytesIO(TEXT), filename).filename == plain


DAY = 24 * 3600.0


def test_a_store_that_can_not_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Unavailable, match="does not answer"):
        RunStore(str(tmp_path / "file" / "store"))
    for url in ("ftp://example.org/runs", ""):
        with pytest.raises(BadInput, match=f"'{url}' is no run store"):
            RunStore(url)


def test_a_file_that_is_not_there_because_the_whole_store_is_away_is_the_stores_fault(store: RunStore) -> None:
    sha256 = store.receive(io.BytesIO(TEXT), "run").sha256
    Path(store.url).rename(Path(store.url).with_name("elsewhere"))
    away = RunStore(store.url, must_exist=True)
    with pytest.raises(NoStore), away.reading(sha256):
        pass
    with pytest.raises(NoStore):
        away.receive(io.BytesIO(TEXT), "run")
    assert not Path(store.url).exists()  # an empty one would hide the other when it is mounted again


@pytest.mark.parametrize("sweeps_before", [0, 1])
@BOTH_STORES
def test_an_upload_of_the_same_bytes_in_the_middle_of_a_sweep_is_not_lost(store: RunStore, sweeps_before: int) -> None:
    """Files that are old at once: the sweep looks, the same file is received and submitted, the sweep goes on."""
    sha256, submitted = store.receive(io.BytesIO(TEXT), "run").sha256, list[str]()

    def look_then_submit(files: Collection[str]) -> list[str]:
        found = [*submitted]
        if sha256 in files and not submitted:
            store.receive(io.BytesIO(TEXT), "run")
            submitted.append(sha256)
        return found

    for _ in range(sweeps_before):
        store.sweep(lambda _: [], 0)
    for _ in range(3):
        store.sweep(look_then_submit, 0)
        with store.open_run(sha256) as stream:
            assert stream.read(1000) == TEXT
    assert len(names(store)) == 1


@BOTH_STORES
def test_a_file_that_no_submission_names_is_removed_after_its_time_aside(store: RunStore) -> None:
    sha256 = store.receive(io.BytesIO(TEXT), "run").sha256
    for seconds, is_there in ((DAY, True), (0, True), (DAY, True), (0, False)):
        store.sweep(lambda _: [], seconds)
        assert bool(names(store)) == is_there
    with pytest.raises(Missing), store.reading(sha256):
        pass


def test_what_killed_processes_left_half_written_is_swept(store: RunStore) -> None:
    incoming = Path(store.url) / "incoming"
    (incoming / "young").write_bytes(b"x")
    (incoming / "old").write_bytes(b"x")
    os.utime(incoming / "old", (time.time() - 2 * DAY,) * 2)
    store.sweep(lambda _: [])
    assert [path.name for path in incoming.iterdir()] == ["young"]


DOCUMENTS, SCORES = ("d1", "ä-2", "d" * 255), np.array([0.1, -0.0, -1e300])
WITH_DECISIONS = RankedList(DOCUMENTS, SCORES, np.array([True, False, True]))


@pytest.mark.parametrize(
    "kept", [RankedList(DOCUMENTS, SCORES), WITH_DECISIONS, RankedList((), np.empty(0), np.empty(0, np.bool_))]
)
@BOTH_STORES
def test_a_ranked_list_is_read_as_it_was_kept(store: RunStore, kept: RankedList) -> None:
    store.keep_ranked_lists(7, 10, 4, [(2, kept)])
    found = store.ranked_list(7, 10, 2)
    assert found.documents == kept.documents
    assert found.scores.tobytes() == kept.scores.tobytes()
    assert (found.decisions is None) == (kept.decisions is None)
    assert found.decisions is None or found.decisions.tolist() == list(kept.decisions)


@BOTH_STORES
def test_a_query_that_the_run_lacks_has_an_empty_list(store: RunStore) -> None:
    store.keep_ranked_lists(7, 10, 3, [(1, WITH_DECISIONS)])
    assert [len(store.ranked_list(7, 10, position)) for position in range(5)] == [0, 3, 0, 0, 0]
    with pytest.raises(Damaged):
        store.ranked_list(7, 9, 1)


def test_one_query_is_read_without_the_rest(store: RunStore) -> None:
    queries, lines = 300, 500
    lists = {
        query: RankedList(tuple(f"d{query}-{rank}" for rank in range(lines)), np.arange(lines, 0.0, -1))
        for query in range(queries)
    }
    store.keep_ranked_lists(7, 10, queries, lists.items())
    (file,) = files(store)
    content = bytearray(file.read_bytes())
    first_block = int.from_bytes(content[16:24], "little")
    content[first_block : len(content) // 2] = bytes(len(content) // 2 - first_block)
    file.write_bytes(content)
    assert store.ranked_list(7, 10, 290).documents == lists[290].documents
    with pytest.raises(Unavailable, match="damaged"):
        store.ranked_list(7, 10, 1)


@pytest.mark.parametrize("size", [0, 7, 15, 20, 60])
def test_a_copy_that_lost_its_end_is_said_to_be_damaged(store: RunStore, size: int) -> None:
    store.keep_ranked_lists(7, 10, 2, [(1, WITH_DECISIONS)])
    (file,) = files(store)
    file.write_bytes(file.read_bytes()[:size])
    with pytest.raises(Unavailable, match="made again"):
        store.ranked_list(7, 10, 1)


def test_a_flipped_byte_anywhere_in_a_copy_is_found_and_the_copy_noted_to_be_made_again(store: RunStore) -> None:
    store.keep_ranked_lists(7, 10, 5, [(position, WITH_DECISIONS) for position in (0, 2, 3)])
    (file,) = files(store)
    content = file.read_bytes()

    def is_found() -> bool:
        try:
            for position in range(5):
                store.ranked_list(7, 10, position)
        except Damaged:
            return True
        return False

    for place in range(len(content)):
        file.write_bytes(content[:place] + bytes([content[place] ^ (1 << place % 8)]) + content[place + 1 :])
        assert is_found(), f"byte {place} of {len(content)}"
    assert store.damaged_copies() == [(7, 10)]
    store.copy_is_done(7, 10)
    assert store.damaged_copies() == []


def test_the_copy_of_another_run_in_its_place_is_found(store: RunStore) -> None:
    store.keep_ranked_lists(7, 10, 2, [(1, WITH_DECISIONS)])
    (file,) = files(store)
    content = file.read_bytes()
    store.keep_ranked_lists(8, 10, 2, [(1, WITH_DECISIONS)])
    (other,) = [path for path in files(store) if path != file]
    other.write_bytes(content)
    with pytest.raises(Damaged):
        store.ranked_list(8, 10, 1)
