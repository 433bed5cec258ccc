"""What a worker does beside scoring: replaces scoring sets of an older version, removes files without a submission."""

import logging
from collections.abc import Iterator
from itertools import islice

import sqlalchemy as sa

from leaderboard.audit.writes import present
from leaderboard.db import Database
from leaderboard.errors import LeaderboardError
from leaderboard.evaluations.models import Evaluation
from leaderboard.locking import locked
from leaderboard.store import RunStore
from leaderboard.submissions.models import StagedRun, Submission
from leaderboard.submissions.writes import pending as staging
from leaderboard.worker.writes.queue import WORKER
from leaderboard.worker.writes.scoring_sets import make_set, of_older_version

ORPHAN_SECONDS = 24 * 3600.0  # far longer than any request between putting a file and committing its row
LOOKED_UP_AT_ONCE = 500
log = logging.getLogger("leaderboard.worker.run")


def renew_sets(database: Database) -> None:
    """Has everything scored again after an upgrade that changes figures. A worker calls it as it starts.

    Boards show the old figures until the new set has them all. An evaluation whose measures can't be computed any more
    keeps its old set, and the log says why.
    """
    with database.read() as session:
        evaluations = of_older_version(session)
    for evaluation_id in evaluations:
        try:
            with database.write() as session:
                make_set(session, WORKER, locked(session, Evaluation, evaluation_id))
        except LeaderboardError as error:
            log.warning("evaluation %s can't be scored by this version: %s", evaluation_id, error)


def remove_orphans(database: Database, store: RunStore, seconds: float = ORPHAN_SECONDS) -> int:
    """Removes run files older than `seconds` that no submission names, and runs whose time for a yes is over.

    Returns how many files it removed.

    An upload writes its file anew even when the store has the same one, so a file whose submission is about to be
    committed is young. The store looks at the age again before it removes a file.
    """
    store.sweep_incoming()
    with database.write() as session:
        staging.sweep(session, present())
    removed = 0
    candidates = store.orphan_candidates(seconds)
    while some := list(islice(candidates, LOOKED_UP_AT_ONCE)):
        removed += sum(store.remove_run(sha256, seconds) for sha256 in _without_row(database, some))
    return removed


def _without_row(database: Database, files: list[str]) -> Iterator[str]:
    with database.read() as session:
        named = {
            sha256
            for table in (Submission, StagedRun)
            for sha256 in session.scalars(sa.select(table.sha256).where(table.sha256.in_(files)))
        }
    return (sha256 for sha256 in files if sha256 not in named)
