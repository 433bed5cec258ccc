"""What a worker does when nothing waits: files that no submission names are removed."""

from collections.abc import Iterator
from itertools import islice

import sqlalchemy as sa

from leaderboard.db import Database
from leaderboard.models import Submission
from leaderboard.store import RunStore

__all__ = ["remove_orphans"]

ORPHAN_SECONDS = 24 * 3600.0  # far longer than any request between putting a file and committing its row
LOOKED_UP_AT_ONCE = 500


def remove_orphans(database: Database, store: RunStore, seconds: float = ORPHAN_SECONDS) -> int:
    """Removes run files older than so many seconds that no submission names; how many.

    An upload puts its file anew even when the same one is there, so that one whose row is about to be committed is
    young; the store looks at the age again when it removes.
    """
    store.sweep_incoming()
    removed = 0
    candidates = store.orphan_candidates(seconds)
    while some := list(islice(candidates, LOOKED_UP_AT_ONCE)):
        removed += sum(store.remove_run(sha256, seconds) for sha256 in _without_row(database, some))
    return removed


def _without_row(database: Database, files: list[str]) -> Iterator[str]:
    with database.read() as session:
        named = set(session.scalars(sa.select(Submission.sha256).where(Submission.sha256.in_(files))))
    return (sha256 for sha256 in files if sha256 not in named)
