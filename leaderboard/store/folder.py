"""A folder as the place where files lie, each under a key such as `runs/ab/abcdef…`."""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from leaderboard.errors import NoStore, NotFound
from leaderboard.owner_only import private_folder

__all__ = ["Folder", "reading", "writing"]

INCOMING = "incoming"  # what is being written; nothing there is a file of ours yet
SET_ASIDE = "set-aside"


class Folder:
    """Files in a folder that only its owner may read: written beside, flushed, put in place by one rename."""

    def __init__(self, root: Path, must_exist: bool = False) -> None:
        """must_exist: the folder is not made where it is missing, and what is asked of it raises NoStore meanwhile."""
        self._root = root
        if not must_exist:
            private_folder(root)
            private_folder(root / INCOMING)

    @contextmanager
    def incoming(self) -> Iterator[Path]:
        """A path to write a file to; it is gone after the block, unless it was kept."""
        with writing():
            handle, name = tempfile.mkstemp(dir=self._root / INCOMING)
        os.close(handle)
        path = Path(name)
        try:
            yield path
        finally:
            with writing():
                path.unlink(missing_ok=True)

    def keep(self, path: Path, key: str) -> None:
        """Puts an incoming file in place for good. Another one under the same key is replaced in one step."""
        target = self._root / key
        with writing():
            with path.open("rb") as file:
                os.fsync(file.fileno())
            private_folder(target.parent)
            path.replace(target)
            _flush(target.parent)

    @contextmanager
    def local(self, key: str) -> Iterator[Path]:
        """The file's path on this machine, for as long as the block runs. Raises NotFound when there is none."""
        path = self._root / key
        try:
            path.stat()
        except FileNotFoundError:
            # Without the folder around them all, it is the store that is missing: unmounted, moved or not there yet.
            if not (self._root / key.partition("/")[0]).is_dir():
                raise NoStore(f"{self._root} is no run store") from None
            raise NotFound(f"The run store has no file {key}.") from None
        except OSError as error:
            raise NoStore(str(error)) from error
        yield path

    def keys(self, prefix: str, seconds: float) -> Iterator[str]:
        """The keys below `prefix/` of files that were put there `seconds` ago or earlier."""
        before = time.time() - seconds
        with reading():
            files = list((self._root / prefix).rglob("*"))
        for path in files:
            if _older(path, before):
                yield path.relative_to(self._root).as_posix()

    def remove(self, key: str, seconds: float) -> bool:
        """Removes a file, unless it was put there anew in the last `seconds`; True when it was removed."""
        path = self._root / key
        aside = self._root / SET_ASIDE / key.replace("/", "-")
        with writing():
            private_folder(aside.parent)
            try:
                path.replace(aside)
            except FileNotFoundError:
                return False
            # Looked at only now that it is out of the way: what is put in its place from here on is another file.
            if not _older(aside, time.time() - seconds):
                aside.replace(path)
                return False
            aside.unlink()
        return True

    def note(self, kind: str, name: str) -> None:
        """Notes a name, for any process to find in `notes(kind)`."""
        with writing():
            (self._root / kind).mkdir(exist_ok=True)
            (self._root / kind / name).touch()

    def notes(self, kind: str) -> list[str]:
        """The names that were noted and not removed, in order."""
        with reading():
            try:
                return sorted(path.name for path in (self._root / kind).iterdir())
            except FileNotFoundError:
                return []

    def note_age(self, kind: str, name: str) -> float | None:
        """For how many seconds a name has been noted; None when it is not."""
        with reading():
            try:
                return time.time() - (self._root / kind / name).stat().st_mtime
            except FileNotFoundError:
                return None

    def remove_note(self, kind: str, name: str) -> None:
        with writing():
            (self._root / kind / name).unlink(missing_ok=True)

    def sweep_incoming(self, seconds: float) -> None:
        """Removes incoming files that are `seconds` old or older: the processes that wrote them were killed."""
        with writing():
            for path in (self._root / INCOMING).iterdir():
                if _older(path, time.time() - seconds):
                    path.unlink(missing_ok=True)


@contextmanager
def writing() -> Iterator[None]:
    """Raises NoStore when the file system refuses to write in this block: full, read-only or gone."""
    try:
        yield
    except OSError as error:
        raise NoStore(str(error)) from error


@contextmanager
def reading() -> Iterator[None]:
    """Raises NoStore when the file system refuses to read in this block."""
    try:
        yield
    except OSError as error:
        raise NoStore(str(error)) from error


def _older(path: Path, moment: float) -> bool:
    with reading():
        try:
            return path.is_file() and path.stat().st_mtime <= moment
        except FileNotFoundError:
            return False


def _flush(folder: Path) -> None:
    """Makes a rename in the folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
