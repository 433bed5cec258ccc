"""Run files at rest: the bytes as received under their SHA-256, and each scored run's ranked lists, query by query.

A copy of a run's ranked lists has one block of bytes for each query, so that one list is read without the rest. It
begins with `MAGIC`, the number of positions (uint64) and for each position where its block starts, how many bytes it
has and their checksum (uint64 each; 0, 0 and 0: the run has no list there), then the checksum of all this. A block is
compressed with zlib and holds the number of lines and whether there are decisions (uint64 each), the scores, the
decisions and the ids, parted by newlines. Of the scores the first bytes come first, then the second ones and so on:
they compress better so. Numbers are little-endian. Checksums are CRC-32 and begin with the owner, so that a copy of
another run is no more taken than a damaged one.
"""

import hashlib
import io
import os
import re
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PureWindowsPath
from typing import BinaryIO

import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray

from leaderboard.config import Config
from leaderboard.errors import BadInput, Damaged, FileRejected, Missing, NoStore, OtherStore, TooLarge
from leaderboard.formats import ByteSource, Limits, open_plain
from leaderboard.formats.plain_text import BYTE_ORDER_MARK, GZIP_MAGIC, NO_CAP
from leaderboard.frozen import frozen
from leaderboard.private_files import private_folder

RUNS = "runs"
RANKED = "ranked"
REMAKE = "remake"  # an empty file for each ranked copy that has to be made again
INCOMING = "incoming"  # what is being written; nothing there is a file of ours yet
SET_ASIDE = "set-aside"
MARK = "leaderboard-run-store"  # a folder: without it this is some other place, and nothing here is believed
IDENTITY = "id"  # a file in it; the database has the same
ABANDONED_SECONDS = 24 * 3600.0  # an upload that takes longer than this has died
OWNER = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")  # submission and compat; other files there are not ours
CHECK_BYTES = 4096  # a file of one block: an empty one fits on a full disk
PIECE = 1 << 18  # bytes read at once
LONGEST_FILENAME = 200  # characters
DAMAGED = (
    "The copy of this run's ranked lists is damaged or missing. It is made again by itself: try again in a minute. "
    "Where that does not help, the organisers find the reason in the worker's log. The run's figures are not touched."
)


@contextmanager
def file_system() -> Iterator[None]:
    """Raises NoStore when the file system refuses to read or write in this block: full, read-only or gone."""
    try:
        yield
    except OSError as error:
        raise NoStore(str(error)) from error


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


@frozen
class RankedList:
    """What a run lists for one query, in rank order.

    documents  n ids; none holds a newline
    scores     float64[n]
    decisions  bool[n], returned or not; None where the run holds no decisions
    """

    documents: tuple[str, ...]
    scores: NDArray[np.float64]
    decisions: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.documents)


class _Hashing:
    """Reads a file and hashes what it gives. Raises NoStore when the file system refuses."""

    def __init__(self, file: io.FileIO) -> None:
        self._file = file
        self.sha256 = hashlib.sha256()

    def read(self, size: int, /) -> bytes:
        with file_system():
            piece = self._file.read(size)
        self.sha256.update(piece)
        return piece


