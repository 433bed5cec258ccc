"""What a worker does beside scoring."""

import os
from pathlib import Path

import pytest
import sqlalchemy as sa

from leaderboard.db import clock
from leaderboard.evaluations.models import Evaluation
from leaderboard.metrics import MEASURES_VERSION
from leaderboard.submissions.models import Installation
from leaderboard.submissions.rules import SetState, State
from leaderboard.submissions.writes.run_store import bind
from leaderboard.worker import loop
from leaderboard.worker.models import ScoringSet
from tests.support.world import World, run_file, run_text


def _sets(world: World) -> list[tuple[str, SetState]]:
    with world.database.read() as session:
        made = session.scalars(sa.select(ScoringSet).order_by(ScoringSet.id))
        return [(one.metric_version, one.state) for one in made]


def _of_version(world: World, version: str) -> None:
    """Makes the sets that there are those of another version of the measures."""
    with world.database.write() as session:
        # A trigger refuses it, so it is taken away first, as only the owner of the tables can.
        on_table = " ON scoring_set" if world.database.engine.dialect.name == "postgresql" else ""
        session.execute(sa.text(f"DROP TRIGGER scoring_set_never_changes{on_table}"))
        session.execute(sa.update(ScoringSet).values(metric_version=version))


def test_an_upgrade_that_changes_figures_scores_everything_again(world: World) -> None:
    submission = world.submit()
    world.drain()
    _of_version(world, "0.9")
    later = world.submit()
    # A worker of this version leaves the old version's jobs alone ...
    world.drain()
    assert world.scoring(later).state is State.QUEUED
    # ... until it starts, and makes a set of its own.
    loop.renew_sets(world.database)
    loop.renew_sets(world.database)
    assert _sets(world) == [("0.9", SetState.CURRENT), (MEASURES_VERSION, SetState.BUILDING)]
    world.drain()
    assert [state for _, state in _sets(world)] == [SetState.SUPERSEDED, SetState.CURRENT]
    assert {world.scoring(run).state for run in (submission, later)} == {State.SCORED}


def test_an_evaluation_that_this_version_can_not_score_keeps_its_set_and_the_log_says_why(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.submit()
    world.drain()
    _of_version(world, "0.9")
    with world.database.write() as session:
        session.execute(sa.update(Evaluation).values(documents=None))
    loop.renew_sets(world.database)
    assert _sets(world) == [("0.9", SetState.CURRENT)]
    assert f"evaluation {world.evaluation} can't be scored by this version" in caplog.text


def test_files_that_no_submission_names_are_set_aside_for_a_day_and_then_removed(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    run = world.submit(run_text(1))
    names = world.scoring(run).submission.sha256, world.receive(run_text(2)).sha256
    files = [run_file(world.store, sha256) for sha256 in names]
    aside = Path(world.store.url) / "set-aside" / names[1]
    loop.remove_orphans(world.database, world.store)
    assert [path.exists() for path in files] == [True, True]
    assert caplog.text == ""
    for path in files:
        os.utime(path, (0, 0))
    loop.remove_orphans(world.database, world.store)
    loop.remove_orphans(world.database, world.store)
    assert [path.exists() for path in (*files, aside)] == [True, False, True]
    os.utime(aside, (0, 0))
    loop.remove_orphans(world.database, world.store)
    assert [path.exists() for path in (*files, aside)] == [True, False, False]
    assert caplog.text.count("run files that no submission names, set aside or removed after a day there: 1") == 2


def test_one_worker_of_an_installation_sweeps_an_hour(world: World) -> None:
    bind(world.database, world.store)
    assert [loop.takes_sweep(world.database) for _ in range(3)] == [True, False, False]
    with world.database.write() as session:
        session.execute(sa.update(Installation).values(swept_at=clock(-loop.HOUSEKEEPING_SECONDS - 1)))
    assert [loop.takes_sweep(world.database) for _ in range(2)] == [True, False]
    with world.database.write() as session:  # under a clock that was a day ahead
        session.execute(sa.update(Installation).values(swept_at=clock(24 * 3600)))
    assert [loop.takes_sweep(world.database) for _ in range(2)] == [True, False]
