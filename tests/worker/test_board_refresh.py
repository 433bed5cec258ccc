"""The worker refreshes boards between jobs, and nothing that goes wrong there touches a score."""

import contextlib
import logging
import re
import threading
from typing import Any

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.boards import writes as boards
from leaderboard.boards.models import Board
from leaderboard.db import Database, clock
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import JUDGED, Subset
from leaderboard.formats import QueryRow
from leaderboard.generations.models import Generation
from leaderboard.judgments.rules import JudgmentFiles
from leaderboard.judgments.writes import import_judgments, import_queries
from leaderboard.submissions.rules import Designation, RunChoice, State, SystemKind
from leaderboard.teams.models import System
from leaderboard.worker import loop, queue
from leaderboard.worker.loop import BoardRefresh
from leaderboard.worker.models import Score, ScoringSet
from tests.support.databases import Filling
from tests.support.scoring import WorkerHere
from tests.support.waiting import wait_until
from tests.support.world import QRELS, World, fill, judged, run_text

LOCKED, RAISED = "FROM chain", "INSERT INTO generation"  # in the statements that do it
WAIT_SECONDS = 15.0  # less than the half minute after which a worker looks at the boards in any case
MORE = range(4, 9)  # queries with a relevant document each, which no run finds


def _fill_with_eight(database: Database) -> dict[str, Any]:
    made = fill(database, qrels=None)
    with database.write() as session:
        evaluation = session.get_one(Evaluation, made["evaluation"])
        import_queries(session, CONSOLE, evaluation, [QueryRow(f"q{n}", f"text {n}", ()) for n in MORE])
        import_judgments(
            session, CONSOLE, evaluation, JudgmentFiles(judged(QRELS + "".join(f"q{n} 0 e{n} 1\n" for n in MORE)))
        )
    return made


@pytest.fixture(scope="session")
def fill_world() -> Filling:
    """The small campaign with queries enough for intervals: eight, seven of which have a relevant document."""
    return _fill_with_eight


def _kept(world: World) -> set[tuple[str, Subset]]:
    with world.database.read() as session:
        return {(measure, subset) for measure, subset in session.execute(sa.select(Board.measure, Board.subset))}


def _due(world: World) -> int:
    with world.database.read() as session:
        return len(boards.due(session))


def test_when_nothing_waits_any_more_every_measure_of_the_board_is_fresh(world: World) -> None:
    runs = [world.submit(run_text(number)) for number in range(3)]
    world.drain()
    assert _kept(world) == {(measure, subset) for measure in ("AQWV", "AP", "P@1") for subset in Subset}
    assert _due(world) == 0
    shown = [score for run in runs for score in world.scores(run) if score.measure != JUDGED]
    assert all(score.low is not None for score in shown)
    world.submit()
    world.drain()
    assert _due(world) == 0


@pytest.mark.parametrize("engine_name", ["postgresql"])
def test_postgresql_has_statistics_of_its_tables_as_soon_as_boards_are_fresh(world: World) -> None:
    """Without them it plans a page of hundreds of runs as if there were one."""
    of_standing = sa.text("SELECT reltuples FROM pg_class WHERE oid = to_regclass('standing')")
    with world.database.read() as session:
        assert session.scalar(of_standing) == -1
    world.submit()
    world.drain()
    with world.database.read() as session:
        assert session.scalar(of_standing) >= 0


