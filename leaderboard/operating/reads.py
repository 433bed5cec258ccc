"""What is going on in an installation: read here for `leaderboard status`, `leaderboard doctor` and `/metrics`."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.audit.models import Chain, Event
from leaderboard.audit.stored_events import Verifications, verifications
from leaderboard.db import clock
from leaderboard.frozen import frozen
from leaderboard.mail import writes as outbox
from leaderboard.mail.models import UNSENT, Mail
from leaderboard.operating.models import WorkerSeen
from leaderboard.submissions.reads.selection import IS_WANTED
from leaderboard.submissions.rules import State
from leaderboard.worker.models import HAS_FAILED, IN_QUEUE, Scoring, ScoringSet

NEWEST = 1000  # scorings
SILENT_SECONDS = 120.0  # without a heartbeat, after which a worker does not count as alive


@frozen
class SeenWorker:
    """A worker.

    name            host, process id and a random number
    version         of this program that it runs
    silent_seconds  since its last heartbeat, by the database's clock
    """

    name: str
    version: str
    silent_seconds: float


@frozen
class InstallationStatus:
    """What is going on in an installation.

    waiting, scoring  runs that wait to be scored, and runs that a worker scores now
    waiting_seconds   how long the oldest has waited; None where none waits
    failed            runs that could not be scored, which an organiser may try again
    scoring_seconds   mean of the newest 1,000 scorings; None where there are none
    workers           by name
    mails_waiting     not sent, and still worth sending
    mails_failed      that could not be sent and were given up, and that nobody has dropped
    verified          the outcomes of `leaderboard verify`
    backed_up_at      when the last backup was made; None where none was
    """

    waiting: int
    waiting_seconds: float | None
    scoring: int
    failed: int
    scoring_seconds: float | None
    workers: tuple[SeenWorker, ...]
    mails_waiting: int
    mails_failed: int
    verified: Verifications
    backed_up_at: datetime | None


def installation_status(session: Session, now: datetime) -> InstallationStatus:
    """Reads it all, in a few statements, none of which reads the rows of all scorings."""
    number, jobs = sa.select(sa.func.count()), sa.and_(Scoring.scoring_set_id == ScoringSet.id, IS_WANTED)
    queued = sa.and_(sa.text(IN_QUEUE), Scoring.state == State.QUEUED, jobs)
    newest = sa.select(sa.func.max(Scoring.id) - NEWEST).scalar_subquery()
    backup = Event.subject == Chain.__tablename__, Event.action == "backup"
    figures = {
        "waiting": number.where(queued),
        "waiting_since": sa.select(sa.func.min(Scoring.queued_at)).where(queued),
        "scoring": number.where(sa.text(IN_QUEUE), Scoring.state == State.SCORING, jobs),
        "failed": number.where(sa.text(HAS_FAILED), jobs),
        "scoring_seconds": sa.select(sa.func.avg(Scoring.seconds)).where(Scoring.id > newest),
        "mails_waiting": number.where(sa.text(UNSENT), Mail.expires_at > now),
        "mails_failed": number.where(outbox.HAS_FAILED),
        "backed_up_at": sa.select(sa.func.max(Event.at)).where(*backup),
    }
    statement = sa.select(*(figure.scalar_subquery().label(name) for name, figure in figures.items()))
    row = dict(session.execute(statement).one()._mapping)  # SQLAlchemy's public name for a row by column
    since = row.pop("waiting_since")
    return InstallationStatus(
        waiting_seconds=None if since is None else max(0.0, (now - since).total_seconds()),
        workers=tuple(
            SeenWorker(worker.name, worker.version, max(0.0, (present - worker.seen_at).total_seconds()))
            for worker, present in session.execute(sa.select(WorkerSeen, clock()).order_by(WorkerSeen.name))
        ),
        verified=verifications(session),
        **row,
    )


def draining(session: Session, lease_seconds: float) -> tuple[str, ...]:
    """The workers that were asked to end and have not yet, without those that are silent for two leases."""
    asked = WorkerSeen.drains, WorkerSeen.seen_at > clock(-2 * lease_seconds)
    return tuple(session.scalars(sa.select(WorkerSeen.name).where(*asked).order_by(WorkerSeen.name)))
