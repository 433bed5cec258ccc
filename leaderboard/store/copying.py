"""A store moves: everything in it is copied into another folder or bucket."""

import hashlib
import shutil
from collections.abc import Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import islice

from leaderboard.errors import Conflict, Damaged, Missing, OtherStore
from leaderboard.store.folder import file_system
from leaderboard.store.places import RANKED, REMAKE, RUNS, SET_ASIDE
from leaderboard.store.runs import RunStore

AT_ONCE = 8  # files, which mostly wait for a bucket
LISTED_AT_ONCE = 1000


def copy_store(store: RunStore, target: RunStore, runs: Set[str]) -> tuple[list[int], list[str]]:
    """Copies what the target lacks, run files checked against their SHA-256, and then the id, which makes it a store.
    What the target has is not read.

    runs: the SHA-256 of the files that submissions name

    Returns the bytes of each file that was copied, and those of `runs` that the store lacks. Whoever starts again goes
    on; what came to the store since is copied then. Raises Conflict for a target that is another store, and Damaged
    where run files are damaged, when all others are copied: then there is no id.
    """
    identity = store.identity
    if identity is None:
        raise Conflict(f"{store.place} has no id yet: no database was used with it, and there is nothing to copy")
    other = None
    with suppress(OtherStore):  # the target is no store yet, or a copy that was not finished
        other = target.identity
    if other not in (None, identity):
        raise Conflict(f"{target.place} is the run store of another database")
    sizes: list[int] = []
    damaged: list[str] = []
    missing = {*runs}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for prefix in (RUNS, SET_ASIDE, RANKED, REMAKE):
            files = store.place.names(prefix)
            while names := [name for name, _ in islice(files, LISTED_AT_ONCE)]:
                sizes += filter(None, pool.map(partial(_copy, store, target, damaged), names))
                missing -= {name.rpartition("/")[2] for name in names}
    if damaged:
        said = f"{store.place}: damaged; put these files back from a backup, then start again:"
        raise Damaged("\n".join([said, *sorted(damaged)]))
    target.identify(identity)
    return sizes, sorted(missing)


def _copy(store: RunStore, target: RunStore, damaged: list[str], name: str) -> int:
    """The bytes that were copied; 0 where the target has the file, the store no longer has it, or it is damaged."""
    if target.place.exists(name):
        return 0
    with suppress(Missing), store.place.reading(name) as source, target.place.incoming() as path, file_system():
        shutil.copyfile(source, path)
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        if name.startswith((RUNS, SET_ASIDE)) and sha256 != name.rpartition("/")[2]:
            damaged.append(name)
            return 0
        size = path.stat().st_size
        target.place.put(path, name)
        return size
    return 0
