"""A store moves: everything in it is copied into another folder or bucket."""

import hashlib
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import islice

from leaderboard.errors import Conflict, Damaged, OtherStore
from leaderboard.store.folder import file_system
from leaderboard.store.places import RANKED, REMAKE, RUNS, SET_ASIDE
from leaderboard.store.runs import RunStore

AT_ONCE = 8  # files, which mostly wait for a bucket
LISTED_AT_ONCE = 1000


def copy_store(store: RunStore, target: RunStore) -> list[int]:
    """Copies what the target lacks, run files checked against their SHA-256, and then the id, which makes it a store.

    Returns the bytes of each file that was copied. Whoever starts again goes on; what came to the store since is copied
    then. Raises Conflict for a target that is another store, and Damaged for a damaged run file.
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
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for prefix in (RUNS, SET_ASIDE, RANKED, REMAKE):
            files = store.place.names(prefix)
            while names := [name for name, _ in islice(files, LISTED_AT_ONCE)]:
                sizes += filter(None, pool.map(partial(_copy, store, target), names))
    target.identify(identity)
    return sizes


def _copy(store: RunStore, target: RunStore, name: str) -> int:
    """The bytes that were copied; 0 where the target has the file."""
    if target.place.exists(name):
        return 0
    with store.place.reading(name) as source, target.place.incoming() as path, file_system():
        shutil.copyfile(source, path)
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        if name.startswith((RUNS, SET_ASIDE)) and sha256 != name.rpartition("/")[2]:
            raise Damaged(f"{store.place}: {name} is damaged; put the file back from a backup, then start again")
        size = path.stat().st_size
        target.place.put(path, name)
        return size
