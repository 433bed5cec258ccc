"""The kinds of run store: a folder, and a bucket of an S3 service in this process (moto's, on 127.0.0.1)."""

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

BOTH_STORES = pytest.mark.parametrize("store_kind", ["folder", "bucket"])
BUCKET = "tests"


@contextmanager
def s3_service(port: int = 0) -> Iterator[str]:
    """The address of an S3 service that has the bucket `tests`; services of one process have the same objects."""
    from moto.server import ThreadedMotoServer  # takes a second

    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # else a line for each request
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with urlopen(Request(f"http://{host}:{port}/{BUCKET}", method="PUT")):
        pass
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """A service for all tests of this process."""
    with s3_service() as endpoint:
        yield endpoint


@pytest.fixture
def bucket_url(s3_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A prefix of this test's own; its service is named in the environment, as an operator names it."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "tests")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of the tests")
    return f"s3://{BUCKET}/{secrets.token_hex(4)}/store"


@pytest.fixture
def store_kind() -> str:
    """A folder, unless BOTH_STORES is said."""
    return "folder"


@pytest.fixture
def store_url(store_kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """Where a store of this test's own is, as LEADERBOARD_STORE_URL names it."""
    if store_kind == "folder":
        return str(tmp_path / "store")
    url: str = request.getfixturevalue("bucket_url")
    return url
