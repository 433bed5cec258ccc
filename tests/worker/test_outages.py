"""The worker while the store or the database is away, and runs whose stored file is no longer what was received."""

import datetime as dt
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.db import Database
from leaderboard.errors import Damaged
from leaderboard.models import Evaluation, Scoring, ScoringSet
from leaderboard.reads.boards import BoardPage, board
from leaderboard.rules.states import SetState, State
from leaderboard.services.submissions import retry_failed
from leaderboard.worker import Worker
from tests.support.databases import Postgres
from tests.support.waiting import wait_until
from tests.support.world import QRELS, World, build_world, run_text

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


def wait_no_more(world: World) -> None:
    """Has the waits of all jobs end now."""
    with world.database.write() as session:
        session.execute(sa.update(Scoring).values(not_before=None))


def file_of(world: World, run: int) -> Path:
    with world.store.run_file(world.scoring(run).submission.sha256) as path:
        return path


def test_a_store_that_is_away_during_a_rescoring_parks_nothing_and_the_board_stays_until_it_is_back(
    world: World,
) -> None:
    for number in range(2):
        world.submit(run_text(number))
    world.drain()
    before = [row.ranked_by.mean for row in shown(world).rows]
    store = Path(world.store.url)
    store.rename(store.with_name("elsewhere"))
    world.judge(CORRECTED)
    for _ in range(4):  # more often than a job may fail
        wait_no_more(world)
        world.drain()
    waiting = scorings(world, SetState.BUILDING)
    assert [(one.state, one.errors, one.failure) for one in waiting] == [
        (State.QUEUED, 0, "the run store did not answer or is full")
    ] * 2
    assert all(one.not_before is not None for one in waiting)
    assert [row.ranked_by.mean for row in shown(world).rows] == before
    assert not store.exists()
    store.with_name("elsewhere").rename(store)
    wait_no_more(world)
    world.drain()
    assert scorings(world, SetState.BUILDING) == []
    assert [one.state for one in scorings(world, SetState.CURRENT)] == [State.SCORED] * 2
    assert [row.ranked_by.mean for row in shown(world).rows] != before


def test_a_run_that_fails_by_our_fault_keeps_the_old_board_until_it_is_scored_again(world: World) -> None:
    runs = [world.submit(run_text(number)) for number in range(2)]
    world.drain()
    world.judge(CORRECTED)
    with world.database.write() as session:
        building = sa.select(ScoringSet.id).where(ScoringSet.state == SetState.BUILDING).scalar_subquery()
        parked = sa.update(Scoring).where(Scoring.scoring_set_id == building, Scoring.submission_id == runs[0])
        session.execute(parked.values(state=State.FAILED, failure="an error while scoring: KeyError"))
    world.drain()
    assert [one.state for one in scorings(world, SetState.BUILDING)] == [State.FAILED, State.SCORED]
    (run,) = shown(world).parked
    assert (run.submission_id, run.holds_up) == (runs[0], True)
    assert len(shown(world).rows) == 2
    with world.database.write() as session:
        retry_failed(session, CONSOLE, session.get_one(Evaluation, world.evaluation))
    world.drain()
    assert [one.state for one in scorings(world, SetState.CURRENT)] == [State.SCORED] * 2
    assert shown(world).parked == ()


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def swap(file: Path) -> None:
    """The file of another run in its place: a sound run, and not this one."""
    file.write_text(run_text(7))


DAMAGES: dict[str, Callable[[Path], None]] = {
    "flipped": flip,
    "cut off": lambda file: file.write_bytes(file.read_bytes()[:-20]),
    "emptied": lambda file: file.write_bytes(b""),
    "missing": Path.unlink,
    "swapped": swap,
    "longer": lambda file: file.write_bytes(file.read_bytes() + b"# one line more\n"),
}


def test_a_run_whose_stored_file_is_damaged_is_never_scored_and_organisers_read_why(world: World) -> None:
    good = world.submit(run_text(100))
    runs = {name: world.submit(run_text(number)) for number, name in enumerate(DAMAGES)}
    world.drain()
    for name, run in runs.items():
        DAMAGES[name](file_of(world, run))
    world.judge(CORRECTED)
    world.drain()
    current = {one.submission_id: one for one in scorings(world, SetState.CURRENT)}
    assert scorings(world, SetState.BUILDING) == []  # what can't be mended does not hold up the others
    assert current[good].state is State.SCORED
    assert {name: current[run].state for name, run in runs.items()} == dict.fromkeys(runs, State.FAILED)
    reasons = {run.submission_id: run.reason for run in shown(world).parked}
    assert {name: "missing" if name == "missing" else "damaged" for name in runs} == {
        name: "missing" if "is missing" in reasons[run] else "damaged" for name, run in runs.items()
    }
    # The same file, received once more, mends it.
    world.receive(run_text(0))
    with world.database.write() as session:
        retry_failed(session, CONSOLE, session.get_one(Evaluation, world.evaluation))
    world.drain()
    assert world.scoring(runs["flipped"]).state is State.SCORED


@pytest.mark.parametrize("damage", [flip, Path.unlink], ids=["flipped", "missing"])
def test_a_damaged_copy_of_ranked_lists_is_made_again_from_the_run_by_itself(
    damage: Callable[[Path], None], world: World
) -> None:
    run = world.submit(run_text(1))
    world.drain()
    (copy,) = [path for path in (Path(world.store.url) / "ranked").rglob("*") if path.is_file()]
    sound = copy.read_bytes()
    damage(copy)
    with pytest.raises(Damaged, match="made again by itself"):
        read_all(world, run)
    world.drain()
    assert copy.read_bytes() == sound
    assert world.store.damaged_copies() == []
    read_all(world, run)


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
        worker = Worker(database, world.store, world.config)
        working = threading.Thread(target=worker.step, args=(threading.Event(),))
        working.start()
        wait_until(lambda: world.scoring(run).state is State.SCORING, "it is claimed")
        server = sa.create_engine(database.engine.url.set(database="postgres"), isolation_level="AUTOCOMMIT")
        with server.connect() as connection:
            connection.exec_driver_sql(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
            away = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
            connection.exec_driver_sql(away)
            pipe.write_text(run_text(1))
            wait_until(lambda: "is not recorded yet" in caplog.text, "the worker has the result in its hands")
            connection.exec_driver_sql(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
        working.join(SECONDS)
        assert not working.is_alive()
        worker.close()
        scoring = world.scoring(run)
        assert (scoring.state, scoring.attempt, scoring.errors) == (State.SCORED, 1, 0)
        server.dispose()
    postgres.drop(url)
