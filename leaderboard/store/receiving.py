"""Takes an upload in as it arrives: written, hashed and measured, under caps."""

import hashlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

from leaderboard.errors import FileRejected, TooLarge
from leaderboard.formats import Limits, open_plain
from leaderboard.store.folder import writing

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


class Arriving:
    """A file as it arrives: written to `path`, hashed and counted."""

    def __init__(self, path: Path, filename: str, caps: Caps) -> None:
        self.path = path
        self.filename = plain_filename(filename)
        self._caps = caps
        self._size = 0
        self._sha256 = hashlib.sha256()
        self._md5 = hashlib.md5(usedforsecurity=False)
        with writing():
            self._file = path.open("wb")

    def write(self, data: bytes | bytearray) -> None:
        """Raises TooLarge past the cap, and then for whatever comes; NoStore when it can't be written."""
        self._size += len(data)
        self._require_size()
        self._sha256.update(data)
        self._md5.update(data)
        with writing():
            self._file.write(data)

    def close(self) -> None:
        with writing():
            self._file.close()

    def whole(self) -> Path:
        """Where it lies, now that all of it has come. Raises TooLarge for what `write` refused."""
        self._require_size()
        self.close()
        return self.path

    def received(self) -> Received:
        """What it is, now that all of it has come. Raises TooLarge as `whole` does, and over the cap of text."""
        path, cap = self.whole(), self._caps.text_bytes
        text_sha256 = hashlib.sha256()
        text_size = 0
        try:
            with open_plain(path, Limits(expanded_bytes=NO_CAP), self.filename) as text:
                while piece := text.read(PIECE):
                    text_size += len(piece)
                    if text_size > cap:
                        raise TooLarge(f"The file expands to more than {cap:,} bytes, the most taken here.")
                    text_sha256.update(piece)
        except FileRejected:  # what is wrong with it is said later, with every other problem
            text_sha256, text_size = self._sha256, self._size
        return Received(
            sha256=self._sha256.hexdigest(),
            md5=self._md5.hexdigest(),
            text_sha256=text_sha256.hexdigest(),
            size=self._size,
            text_size=text_size,
            filename=self.filename,
        )

    def _require_size(self) -> None:
        cap = self._caps.upload_bytes
        if self._size > cap:
            raise TooLarge(f"The file is larger than {cap:,} bytes, the most taken here; compress it with gzip.")


def plain_filename(filename: str) -> str:
    """Without folders (of either kind of path) and without characters that can't be seen."""
    last = PureWindowsPath(PurePosixPath(filename).name).name
    return "".join(c for c in last if c.isprintable())[-LONGEST_FILENAME:] or "run"
