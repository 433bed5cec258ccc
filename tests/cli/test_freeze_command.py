"""`leaderboard freeze` and `leaderboard verify FOLDER`: a small closed year, with and without what makes it whole."""

import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import yaml

from leaderboard.access import CONSOLE
from leaderboard.cli import run
from leaderboard.db import Database
from leaderboard.evaluations.rules import Opening, Split
from leaderboard.formats import QueryRow
from leaderboard.freezing import copying
from leaderboard.judgments import writes
from tests.cli.conftest import Command
from tests.support.scoring import WorkerHere
from tests.support.world import QRELS, World, build_world, run_text

Says = Callable[..., str]
# It adds files, words and refusals; its one statement of its own is asked on both engines where runs are published.
ONE_ENGINE = pytest.mark.parametrize("engine_name", ["sqlite"])
PAST = datetime(2026, 1, 2, tzinfo=UTC)
TITLE = 'The "2026": Ärger & <more>'
LINK = re.compile(r'\s(?:href|src)="([^"#]*)')


def close_with(world: World, runs: int) -> World:
    """A closed year with so many scored runs and published judgments."""
    for number in range(1, runs + 1):
        world.submit(run_text(number), threshold=0.5)
    world.drain()
    world.change_evaluation(closes_at=PAST, judgments_published=True)
    return world


@pytest.fixture
def closed(world: World) -> World:
    return close_with(world, 1)


