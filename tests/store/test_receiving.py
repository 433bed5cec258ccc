"""What is kept of an upload, and what is refused."""

import gzip
import hashlib
import io

import pytest

from leaderboard.errors import TooLarge
from leaderboard.store import RunStore
from tests.store.conftest import files

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


def test_a_file_is_kept_once_byte_for_byte_under_its_hash(store: RunStore) -> None:
    received = store.receive(io.BytesIO(TEXT), "run.txt")
    assert store.receive(io.BytesIO(TEXT), "other") != received
    assert len(files(store)) == 1
    assert (received.sha256, received.size) == (_sha256(TEXT), len(TEXT))
    assert received.md5 == hashlib.md5(TEXT).hexdigest()
    assert (received.text_sha256, received.text_size) == (_sha256(TEXT), len(TEXT))
    with store.run_file(received.sha256) as path:
        assert path.read_bytes() == TEXT


@pytest.mark.parametrize("members", [1, 2])
def test_a_compressed_file_is_kept_as_it_is_and_measured_as_text(store: RunStore, members: int) -> None:
    packed = b"".join(gzip.compress(part, mtime=0) for part in ([TEXT] if members == 1 else [TEXT[:19], TEXT[19:]]))
    received = store.receive(io.BytesIO(packed), "run.gz")
    assert (received.sha256, received.size) == (_sha256(packed), len(packed))
    assert (received.text_sha256, received.text_size) == (_sha256(TEXT), len(TEXT))
    with store.run_file(received.sha256) as path:
        assert path.read_bytes() == packed


@pytest.mark.parametrize(
    "broken", [gzip.compress(TEXT, mtime=0)[:-6], gzip.compress(TEXT, mtime=0) + b"more", b"PK\x03\x04rest", b""]
)
def test_what_is_no_text_is_kept_whole_for_its_problems_to_be_told_later(store: RunStore, broken: bytes) -> None:
    received = store.receive(io.BytesIO(broken), "run.gz")
    assert (received.sha256, received.text_sha256) == (_sha256(broken), _sha256(broken))
    with store.run_file(received.sha256) as path:
        assert path.read_bytes() == broken


def test_an_upload_that_is_cut_off_leaves_no_file(store: RunStore) -> None:
    for start in (b"", TEXT[:10], TEXT, gzip.compress(TEXT)[:20]):
        with pytest.raises(ConnectionResetError):
            store.receive(CutOff(start), "run")
    assert files(store) == []


def test_a_file_is_put_in_its_place_when_all_around_it_has_come_and_not_when_that_breaks(store: RunStore) -> None:
    with pytest.raises(ConnectionResetError), store.receiving(io.BytesIO(TEXT), "run"):
        raise ConnectionResetError
    assert files(store) == []
    with store.receiving(io.BytesIO(TEXT), "run") as (received, _):
        assert list(store.orphan_candidates(0)) == []
    with store.open_run(received.sha256) as stream:
        assert stream.read() == TEXT


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
