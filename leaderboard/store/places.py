"""What keeps the files of a store: a folder or a bucket, and how files are named there."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

RUNS = "runs"
RANKED = "ranked"
REMAKE = "remake"  # an empty file for each ranked copy that has to be made again
INCOMING = "incoming"  # what is being written; nothing there is a file of ours yet
SET_ASIDE = "set-aside"
MARK = "leaderboard-run-store"  # a folder: without it this is some other place, and nothing here is believed
IDENTITY = "id"  # a file in it; the database has the same


class Place(Protocol):
    """Files under names such as `runs/ab/SHA256`. Every function raises NoStore when the place does not answer.

    mark: what `make` made, without which this is no store
    """

    mark: str

    def make(self) -> None:
        """Makes it where it is missing."""

    def incoming(self) -> AbstractContextManager[Path]:
        """An empty file on this machine, for `put`; it is gone after the block."""

    def prepare(self, path: Path, name: str, md5: str) -> None:
        """Does of `put` what takes long, so that `finish` is quick. Does nothing where the same bytes are there."""

    def finish(self, path: Path, name: str) -> None:
        """Does the rest."""

    def put(self, path: Path, name: str) -> None:
        """Puts a file of `incoming`, or of `reading`, in place for good. Another one of this name is replaced."""

    def reading(self, name: str) -> AbstractContextManager[Path]:
        """The file on this machine, to be read within the block. Raises Missing where there is none."""

    def read_part(self, name: str, start: int, size: int) -> bytes:
        """Bytes from the middle of a file; fewer at its end. Raises Missing where there is none."""

    def names(self, prefix: str) -> Iterator[tuple[str, float]]:
        """The files in a folder and below, each with its age in seconds."""

    def remove(self, name: str) -> None:
        """Removes a file if it is there."""

    def exists(self, name: str) -> bool:
        """Whether there is such a file."""
