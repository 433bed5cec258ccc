"""Boards as they stood come back with an import: runs, figures, ranks, dates, and what moved from one to the next."""

import datetime as dt
import random
import threading
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE, VISITOR
from leaderboard.cli import run as call
from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.formats import QueryRow
from leaderboard.models import Evaluation, Score, Scoring, ScoringSet, Submission, System, Team
from leaderboard.reads.standings import Show
from leaderboard.rules.phases import Opening
from leaderboard.rules.settings import Split
from leaderboard.rules.standings import Designation, SystemKind
from leaderboard.rules.states import Ruling
from leaderboard.services import campaigns, evaluations, queries, submissions
from leaderboard.services.events import present
from leaderboard.services.merging import merge_teams
from leaderboard.services.scoring_sets import make_official
from leaderboard.services.sources import remove_source
from leaderboard.services.systems import NewSystem, create_system
from leaderboard.services.teams import create_team
from leaderboard.store import RunStore
from leaderboard.transfer.importing import Import
from leaderboard.transfer.manifest import NAME, read_manifest
from leaderboard.transfer.tree import open_tree
from tests.support.scoring import WorkerHere
from tests.support.transferred import boards_held, held
from tests.support.world import World

QUERIES = [f"q{number}" for number in range(1, 9)]
DOCUMENTS = [f"d{number}" for number in range(12)]
# Each way to choose among the runs of a board is shown to one reader; which runs these are does not hang on the reader.
SHOWN_TO = {CONSOLE: tuple(Show), VISITOR: (Show.BEST,)}
SCORED_MEANWHILE = 4  # scorings of runs of an import that broke off
ONE_ENGINE = pytest.mark.parametrize("engine_name", ["sqlite"])


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
    """An evaluation that was judged, corrected and changed again and again, and whose runs came, stood and went."""
    with world.organising() as (session, campaign, evaluation):
        campaigns.change_campaign(session, CONSOLE, campaign, measures=["AP", "AQWV"], primary_measure="AP")
        queries.import_queries(session, CONSOLE, evaluation, [QueryRow(one, "", ()) for one in QUERIES[3:]])
        evaluations.change_evaluation(session, CONSOLE, evaluation, results=Opening.ALWAYS)
    world.judge(judged_by(1))  # nothing was ever scored by the revision before
    world.judge(judged_by(2), source="llm")
    first = world.submit(
        run_by(0), threshold=97.5, system=NewSystem("Alder", kind=SystemKind.MANUAL), designation=Designation.PRIMARY
    )
    alder = world.all(sa.select(Submission).options(sa.orm.joinedload(Submission.system)))[0].system
    second = world.submit(run_by(1), threshold=96.5, system=alder, label="second")
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
    with world.organising() as (session, _, evaluation):
        submissions.make_primary(session, CONSOLE, session.get_one(Submission, second))
        submissions.withdraw(session, CONSOLE, session.get_one(Submission, birch), "a typing error")
        submissions.take_off(session, CONSOLE, session.get_one(Submission, cedar), Ruling.HIDDEN, "doubts")
    world.submit(run_by(5), system=NewSystem("Dogwood"))
    world.drain()
    world.judge(judged_by(3))
    world.drain()
    with world.organising() as (session, _, evaluation):
        queries.set_split(session, CONSOLE, evaluation, ["q7"], Split.HIDDEN)
        queries.include_queries(session, CONSOLE, evaluation, ["q5"])  # no board ever goes by that alone
        evaluations.change_evaluation(session, CONSOLE, evaluation, relevance_level=2, documents=500)
    world.drain()
    world.judge(judged_by(1))  # the correction is taken back
    world.drain()
    with world.organising() as (session, _, evaluation):
        make_official(session, CONSOLE, evaluation, "llm")
        submissions.make_primary(session, CONSOLE, session.get_one(Submission, first))
    world.judge(judged_by(3), source="lab")  # by mistake, while readers can see single queries of it
    world.drain()
    with world.organising() as (session, _, evaluation):
        evaluations.change_evaluation(session, CONSOLE, evaluation, details=Opening.ALWAYS)
        remove_source(session, CONSOLE, evaluation, "lab")
    for source in ("assessors", "llm"):  # and back
        with world.organising() as (session, _, evaluation):
            make_official(session, CONSOLE, evaluation, source)
        world.drain()
    return world


