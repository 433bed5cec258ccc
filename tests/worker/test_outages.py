"""The worker while the store or the database is away, and runs whose stored file is no longer what was received."""

import contextlib
import dataclasses
import datetime as dt
import errno
import logging
import os
import resource
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import cycle
from pathlib import Path
from unittest.mock import Mock

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.boards.reads.board import BoardPage, board
from leaderboard.boards.writes import Due, due
from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.errors import Damaged
from leaderboard.formats import Limits
from leaderboard.submissions.rules import SetState, State
from leaderboard.submissions.writes.submissions import retry_failed
from leaderboard.worker import loop as worker
from leaderboard.worker.loop import Worker
from leaderboard.worker.messages import Job, Postponed
from leaderboard.worker.models import Scoring, ScoringSet
from leaderboard.worker.run_scorer import RunScorer
from tests.support.databases import Postgres
from tests.support.outages import away
from tests.support.processes import children
from tests.support.scoring import WorkerHere
from tests.support.waiting import wait_until
from tests.support.world import QRELS, World, build_world, run_file, run_text

CORRECTED = QRELS.replace("q1 0 d2 0", "q1 0 d2 1")
SECONDS = 60.0


def scorings(world: World, state: SetState) -> list[Scoring]:
    """Those of the set in this state, by submission."""
    of_set = sa.select(Scoring).join(ScoringSet).where(ScoringSet.state == state)
    return world.all(of_set.order_by(Scoring.submission_id))


def shown(world: World) -> BoardPage:
    """The board as organisers see it."""
    with world.database.read() as session:
        return board(session, CONSOLE, "small", "2026", dt.datetime.now(dt.UTC))


def means(world: World) -> list[float | None]:
    return [row.ranked_by.mean for row in shown(world).rows]


def try_failed_again(world: World) -> None:
    with world.organising() as (session, _, evaluation):
        retry_failed(session, CONSOLE, evaluation)
    world.drain()


def wait_no_more(world: World) -> None:
    """Has the waits of all jobs end now."""
    with world.database.write() as session:
        session.execute(sa.update(Scoring).values(not_before=None))


def file_of(world: World, run: int) -> Path:
    return run_file(world.store, world.scoring(run).submission.sha256)


def test_a_store_that_is_away_during_a_rescoring_parks_nothing_and_the_board_stays_until_it_is_back(
    world: World,
) -> None:
    for number in range(2):
        world.submit(run_text(number))
    world.drain()
    before = means(world)
    store = Path(world.store.url)
    store.rename(store.with_name("elsewhere"))
    world.judge(CORRECTED)
    for _ in range(4):  # more often than a job may fail
        wait_no_more(world)
        world.drain()
    waiting = scorings(world, SetState.BUILDING)
    assert [(one.state, one.errors, one.failure) for one in waiting] == [
        (State.QUEUED, 0, "the run store is not that of the database")
    ] * 2
    assert all(one.not_before is not None for one in waiting)
    assert means(world) == before
    assert not store.exists()
    store.with_name("elsewhere").rename(store)
    wait_no_more(world)
    world.drain()
    assert scorings(world, SetState.BUILDING) == []
    assert [one.state for one in scorings(world, SetState.CURRENT)] == [State.SCORED] * 2
    assert means(world) != before


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "flipped": flip,
    "cut off": lambda file: file.write_bytes(file.read_bytes()[:-20]),
    "emptied": lambda file: file.write_bytes(b""),
    "swapped": lambda file: file.write_text(run_text(7)),  # a sound run, and not this one
    "longer": lambda file: file.write_bytes(file.read_bytes() + b"# one line more\n"),
}


def test_a_run_whose_stored_file_is_damaged_is_never_scored_and_organisers_read_why(world: World) -> None:
    good = [world.submit(run_text(100 + number)) for number in range(len(DAMAGES))]
    runs = {name: world.submit(run_text(number)) for number, name in enumerate(DAMAGES)}
    world.drain()
    for name, run in runs.items():
        DAMAGES[name](file_of(world, run))
    world.judge(CORRECTED)
    world.drain()
    current = {one.submission_id: one for one in scorings(world, SetState.CURRENT)}
    assert scorings(world, SetState.BUILDING) == []  # what can't be mended does not hold up the others
    assert [current[run].state for run in good] == [State.SCORED] * len(good)
    assert {name: current[run].state for name, run in runs.items()} == dict.fromkeys(runs, State.FAILED)
    reasons = {run.submission_id: run.reason for run in shown(world).parked}
    assert all("is damaged" in reasons[run] for run in runs.values())
    # The same file, received once more, mends it.
    world.receive(run_text(0))
    try_failed_again(world)
    assert world.scoring(runs["flipped"]).state is State.SCORED


