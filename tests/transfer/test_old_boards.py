"""Boards as they stood come about by an import's replay: runs, figures, ranks, dates, and which run stood."""

import random
import threading
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE, VISITOR
from leaderboard.audit.writes import present
from leaderboard.boards.reads.ranking import Show
from leaderboard.campaigns import writes as campaigns
from leaderboard.cli import run as call
from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.rules import Opening
from leaderboard.formats import QueryRow
from leaderboard.judgments import writes as queries
from leaderboard.store import RunStore
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import Designation, Ruling, SystemKind
from leaderboard.submissions.writes import submissions
from leaderboard.teams.writes import NewSystem
from leaderboard.transfer.manifest import NAME
from tests.support.databases import Postgres
from tests.support.scoring import WorkerHere
from tests.support.transferred import boards_held, held
from tests.support.world import World

QUERIES = [f"q{number}" for number in range(1, 9)]
DOCUMENTS = [f"d{number}" for number in range(12)]
# Each way to choose among the runs of a board is shown to one reader; which runs these are does not hang on the reader.
SHOWN_TO = {CONSOLE: tuple(Show), VISITOR: (Show.BEST,)}


def judged_by(seed: int) -> str:
    """Judgments of every query, some of each grade from 0 to 2."""
    grade = random.Random(seed)
    return "".join(f"{query} 0 {one} {grade.choice((0, 0, 1, 2))}\n" for query in QUERIES for one in DOCUMENTS)


def run_by(seed: int) -> str:
    """A run that lists every document, in an order of its own."""
    order = random.Random(seed)
    lines = []
    for query in QUERIES:
        shuffled = order.sample(DOCUMENTS, len(DOCUMENTS))
        lines += [f"{query} Q0 {one} {rank} {100 - rank}.0 run{seed}\n" for rank, one in enumerate(shuffled, 1)]
    return "".join(lines)


@pytest.fixture
def story(world: World) -> World:
    """An evaluation that was judged again and again, and whose runs came, stood and went."""
    with world.organising() as (session, campaign, evaluation):
        campaigns.change_campaign(session, CONSOLE, campaign, measures=["AP", "AQWV"], primary_measure="AP")
        queries.import_queries(session, CONSOLE, evaluation, [QueryRow(one, "", ()) for one in QUERIES[3:]])
        evaluations.change_evaluation(session, CONSOLE, evaluation, results=Opening.ALWAYS)
    world.judge(judged_by(1))  # nothing was ever scored by the revision before
    alder = NewSystem("Alder", kind=SystemKind.MANUAL)
    world.submit(run_by(0), threshold=97.5, system=alder, designation=Designation.PRIMARY)
    own = world.all(sa.select(Submission).options(sa.orm.joinedload(Submission.system)))[0].system
    world.submit(run_by(1), threshold=96.5, system=own, label="second")
    birch, cedar = (
        world.submit(run_by(number), threshold=98.5, system=NewSystem(name))
        for number, name in ((2, "Birch"), (3, "Cedar"))
    )
    world.submit(run_by(4), system=NewSystem("BM25", kind=SystemKind.BASELINE), actor=CONSOLE)
    world.submit("q1 Q0 d2 1 1.0 x\nq1 Q0 d1 1 much broken\n", system=NewSystem("Elm"))
    world.drain()
    with world.organising() as (session, _, evaluation):
        queries.exclude_queries(session, CONSOLE, evaluation, ["q5"], "two readings")
    world.drain()
    world.judge(judged_by(2), source="llm")
    world.drain()
    world.judge(judged_by(3))
    world.drain()
    with world.organising() as (session, _, evaluation):
        submissions.withdraw(session, CONSOLE, session.get_one(Submission, birch), "a typing error")
        submissions.hide_run(session, CONSOLE, session.get_one(Submission, cedar), Ruling.HIDDEN, "doubts")
    world.submit(run_by(5), system=NewSystem("Dogwood"))
    world.drain()
    world.judge(judged_by(4), source="llm")
    world.drain()
    world.judge(judged_by(1))  # the correction is taken back
    world.drain()
    return world


@pytest.mark.parametrize("engine_name", ["sqlite"])  # from it to the other one
def test_boards_that_stood_come_about_again_with_their_dates_runs_and_figures(
    story: World, tmp_path: Path, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", story.config.database_url)
    monkeypatch.setenv("LEADERBOARD_STORE_URL", story.store.url)
    assert call(["export", "small", "--out", str(tmp_path / "out")]) == 0
    now = present()
    before = {who: boards_held(story.database, "small", "2026", who, now, shows) for who, shows in SHOWN_TO.items()}
    stood = sorted(words for words, *_ in before[CONSOLE]["sets"])
    numbers = ["2", "2", "3 by llm", "4", "5 by llm", "6"]
    assert stood == [f"revision {number}" for number in numbers]

    other = Config(database_url=postgres.create(), store_url=str(tmp_path / "other"))
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", other.database_url)
    monkeypatch.setenv("LEADERBOARD_STORE_URL", other.store_url)
    assert call(["db", "upgrade"]) == 0
    assert call(["import-campaign", str(tmp_path / "out")]) == 0
    with closing(Database.connect(other.database_url)) as database:
        with closing(WorkerHere(database, RunStore(other.store_url), other)) as worker:
            while worker.step(threading.Event()):
                pass
        for who, shown in before.items():
            after = boards_held(database, "small", "2026", who, now, SHOWN_TO[who])
            for part, content in shown.items():
                assert after[part] == content, (who.name, part)
            assert after.keys() == shown.keys()
        assert held(database, "small") == held(story.database, "small")
    assert call(["verify", "--figures"]) == 0
    assert call(["export", "small", "--out", str(tmp_path / "again")]) == 0
    postgres.leave(other.database_url)
    assert (tmp_path / "again" / NAME).read_text() == (tmp_path / "out" / NAME).read_text()