def kept_by_sets(database: Database) -> list[tuple[Any, ...]]:
    """Hashes of every set that has stood, and every vector and mean of the runs that it was of then."""
    then = sa.or_(ScoringSet.shown_until.is_(None), Scoring.finished_at <= ScoringSet.shown_until, Scoring.of_the_past)
    with database.read() as session:
        rows = session.execute(
            sa.select(ScoringSet, Submission.sha256, Score)
            .join(Scoring, Scoring.scoring_set_id == ScoringSet.id)
            .join(Submission, Submission.id == Scoring.submission_id)
            .join(Score, Score.scoring_id == Scoring.id)
            .where(ScoringSet.switched_at.is_not(None), then)
            .options(sa.orm.undefer(Score.values), sa.orm.joinedload(ScoringSet.revision))
        )
        found = [
            (
                one.source, one.revision.number, one.revision.sha256, one.settings_hash, one.metric_version,
                one.switched_at, one.shown_until, one.shown_before, sha256,
                score.measure, score.subset, score.mean, score.count, score.values.tobytes(),
            )
            for one, sha256, score in rows
        ]  # fmt: skip
    return sorted(found, key=repr)


def begin_as_the_page_does(database: Database, store: RunStore, folder: Path) -> None:
    """Brings three runs in, which workers score, and breaks off."""
    with open_tree(folder) as tree:
        bringing = Import(database, store, lambda _: CONSOLE, read_manifest(tree.file(NAME)), tree)
        bringing.prepare(whole=True)
        for run in bringing.runs[:3]:
            upload = bringing.receive(run)
            assert upload is not None
            with database.write() as session:
                assert bringing.enter(session, run, upload) is not None


