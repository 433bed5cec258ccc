"""A worker that waits: what wakes it, how little it asks meanwhile, and what it says of itself."""

import os
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
import sqlalchemy as sa

from leaderboard.db import Listener, clock
from leaderboard.mail.rules import MailKind
from leaderboard.mail.writes import put
from leaderboard.operating import writes as operating
from leaderboard.operating.models import WorkerSeen
from leaderboard.submissions.rules import State
from leaderboard.worker import loop
from leaderboard.worker.models import Scoring
from tests.support.scoring import WorkerHere
from tests.support.waiting import wait_until
from tests.support.world import World, run_text


@contextmanager
def _waits(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkerHere]:
    """A worker of the world's that has nothing to do, and whose heart beats only once in this test."""
    monkeypatch.setattr(loop, "BEATS", 0.001)
    worker = WorkerHere(world.database, world.store, world.config)
    with closing(worker):
        while worker.step(threading.Event()):
            pass
        yield worker


@pytest.mark.parametrize("engine_name", ["postgresql"])  # SQLite tells nothing
def test_what_is_queued_or_happens_is_told_when_it_is_committed(world: World) -> None:
    run = world.submit(run_text(1))
    with closing(Listener(world.database)) as listener:
        assert listener.notices(0) is None  # it has begun only now
        assert listener.notices(0) == set()
        world.submit(run_text(2))
        assert {"scoring"} <= (listener.notices(60) or set())
        while listener.notices(0):
            pass
        with world.database.write() as session:
            session.execute(sa.update(Scoring).where(Scoring.submission_id == run).values(lease_until=clock()))
            put(session, MailKind.RESET, None, "somebody@example.org")
            session.flush()
            assert listener.notices(0) == set()
        assert listener.notices(60) == {"mail"}
        with world.database.write() as session:
            session.execute(sa.update(Scoring).where(Scoring.submission_id == run).values(state=State.SCORING))
        with world.database.write() as session:
            session.execute(sa.update(Scoring).where(Scoring.submission_id == run).values(state=State.QUEUED))
        assert listener.notices(60) == {"scoring"}


@pytest.mark.parametrize("engine_name", ["postgresql"])
def test_a_listener_that_is_cut_off_says_to_look_and_listens_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaderboard.db.AGAIN_SECONDS", 0.0)
    with closing(Listener(world.database)) as listener:
        assert [listener.notices(0), listener.notices(0)] == [None, set()]
        with world.database.write() as session:
            others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN leaderboard'"
            session.execute(sa.text(others))
        wait_until(lambda: listener.notices(0) is None, "it is cut off")
        assert [listener.notices(0), listener.notices(0)] == [None, set()]


def test_a_waiting_worker_is_woken_by_a_run_and_asks_for_nothing_meanwhile(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    with _waits(world, monkeypatch) as worker:
        for engine in {world.database.engine, world.database.glance}:
            sa.event.listen(engine, "before_cursor_execute", lambda *given: ran.append(given[2]))
        waiting = threading.Thread(target=worker.wait, args=(threading.Event(),))
        waiting.start()
        if world.database.engine.dialect.name == "postgresql":
            listens = sa.text("SELECT count(*) FROM pg_stat_activity WHERE query = 'LISTEN leaderboard'")
            with world.database._beside.connect() as connection:
                wait_until(lambda: connection.scalar(listens) == 1, "it listens")
        world.submit(run_text(1))
        waiting.join(60)
        assert not waiting.is_alive()
        own = [statement for statement in ran if "worker_seen" in statement]
        assert own == []
        while worker.step(threading.Event()):
            pass
    assert world.all(sa.select(Scoring.state)) == [State.SCORED]


def test_a_waiting_worker_beats_in_one_statement_and_leaves_looking_to_another(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _waits(world, monkeypatch) as first, _waits(world, monkeypatch) as second:
        ran: list[str] = []
        with world.database.write() as session:
            session.execute(sa.update(WorkerSeen).values(looked_at=clock(-5)))
        for engine in {world.database.engine, world.database.glance}:
            sa.event.listen(engine, "before_cursor_execute", lambda *given: ran.append(given[2]))
        assert [first._beat(), second._beat()] == [False, False]
        statements = [statement for statement in ran if not statement.startswith("BEGIN")]
        assert len(statements) == (2 if world.database.engine.dialect.name == "postgresql" else 4)
        with world.database.write() as session:
            session.execute(sa.update(WorkerSeen).values(looked_at=clock(-operating.LOOK_SECONDS - 1)))
        assert [first._beat(), second._beat()] == [True, False]


@pytest.mark.usefixtures("scores_here")
def test_a_worker_is_seen_until_it_ends_and_a_killed_one_is_forgotten(world: World) -> None:
    stop = threading.Event()
    running = threading.Thread(target=loop.run, args=(world.config, stop))
    running.start()
    seen = sa.select(WorkerSeen.name)
    wait_until(lambda: len(world.all(seen)) == 1, "it is seen")
    assert str(os.getpid()) in world.all(seen)[0]
    with world.database.write() as session:
        seen_at = clock(-operating.GONE_SECONDS - 1)
        session.execute(sa.insert(WorkerSeen).values(name="gone:1:ff", version="0.1.0", seen_at=seen_at))
    stop.set()
    running.join(60)
    assert world.all(seen) == []


@pytest.mark.usefixtures("scores_here")
def test_a_worker_that_is_asked_to_drain_ends_by_itself(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "BEATS", 300)
    running = threading.Thread(target=loop.run, args=(world.config, threading.Event()))
    running.start()
    wait_until(lambda: len(world.all(sa.select(WorkerSeen.name))) == 1, "it is seen")
    with world.database.write() as session:
        operating.drain(session)
    running.join(60)
    assert not running.is_alive()
    assert world.all(sa.select(WorkerSeen.name)) == []
