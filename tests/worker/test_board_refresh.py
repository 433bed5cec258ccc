"""The worker refreshes boards between jobs, and nothing that goes wrong there touches a score."""

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.db import Database
from leaderboard.formats import QueryRow
from leaderboard.models import Board, Score
from leaderboard.rules.settings import NoRelevant, Subset
from leaderboard.rules.states import State
from leaderboard.services import boards
from leaderboard.services.campaigns import change_campaign
from leaderboard.services.queries import import_queries
from leaderboard.worker.board_refresh import BoardRefresh
from tests.support.world import QRELS, World, build_world, run_text

MORE = range(4, 9)  # queries with a relevant document each, which no run finds


@pytest.fixture
def world(database: Database, tmp_path: Path, quick_hashes: None) -> Iterator[World]:
    """The small campaign with queries enough for intervals: eight, seven of which have a relevant document."""
    with contextlib.closing(build_world(database, tmp_path, qrels=None)) as world:
        with world.organising() as (session, _, evaluation):
            import_queries(session, CONSOLE, evaluation, [QueryRow(f"q{n}", f"text {n}", ()) for n in MORE])
        world.judge(QRELS + "".join(f"q{n} 0 e{n} 1\n" for n in MORE))
        yield world


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
    assert all(score.low is not None for run in runs for score in world.scoring(run).scores)
    world.submit()
    world.drain()
    assert _due(world) == 0


def test_what_aqwv_needs_under_pfa_only_is_kept_beside_the_shown_measures(world: World) -> None:
    """P_miss is 0 on q1 and q2 and 1 on the five other queries with a relevant document; of the run's documents one of
    q1's is a false alarm, among 999 others, and P_fa is 0 on the seven other queries, q3 among them."""
    with world.organising() as (session, campaign, _):
        change_campaign(session, CONSOLE, campaign, no_relevant=NoRelevant.PFA_ONLY)
    run = world.submit()
    world.drain()
    scores = {score.measure: score for score in world.scoring(run).scores if score.subset is Subset.ALL}
    assert set(scores) == {"AQWV", "AP", "P@1", "Pmiss", "Pfa"}
    mean = 1 - 5 / 7 - 20 / 999 / 8
    low, high = scores["AQWV"].low, scores["AQWV"].high
    assert scores["AQWV"].mean == pytest.approx(mean)
    # As far on either side, and at most 2.5 times Student's t (2.447 for 6 degrees of freedom) standard errors. P_fa
    # hardly adds to that of P_miss, the root of (5/7 · 2/7) / 6, which is .1844.
    assert low is not None
    assert high is not None
    assert high == pytest.approx(min(1.0, mean + (mean - low)))
    assert 1.96 * 0.184 < mean - low < 2.5 * 2.447 * 0.186


def test_a_board_that_can_not_be_refreshed_harms_no_score_and_no_other_board(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    run = world.submit()
    world.drain()
    garbage = sa.literal(b"not whole float64s", sa.LargeBinary)
    with world.database.write() as session:
        session.execute(sa.delete(Board))
        session.execute(sa.update(Score).where(Score.measure == "AP").values(values=garbage))
    before = {(score.measure, score.subset): score.mean for score in world.scoring(run).scores}
    worker = BoardRefresh(world.database)
    with caplog.at_level(logging.ERROR, logger="leaderboard.worker"):
        while worker.step():
            pass
    assert {measure for measure, _ in _kept(world)} == {"AQWV", "P@1"}
    errors = [record.message for record in caplog.records if record.levelno >= logging.ERROR]
    assert ["AP could not be refreshed" in message for message in errors] == [True]
    assert world.scoring(run).state is State.SCORED
    assert {(score.measure, score.subset): score.mean for score in world.scoring(run).scores} == before


def test_two_workers_may_refresh_the_same_board(world: World) -> None:
    world.submit()
    world.drain()
    with world.database.write() as session:
        session.execute(sa.delete(Board))
    first, second = BoardRefresh(world.database), BoardRefresh(world.database)
    while first.step() or second.step():
        pass
    assert _due(world) == 0
    assert len(_kept(world)) == 6


def test_while_runs_wait_a_board_without_figures_gets_some(world: World) -> None:
    world.submit()
    world.drain()
    with world.database.write() as session:
        session.execute(sa.delete(Board))
    BoardRefresh(world.database).step_while_busy()
    assert {measure for measure, _ in _kept(world)} == {"AQWV"}
