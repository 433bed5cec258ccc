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


def require_hashes(entry: RunEntry, path: Path, received: Received | None = None) -> None:
    """Raises BadInput for a file that is not the one whose MD5 or SHA-256 the manifest has.

    Publishers hash the run as they got it, which may have been plain where the archive has it gzipped.

    received  what the store has said of it already
    """
    for name, said in (("sha256", entry.sha256), ("md5", entry.md5)):
        own = getattr(received, name) if received is not None else hash_of(path, name) if said else ""
        if said and said != own and said != _hash_of_text(path, name):
            title = {"sha256": "SHA-256", "md5": "MD5"}[name]
            raise BadInput(f"is not the file that the manifest means: its {title} is {own}, not {said}")


def _hash_of_text(path: Path, name: str) -> str:
    digest = hashlib.new(name, usedforsecurity=False)
    with open_plain(path) as text:
        while piece := text.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()