class RunStore:
    """What an installation keeps of its runs, in a folder that only its owner may read. Files are written beside,
    flushed, and put in place by one rename. Any number of processes may use one folder at the same time.
    """

    def __init__(self, url: str, config: Config | None = None, *, must_exist: bool = False) -> None:
        """The store in a folder, made where it is missing; `config` bounds what `receive` takes, packed and unpacked.

        must_exist: it is not made, and what is asked of it raises NoStore while it is missing. The same goes for a
        folder that was not made by this program, such as an empty volume in the store's place.
        """
        self.url = url  # what another process opens it with
        self.config = config or Config()
        if "://" in url and not url.startswith("file://"):
            raise BadInput(f"{url.partition('://')[0]} is no kind of run store; give a folder")
        self._root = Path(url.removeprefix("file://"))
        self.bound: str | None = None  # the id of the store to which `bind` has bound this process
        if not must_exist:
            self.make()

    def make(self) -> None:
        """Makes the folder where it is missing."""
        with file_system():
            private_folder(self._root)
            if not any((self._root / name).exists() for name in (INCOMING, RUNS)):
                private_folder(self._root / MARK)
                private_folder(self._root / INCOMING)

    @property
    def identity(self) -> str | None:
        """Its id, which its database has too; None in a new one. Raises OtherStore when the folder is not a store:
        unmounted, moved, or another volume in its place."""
        with file_system():
            if not (self._root / MARK).is_dir():
                raise OtherStore(
                    f"{self._root.absolute()} is no run store: it has no folder {MARK}. Set LEADERBOARD_STORE_URL to "
                    "the full path of the folder that keeps the run files"
                )
            try:
                return (self._root / MARK / IDENTITY).read_text()
            except FileNotFoundError:
                return None

    def identify(self, identity: str) -> None:
        """Gives a new store its id."""
        with self.incoming() as path:
            with file_system():
                path.write_text(identity)
            self._put(path, self._root / MARK / IDENTITY)

    def require(self, identity: str | None) -> None:
        """Raises OtherStore when the store has another id; None: any will do. Also when there is none."""
        if identity not in (None, self.identity):
            raise OtherStore(
                f"{self._root.absolute()} is the run store of another database, or a new one. Set "
                "LEADERBOARD_STORE_URL to the full path of the folder that this database was used with before or, for "
                "a new database, to a new folder; or set LEADERBOARD_DATABASE_URL to the store's database"
            )

    def check(self) -> None:
        """Raises NoStore when nothing can be written here."""
        with self.incoming() as path, file_system():
            path.write_bytes(bytes(CHECK_BYTES))

    @contextmanager
    def incoming(self) -> Iterator[Path]:
        """A path to write a file to; it is gone after the block, unless it was put in place."""
        self.require(self.bound)
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

    @contextmanager
    def arriving(self, filename: str) -> Iterator[Arriving]:
        """A file to write an upload to; it is gone after the block, unless it was kept by `keep`."""
        with self.incoming() as path:
            file = Arriving(path, filename, self.config)
            try:
                yield file
            finally:
                file.close()

    def keep(self, path: Path, received: Received) -> None:
        """Keeps a file that has arrived for good. One that no submission names is swept a day later."""
        self._put(path, self._run(received.sha256))

    @contextmanager
    def receiving(self, stream: ByteSource, filename: str) -> Iterator[tuple[Received, Path]]:
        """Takes an upload in, says what it is and where it lies, and keeps it for good when the block ends without an
        exception.

        Raises TooLarge over a cap, NoStore when the store can't be written, and whatever `stream` raises when the
        sender breaks off; nothing is left behind then.
        """
        with self.arriving(filename) as file:
            while piece := stream.read(PIECE):
                file.write(piece)
            received = file.received()
            yield received, file.path
            self.keep(file.path, received)

    def receive(self, stream: ByteSource, filename: str) -> Received:
        """Keeps an upload for good and says what it is; raises as `receiving` does."""
        with self.receiving(stream, filename) as (received, _):
            return received

    def run_file(self, sha256: str) -> Path:
        """The bytes as received, as a file on this machine. Raises Missing where there is none."""
        return self._existing(self._run(sha256))

    @contextmanager
    def open_run(self, sha256: str) -> Iterator[ByteSource]:
        """The bytes as received, as a stream that is read once, and checked against `sha256` when the block ends.

        Raises Damaged then for other bytes, in place of whatever was raised in the block: what is wrong with a damaged
        file is not its sender's doing. Missing at once where there is no file, NoStore when nothing can be read.
        """
        path = self.run_file(sha256)
        with file_system():
            file = path.open("rb", buffering=0)
        with file:
            stream = _Hashing(file)
            try:
                yield stream
            finally:
                while stream.read(PIECE):  # what the block left unread
                    pass
                if stream.sha256.hexdigest() != sha256:
                    raise Damaged(f"The stored file of this run is damaged: it is not the one of the receipt {sha256}.")

    def orphan_candidates(self, seconds: float) -> Iterator[str]:
        """SHA-256 of each run file that was put here `seconds` ago or earlier; the caller knows which it needs."""
        self.require(self.bound)
        with file_system():
            files = list((self._root / RUNS).rglob("*"))
        return (path.name for path in files if _is_older(path, seconds))

    def remove_run(self, sha256: str, seconds: float) -> bool:
        """Removes a run file, unless it was received again in the last `seconds`; True when it was removed."""
        path, aside = self._run(sha256), self._root / SET_ASIDE / sha256
        self.require(self.bound)
        with file_system():
            private_folder(aside.parent)
            try:
                path.replace(aside)
            except FileNotFoundError:
                return False
            # Looked at only now that it is out of the way: what is put in its place from here on is another file.
            if not _is_older(aside, seconds):
                aside.replace(path)
                return False
            aside.unlink()
        return True

    def sweep_incoming(self) -> None:
        """Removes half-written files of processes that were killed."""
        self.require(self.bound)
        with file_system():
            for path in (self._root / INCOMING).glob("*"):
                if _is_older(path, ABANDONED_SECONDS):
                    path.unlink(missing_ok=True)

    def keep_ranked_lists(
        self, submission_id: int, compat: int, positions: int, lists: Iterable[tuple[int, RankedList]]
    ) -> None:
        """Keeps a run's ranked lists, each with its query's position in the evaluation; 0 <= position < `positions`.

        The lists depend on the run and on the compatibility rule that orders it, not on judgments: a re-scoring writes
        the same again.
        """
        copy = self._copy(submission_id, compat)
        with self.incoming() as path:
            with file_system():
                _write_lists(path, copy.name, positions, lists)
            self._put(path, copy)

    def ranked_list(self, submission_id: int, compat: int, position: int) -> RankedList:
        """What a scored run lists for one query, by rank; empty when the run lacks the query.

        `position` is the query's in its evaluation, `compat` the scoring set's. For a run that was scored. Raises
        Damaged when the copy is damaged or missing or can't be read, and notes that it has to be made again; NoStore
        when that can't be noted either.
        """
        copy = self._copy(submission_id, compat)
        try:
            with file_system():
                return _read_list(self._existing(copy), position)
        except (Missing, ValueError, zlib.error, NoStore) as error:
            self.require(self.bound)
            with file_system():
                private_folder(self._root / REMAKE)
                (self._root / REMAKE / copy.name).touch()
            raise Damaged(DAMAGED) from error

    def copy_is_sound(self, submission_id: int, compat: int) -> bool | None:
        """Whether every byte of a run's copy is as it was written; None where there is none. Nothing is noted."""
        try:
            with file_system():
                return _is_sound(self._existing(self._copy(submission_id, compat)))
        except (Missing, NoStore):
            return None

    def damaged_copies(self) -> list[tuple[int, int]]:
        """Of which copies `ranked_list` found no sound one: submission and compat. A worker makes them again."""
        with file_system():
            owners = [OWNER.fullmatch(path.name) for path in sorted((self._root / REMAKE).glob("*"))]
        return [(int(owner[1]), int(owner[2])) for owner in owners if owner is not None]

    def copy_is_done(self, submission_id: int, compat: int) -> None:
        """Takes a copy off the list of `damaged_copies`, until somebody finds it damaged again."""
        with file_system():
            (self._root / REMAKE / self._copy(submission_id, compat).name).unlink(missing_ok=True)

    def _run(self, sha256: str) -> Path:
        return self._root / RUNS / sha256[:2] / sha256

    def _copy(self, submission_id: int, compat: int) -> Path:
        """Its name is its owner's."""
        return self._root / RANKED / f"{submission_id % 1000:03}" / f"{submission_id}-{compat}"

    def _put(self, path: Path, target: Path) -> None:
        """Puts an incoming file in place for good. Another one in this place is replaced in one step."""
        with file_system():
            private_folder(target.parent)
            _flush(path)
            path.replace(target)
            _flush(target.parent)

    def _existing(self, path: Path) -> Path:
        """The path of a file of the store. Raises Missing when there is none."""
        with file_system():
            try:
                path.stat()
            except FileNotFoundError:
                self.require(self.bound)
                kind = path.relative_to(self._root).parts[0]
                if not (self._root / kind).is_dir():  # none was ever kept here, or all were moved away
                    raise NoStore(f"{self._root} has no folder {kind}") from None
                raise Missing(f"The stored file {path.name} is missing.") from None
        return path


