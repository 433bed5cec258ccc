"""Whether a file is the one whose hashes its publisher gives."""

import hashlib
from pathlib import Path

from leaderboard.errors import BadInput
from leaderboard.formats import open_plain
from leaderboard.store import Received
from leaderboard.transfer.manifest import RunEntry

__all__ = ["hash_of", "require_hashes"]

PIECE = 1 << 20


def hash_of(path: Path, name: str) -> str:
    """Of a file's bytes, in hexadecimal; `name`: of the hash, as hashlib has it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, name).hexdigest()


def require_hashes(entry: RunEntry, received: Received, path: Path) -> None:
    """Raises BadInput for a file that is not the one whose MD5 or SHA-256 the manifest has.

    Publishers hash the run as they got it, which may have been plain where the archive has it gzipped.
    """
    if entry.sha256 and entry.sha256 not in (received.sha256, received.text_sha256):
        raise BadInput(f"is not the file that the manifest means: its SHA-256 is {received.sha256}, not {entry.sha256}")
    if entry.md5 and entry.md5 != received.md5 and entry.md5 != _md5_of_text(path):
        raise BadInput(f"is not the file that the manifest means: its MD5 is {received.md5}, not {entry.md5}")


def _md5_of_text(path: Path) -> str:
    md5 = hashlib.md5(usedforsecurity=False)
    with open_plain(path) as text:
        while piece := text.read(PIECE):
            md5.update(piece)
    return md5.hexdigest()
