"""Takes an upload in as it arrives: written, hashed and measured in one pass, under caps."""

import hashlib
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import BinaryIO

from leaderboard.errors import FileRejected, TooLarge
from leaderboard.formats import ByteSource, Limits, open_plain
from leaderboard.store.folder import writing

__all__ = ["Caps", "Received", "plain_filename", "receive"]

PIECE = 1 << 18  # bytes read at once
LONGEST_FILENAME = 200  # characters
NO_CAP = 1 << 62  # our own caps come first and say more


@dataclass(frozen=True, slots=True)
class Caps:
    """The largest upload: `upload_bytes` as received, `text_bytes` after decompression."""

    upload_bytes: int = 512 * 2**20
    text_bytes: int = 4 * 2**30


@dataclass(frozen=True, slots=True)
class Received:
    """A file in the store.

    sha256, md5, size       of the bytes as received; the first is the receipt, the second what archives publish
    text_sha256, text_size  of the text after decompression, which tells one run from another however it was compressed;
                            of the bytes themselves when they can't be read as text
    filename                what the sender called it, for messages only
    """

    sha256: str
    md5: str
    text_sha256: str
    size: int
    text_size: int
    filename: str


class _Copying:
    """Reads `source`; every byte that comes through is written to `target`, hashed and counted."""

    def __init__(self, source: ByteSource, target: BinaryIO, cap: int) -> None:
        self._source = source
        self._target = target
        self._cap = cap
        self.size = 0
        self.sha256 = hashlib.sha256()
        self.md5 = hashlib.md5(usedforsecurity=False)

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes, b"" at the end. Raises TooLarge past the cap, NoStore when they can't be written."""
        piece = self._source.read(size)
        self.size += len(piece)
        if self.size > self._cap:
            raise TooLarge(f"The file is larger than {self._cap:,} bytes, the most taken here; compress it with gzip.")
        self.sha256.update(piece)
        self.md5.update(piece)
        with writing():
            self._target.write(piece)
            if not piece:
                self._target.flush()
        return piece

    def drain(self) -> None:
        while self.read(PIECE):
            pass


def receive(source: ByteSource, target: BinaryIO, filename: str, caps: Caps) -> Received:
    """Copies `source` to its end. Raises TooLarge over a cap, and whatever `source` raises when it breaks off."""
    copying = _Copying(source, target, caps.upload_bytes)
    text_sha256 = hashlib.sha256()
    text_size = 0
    try:
        with open_plain(copying, Limits(expanded_bytes=NO_CAP), filename) as text:
            while piece := text.read(PIECE):
                text_size += len(piece)
                if text_size > caps.text_bytes:
                    raise TooLarge(f"The file expands to more than {caps.text_bytes:,} bytes, the most taken here.")
                text_sha256.update(piece)
        copying.drain()
    except FileRejected:
        # What is wrong with it is said after it was read whole, with every other problem: here it is only kept.
        copying.drain()
        text_sha256, text_size = copying.sha256, copying.size
    return Received(
        sha256=copying.sha256.hexdigest(),
        md5=copying.md5.hexdigest(),
        text_sha256=text_sha256.hexdigest(),
        size=copying.size,
        text_size=text_size,
        filename=plain_filename(filename),
    )


def plain_filename(filename: str) -> str:
    """Without folders (of either kind of path) and without characters that can't be seen."""
    last = PureWindowsPath(PurePosixPath(filename).name).name
    return "".join(c for c in last if c.isprintable())[-LONGEST_FILENAME:] or "run"
