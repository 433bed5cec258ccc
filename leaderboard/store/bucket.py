"""A store in a bucket of any service that speaks S3. Where it is, and who asks, obstore reads from AWS_… variables."""

import os
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import gettempdir

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from leaderboard.errors import BadInput, Missing, NoStore
from leaderboard.store.folder import file_system, temporary_file
from leaderboard.store.places import MARK, RUNS

SECONDS = timedelta(seconds=5)  # after which a request without an answer is given up; one that failed is tried again
PATH = re.compile(r"[\w./+=@ -]+", re.ASCII)  # obstore ends the process at some characters, such as a quote left open
PART = 5 * 2**20  # bytes of one request, so that 1 MB/s is fast enough
PARTS_AT_ONCE = 2
ENDPOINTS = "AWS_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"  # which obstore reads
HOSTS_ROLE = "169.254.169.254"  # where obstore asks for a key if none is set


class Bucket:
    """A prefix of a bucket as a Place. An object is there whole or not at all; another one of its name is replaced.

    A process that has asked for an object can't be forked: obstore's threads don't live on in the new one.
    """

    mark = f"{MARK}/made"

    def __init__(self, path: str) -> None:
        """path: the bucket and the prefix, with slashes between. Raises BadInput where there is no bucket."""
        self._bucket, _, prefix = path.strip("/").partition("/")
        if not PATH.fullmatch(path) or not self._bucket or (prefix and {"", ".", ".."} & {*prefix.split("/")}):
            raise BadInput(f"LEADERBOARD_STORE_URL: expected s3://bucket/prefix, found s3://{path}")
        for name in ENDPOINTS:
            endpoint = os.environ.get(name, "https://")
            if "@" in endpoint or not endpoint.startswith(("http://", "https://")):  # errors would print a key in it
                raise BadInput(f"{name}: expected http://host:port or https://host, without a key")
        self._url = f"s3://{self._bucket}/{prefix}".rstrip("/")
        try:
            self._store = S3Store(
                self._bucket,
                prefix=prefix or None,
                client_options={"timeout": SECONDS, "allow_http": True},  # the endpoint says whether there is TLS
                retry_config={"retry_timeout": SECONDS, "max_retries": 4},
            )
        except (BaseError, ValueError) as error:  # such as a key without its secret
            reason = str(error).partition("\n")[0]
            raise BadInput(f"LEADERBOARD_STORE_URL, or a variable AWS_…, can't be right: {reason}") from error

    def __str__(self) -> str:
        return self._url

    def make(self) -> None:
        if not self.exists(self.mark) and next(self.names(RUNS), None) is None:
            with self._answering(self.mark):
                obstore.put(self._store, self.mark, b"")

    def incoming(self) -> AbstractContextManager[Path]:
        return temporary_file(Path(gettempdir()))

    def prepare(self, path: Path, name: str, md5: str) -> None:
        if self._tag(name) != f'"{md5}"':  # of objects of several parts it never is
            self.put(path, name)

    def finish(self, path: Path, name: str) -> None:
        if not self.exists(name):  # a sweep has just set it aside
            self.put(path, name)

    def put(self, path: Path, name: str) -> None:
        with self._answering(name):
            obstore.put(self._store, name, path, chunk_size=PART, max_concurrency=PARTS_AT_ONCE)

    @contextmanager
    def reading(self, name: str) -> Iterator[Path]:
        with self.incoming() as path:
            with file_system(), path.open("wb") as file, self._answering(name):
                size = obstore.head(self._store, name)["size"]
                for start in range(0, size, PART):
                    file.write(obstore.get_range(self._store, name, start=start, length=min(PART, size - start)))
            yield path

    def read_part(self, name: str, start: int, size: int) -> bytes:
        with self._answering(name):
            return bytes(obstore.get_range(self._store, name, start=start, length=size))

    def names(self, prefix: str) -> Iterator[tuple[str, float]]:
        with self._answering(prefix):
            for objects in obstore.list(self._store, prefix, chunk_size=1000):
                for found in objects:
                    yield found["path"], (datetime.now(UTC) - found["last_modified"]).total_seconds()

    def remove(self, name: str) -> None:
        with self._answering(name):
            obstore.delete(self._store, name)

    def exists(self, name: str) -> bool:
        return self._tag(name) is not None

    def _tag(self, name: str) -> str | None:
        """Of an object, which changes with its bytes; None where there is none."""
        with suppress(Missing), self._answering(name):
            return obstore.head(self._store, name)["e_tag"] or ""
        return None

    @contextmanager
    def _answering(self, name: str) -> Iterator[None]:
        """Raises Missing where there is no such object, and NoStore when the service does not answer or refuses, or the
        disk does not give what is sent."""
        try:
            yield
        except (BaseError, OSError) as error:
            reason = str(error).partition("<?xml")[0].partition("\n")[0].strip()
            if "NoSuchBucket" in str(error):
                raise NoStore(f"there is no bucket {self._bucket}; make it, or set LEADERBOARD_STORE_URL") from error
            if isinstance(error, FileNotFoundError):
                raise Missing(f"The stored file {name.rpartition('/')[2]} is missing.") from error
            if HOSTS_ROLE in reason:
                reason = "no key: set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, but for AWS, AWS_ENDPOINT_URL"
            raise NoStore(f"{self}: {reason}") from error