def test_a_board_that_can_not_be_refreshed_harms_no_score_and_no_other_board(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    run = world.submit()
    world.drain()
    garbage = sa.literal(b"not whole float64s", sa.LargeBinary)
    with world.database.write() as session:
        session.execute(sa.delete(Board))
        session.execute(sa.update(Score).where(Score.measure == "AP").values(values=garbage))
    before = {(score.measure, score.subset): score.mean for score in world.scores(run)}
    worker = BoardRefresh(world.database)
    with caplog.at_level(logging.ERROR, logger="leaderboard.worker.loop"):
        while worker.step():
            pass
    assert {measure for measure, _ in _kept(world)} == {"AQWV", "P@1"}
    errors = [record.message for record in caplog.records if record.levelno >= logging.ERROR]
    assert ["AP could not be refreshed" in message for message in errors] == [True]
    assert world.scoring(run).state is State.SCORED
    assert {(score.measure, score.subset): score.mean for score in world.scores(run)} == before


def _refreshed(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The measures of boards that were refreshed, in order."""
    found = (re.search(r"board of set \d+: (\S+) refreshed in", record.getMessage()) for record in caplog.records)
    return [match[1] for match in found if match is not None]


def test_two_workers_refresh_each_measure_once(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "leaderboard.worker.loop")
    for number in range(6):
        world.submit(run_text(number))

    def work() -> None:
        with contextlib.closing(WorkerHere(world.database, world.store, world.config)) as worker:
            while worker.step(threading.Event()) or _due(world):
                pass

    both = [threading.Thread(target=work) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert sorted(_refreshed(caplog)) == ["AP", "AQWV", "P@1"]


@pytest.mark.parametrize("seconds", [-1, 24 * 3600], ids=["it has died", "its clock was wrong"])
def test_a_board_is_let_be_while_another_worker_is_at_it_or_runs_come_one_after_the_other(
    world: World, seconds: int
) -> None:
    world.submit()
    world.drain()
    with world.database.write() as session:
        session.execute(sa.delete(Board))
        session.execute(sa.update(ScoringSet).values(refreshing_until=clock(60)))
    worker = BoardRefresh(world.database)
    while worker.step():
        pass
    assert not BoardRefresh(world.database, quiet_seconds=3600).step()
    assert _kept(world) == set()
    with world.database.write() as session:  # the other worker is there no more
        session.execute(sa.update(ScoringSet).values(refreshing_until=clock(seconds)))
    before = _generations(world)
    wait_until(worker.step, "the worker that was kept from it", WAIT_SECONDS)
    assert {measure for measure, _ in _kept(world)} == {"AQWV"}
    assert _generations(world) == {**before, world.campaign: before[world.campaign] + 1}


def _generations(world: World) -> dict[int, int]:
    """Of each campaign: those of its pages only are made anew."""
    with world.database.read() as session:
        return {row.campaign_id: row.number for row in session.scalars(sa.select(Generation))}


def test_under_a_stream_of_runs_without_a_pause_a_board_is_refreshed_every_so_often(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.submit()
    world.drain()
    world.submit(run_text(1))
    with world.database.write() as session:
        session.execute(sa.delete(Board))
        assert queue.claim(session, "another worker", 60) is not None
    worker = BoardRefresh(world.database)
    assert not worker.step()  # the other one's run will change the board
    worker.step_while_busy()
    assert _kept(world) == set()
    monkeypatch.setattr(loop, "BUSY_SECONDS", 0.0)
    worker.step_while_busy()
    assert {measure for measure, _ in _kept(world)} == {"AQWV"}
    BoardRefresh(world.database).step()
    assert {measure for measure, _ in _kept(world)} == {"AQWV", "AP"}


def test_whatever_a_worker_does_takes_the_trails_lock_before_it_raises_a_generation(world: World) -> None:
    """In another order two workers would wait for each other for ever: one that records, and one at the boards."""
    transactions: list[list[str]] = [[]]
    engine = world.database.engine
    sa.event.listen(engine, "begin", lambda _: transactions.append([]))
    sa.event.listen(engine, "before_cursor_execute", lambda *said: transactions[-1].append(said[2]))
    world.submit(designation=Designation.PRIMARY)
    world.drain()
    places = [
        [next((place for place, one in enumerate(each) if words in one), None) for words in (LOCKED, RAISED)]
        for each in transactions
    ]
    raised = [(locked, number) for locked, number in places if number is not None]
    assert len(raised) >= 5  # submitted, scored, and each of three measures of the board
    assert [pair for pair in raised if pair[0] is None or pair[0] > pair[1]] == []


def test_an_idle_look_reads_no_run_and_a_change_is_found_all_the_same(world: World) -> None:
    runs = [world.submit(run_text(number)) for number in range(3)]
    world.drain()
    said: list[str] = []
    sa.event.listen(world.database.engine, "before_cursor_execute", lambda *each: said.append(each[2]))
    assert _due(world) == 0
    of_old = "scoring.of_the_past"  # has an index of its own
    assert [each for each in said if "submission" in each or ("FROM scoring " in each and of_old not in each)] == []
    assert 0 < len(said) <= 8
    with world.organising() as (session, campaign, _):
        campaign.run_choice = RunChoice.LATEST if campaign.run_choice is not RunChoice.LATEST else RunChoice.BEST
    look_closely = len(said)
    _due(world)
    assert any("submission" in each for each in said[look_closely:])
    with world.database.write() as session:
        system = world.scoring(runs[0]).submission.system_id
        session.get_one(System, system).kind = SystemKind.BASELINE
    assert _due(world) == 3
