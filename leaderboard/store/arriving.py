"""A run file as it arrives: hashed, counted and bounded."""

import hashlib
from contextlib import suppress
from pathlib import Path, PureWindowsPath

from leaderboard.config import Config
from leaderboard.errors import FileRejected, TooLarge
from leaderboard.formats import Limits, open_plain
from leaderboard.formats.plain_text import BYTE_ORDER_MARK, GZIP_MAGIC, NO_CAP
from leaderboard.frozen import frozen
from leaderboard.store.folder import file_system

PIECE = 1 << 18  # bytes read at once
LONGEST_FILENAME = 200  # characters


@frozen
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
    """A file as it arrives: written to `path`, hashed and counted. `filename` has no folders (of either kind of path)
    and no characters that can't be seen.
    """

    def __init__(self, path: Path, filename: str, config: Config) -> None:
        self.path = path
        last = PureWindowsPath(filename).name
        self.filename = "".join(filter(str.isprintable, last))[-LONGEST_FILENAME:] or "run"
        self._config = config
        self._size = 0
        self._sha256 = hashlib.sha256()
        self._md5 = hashlib.md5(usedforsecurity=False)
        with file_system():
            self._file = path.open("wb")

    def write(self, data: bytes | bytearray) -> None:
        """Raises TooLarge past the cap, and then for whatever comes; NoStore when it can't be written."""
        self._size += len(data)
        self._require_size()
        self._sha256.update(data)
        self._md5.update(data)
        with file_system():
            self._file.write(data)

    def close(self) -> None:
        with file_system():
            self._file.close()

    def whole(self) -> Path:
        """Where it lies, now that all of it has come. Raises TooLarge for what `write` refused."""
        self._require_size()
        self.close()
        return self.path

    def received(self) -> Received:
        """What it is, now that all of it has come. Raises TooLarge as `whole` does, and over the cap of text."""
        path = self.whole()
        with file_system(), path.open("rb") as file:
            start = file.read(len(BYTE_ORDER_MARK))
        sha256, md5 = self._sha256.hexdigest(), self._md5.hexdigest()
        text_sha256, text_size = sha256, self._size
        if text_size > self._config.text_bytes or start.startswith((GZIP_MAGIC, BYTE_ORDER_MARK)):
            with suppress(FileRejected):  # what is wrong with it is said later, with every other problem
                text_sha256, text_size = self._hash_text(path)
        return Received(sha256, md5, text_sha256, self._size, text_size, self.filename)

    def _hash_text(self, path: Path) -> tuple[str, int]:
        """SHA-256 and size of the text, where it is not what was received."""
        text_sha256, text_size, cap = hashlib.sha256(), 0, self._config.text_bytes
        with open_plain(path, Limits(expanded_bytes=NO_CAP), self.filename) as text:
            while piece := text.read(PIECE):
                text_size += len(piece)
                if text_size > cap:
                    raise TooLarge(f"The file expands to more than {cap:,} bytes, the most taken here.")
                text_sha256.update(piece)
        return text_sha256.hexdigest(), text_size

    def _require_size(self) -> None:
        cap = self._config.upload_bytes
        if self._size > cap:
            raise TooLarge(f"The file is larger than {cap:,} bytes, the most taken here; compress it with gzip.")
