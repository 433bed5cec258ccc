"""What goes on in an installation, on both engines."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from leaderboard import db
from leaderboard.access import CONSOLE
from leaderboard.audit import verify
from leaderboard.audit.models import Chain
from leaderboard.audit.writes import present, record
from leaderboard.db import clock
from leaderboard.mail import writes as outbox
from leaderboard.mail.models import Mail
from leaderboard.mail.rules import MailKind
from leaderboard.operating.models import WorkerSeen
from leaderboard.operating.reads import InstallationStatus, installation_status
from leaderboard.submissions.rules import SetState, State
from leaderboard.worker.models import Scoring, ScoringSet
from tests.support.world import RUN, World


def status_of(world: World) -> InstallationStatus:
    with world.database.read() as session:
        return installation_status(session, present())


def test_nothing_goes_on_in_a_quiet_installation(world: World) -> None:
    status = status_of(world)
    assert (status.waiting, status.scoring, status.waiting_seconds, status.failed) == (0, 0, None, 0)
    assert (status.workers, status.mails_waiting, status.mails_failed) == ((), 0, 0)
    assert (status.verified.clean_at, status.backed_up_at) == (None, None)
    assert status.scoring_seconds is None


def test_jobs_are_counted_by_state_and_the_oldest_by_its_age(world: World) -> None:
    runs = [world.submit(f"{RUN}\n") for _ in range(4)]
    for run, state in zip(runs, (State.QUEUED, State.QUEUED, State.SCORING, State.FAILED), strict=True):
        with world.database.write() as session:
            values = {"state": state, "queued_at": present() - timedelta(seconds=100 if run == runs[0] else 5)}
            session.execute(sa.update(Scoring).where(Scoring.submission_id == run).values(**values))
    status = status_of(world)
    assert (status.waiting, status.scoring, status.failed) == (2, 1, 1)
    assert status.waiting_seconds == pytest.approx(100, abs=30)


def test_jobs_of_a_superseded_set_wait_for_nobody(world: World) -> None:
    world.submit()
    with world.database.write() as session:
        session.execute(sa.update(ScoringSet).values(state=SetState.SUPERSEDED))
    assert status_of(world).waiting == 0


def test_a_worker_is_silent_since_its_last_heartbeat_by_the_databases_clock(world: World) -> None:
    with world.database.write() as session:
        for name, seconds in (("b", 0), ("a", 90)):
            moments = {"seen_at": clock(-seconds), "looked_at": None}
            session.execute(sa.insert(WorkerSeen).values(name=name, version="0.2", **moments))
    workers = status_of(world).workers
    assert [worker.name for worker in workers] == ["a", "b"]
    assert [worker.silent_seconds for worker in workers] == pytest.approx([90, 0], abs=30)


def test_mails_that_wait_and_mails_that_could_not_be_sent_are_counted(world: World) -> None:
    with world.database.write() as session:
        for number in range(5):
            outbox.put(session, MailKind.RESET, None, f"a{number}@example.org")
        mails = list(session.scalars(sa.select(Mail).order_by(Mail.id)))
        mails[1].failure = "refused"
        mails[2].failure, mails[2].given_up_at = "refused for good", present()
        mails[3].expires_at = present() - timedelta(seconds=1)
        mails[4].failure, mails[4].given_up_at = outbox.DROPPED, present()
    status = status_of(world)
    assert (status.mails_waiting, status.mails_failed) == (2, 1)


def test_the_last_verification_and_the_last_backup_come_from_the_trail(world: World) -> None:
    with world.database.write() as session:
        verify.record_verification(session, CONSOLE, verify.Report(), figures=False)
        record(session, CONSOLE, "backup", db.locked(session, Chain, 1))
    status = status_of(world)
    assert status.verified.clean_at is not None
    assert status.backed_up_at is not None
    assert status.backed_up_at >= status.verified.clean_at