@pytest.fixture(scope="module")
def whole(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The copy of a closed year of two simulated runs, with both files, a licence and names that have to be quoted."""
    folder = tmp_path_factory.mktemp("whole")
    shutil.copyfile(migrated_sqlite, folder / "year.sqlite")
    with (
        closing(Database.connect(f"sqlite:///{folder / 'year.sqlite'}")) as database,
        closing(build_world(database, folder)) as world,
        pytest.MonkeyPatch.context() as environment,
    ):
        world.worker = WorkerHere
        with world.organising() as (session, campaign, evaluation):
            campaign.simulated = True
            strange = [
                QueryRow(name, f'{name} href="/x"', ()) for name in ("a/b", "A/B", "ж?#%", 'it"s&amp;', "q1.html")
            ]
            writes.import_queries(session, CONSOLE, evaluation, strange)
        world.change_evaluation(title=TITLE, opens_at=PAST - timedelta(days=1))
        close_with(world, 2)
        environment.setenv("LEADERBOARD_DATABASE_URL", world.config.database_url)
        environment.setenv("LEADERBOARD_STORE_URL", world.config.store_url)
        asked = ["freeze", "small/2026", str(folder / "copy"), "--all-runs", "--license", "CC-BY-4.0"]
        assert run(asked) == 0
    return folder / "copy"


def frozen(ok: Says, folder: Path, *more: str) -> Path:
    ok("freeze", "small/2026", folder / "copy", *more)
    return folder / "copy"


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@ONE_ENGINE
def test_every_link_leads_to_a_file_no_page_asks_a_server_and_a_receipts_command_works_as_printed(
    whole: Path, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(whole, tmp_path / "copy")
    pages = sorted(folder.rglob("*.html"))
    assert {"index.html", "queries.html", "queries/q1.html", "submissions/1.html", "submissions/1/queries/q1.html",
            "judgments/q1.html", "measures/AP.html", "boards.html"} <= names(folder)  # fmt: skip
    assert len(list(folder.rglob("queries/**/*.html"))) == 8 + 2 * 8  # of each query, and of each run's lists
    for page in pages:
        text = page.read_text("utf-8")
        assert "<form" not in text, page
        assert "Log in" not in text, page
        assert "Frozen copy of" in text, page
        for link in LINK.findall(text):
            if not urlsplit(link).scheme:
                assert link == "" or (page.parent / unquote(link)).is_file(), (page, link)
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=folder, check=True)
    receipt = json.loads((folder / "submissions/1/receipt.json").read_text())
    monkeypatch.chdir(folder / "data")
    done = command(*shlex.split(receipt["command"])[1:])
    assert done.status == 0, done
    rows = json.loads((folder / "data/submission-1.json").read_text())["rows"]
    # d1 at rank 3 of q1, d3 at rank 1 of q2, and nothing of q3
    assert json.loads(done.out)["runs"][0]["measures"]["AP"]["mean"] == rows[0]["AP"] == (1 / 3 + 1 + 0) / 3
    assert (folder / "data/submission-1.txt").read_text() == run_text(1)


@ONE_ENGINE
def test_one_changed_byte_is_named_and_so_are_files_that_come_and_go_and_figures_that_no_run_gives(
    whole: Path, command: Command, tmp_path: Path
) -> None:
    folder = shutil.copytree(whole, tmp_path / "copy")
    kinds = {Path(name).suffix: name for name in sorted(names(folder)) if name != "SHA256SUMS"}
    assert {".html", ".json", ".csv", ".txt", ".tsv", ".css", ".js", ".svg", ".cff"} <= kinds.keys() | {".tsv"}
    for name in [*kinds.values(), "ro-crate-metadata.json", "data/submission-1.txt", "submissions/1/receipt.json"]:
        path = folder / name
        before = path.read_bytes()
        path.write_bytes(bytes([before[0] ^ 1]) + before[1:])
        done = command("verify", folder)
        assert (done.status, f"{name}: was changed: " in done.out) == (1, True), name
        path.write_bytes(before)
    sums = (folder / "SHA256SUMS").read_text()
    (folder / "SHA256SUMS").write_text("x" + sums[1:])
    assert "SHA256SUMS: line 1 can't be read\n" in command("verify", folder).out
    (folder / "SHA256SUMS").write_text(("1" if sums[0] == "0" else "0") + sums[1:])
    said = "SHA256SUMS: line 1 was changed: CITATION.cff has the SHA-256 that ro-crate-metadata.json gives\n"
    assert command("verify", folder).out.startswith(f"{said}1 thing differs: ")
    (folder / "SHA256SUMS").write_text(sums + f"{'0' * 64}  ../../etc/passwd\n")
    assert f"SHA256SUMS: line {sums.count(chr(10)) + 1} can't be read\n" in command("verify", folder).out
    (folder / "SHA256SUMS").write_text(sums)
    (folder / "queries/q1.html").unlink()
    (folder / "data/more.csv").write_text("x")
    done = command("verify", folder)
    assert (done.status, done.out.splitlines()[:-1]) == (1, [
        "queries/q1.html: is missing", "data/more.csv: was added",
        "2 things differ: figures of 2 of 2 runs computed again",
    ])  # fmt: skip
    assert command("verify", folder, "--json").status == 2
    (folder / "data/more.csv").unlink()
    own, board = folder / "data/submission-1.json", folder / "data/small-2026.json"
    mean = json.loads(own.read_text())["rows"][0]["AP"]
    for path in (own, board):
        path.write_text(path.read_text().replace(f'"AP": {mean!r}', '"AP": 0.75'))
    listed = sorted(names(folder) - {"SHA256SUMS"})
    sums = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in listed]
    (folder / "SHA256SUMS").write_text("".join(sums))
    assert command("verify", folder).out.splitlines()[:2] == [
        f"data/submission-1.json: AP is 0.75; the run and the judgments give {mean!r}",
        f"data/small-2026.json: AP of submission 1 is 0.75; the run and the judgments give {mean!r}",
    ]
    receipt = folder / "submissions/1/receipt.json"
    receipt.write_text(receipt.read_text().replace("leaderboard score", "leaderboard serve"))
    said = command("verify", folder).out
    assert "submissions/1/receipt.json: its figures can't be computed again: expected" in said
    assert ": figures of 1 of 2 runs computed again\n" in said


def test_what_describes_the_folder_has_what_its_formats_require(whole: Path) -> None:
    folder = whole
    title = f"A small campaign: {TITLE}"
    citation = yaml.safe_load((folder / "CITATION.cff").read_text("utf-8"))
    assert {key: citation[key] for key in ("cff-version", "title", "type", "license", "authors")} == {
        "cff-version": "1.2.0", "title": title, "type": "dataset", "license": "CC-BY-4.0",
        "authors": [{"name": "A small campaign"}],
    }  # fmt: skip
    assert citation["message"]
    datacite = json.loads((folder / "datacite.json").read_text("utf-8"))
    assert datacite["titles"] == [{"title": title}]
    assert datacite["creators"] == [{"name": "A small campaign", "nameType": "Organizational"}]
    assert datacite["publisher"] == {"name": "Leaderboard"}
    assert re.fullmatch("[0-9]{4}", datacite["publicationYear"])
    assert datacite["types"]["resourceTypeGeneral"] == "Dataset"
    assert datacite["schemaVersion"] == "http://datacite.org/schema/kernel-4"
    assert datacite["dates"][0] == {"date": "2026-01-01/2026-01-02", "dateType": "Collected"}
    graph = {
        entity["@id"]: entity for entity in json.loads((folder / "ro-crate-metadata.json").read_text("utf-8"))["@graph"]
    }
    assert graph["ro-crate-metadata.json"]["about"] == {"@id": "./"}
    assert graph["ro-crate-metadata.json"]["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
    root = graph["./"]
    assert (root["@type"], root["name"]) == ("Dataset", title)
    assert root["description"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", root["datePublished"])
    assert graph[root["license"]["@id"]]["name"] == "CC-BY-4.0"
    assert {unquote(part["@id"]) for part in root["hasPart"]} == names(folder) - {
        "ro-crate-metadata.json",
        "SHA256SUMS",
    }
    for part in root["hasPart"]:
        file, content = graph[part["@id"]], (folder / unquote(part["@id"])).read_bytes()
        assert (file["@type"], file["contentSize"]) == ("File", str(len(content)))
        assert file["sha256"] == hashlib.sha256(content).hexdigest()
        assert re.fullmatch(r"[a-z]+/[a-z0-9.+-]+", file["encodingFormat"])


@ONE_ENGINE
def test_pages_readme_and_verify_say_which_runs_and_judgments_are_not_in_the_folder(
    closed: World, ok: Says, tmp_path: Path
) -> None:
    closed.change_evaluation(judgments_published=False)
    folder = frozen(ok, tmp_path)
    assert not [name for name in names(folder) if "judgments" in name or ("queries/q1" in name and "sub" in name)]
    assert (
        "The file of this run and its ranked lists are not in this copy" in (folder / "submissions/1.html").read_text()
    )
    assert "Run files in this copy: 0 of 1, those of teams that agreed" in (folder / "index.html").read_text()
    readme = (folder / "README.txt").read_text()
    assert "It has the files of 0 of 1 run: no agreement to publish them was named. The figures of all" in readme
    assert "The judgments are not published, so the figures can't be computed again." in readme
    for name in ("CITATION.cff", "datacite.json", "ro-crate-metadata.json"):
        assert not re.search("licen|rights", (folder / name).read_text()), name
    lacking = "not in the folder: small-2026-judgments.txt, submission-1.txt"
    said = ok("verify", folder)
    assert f"figures of submission 1 are not computed again: {lacking}\n" in said
    assert "nothing differs: figures of 0 of 1 run computed again\n" in said
    shutil.rmtree(folder)
    closed.change_evaluation(details=Opening.NEVER)
    folder = frozen(ok, tmp_path, "--all-runs")
    assert not [name for name in names(folder) if name.startswith("submissions/1/queries")]
    assert "Single queries are not public, so the figures are rounded" in (folder / "README.txt").read_text()
    assert "figures of submission 1 are not computed again: The command that computes" in ok("verify", folder)


def test_simulated_runs_are_called_so_in_what_describes_the_folder_and_in_papers(whole: Path) -> None:
    folder = whole
    said = f"Board, figures and judgments of A small campaign: {TITLE}; files of 2 of 2 runs. The runs are simulated."
    quoted = json.dumps(said, ensure_ascii=False)  # as YAML writes it, too
    for name in ("CITATION.cff", "datacite.json", "ro-crate-metadata.json"):
        assert quoted in (folder / name).read_text("utf-8"), name
    assert "The runs are simulated.\n" in (folder / "README.txt").read_text("utf-8")
    papers = [*(folder / "data").glob("*.tex"), *(folder / "data").glob("*.md")]
    assert {"submission-1.tex", "small-2026.md", "small-2026-queries.tex"} <= {path.name for path in papers}
    assert [path.name for path in papers if "Simulated runs." not in path.read_text("utf-8")] == []


@ONE_ENGINE
def test_no_file_of_a_run_leaves_while_there_are_queries_that_visitors_may_not_see(
    closed: World, ok: Says, tmp_path: Path
) -> None:
    with closed.organising() as (session, _, evaluation):
        writes.set_split(session, CONSOLE, evaluation, ["q2"], Split.HIDDEN)
    closed.drain()
    closed.change_evaluation(hidden_queries=Opening.NEVER)
    folder = frozen(ok, tmp_path, "--all-runs")
    assert [name for name in names(folder) if "q2" in name or b"q2" in (folder / name).read_bytes()] == []
    assert not (folder / "data/submission-1.txt").exists()
    hidden = "Some queries are hidden from visitors, and the files of all runs with them."
    assert hidden in (folder / "README.txt").read_text()
    assert hidden in (folder / "index.html").read_text()
    assert "are not in this copy: some queries are hidden" in (folder / "submissions/1.html").read_text()
    shutil.rmtree(folder)
    closed.change_evaluation(hidden_queries=Opening.CLOSED)
    assert (frozen(ok, tmp_path, "--all-runs") / "data/submission-1.txt").read_text() == run_text(1)


@ONE_ENGINE
def test_a_year_that_is_changed_while_it_is_copied_is_not_frozen(
    closed: World, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judged_meanwhile(*arguments: Any) -> str:
        closed.judge(QRELS.replace("d2 0", "d2 1"))
        closed.drain()
        return copying.describe(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr("leaderboard.cli.freeze.describe", judged_meanwhile)
        done = command("freeze", "small/2026", tmp_path / "copy")
    assert (done.status, done.err) == (2, "the evaluation was changed meanwhile; freeze it again\n")
    assert not (tmp_path / "copy").exists()


@ONE_ENGINE
def test_nothing_half_is_left(closed: World, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert command("freeze", "small/2027", tmp_path / "copy").status == 2
    done = command("freeze", "small/2026", tmp_path / "copy", "--license", "mine & yours")
    assert (done.status, "--license: give an SPDX id" in done.err) == (2, True)
    done = command("freeze", "small/2026", tmp_path / "no" / "copy")
    assert done.err == f"{tmp_path / 'no' / 'copy'} can't be written: No such file or directory\n"
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("mine")
    done = command("freeze", "small/2026", tmp_path / "full")
    assert (done.status, done.err) == (2, f"{tmp_path / 'full'} is there already; name another folder\n")
    assert (
        command("verify", tmp_path / "full").err
        == f"{tmp_path / 'full'} is no frozen evaluation: it has no SHA256SUMS\n"
    )
    (tmp_path / "copy").mkdir()  # an empty one is taken
    closed.change_evaluation(late_allowed=True)
    closed.submit(run_text(3))
    done = command("freeze", "small/2026", tmp_path / "copy")
    assert (done.status, done.err) == (2, "The year 2026 can't be frozen: its runs are still being scored\n")
    closed.drain()
    before = signal.getsignal(signal.SIGTERM)
    with monkeypatch.context() as patched:
        patched.setattr(copying.Path, "write_text", lambda *_: os.kill(os.getpid(), signal.SIGTERM))
        assert command("freeze", "small/2026", tmp_path / "copy").status == 130
    signal.signal(signal.SIGTERM, before)
    assert [path.name for path in tmp_path.iterdir() if "copy" in path.name] == ["copy"]
    for error, status, said in (
        (KeyboardInterrupt(), 130, ""),
        (OSError(28, "No space left on device"), 2, "No space left"),
    ):

        def fail(*_: object, error: BaseException = error) -> None:
            raise error

        with monkeypatch.context() as patched:
            patched.setattr(copying.Path, "write_text", fail)
            done = command("freeze", "small/2026", tmp_path / "copy")
        assert (done.status, said in done.err) == (status, True)
        assert [path.name for path in tmp_path.iterdir() if "copy" in path.name] == ["copy"]
        assert list((tmp_path / "copy").iterdir()) == []
    assert command("freeze", "small/2026", tmp_path / "copy").status == 0
    assert command("verify", tmp_path / "copy").status == 0
