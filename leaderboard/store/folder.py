"""A store in a folder that only its owner may read. Files are written beside, flushed, and put in place by a rename."""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from leaderboard.errors import Missing, NoStore
from leaderboard.private_files import private_folder
from leaderboard.store.places import INCOMING, MARK, RUNS


@contextmanager
def file_system() -> Iterator[None]:
    """Raises NoStore when the file system refuses to read or write in this block: full, read-only or gone."""
    try:
        yield
    except OSError as error:
        raise NoStore(str(error)) from error


@contextmanager
def temporary_file(folder: Path) -> Iterator[Path]:
    """An empty file that only its owner may read; it is gone after the block, unless it was moved."""
    with file_system():
        handle, name = tempfile.mkstemp(prefix="leaderboard-", dir=folder)
    os.close(handle)
    path = Path(name)
    try:
        yield path
    finally:
        with file_system():
            path.unlink(missing_ok=True)


class Folder:
    """A folder as a Place. One that was not made by this program, such as an empty volume in the store's place, is no
    store.
    """

    mark = MARK

    def __init__(self, root: Path) -> None:
        self._root = root

    def __str__(self) -> str:
        return str(self._root.absolute())

    def make(self) -> None:
        with file_system():
            private_folder(self._root)
            if not any((self._root / name).exists() for name in (INCOMING, RUNS)):
                private_folder(self._root / MARK)
                private_folder(self._root / INCOMING)

    def incoming(self) -> AbstractContextManager[Path]:
        with file_system():
            private_folder(self._root / INCOMING)
        return temporary_file(self._root / INCOMING)

    def prepare(self, path: Path, name: str, md5: str) -> None:  # noqa: ARG002  # these are for other places
        with file_system():
            _flush(path)

    def finish(self, path: Path, name: str) -> None:
        self.put(path, name)

    def put(self, path: Path, name: str) -> None:
        target = self._root / name
        with file_system():
            private_folder(target.parent)
            _flush(path)
            path.replace(target)
            _flush(target.parent)

    @contextmanager
    def reading(self, name: str) -> Iterator[Path]:
        yield self._existing(name)

    def read_part(self, name: str, start: int, size: int) -> bytes:
        with file_system(), self._existing(name).open("rb") as file:
            file.seek(start)
            return file.read(size)

    def names(self, prefix: str) -> Iterator[tuple[str, float]]:
        with file_system():
            paths = sorted((self._root / prefix).rglob("*"))
        for path in paths:
            with file_system(), suppress(FileNotFoundError):
                if path.is_file():
                    yield str(path.relative_to(self._root)), time.time() - path.stat().st_mtime

    def remove(self, name: str) -> None:
        with file_system():
            (self._root / name).unlink(missing_ok=True)

    def exists(self, name: str) -> bool:
        with file_system():
            return (self._root / name).exists()

    def _existing(self, name: str) -> Path:
        path = self._root / name
        if not self.exists(name):
            if name.startswith(RUNS) and self.exists(MARK) and not self.exists(RUNS):  # all were moved away
                raise NoStore(f"{self} has no folder {RUNS}")
            raise Missing(f"The stored file {path.name} is missing.")
        return path


def _flush(path: Path) -> None:
    """Makes a file's bytes, or a rename in a folder, survive a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
