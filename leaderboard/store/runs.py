"""What an installation keeps of its runs."""

import hashlib
import io
import os
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from itertools import islice
from pathlib import Path, PureWindowsPath

from leaderboard.config import Config
from leaderboard.errors import BadInput, Damaged, FileRejected, Missing, NoStore, OtherStore, TooLarge
from leaderboard.formats import ByteSource, Limits, open_plain
from leaderboard.formats.plain_text import BYTE_ORDER_MARK, GZIP_MAGIC, NO_CAP
from leaderboard.frozen import frozen
from leaderboard.store.folder import Folder, file_system
from leaderboard.store.places import IDENTITY, INCOMING, MARK, RANKED, REMAKE, RUNS, SET_ASIDE, Place
from leaderboard.store.ranked_lists import RankedList, is_sound, read_list, write_lists

ABANDONED_SECONDS = 24 * 3600.0  # an upload that takes longer than this has died; far longer than any request
LOOKED_UP_AT_ONCE = 500  # files
OWNER = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")  # submission and compat; other files there are not ours
OFFERED = "?"  # behind an id that a database may or may not have taken
CHECK = f"{INCOMING}/check"
CHECK_BYTES = 4096  # a file of one block: an empty one fits on a full disk
PIECE = 1 << 18  # bytes read at once
LONGEST_FILENAME = 200  # characters
DAMAGED = (
    "The copy of this run's ranked lists is damaged or missing. It is made again by itself: try again in a minute. "
    "Where that does not help, the organisers find the reason in the worker's log. The run's figures are not touched."
)


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
    """What an installation keeps of its runs. Any number of processes may use one store at the same time."""

    def __init__(self, url: str, config: Config | None = None, *, must_exist: bool = False) -> None:
        """The store at a URL, made where it is missing; `config` bounds what `receive` takes, packed and unpacked.

        url: a folder, or a bucket and prefix as s3://bucket/prefix; of any other kind raises BadInput
        must_exist: it is not made, and what is asked of it raises NoStore while it is missing.
        """
        self.url = url  # what another process opens it with
        self.config = config or Config()
        self.place = _place_of(url)
        self.bound: str | None = None  # the id of the store to which `bind` has bound this process
        if not must_exist:
            self.place.make()

    @property
    def identity(self) -> str | None:
        """Its id, which its database has too; None in a new one, also where a database has only offered it one. Raises
        OtherStore when there is no store: unmounted, moved, or another volume in its place."""
        identity = self._written_id()
        return None if identity is None or identity.endswith(OFFERED) else identity

    def _written_id(self) -> str | None:
        try:
            return self.place.read_part(f"{MARK}/{IDENTITY}", 0, PIECE).decode()
        except Missing:
            if self.place.exists(self.place.mark):
                return None
        raise OtherStore(
            f"{self.place} is no run store: it has no {self.place.mark}. Set LEADERBOARD_STORE_URL to the full path of "
            "the folder, or the bucket and prefix, that keeps the run files"
        )

    def identify(self, identity: str) -> None:
        """Gives a new store, or a whole copy, its id: with it, it is one."""
        with self.place.incoming() as path:
            with file_system():
                path.write_text(identity)
            self.place.put(path, f"{MARK}/{IDENTITY}")

    def require(self, identity: str | None) -> None:
        """Raises OtherStore when the store has another id, or was offered another; None: any will do. Also when it is
        no store."""
        if self._written_id() not in (identity, f"{identity}{OFFERED}") and identity is not None:
            raise OtherStore(
                f"{self.place} is the run store of another database, or a new one. Set LEADERBOARD_STORE_URL to the "
                "full path of the folder, or the bucket and prefix, that this database was used with before or, for a "
                "new database, to a new folder or prefix; or set LEADERBOARD_DATABASE_URL to the store's database"
            )

    def check(self) -> None:
        """Raises NoStore when nothing can be written here."""
        with self.incoming() as path:
            with file_system():
                path.write_bytes(bytes(CHECK_BYTES))
            self.place.put(path, CHECK)
            self.place.remove(CHECK)

    @contextmanager
    def incoming(self) -> Iterator[Path]:
        """A path to write a file to; it is gone after the block, unless it was put in place."""
        self.require(self.bound)
        with self.place.incoming() as path:
            yield path

    @contextmanager
    def arriving(self, filename: str) -> Iterator[Arriving]:
        """A file to write an upload to; it is gone after the block, unless it was kept by `keep`."""
        with self.incoming() as path:
            file = Arriving(path, filename, self.config)
            try:
                yield file
            finally:
                file.close()

    def prepare(self, path: Path, received: Received) -> None:
        """Does of `keep` what takes seconds for a large file: before the transaction that keeps it."""
        self.place.prepare(path, run_name(received.sha256), received.md5)

    def keep(self, path: Path, received: Received) -> None:
        """Keeps a prepared file for good. One that no submission names is swept days later."""
        self.place.finish(path, run_name(received.sha256))

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
            self.prepare(file.path, received)
            self.keep(file.path, received)

    def receive(self, stream: ByteSource, filename: str) -> Received:
        """Keeps an upload for good and says what it is; raises as `receiving` does."""
        with self.receiving(stream, filename) as (received, _):
            return received

    def reading(self, sha256: str) -> AbstractContextManager[Path]:
        """The bytes as received, as a file on this machine within the block. Raises Missing where there is none."""
        run = run_name(sha256)
        return self._reading(run, f"{SET_ASIDE}/{sha256}", run)  # a sweep may just move it

    @contextmanager
    def open_run(self, sha256: str) -> Iterator[ByteSource]:
        """The bytes as received, as a stream that is read once, and checked against `sha256` when the block ends.

        Raises Damaged then for other bytes, in place of whatever was raised in the block: what is wrong with a damaged
        file is not its sender's doing. Missing at once where there is no file, NoStore when nothing can be read.
        """
        with self.reading(sha256) as path, ExitStack() as opened:
            with file_system():
                file = opened.enter_context(path.open("rb", buffering=0))
            stream = _Hashing(file)
            try:
                yield stream
            finally:
                while stream.read(PIECE):  # what the block left unread
                    pass
                if stream.sha256.hexdigest() != sha256:
                    raise Damaged(f"The stored file of this run is damaged: it is not the one of the receipt {sha256}.")

    def sweep(self, named: Callable[[Collection[str]], Collection[str]], seconds: float = ABANDONED_SECONDS) -> int:
        """Removes half-written files of processes that were killed, and run files that no submission names: those that
        were put here `seconds` ago are set aside, and removed `seconds` later. One that is named meanwhile is put back,
        so that an upload may find the same file here at any moment. One process at a time.

        named: gives those of some SHA-256 that a submission names

        Returns how many run files were set aside or removed.
        """
        self.require(self.bound)
        count = 0
        for folder in (INCOMING, SET_ASIDE, RUNS):
            files = self.place.names(folder)
            while some := {name.rpartition("/")[2]: (name, age) for name, age in islice(files, LOOKED_UP_AT_ONCE)}:
                needed = named(some)
                for sha256, (name, age) in some.items():
                    with suppress(Missing):
                        count += self._sweep(name, sha256, sha256 in needed, age >= seconds)
        return count

    def _sweep(self, name: str, sha256: str, needed: bool, is_old: bool) -> bool:
        is_run = name.startswith(RUNS)
        if needed and not is_run and not self.place.exists(run_name(sha256)):
            with self.place.reading(name) as path:
                self.place.put(path, run_name(sha256))
        elif is_old and not (needed and is_run):
            if is_run:
                with self.place.reading(name) as path, file_system():
                    os.utime(path)  # its time there begins now
                    self.place.put(path, f"{SET_ASIDE}/{sha256}")
            self.place.remove(name)
            return not (needed or name.startswith(INCOMING))
        return False

    def keep_ranked_lists(
        self, submission_id: int, compat: int, positions: int, lists: Iterable[tuple[int, RankedList]]
    ) -> None:
        """Keeps a run's ranked lists, each with its query's position in the evaluation; 0 <= position < `positions`.

        The lists depend on the run and on the compatibility rule that orders it, not on judgments: a re-scoring writes
        the same again.
        """
        with self.incoming() as path:
            with file_system():
                write_lists(path, _owner(submission_id, compat), positions, lists)
            self.place.put(path, _copy(submission_id, compat))

    def ranked_list(self, submission_id: int, compat: int, position: int) -> RankedList:
        """What a scored run lists for one query, by rank; empty when the run lacks the query.

        `position` is the query's in its evaluation, `compat` the scoring set's. For a run that was scored. Raises
        Damaged when the copy is damaged or missing or can't be read, and notes that it has to be made again; NoStore
        when that can't be noted either.
        """
        copy, owner = _copy(submission_id, compat), _owner(submission_id, compat)
        try:
            return read_list(partial(self.place.read_part, copy), owner, position)
        except (Missing, ValueError, zlib.error, NoStore) as error:
            with self.incoming() as path:
                self.place.put(path, f"{REMAKE}/{owner}")
            raise Damaged(DAMAGED) from error

    def copy_is_sound(self, submission_id: int, compat: int) -> bool | None:
        """Whether every byte of a run's copy is as it was written; None where there is none. Nothing is noted."""
        try:
            with self._reading(_copy(submission_id, compat)) as path, file_system():
                return is_sound(path, _owner(submission_id, compat))
        except (Missing, NoStore):
            return None

    def damaged_copies(self) -> list[tuple[int, int]]:
        """Of which copies `ranked_list` found no sound one: submission and compat. A worker makes them again."""
        owners = [OWNER.fullmatch(name.rpartition("/")[2]) for name, _ in self.place.names(REMAKE)]
        return [(int(owner[1]), int(owner[2])) for owner in owners if owner is not None]

    def copy_is_done(self, submission_id: int, compat: int) -> None:
        """Takes a copy off the list of `damaged_copies`, until somebody finds it damaged again."""
        self.place.remove(f"{REMAKE}/{_owner(submission_id, compat)}")

    @contextmanager
    def _reading(self, *names: str) -> Iterator[Path]:
        """The first file of these. Raises Missing when there is none, and OtherStore when this is another store."""
        with ExitStack() as block:
            for name in names:
                with suppress(Missing):
                    path = block.enter_context(self.place.reading(name))
                    break
            else:
                self.require(self.bound)
                raise Missing(f"The stored file {names[0].rpartition('/')[2]} is missing.")
            yield path


def _place_of(url: str) -> Place:
    kind, _, path = url.rpartition("://")
    if kind == "s3":
        from leaderboard.store.bucket import Bucket  # obstore takes 30 ms

        return Bucket(path)
    if kind not in {"", "file"} or not path:
        raise BadInput(f"{url!r} is no run store; give a folder or s3://bucket/prefix")
    return Folder(Path(path))


def run_name(sha256: str) -> str:
    """What the store, and a backup, call a run file."""
    return f"{RUNS}/{sha256[:2]}/{sha256}"


def _owner(submission_id: int, compat: int) -> str:
    """What a copy is called, and checked against."""
    return f"{submission_id}-{compat}"


def _copy(submission_id: int, compat: int) -> str:
    return f"{RANKED}/{submission_id % 1000:03}/{_owner(submission_id, compat)}"
