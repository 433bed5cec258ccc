"""Reads a stored run and makes sure that its bytes are those that were received."""

import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from leaderboard.errors import Damaged
from leaderboard.store.folder import reading

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


PIECE = 1 << 18  # bytes read at once


class _Hashing(io.RawIOBase):
    """Reads a file and hashes what it gives. Raises NoStore when the file system refuses."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.sha256 = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        with reading():
            count: int = self._file.readinto(buffer)  # type: ignore[attr-defined]  # files have it, the stubs' base lacks it
        self.sha256.update(memoryview(buffer).cast("B")[:count])
        return count


@contextmanager
def open_checked(path: Path, sha256: str) -> Iterator[io.RawIOBase]:
    """The file as a stream that is read once, from its start.

    When the block ends, what it left unread is read too. Raises Damaged then when the bytes are not those of `sha256`,
    in place of whatever was raised in the block: what is wrong with a damaged file is not its sender's doing.
    """
    with reading():
        file = path.open("rb", buffering=0)
    with file:
        stream = _Hashing(file)
        try:
            yield stream
        finally:
            while stream.read(PIECE):
                pass
            if stream.sha256.hexdigest() != sha256:
                raise Damaged(f"The stored file of this run is damaged: it is not the one of the receipt {sha256}.")
