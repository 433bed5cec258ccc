"""The worker refreshes boards between jobs, and nothing that goes wrong there touches a score."""

import logging

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.models import Board, Score
from leaderboard.rules.settings import NoRelevant, Subset
from leaderboard.rules.states import State
from leaderboard.services import boards
from leaderboard.services.campaigns import change_campaign
from leaderboard.worker.board_refresh import BoardRefresh
from tests.support.world import World, run_text


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
    """Of the run's documents one of q1's is a false alarm, among 999 others; q3 has nothing relevant and counts in the
    mean of P_fa. AQWV is lowest where all three drawn queries are q1 (one time in 27), and 1 where none is."""
    with world.organising() as (session, campaign, _):
        change_campaign(session, CONSOLE, campaign, no_relevant=NoRelevant.PFA_ONLY)
    run = world.submit()
    world.drain()
    scores = {score.measure: score for score in world.scoring(run).scores if score.subset is Subset.ALL}
    assert set(scores) == {"AQWV", "AP", "P@1", "Pmiss", "Pfa"}
    assert scores["AQWV"].mean == pytest.approx(1 - 20 / 999 / 3)
    assert (scores["AQWV"].low, scores["AQWV"].high) == (pytest.approx(1 - 20 / 999), 1.0)


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