@pytest.mark.parametrize("engine_name", ["sqlite"])  # a file's matter; what holds a set up is asked on both above
@pytest.mark.parametrize(
    ("spoil", "number", "says"), [(Path.unlink, 1, "is missing"), (lambda file: file.write_bytes(bytes(100)), 2, "")]
)
def test_missing_files_and_a_store_of_damaged_ones_keep_the_old_board_until_most_are_back(
    world: World, spoil: Callable[[Path], None], number: int, says: str
) -> None:
    runs = [world.submit(run_text(number)) for number in range(3)]
    world.drain()
    before = means(world)
    for run in runs[:number]:
        spoil(file_of(world, run))
    world.judge(CORRECTED)
    world.drain()
    assert means(world) == before
    assert [says in run.reason for run in shown(world).parked] == [True] * number
    world.receive(run_text(0))
    try_failed_again(world)  # now at most one of three is damaged, which holds nobody up
    states = [scoring.state for scoring in scorings(world, SetState.CURRENT)]
    assert states == [State.SCORED, State.SCORED if number == 1 else State.FAILED, State.SCORED]
    assert means(world) != before


@contextlib.contextmanager
def working(config: Config) -> Iterator[None]:
    """A worker in a thread, which ends with the block."""
    stop = threading.Event()
    thread = threading.Thread(target=worker.run, args=(config, stop))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(SECONDS)
    assert not thread.is_alive()


def a_file(place: Path) -> None:
    place.write_text("a mount that is not one")


def a_volume_with_folders(place: Path) -> None:
    for name in ("runs", "incoming", "ranked", "lost+found"):
        (place / name).mkdir(parents=True)


def a_link_to_itself(place: Path) -> None:
    place.symlink_to(place)


PLACES = [a_file, Path.mkdir, a_volume_with_folders, a_link_to_itself]


@pytest.mark.parametrize("engine_name", ["sqlite"])  # seen by the store; one that is away is asked on both above
def test_whatever_is_in_the_place_of_the_store_a_worker_waits_and_heals_and_the_board_stays(
    world: World,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker, "PATIENCE_SECONDS", 0.1)
    monkeypatch.setattr(worker, "POLL_SECONDS", 0.1)
    monkeypatch.setattr(worker, "HOUSEKEEPING_SECONDS", 0.1)
    for number in range(2):
        world.submit(run_text(number))
    world.drain()
    place = Path(world.store.url)
    caplog.set_level(logging.INFO)
    with working(world.config):
        wait_until(lambda: "is waiting for work" in caplog.text, "the worker has found its store")
        for judgments, put in zip(cycle([CORRECTED, QRELS]), PLACES, strict=False):
            before = means(world)
            right = place.rename(place.with_name("elsewhere"))
            put(place)
            world.judge(judgments)
            for _ in range(2):
                wait_no_more(world)
                caplog.clear()
                wait_until(
                    lambda: all(one.not_before for one in scorings(world, SetState.BUILDING)), "both were put back"
                )
                wait_until(lambda: "is no run store" in caplog.text, "housekeeping met it too")
            assert [one.errors for one in scorings(world, SetState.BUILDING)] == [0, 0], put.__name__
            assert means(world) == before, put.__name__
            place.rename(place.with_name(f"wrong-{put.__name__}"))
            right.rename(place)
            wait_no_more(world)
            wait_until(lambda: not scorings(world, SetState.BUILDING), "the new set is current")
            assert [one.state for one in scorings(world, SetState.CURRENT)] == [State.SCORED] * 2, put.__name__
            assert means(world) != before, put.__name__


def a_link_instead(copy: Path) -> None:
    copy.unlink()
    copy.symlink_to(copy)


@pytest.mark.parametrize("engine_name", ["sqlite"])  # a copy is a file's matter
def test_a_damaged_copy_of_ranked_lists_is_made_again_from_the_run_by_itself(world: World) -> None:
    run = world.submit(run_text(1))
    world.drain()
    (copy,) = [path for path in (Path(world.store.url) / "ranked").rglob("*") if path.is_file()]
    sound = copy.read_bytes()
    damages: list[Callable[[Path], None]] = [flip, Path.unlink, a_link_instead]
    for damage in damages:
        damage(copy)
        (Path(world.store.url) / "remake").mkdir(exist_ok=True)
        (Path(world.store.url) / "remake" / ".nfs0001").touch()  # what a network's file system leaves
        with pytest.raises(Damaged, match="made again by itself"):
            read_all(world, run)
        world.drain()
        assert copy.read_bytes() == sound, damage.__name__
        assert world.store.damaged_copies() == [], damage.__name__
        read_all(world, run)