@pytest.mark.parametrize("engine_name", ["postgresql"])  # on SQLite the tests below, and test_exporting.py
def test_every_board_that_stood_comes_back_with_its_dates_runs_and_figures(
    story: World,
    tmp_path: Path,
    new_database_url: Callable[[], str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", story.config.database_url)
    monkeypatch.setenv("LEADERBOARD_STORE_URL", story.store.url)
    assert call(["export", "small", "--out", str(tmp_path / "out")]) == 0
    now = present()
    before = {who: boards_held(story.database, "small", "2026", who, now, shows) for who, shows in SHOWN_TO.items()}
    stood = [(words, beside) for words, _, _, beside, *_ in before[CONSOLE]["sets"]]
    assert stood == [
        ("revision 3", False),
        ("revision 5 by assessors", True),
        ("revision 5 by assessors", False),
        ("revision 6 by lab", False),
        ("revision 3", False),
        ("revision 5 by assessors", False),
        *[(f"revision {number}", False) for number in ("4 by assessors", "4 by assessors", "3", "2 by assessors")],
        *[(f"revision {number}", False) for number in ("3", "2 by assessors")],
    ]

    other = Config(database_url=new_database_url(), store_url=str(tmp_path / "other"))
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", other.database_url)
    monkeypatch.setenv("LEADERBOARD_STORE_URL", other.store_url)
    assert call(["db", "upgrade"]) == 0
    with closing(Database.connect(other.database_url)) as database:
        with closing(WorkerHere(database, RunStore(other.store_url), other)) as worker:
            begin_as_the_page_does(database, RunStore(other.store_url), tmp_path / "out")
            for _ in range(SCORED_MEANWHILE):
                assert worker.step(threading.Event())
            capsys.readouterr()
            assert call(["import-campaign", str(tmp_path / "out")]) == 0
            assert "4 runs brought in, 3 were there already" in capsys.readouterr().out
            while worker.step(threading.Event()):
                pass
        for who, shown in before.items():
            after = boards_held(database, "small", "2026", who, now, SHOWN_TO[who])
            for part, content in shown.items():
                assert after[part] == content, (who.name, part)
            assert after.keys() == shown.keys()
        assert kept_by_sets(database) == kept_by_sets(story.database)
        assert held(database, "small") == held(story.database, "small")
    assert call(["verify", "--figures"]) == 0
    assert call(["export", "small", "--out", str(tmp_path / "again")]) == 0
    assert (tmp_path / "again" / "manifest.toml").read_text() == (tmp_path / "out" / "manifest.toml").read_text()


may, june = (partial(dt.datetime, 2020, month, tzinfo=dt.UTC) for month in (5, 6))
BY_HAND = """
[campaign]
slug = "past"
title = "The past"
measures = ["AP"]
[[evaluation]]
slug = "2020"
period = "2020"
closes_at = 2020-04-01
%s
[[evaluation.judgments]]
file = "first.txt"
[[evaluation.judgments]]
file = "second.txt"
%s
[[evaluation.run]]
file = "a.txt"
team = "Elm"
system = "One"
[[evaluation.run]]
file = "b.txt"
team = "Elm"
system = "%s"
"""


@pytest.fixture
def archive(tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """A folder of two runs and two revisions of judgments, whose manifest says this of boards and settings."""
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", database.engine.url.render_as_string(hide_password=False))
    monkeypatch.setenv("LEADERBOARD_STORE_URL", str(tmp_path / "store"))
    folder = tmp_path / "archive"
    folder.mkdir()
    (folder / "first.txt").write_text("q1 0 d1 1\nq2 0 d3 1\n")
    (folder / "second.txt").write_text("q1 0 d2 1\nq2 0 d3 1\n")
    (folder / "a.txt").write_text("q1 Q0 d1 1 2.0 a\nq1 Q0 d2 2 1.0 a\nq2 Q0 d3 1 1.0 a\n")
    (folder / "b.txt").write_text("q1 Q0 d2 1 2.0 b\nq1 Q0 d1 2 1.0 b\nq2 Q0 d1 1 2.0 b\n")

    def write(stood: str, *, settings: str = "", system: str = "Two") -> Path:
        (folder / NAME).write_text(BY_HAND % (settings, stood, system))
        return folder

    return write


@ONE_ENGINE
def test_a_manifest_by_hand_says_no_more_of_an_old_board_than_what_it_went_by_and_when(
    archive: Callable[..., Path], database: Database
) -> None:
    old = '[[evaluation.stood]]\njudgments = "first.txt"\nsince = 2020-05-03\nuntil = 2020-05-10T12:00:00Z\n'
    excluded = f'{old.replace("05-", "06-")}excluded = ["q2"]\n'
    assert call(["import-campaign", str(archive(old + excluded))]) == 0
    shown = boards_held(database, "past", "2020", CONSOLE, present())
    ends = [(since, until) for *_, since, until, _, _ in shown["sets"]]
    assert ends[1:] == [(june(3), june(10, 12)), (may(3), may(10, 12))]
    rows = {name: [(row[0], row[3], row[8].mean) for row in shown[f"{name} primary"][2]] for name in "012"}
    assert rows == {
        "0": [(1, "One", 0.75), (2, "Two", 0.5)],
        "1": [(1, "One", 1.0), (2, "Two", 0.5)],
        "2": [(1, "One", 1.0), (2, "Two", 0.25)],
    }


@ONE_ENGINE
def test_a_board_that_can_not_come_back_is_left_out_and_named(
    archive: Callable[..., Path], database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    by_another_version = '[[evaluation.stood]]\nsince = 2020-05-03\nmeasures_version = "0.9"\n'
    assert call(["import-campaign", str(archive(by_another_version))]) == 0
    left_out = "2020: its board as it stood from 3 May 2020, 00:00 UTC is left out: "
    assert f"{left_out}it went by version 0.9 of the measures" in capsys.readouterr().err
    told_later = '[[evaluation.stood]]\nsince = 2020-05-03\njudgments = "first.txt"\n'
    assert call(["import-campaign", str(archive(told_later))]) == 0
    assert f"{left_out}the evaluation is here already, and keeps its boards" in capsys.readouterr().err
    assert len(boards_held(database, "past", "2020", CONSOLE, present())["sets"]) == 1


@ONE_ENGINE
def test_runs_that_still_wait_stay_on_their_old_board_when_their_system_becomes_one_with_another(
    archive: Callable[..., Path], database: Database, tmp_path: Path
) -> None:
    old = '[[evaluation.stood]]\njudgments = "first.txt"\nsince = 2020-05-03\nuntil = 2020-05-10\n'
    config = Config(
        database_url=database.engine.url.render_as_string(hide_password=False), store_url=str(tmp_path / "store")
    )
    with open_tree(archive(old)) as tree:
        bringing = Import(database, RunStore(config.store_url), lambda _: CONSOLE, read_manifest(tree.file(NAME)), tree)
        bringing.prepare()
        for run in bringing.runs:
            upload = bringing.receive(run)
            assert upload is not None
            with database.write() as session:
                bringing.enter(session, run, upload)
    with database.write() as session:
        elm, ash = session.scalars(sa.select(Team)).one(), create_team(session, CONSOLE, "Ash", own=False)
        one = session.scalars(sa.select(System).where(System.name == "One")).one()
        create_system(session, CONSOLE, ash, NewSystem("One"))
        merge_teams(session, CONSOLE, elm, ash, unite=[one.id])
    with closing(WorkerHere(database, RunStore(config.store_url), config)) as worker:
        while worker.step(threading.Event()):
            pass
    shown = boards_held(database, "past", "2020", CONSOLE, present())
    assert [(row[0], row[3], row[8].mean) for row in shown["1 primary"][2]] == [(1, "One", 1.0), (2, "Two", 0.25)]
    assert call(["verify"]) == 0


@ONE_ENGINE
@pytest.mark.parametrize(
    ("stood", "system", "says"),
    [
        ('judgments = "first.txt"', "Two", "stood 1: since: is missing"),
        ('since = "soon"', "Two", "stood 1: since: give a date like 2020-04-23"),
        ('since = 2999-01-01', "Two", "stood 1: since: 1 Jan 2999, 00:00 UTC is in the future"),
        ("since = 2020-05-03\nuntil = 2020-05-02", "Two", "stood 1: until: give a moment after `since`"),
        ('since = 2020-05-03\njudgments = "third.txt"', "Two", "third.txt is no judgments of this evaluation"),
        ('since = 2020-05-03\nruns = ["c.txt"]', "Two", "stood 1: runs: no run of this evaluation is in c.txt"),
        ('since = 2020-05-03\nmeasures = ["Nonsense"]', "Two", "stood 1: measures: "),
        ('since = 2020-05-03\nexcluded = ["q9"]', "Two", "stood 1: excluded: of the first 2 queries none is q9"),
        ("since = 2020-05-03\nqueries = 3", "Two", "stood 1: queries: there are 2 only"),
        ('since = 2020-05-03\njudgments = "first.txt"', "One", "a.txt, b.txt are by one system"),
        ('since = 2020-05-03\nruns = ["a.txt"]\nstanding = ["b.txt"]', "Two", "standing: of the runs that were on it"),
        ("since = 2020-05-03\nwords = 3", "Two", "stood 1: words: there is no such setting"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_old_board_is_told_with_its_place_and_nothing_is_made(
    archive: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
    database: Database,
    stood: str,
    system: str,
    says: str,
) -> None:
    assert call(["import-campaign", str(archive(f"[[evaluation.stood]]\n{stood}\n", system=system))]) == 2
    said = capsys.readouterr()
    assert says in said.err
    assert said.out == ""
    with database.read() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Evaluation)) == 0
