"""What a bucket does otherwise than a folder: parts, ranges, who it belongs to, and what happens when it is away."""

import datetime as dt
import io
import logging
import math
import os
import re
import socket
import time
from pathlib import Path

import numpy as np
import obstore
import pytest
from obstore.store import S3Store

from leaderboard.errors import BadInput, Damaged, Missing, NoStore, OtherStore
from leaderboard.store import RankedList, RunStore, bucket
from leaderboard.store.bucket import PART, Bucket
from tests.support.stores import BUCKET

TEXT = b"q1 Q0 d1 1 2.0 tag\n"


@pytest.fixture
def store(bucket_url: str) -> RunStore:
    return RunStore(bucket_url)


def _objects(store: RunStore) -> S3Store:
    """The service's own view of the prefix."""
    return S3Store(BUCKET, prefix=store.url.removeprefix(f"s3://{BUCKET}/"), client_options={"allow_http": True})


def _requests(caplog: pytest.LogCaptureFixture) -> list[tuple[str, int]]:
    """Method and status of each request that the service answered."""
    lines = (record.getMessage() for record in caplog.records if record.name == "werkzeug")
    plain = (re.sub(r"\x1b\[\d+m", "", line) for line in lines)
    return [(found[1], int(found[2])) for line in plain if (found := re.search(r'"(\w+) .*" (\d{3})', line))]


def test_a_large_file_goes_up_in_parts_and_comes_back_the_same(store: RunStore) -> None:
    content = os.urandom(2 * PART + 1000)
    received = store.receive(io.BytesIO(content), "run")
    name = f"runs/{received.sha256[:2]}/{received.sha256}"
    tag = obstore.head(_objects(store), name)["e_tag"] or ""
    assert tag.endswith('-3"')  # how S3 marks an object of three parts
    with store.open_run(received.sha256) as stream:
        assert b"".join(iter(lambda: stream.read(PART), b"")) == content


def test_a_file_that_is_there_is_not_sent_again(store: RunStore, caplog: pytest.LogCaptureFixture) -> None:
    store.receive(io.BytesIO(TEXT), "run")
    with caplog.at_level(logging.INFO, "werkzeug"):
        store.receive(io.BytesIO(TEXT), "run")
    assert {method for method, _ in _requests(caplog)} == {"GET", "HEAD"}


@pytest.mark.parametrize("size", [19, PART + 1], ids=["one part", "two parts"])
def test_a_damaged_object_is_replaced_by_the_next_upload_of_the_file_and_sent_once(
    store: RunStore, caplog: pytest.LogCaptureFixture, size: int
) -> None:
    content = os.urandom(size)
    sha256 = store.receive(io.BytesIO(content), "run").sha256
    obstore.put(_objects(store), f"runs/{sha256[:2]}/{sha256}", bytes(size))
    with caplog.at_level(logging.INFO, "werkzeug"):
        store.receive(io.BytesIO(content), "run")
    with store.open_run(sha256) as stream:
        assert b"".join(iter(lambda: stream.read(PART), b"")) == content
    assert [method for method, _ in _requests(caplog)].count("PUT") == math.ceil(size / PART)


def test_other_bytes_than_the_receipts_are_found_when_they_are_read(store: RunStore) -> None:
    sha256 = store.receive(io.BytesIO(TEXT), "run").sha256
    obstore.put(_objects(store), f"runs/{sha256[:2]}/{sha256}", TEXT[:-3])
    with pytest.raises(Damaged, match=sha256), store.open_run(sha256):
        pass


@pytest.mark.parametrize(("queries", "requests"), [(100, 2), (1000, 3)])
def test_one_query_of_a_ranked_list_is_read_by_ranges(
    store: RunStore, caplog: pytest.LogCaptureFixture, queries: int, requests: int
) -> None:
    listed = RankedList(tuple(f"d{number}" for number in np.random.default_rng(0).permutation(500)), np.arange(500.0))
    store.keep_ranked_lists(7, 10, queries, ((position, listed) for position in range(queries)))
    with caplog.at_level(logging.INFO, "werkzeug"):
        assert store.ranked_list(7, 10, queries - 1).documents == listed.documents
    assert _requests(caplog) == [("GET", 206)] * requests  # 206: a part


