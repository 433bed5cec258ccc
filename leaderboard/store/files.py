"""The folder where files lie, each under a key such as `runs/ab/abcdef…`: read with a check, written as they arrive."""

import hashlib
import io
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, BinaryIO

from leaderboard.errors import Damaged, FileRejected, NoStore, NotFound, TooLarge
from leaderboard.formats import Limits, open_plain
from leaderboard.private_files import private_folder

INCOMING = "incoming"  # what is being written; nothing there is a file of ours yet
SET_ASIDE = "set-aside"
ABANDONED_SECONDS = 24 * 3600.0  # an upload that takes longer than this has died
MARK = "leaderboard-run-store"  # an empty folder: without it this is some other place, and nothing here is believed
MADE_BEFORE_FILES = (INCOMING, "runs")  # a folder that has one of these and no mark is not a new store


class Folder:
    """Files in a folder that only its owner may read: written beside, flushed, put in place by one rename."""

    def __init__(self, root: Path, must_exist: bool = False) -> None:
        """must_exist: the folder is not made where it is missing, and what is asked of it raises NoStore meanwhile.

        The same goes for a folder that was not made by this program, such as an empty volume in the store's place.
        """
        self._root = root
        if not must_exist:
            private_folder(root)
            if not any((root / name).exists() for name in MADE_BEFORE_FILES):
                private_folder(root / MARK)
                private_folder(root / INCOMING)

    def require(self) -> None:
        """Raises NoStore when the folder is not the store: unmounted, moved, or another volume in its place."""
        with file_system():
            if not (self._root / MARK).is_dir():
                raise NoStore(f"{self._root} is no run store: it has no folder {MARK}")

    @contextmanager
    def incoming(self) -> Iterator[Path]:
        """A path to write a file to; it is gone after the block, unless it was kept."""
        self.require()
        with file_system():
            private_folder(self._root / INCOMING)
            handle, name = tempfile.mkstemp(dir=self._root / INCOMING)
        os.close(handle)
        path = Path(name)
        try:
            yield path
        finally:
            with file_system():
                path.unlink(missing_ok=True)

    def put(self, path: Path, key: str) -> None:
        """Puts an incoming file in place for good. Another one under the same key is replaced in one step."""
        target = self._root / key
        with file_system():
            with path.open("rb") as file:
                os.fsync(file.fileno())
            self._make_way(target)
            private_folder(target.parent)
            path.replace(target)
            _flush(target.parent)

    def _make_way(self, target: Path) -> None:
        """Sets aside a folder in the place of a file, and a file in the place of the folder around it.

        Not links: what they lead to may be away for a while.
        """
        for path, is_wrong in ((target.parent, Path.is_file), (target, Path.is_dir)):
            if is_wrong(path) and not path.is_symlink():
                private_folder(self._root / SET_ASIDE)
                path.replace(self._root / SET_ASIDE / f"{path.name}-{time.time_ns()}")

    @contextmanager
    def local(self, key: str) -> Iterator[Path]:
        """The file's path on this machine, for as long as the block runs. Raises NotFound when there is none."""
        path = self._root / key
        with file_system():
            try:
                is_there = not stat.S_ISDIR(path.stat().st_mode)
            except FileNotFoundError:
                is_there = False
            is_around = is_there or (self._root / key.partition("/")[0]).is_dir()
        if not is_there:
            self.require()
            if not is_around:  # nothing of the kind was ever kept here, or it was moved away: no single file is missing
                raise NoStore(f"{self._root} has no folder for {key}")
            raise NotFound(f"The run store has no file {key}.")
        yield path

    def keys(self, prefix: str, seconds: float) -> Iterator[str]:
        """The keys below `prefix/` of files that were put there `seconds` ago or earlier."""
        before = time.time() - seconds
        self.require()
        with file_system():
            files = list((self._root / prefix).rglob("*"))
        for path in files:
            if _older(path, before):
                yield path.relative_to(self._root).as_posix()

    def remove(self, key: str, seconds: float) -> bool:
        """Removes a file, unless it was put there anew in the last `seconds`; True when it was removed."""
        path = self._root / key
        aside = self._root / SET_ASIDE / key.replace("/", "-")
        self.require()
        with file_system():
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
        path = self._root / kind / name
        self.require()
        with file_system():
            self._make_way(path)
            private_folder(path.parent)
            path.touch()

    def notes(self, kind: str) -> list[str]:
        """The names that were noted and not removed, in order."""
        with file_system():
            try:
                return sorted(path.name for path in (self._root / kind).iterdir() if path.is_file())
            except (FileNotFoundError, NotADirectoryError):  # nothing was noted yet, or `note` will set that aside
                return []

    def note_age(self, kind: str, name: str) -> float | None:
        """For how many seconds a name has been noted; None when it is not."""
        with file_system():
            try:
                return time.time() - (self._root / kind / name).stat().st_mtime
            except FileNotFoundError:
                return None

    def remove_note(self, kind: str, name: str) -> None:
        with file_system():
            (self._root / kind / name).unlink(missing_ok=True)

    def sweep_incoming(self) -> None:
        """Removes half-written files of processes that were killed."""
        self.require()
        with file_system():
            private_folder(self._root / INCOMING)
            for path in (self._root / INCOMING).iterdir():
                if _older(path, time.time() - ABANDONED_SECONDS):
                    path.unlink(missing_ok=True)


@contextmanager
def file_system() -> Iterator[None]:
    """Raises NoStore when the file system refuses to read or write in this block: full, read-only or gone."""
    try:
        yield
    except OSError as error:
        raise NoStore(str(error)) from error


def _older(path: Path, moment: float) -> bool:
    with file_system():
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
        with file_system():
            count: int = self._file.readinto(buffer)  # type: ignore[attr-defined]  # files have it, the stubs' base lacks it
        self.sha256.update(memoryview(buffer).cast("B")[:count])
        return count


@contextmanager
def open_checked(path: Path, sha256: str) -> Iterator[io.RawIOBase]:
    """The file as a stream that is read once, from its start.

    When the block ends, what it left unread is read too. Raises Damaged then when the bytes are not those of `sha256`,
    in place of whatever was raised in the block: what is wrong with a damaged file is not its sender's doing.
    """
    with file_system():
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