@pytest.mark.parametrize("engine_name", ["sqlite"])  # a copy is a file's matter
def test_a_list_that_can_not_be_made_again_is_not_tried_again_for_everybody_who_looks(world: World) -> None:
    run = world.submit(run_text(1))
    world.drain()
    (copy,) = [path for path in (Path(world.store.url) / "ranked").rglob("*") if path.is_file()]
    original = file_of(world, run)
    sound = original.read_bytes()
    flip(copy)
    flip(original)
    with pytest.raises(Damaged, match="made again by itself"):
        read_all(world, run)
    world.drain()
    assert world.store.damaged_copies() == []
    original.write_bytes(sound)
    for _ in range(2):
        with pytest.raises(Damaged):
            read_all(world, run)
        world.drain()
    with contextlib.closing(WorkerHere(world.database, world.store, world.config)) as another:  # which tries at once
        assert another.step(threading.Event())
    read_all(world, run)


@pytest.mark.parametrize("engine_name", ["sqlite"])  # bounds are set to the scoring process
@pytest.mark.usefixtures("scoring_process")
def test_a_store_that_is_full_when_ranked_lists_are_kept_has_the_job_wait_and_heal(world: World) -> None:
    first = world.submit(run_text(1))
    world.drain()
    (child,) = children(os.getpid(), "worker.run_scorer")
    before = resource.prlimit(child, resource.RLIMIT_FSIZE)
    resource.prlimit(child, resource.RLIMIT_FSIZE, (16, before[1]))
    run = world.submit(run_text(2))
    for _ in range(4):  # more often than a job may fail
        wait_no_more(world)
        world.drain()
    scoring = world.scoring(run)
    assert (scoring.state, scoring.errors, scoring.failure) == (
        State.QUEUED, 0, "the run store did not answer or is full"
    )  # fmt: skip
    assert list((Path(world.store.url) / "incoming").iterdir()) == []
    assert world.scoring(first).state is State.SCORED
    resource.prlimit(child, resource.RLIMIT_FSIZE, before)
    wait_no_more(world)
    world.drain()
    assert world.scoring(run).state is State.SCORED
    read_all(world, run)


@pytest.mark.parametrize("engine_name", ["sqlite"])  # it asks for nothing
def test_what_the_system_refuses_for_a_while_is_no_fault_of_a_job(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (errno.ENOSPC, errno.EIO, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.EDQUOT):
        monkeypatch.setattr(RunScorer, "score", Mock(side_effect=OSError(number, "refused")))
        assert isinstance(RunScorer(world.database, world.store, Limits()).answer(Job(1, 1), 0), Postponed)


def test_a_worker_whose_database_goes_away_again_and_again_waits_and_goes_on(
    world: World, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "PATIENCE_SECONDS", 0.1)
    monkeypatch.setattr(worker, "POLL_SECONDS", 0.1)
    caplog.set_level(logging.INFO)
    # Each step sweeps, claims and looks at the boards.
    with working(dataclasses.replace(world.config, lease_seconds=3)):
        for number in range(2):
            run = world.submit(run_text(number))
            wait_until(lambda run=run: world.scoring(run).state is State.SCORED, "the run is scored")  # type: ignore[misc]  # mypy can't infer a lambda's default
            caplog.clear()
            with away(world):
                wait_until(lambda: "does not answer" in caplog.text, "the worker notices")
            wait_until(lambda: "goes on, after: The database does not answer" in caplog.text, "the worker says so")
            assert [record.name for record in caplog.records if record.name.startswith("sqlalchemy")] == []
        wait_until(lambda: not boards_due(world), "the boards are refreshed")
    assert len(shown(world).rows) == 2


def boards_due(world: World) -> list[Due]:
    with world.database.read() as session:
        return due(session)


def read_all(world: World, run: int) -> None:
    for position in range(3):
        world.store.ranked_list(run, 10, position)


def test_a_result_is_kept_until_the_database_is_back(
    postgres: Postgres, migrated_postgres: str, tmp_path: Path, quick_hashes: None, caplog: pytest.LogCaptureFixture
) -> None:
    url = postgres.create(migrated_postgres)
    name = sa.make_url(url).database
    with closing(Database.connect(url)) as database, closing(build_world(database, tmp_path)) as world:
        run, pipe = world.stuck_run()
        one = Worker(database, world.store, world.config)
        thread = threading.Thread(target=one.step, args=(threading.Event(),))
        thread.start()
        writers: list[int] = []

        def is_read() -> bool:
            with contextlib.suppress(OSError):  # nobody has it open for reading
                writers.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
            return bool(writers)

        wait_until(is_read, "the scoring process has asked the database, and reads the run")
        server = sa.create_engine(database.engine.url.set(database="postgres"), isolation_level="AUTOCOMMIT")
        with server.connect() as connection:
            connection.exec_driver_sql(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
            away = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
            connection.exec_driver_sql(away)
            os.write(writers[0], run_text(1).encode())
            os.close(writers[0])
            wait_until(lambda: "is not recorded yet" in caplog.text, "the worker has the result in its hands")
            connection.exec_driver_sql(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
        thread.join(SECONDS)
        assert not thread.is_alive()
        one.close()
        scoring = world.scoring(run)
        assert (scoring.state, scoring.attempt, scoring.errors) == (State.SCORED, 1, 0)
        server.dispose()
    postgres.drop(url)
