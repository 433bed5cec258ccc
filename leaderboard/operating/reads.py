"""What goes on in an installation: read here for `leaderboard status`, `leaderboard doctor` and `/metrics`."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.audit.models import Chain, Event
from leaderboard.audit.stored_events import Verifications, verifications
from leaderboard.db import Base, clock, snapshot
from leaderboard.evaluations.models import Evaluation
from leaderboard.frozen import frozen
from leaderboard.mail.models import UNSENT, Mail
from leaderboard.operating.models import WorkerSeen
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import IS_WANTED
from leaderboard.submissions.rules import State
from leaderboard.worker.models import HAS_FAILED, IN_QUEUE, Scoring, ScoringSet

DATABASE_BYTES = {  # by engine; of SQLite without what still lies in the file beside it (-wal)
    "postgresql": "SELECT pg_database_size(current_database())",
    "sqlite": "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
}


@frozen
class SeenWorker:
    """A worker. silent_seconds: since its last heartbeat, by the database's clock."""

    name: str
    host: str
    version: str
    started_at: datetime
    silent_seconds: float


@frozen
class InstallationStatus:
    """What goes on in an installation.

    waiting, scoring       jobs: runs that wait to be scored, and those that a worker has
    waiting_seconds        since when the oldest waits; None where none does
    failed                 jobs that were given up here, which an organiser may have tried again
    workers                by name
    mails_waiting          not sent, and still worth sending; mails_failing of them could not be sent so far
    mails_waiting_seconds  since when the oldest waits; None where none does
    mails_given_up         of those that are still kept
    verified               the outcomes of `leaderboard verify`
    backed_up_at           when the last backup was made; None where none was
    database_bytes         its size on disk
    """

    waiting: int
    scoring: int
    waiting_seconds: float | None
    failed: int
    workers: tuple[SeenWorker, ...]
    mails_waiting: int
    mails_failing: int
    mails_waiting_seconds: float | None
    mails_given_up: int
    verified: Verifications
    backed_up_at: datetime | None
    submissions: int
    evaluations: int
    database_bytes: int


def installation_status(session: Session, now: datetime) -> InstallationStatus:
    """Reads it all: some ten statements, none of which reads the rows of all scorings."""

    def count(kind: type[Base], *conditions: sa.ColumnElement[bool]) -> int:
        return session.scalar(sa.select(sa.func.count()).select_from(kind).where(*conditions)) or 0

    def age(moment: datetime | None) -> float | None:
        return None if moment is None else max(0.0, (now - moment).total_seconds())

    in_queue = sa.select(Scoring.state, sa.func.count(), sa.func.min(Scoring.queued_at)).join(ScoringSet)
    by_state = in_queue.where(sa.text(IN_QUEUE), IS_WANTED).group_by(Scoring.state)
    jobs = {state: (number, since) for state, number, since in session.execute(by_state)}
    waiting, since = jobs.get(State.QUEUED, (0, None))
    failed = sa.select(sa.func.count()).select_from(Scoring).join(ScoringSet).where(sa.text(HAS_FAILED), IS_WANTED)
    unsent = sa.text(UNSENT), Mail.expires_at > now
    mails = sa.select(sa.func.count(), sa.func.count(sa.func.nullif(Mail.failure, "")), sa.func.min(Mail.created_at))
    mails_waiting, mails_failing, mails_since = session.execute(mails.where(*unsent)).one()
    seen_by_clock = session.execute(sa.select(WorkerSeen, clock()).order_by(WorkerSeen.name))
    backup = sa.select(sa.func.max(Event.at)).where(Event.subject == Chain.__tablename__, Event.action == "backup")
    return InstallationStatus(
        waiting=waiting,
        scoring=jobs.get(State.SCORING, (0, None))[0],
        waiting_seconds=age(since),
        failed=session.scalar(failed) or 0,
        workers=tuple(
            snapshot(SeenWorker, row, silent_seconds=max(0.0, (present - row.seen_at).total_seconds()))
            for row, present in seen_by_clock
        ),
        mails_waiting=mails_waiting,
        mails_failing=mails_failing,
        mails_waiting_seconds=age(mails_since),
        mails_given_up=count(Mail, Mail.given_up_at.is_not(None)),
        verified=verifications(session),
        backed_up_at=session.scalar(backup),
        submissions=count(Submission),
        evaluations=count(Evaluation),
        database_bytes=session.scalar(sa.text(DATABASE_BYTES[session.get_bind().dialect.name])) or 0,
    )