def test_a_damaged_copy_is_noted_and_made_again(store: RunStore) -> None:
    store.keep_ranked_lists(7, 10, 1, [(0, RankedList(("d",), np.ones(1)))])
    assert store.copy_is_sound(7, 10) is True
    obstore.put(_objects(store), "ranked/007/7-10", b"RANKED")
    assert store.copy_is_sound(7, 10) is False
    with pytest.raises(Damaged, match="made again"):
        store.ranked_list(7, 10, 0)
    assert store.damaged_copies() == [(7, 10)]
    store.copy_is_done(7, 10)
    assert store.damaged_copies() == []


def test_a_new_prefix_takes_an_id_and_another_databases_or_a_half_copied_one_is_refused(store: RunStore) -> None:
    assert store.identity is None
    store.identify("an id")
    store.require("an id")
    store.check()
    with pytest.raises(OtherStore) as refused:
        store.require("another id")
    assert refused.value.in_full.startswith(f"{store.url} is the run store of another database, or a new one. Set")
    assert "or the bucket and prefix, that this database was used with before" in refused.value.in_full
    store.receive(io.BytesIO(TEXT), "run")
    for name in ("id", "made"):
        obstore.delete(_objects(store), f"leaderboard-run-store/{name}")
    for emptied in (RunStore(store.url), RunStore(f"{store.url}/empty", must_exist=True)):
        with pytest.raises(OtherStore) as refused:
            emptied.require("an id")
        assert refused.value.in_full.startswith(f"{emptied.url} is no run store: it has no leaderboard-run")


def test_a_bucket_that_is_not_there_is_the_stores_fault_and_an_object_is_missing(bucket_url: str) -> None:
    nowhere = RunStore("s3://no-such-bucket/store", must_exist=True)
    for ask in (lambda: nowhere.identity, nowhere.check, lambda: nowhere.receive(io.BytesIO(TEXT), "run")):
        with pytest.raises(NoStore) as refused:
            ask()
        assert refused.value.reason == "there is no bucket no-such-bucket; make it, or set LEADERBOARD_STORE_URL"
    nowhere.bound = "an id"
    with pytest.raises(NoStore), nowhere.reading("0" * 64):
        pass
    with pytest.raises(Missing), RunStore(bucket_url).reading("0" * 64):
        pass
    for url in ("s3://", "s3://bucket/a//b", "s3://bucket/../b", 's3://"bucket', "s3://bucket/a\nNAME=value"):
        with pytest.raises(BadInput, match=f"expected s3://bucket/prefix, found {url}$"):
            RunStore(url)


def test_a_key_without_its_secret_is_refused_in_words(bucket_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(BadInput, match=r"a variable AWS_…, can't be right: .*SecretAccessKey"):
        RunStore(bucket_url)


@pytest.mark.parametrize("endpoint", ["http://KEY:SECRET@127.0.0.1:1", "http://KEY:S@SECRET@127.0.0.1:1", "SECRET"])
def test_a_key_in_the_address_of_the_service_is_refused_and_not_printed(
    bucket_url: str, monkeypatch: pytest.MonkeyPatch, endpoint: str
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    with pytest.raises(BadInput) as refused:
        RunStore(bucket_url)
    assert refused.value.message == "AWS_ENDPOINT_URL: expected http://host:port or https://host, without a key"


@pytest.mark.parametrize("is_silent", [False, True])
def test_a_service_that_is_away_or_silent_is_given_up(
    bucket_url: str, monkeypatch: pytest.MonkeyPatch, is_silent: bool
) -> None:
    monkeypatch.setattr(bucket, "SECONDS", dt.timedelta(seconds=1))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1] if is_silent else 1
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        store, began = RunStore(bucket_url, must_exist=True), time.monotonic()
        with pytest.raises(NoStore) as refused:
            store.check()
        assert time.monotonic() - began < bucket.SECONDS.total_seconds() + 3
    assert refused.value.reason.startswith(f"{bucket_url}: Generic S3 error: ")
    assert "\n" not in refused.value.reason


def test_nothing_is_left_in_the_folder_of_temporary_files(
    store: RunStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    sha256 = store.receive(io.BytesIO(TEXT), "run").sha256
    with store.reading(sha256) as path:
        assert (path.parent, path.stat().st_mode & 0o777) == (tmp_path, 0o600)
    with pytest.raises(Missing), store.reading("0" * 64):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_does_not_give_the_file_that_is_sent_is_a_store_that_is_away(
    bucket_url: str, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NoStore) as raised:
        Bucket(bucket_url.removeprefix("s3://")).put(tmp_path / "file" / "within", "runs/ab/abc")
    assert "Not a directory" in raised.value.reason