def _is_older(path: Path, seconds: float) -> bool:
    """Whether it is a file that was put there so long ago."""
    with file_system():
        try:
            return path.is_file() and path.stat().st_mtime <= time.time() - seconds
        except FileNotFoundError:
            return False


def _flush(path: Path) -> None:
    """Makes a file's bytes, or a rename in a folder, survive a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


MAGIC = b"RANKED02"
NUMBER = np.dtype("<u8")
SCORE = np.dtype("<f8")
ENTRY = 3 * NUMBER.itemsize  # bytes for one position: the start, the size and the checksum of its block
NUMBERS = 2 * NUMBER.itemsize  # bytes of a block before its scores
HEAD = len(MAGIC) + NUMBER.itemsize
MOST_POSITIONS = 2**24  # a larger number is a damaged one, and is not read for
FAST = 1  # isal's level, which takes a third of the time of zlib's for as much


def _write_lists(path: Path, owner: str, positions: int, lists: Iterable[tuple[int, RankedList]]) -> None:
    """Writes lists, each with its query's position, in any order."""
    index = np.zeros((positions, 3), NUMBER)
    with path.open("wb") as file:
        file.write(bytes(HEAD + index.nbytes + NUMBER.itemsize))
        for position, ranked in lists:
            block = _block(ranked)
            index[position] = file.tell(), len(block), _checksum(owner, block)
            file.write(block)
        file.seek(0)
        head = MAGIC + np.array(positions, NUMBER).tobytes() + index.tobytes()
        file.write(head + np.array(_checksum(owner, head), NUMBER).tobytes())


