"""What one installation exports another imports, and then both hold the same."""

import io
import random
import tarfile
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from leaderboard import migrate
from leaderboard.access import CONSOLE
from leaderboard.campaigns import writes as campaigns
from leaderboard.cli import run as call
from leaderboard.db import Database
from leaderboard.errors import NotFound
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.rules import FieldKind, FormField, Opening, ShownTo, Split
from leaderboard.formats import QueryRow
from leaderboard.formats.file_rules import document_list
from leaderboard.judgments import writes as queries
from leaderboard.store import RunStore
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import Designation, Ruling, SystemKind
from leaderboard.submissions.writes import submissions
from leaderboard.teams.writes import NewSystem
from leaderboard.transfer.exporting import exporting, packed
from tests.support.transferred import held
from tests.support.world import QRELS, RUN, World, build_world, run_file, run_text

SUBTOPICS = "q1 a d1 1\nq1 b d1 2\nq2 a d3 1\n"
ONE_ENGINE = pytest.mark.parametrize("engine_name", ["sqlite"])


@pytest.fixture
def full(new_database_url: Callable[[], str], tmp_path: Path, quick_hashes: None) -> Iterator[World]:
    """A campaign with something in every corner that an export reaches."""
    with closing(Database.connect(new_database_url())) as database:
        migrate.upgrade(database)
        with closing(build_world(database, tmp_path)) as world:
            _fill(world)
            yield world


def _fill(world: World) -> None:
    with world.organising() as (session, campaign, evaluation):
        links = [["The track's page", "https://example.org/track"]]
        campaigns.change_campaign(session, CONSOLE, campaign, description='Zwei Zeilen,\n"so" \\ β', links=links)
        evaluations.change_evaluation(session, CONSOLE, evaluation, results=Opening.NEVER, condition="Text")
        asked = QueryRow("q4", 'vier "Wörter" — und <b>mehr</b>', ("law",), "erstens\n\nzweitens")
        queries.import_queries(session, CONSOLE, evaluation, [asked, QueryRow("#5", "", ())])
        queries.set_split(session, CONSOLE, evaluation, ["q4"], Split.HIDDEN)
        queries.exclude_queries(session, CONSOLE, evaluation, ["#5"], "two readings")
        field = FormField(
            key="model", label="Model", kind=FieldKind.CHOICE, choices=("small", "large"), shown_to=ShownTo.EVERYONE
        )
        evaluations.set_field(session, CONSOLE, evaluation, field.as_json())
        evaluations.state_agreement(session, CONSOLE, evaluation, "use", "Use of the data", "For research.\nOnly.")
        evaluations.state_agreement(session, CONSOLE, evaluation, "use", "Use of the data", "For all.")
        evaluations.end_agreement(session, CONSOLE, evaluation, "use")
    world.judge(QRELS + "q4 0 d7 1\n", subtopics=SUBTOPICS)
    world.judge("q1 0 d2 1\n", source="llm")
    manual = NewSystem("By hand", kind=SystemKind.MANUAL, description="Two people", code_url="https://example.org/code")
    world.submit(RUN, label="first", system=manual, designation=Designation.PRIMARY, notes="a\nnote")
    world.submit(run_text(1), label="", threshold=1.5, version="v2", answers={"model": "large"})
    world.submit("q1 Q0 d2 1 1.0 x\nq1 Q0 d1 1 much broken\n", label="broken")
    gone = world.submit(run_text(2), label="gone")
    world.drain()
    off = world.submit(run_text(3), label="off")
    world.submit(run_text(3), label="off")
    world.drain()
    with world.organising() as (session, _, evaluation):
        session.get_one(Submission, gone).received_assumed = True  # as an import leaves it
        submissions.withdraw(session, CONSOLE, session.get_one(Submission, gone), "a typing error")
        submissions.hide_run(session, CONSOLE, session.get_one(Submission, off), Ruling.DISQUALIFIED, "not its own")
        evaluations.set_rules(session, CONSOLE, evaluation, most_documents=2)
        listed = document_list(io.BytesIO(b"d1\nd2\nd3\nd101\n"), name="documents")
        evaluations.set_documents(session, CONSOLE, evaluation, listed)


@ONE_ENGINE
@pytest.mark.usefixtures("scores_here")
def test_what_is_exported_and_imported_is_the_same_again(
    full: World,
    tmp_path: Path,
    new_database_url: Callable[[], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", full.config.database_url)
    monkeypatch.setenv("LEADERBOARD_STORE_URL", full.store.url)
    assert call(["export", "small", "--out", str(tmp_path / "small.zip")]) == 0
    before = held(full.database, "small")
    assert [run[0]["label"] for run in before["2026"]["runs"]] == ["broken", "first", "run-1", "gone", "off", "off"]
    assert {line[0] for line in before["2026"]["figures"]} == {"assessors", "llm"}
    assert before["2026"]["standing"]

    other = new_database_url()
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", other)
    monkeypatch.setenv("LEADERBOARD_STORE_URL", str(tmp_path / "other"))
    assert call(["db", "upgrade"]) == 0
    assert call(["import-campaign", str(tmp_path / "small.zip")]) == 0
    assert call(["worker", "--once"]) == 0
    with closing(Database.connect(other)) as database:
        after = held(database, "small")
    assert after["campaign"] == before["campaign"]
    for part, content in before["2026"].items():
        assert after["2026"][part] == content, part
    assert call(["verify", "--figures"]) == 0
    assert call(["export", "small", "--out", str(tmp_path / "again")]) == 0
    manifest = tmp_path / "again" / "manifest.toml"
    text = manifest.read_text()
    assert text.count("[[evaluation.run]]") == 6
    assert "closes_at = " in text
    assert text.count("received_assumed = true\n") == 1


@ONE_ENGINE
def test_only_organisers_export_and_a_run_whose_file_is_gone_is_left_out_and_named(
    world: World, tmp_path: Path
) -> None:
    run = world.submit()
    with pytest.raises(NotFound), exporting(world.database, world.ada, "small"):
        pass
    run_file(world.store, world.scoring(run).submission.sha256).unlink()
    with exporting(world.database, CONSOLE, "small") as export:
        archive = b"".join(packed(export, RunStore(world.store.url)))
    assert len(export.lost) == 1
    assert "missing" in export.lost[0]
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        manifest = opened.extractfile("small/manifest.toml")
        assert manifest is not None
        assert b"[[evaluation.run]]" not in manifest.read()
    assert not list(tmp_path.glob(".export-*"))


@ONE_ENGINE
def test_an_archive_is_made_piece_by_piece(world: World, tmp_path: Path) -> None:
    """A run of 24 MB that does not compress passes through pieces of one."""
    noise = random.Random(1).randbytes(24_000_000)
    world.submit(noise)
    with exporting(world.database, CONSOLE, "small") as export:
        tracemalloc.start()
        sizes = [len(piece) for piece in packed(export, world.store)]
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert sum(sizes) > len(noise)
    assert most < 8_000_000
