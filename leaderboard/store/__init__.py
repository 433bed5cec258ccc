"""Run files at rest: the bytes as received under their SHA-256, and each scored run's ranked lists, query by query."""

import re
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from leaderboard.errors import BadInput, Damaged, Missing, NoStore, NotFound
from leaderboard.formats import ByteSource
from leaderboard.store.files import (
    PIECE,
    Arriving,
    Caps,
    Folder,
    Received,
    file_system,
    open_checked,
    plain_filename,
)
from leaderboard.store.ranked_lists import DAMAGED, LOST, RankedList, is_sound, read_list, write_lists

RUNS = "runs"
RANKED = "ranked"
REMAKE = "remake"  # an empty file for each ranked copy that has to be made again
LOST_COPIES = "lost"  # and for each of which that failed
TRY_LOST_SECONDS = 3600.0  # before a lost copy that somebody asks for is tried again
OWNER = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")  # submission and compat; other files there are not ours
CHECK_BYTES = 4096  # a file of one block: an empty one fits on a full disk


class RunStore(Folder):
    """What an installation keeps of its runs. Any number of processes may use one folder at the same time."""

    def __init__(self, url: str, caps: Caps | None = None, *, must_exist: bool = False) -> None:
        """The store in a folder, made where it is missing unless it `must_exist`; `caps` bound what `receive` takes."""
        self.url = url  # what another process opens it with
        self.caps = caps or Caps()
        if "://" in url and not url.startswith("file://"):
            raise BadInput(f"{url.partition('://')[0]} is no kind of run store; give a folder")
        try:
            super().__init__(Path(url.removeprefix("file://")), must_exist)
        except OSError as error:
            raise NoStore(str(error)) from error

    def check(self) -> None:
        """Raises NoStore when nothing can be written here."""
        with self.incoming() as path, file_system():
            path.write_bytes(bytes(CHECK_BYTES))

    @contextmanager
    def arriving(self, filename: str) -> Iterator[Arriving]:
        """A file to write an upload to; it is gone after the block, unless it was kept by `keep`."""
        with self.incoming() as path:
            file = Arriving(path, filename, self.caps)
            try:
                yield file
            finally:
                file.close()

    def keep(self, path: Path, received: Received) -> None:
        """Keeps a file that has arrived for good. One that no submission names is swept a day later."""
        self.put(path, _run_key(received.sha256))

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

    def run_file(self, sha256: str) -> AbstractContextManager[Path]:
        """The bytes as received, as a file on this machine while the block runs. Raises NotFound."""
        return self.local(_run_key(sha256))

    @contextmanager
    def open_run(self, sha256: str) -> Iterator[ByteSource]:
        """The bytes as received, as a stream that is read once, and checked against `sha256` when the block ends.

        Raises Damaged then for other bytes, Missing at once where there is no file, NoStore when nothing can be read.
        """
        try:
            with self.run_file(sha256) as path, open_checked(path, sha256) as stream:
                yield stream
        except NotFound:
            raise Missing(f"The stored file of this run, {sha256}, is missing.") from None

    def orphan_candidates(self, seconds: float) -> Iterator[str]:
        """SHA-256 of each run file that was put here `seconds` ago or earlier; the caller knows which it needs."""
        return (key.rpartition("/")[2] for key in self.keys(RUNS, seconds))

    def remove_run(self, sha256: str, seconds: float) -> bool:
        """Removes a run file, unless it was received again in the last `seconds`; True when it was removed."""
        return self.remove(_run_key(sha256), seconds)

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
            self.put(path, _ranked_key(submission_id, compat))
        self.remove_note(LOST_COPIES, _owner(submission_id, compat))

    def ranked_list(self, submission_id: int, compat: int, position: int) -> RankedList:
        """What a scored run lists for one query, by rank; empty when the run lacks the query.

        `position` is the query's in its evaluation, `compat` the scoring set's. For a run that was scored. Raises
        Damaged when the copy is damaged or missing or can't be read, and notes that it has to be made again; NoStore
        when that can't be noted either. What Damaged says is whether that goes on or has failed.
        """
        try:
            with self.local(_ranked_key(submission_id, compat)) as path, file_system():
                return read_list(path, _owner(submission_id, compat), position)
        except (NotFound, Damaged, NoStore) as error:
            owner = _owner(submission_id, compat)
            lost = self.note_age(LOST_COPIES, owner)
            if lost is None or lost > TRY_LOST_SECONDS:
                self.note(REMAKE, owner)
            raise Damaged(DAMAGED if lost is None else LOST) from error

    def copy_is_sound(self, submission_id: int, compat: int) -> bool | None:
        """Whether every byte of a run's copy is as it was written; None where there is none. Nothing is noted."""
        try:
            with self.local(_ranked_key(submission_id, compat)) as path, file_system():
                return is_sound(path, _owner(submission_id, compat))
        except (NotFound, NoStore):
            return None

    def damaged_copies(self) -> list[tuple[int, int]]:
        """Of which copies `ranked_list` found no sound one: submission and compat. A worker makes them again."""
        owners = (OWNER.fullmatch(name) for name in self.notes(REMAKE))
        return [(int(owner[1]), int(owner[2])) for owner in owners if owner is not None]

    def copy_is_lost(self, submission_id: int, compat: int) -> None:
        """Notes that a copy could not be made again, and takes it off the list of `damaged_copies`."""
        self.note(LOST_COPIES, _owner(submission_id, compat))
        self.copy_is_done(submission_id, compat)

    def copy_is_done(self, submission_id: int, compat: int) -> None:
        """Takes a copy off the list of `damaged_copies`."""
        self.remove_note(REMAKE, _owner(submission_id, compat))


def _owner(submission_id: int, compat: int) -> str:
    return f"{submission_id}-{compat}"


def _run_key(sha256: str) -> str:
    return f"{RUNS}/{sha256[:2]}/{sha256}"


def _ranked_key(submission_id: int, compat: int) -> str:
    return f"{RANKED}/{submission_id % 1000:03}/{_owner(submission_id, compat)}"