def _read_list(path: Path, position: int) -> RankedList:
    """The list at this position, empty where the run has none. Raises ValueError or zlib.error for a damaged file."""
    with path.open("rb") as file:
        index = _index(file, path.name)
        start, size, checksum = index[position].tolist() if position < len(index) else (0, 0, 0)
        if not size:
            return RankedList((), np.empty(0, SCORE))
        file.seek(start)
        block = file.read(size)
        if _checksum(path.name, block) != checksum:
            raise ValueError("a damaged block")
        return _list(zlib.decompress(block))


def _is_sound(path: Path) -> bool:
    """Whether all of a file is as it was written: the head, every block, and nothing behind the last one."""
    with path.open("rb") as file:
        try:
            index = _index(file, path.name)
        except ValueError:
            return False
        end = file.tell()
        for start, size, checksum in index.tolist():
            file.seek(start)
            if size and _checksum(path.name, file.read(size)) != checksum:
                return False
            end = max(end, start + size)
        return path.stat().st_size == end


def _index(file: BinaryIO, owner: str) -> NDArray[np.uint64]:
    """uint64[positions, 3]: where each block is. Raises ValueError for a damaged head."""
    head = file.read(HEAD)
    (positions,) = _numbers(head[len(MAGIC) :])
    if head.startswith(MAGIC) and positions <= MOST_POSITIONS:
        head += file.read(positions * ENTRY)
        if _numbers(file.read(NUMBER.itemsize)) == [_checksum(owner, head)]:
            return np.frombuffer(head, NUMBER, offset=HEAD).reshape(-1, 3)
    raise ValueError("a damaged head")


def _checksum(owner: str, content: bytes) -> int:
    return zlib.crc32(content, zlib.crc32(owner.encode()))


def _block(ranked: RankedList) -> bytes:
    decided = ranked.decisions is not None
    content = [
        np.array([len(ranked), decided], NUMBER).tobytes(),
        ranked.scores.astype(SCORE, copy=False).view(np.uint8).reshape(-1, SCORE.itemsize).T.tobytes(),
        ranked.decisions.tobytes() if ranked.decisions is not None else b"",
        "\n".join(ranked.documents).encode(),
    ]
    return isal_zlib.compress(b"".join(content), FAST)


def _list(content: bytes) -> RankedList:
    lines, decided = _numbers(content[:NUMBERS])
    at = NUMBERS + SCORE.itemsize * lines
    scores = np.frombuffer(np.frombuffer(content[NUMBERS:at], np.uint8).reshape(SCORE.itemsize, -1).T.tobytes(), SCORE)
    decisions = np.frombuffer(content, np.bool_, lines, at) if decided else None
    documents = content[at + lines * decided :].decode()
    return RankedList(tuple(documents.split("\n")) if lines else (), scores, decisions)


def _numbers(content: bytes) -> list[int]:
    numbers: list[int] = np.frombuffer(content, NUMBER).tolist()
    return numbers
