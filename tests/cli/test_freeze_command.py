"""`leaderboard freeze` and `leaderboard verify FOLDER`: a small closed year, with and without what makes it whole."""

import hashlib
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml

from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.rules import Opening
from leaderboard.freezing import copying
from tests.cli.conftest import Command
from tests.support.world import World, run_text

Says = Callable[..., str]
# It adds files, words and refusals; its one statement of its own is asked on both engines where runs are published.
ONE_ENGINE = pytest.mark.parametrize("engine_name", ["sqlite"])
PAST = datetime(2026, 1, 2, tzinfo=UTC)
LINK = re.compile(r'\s(?:href|src)="([^"#]*)')


@pytest.fixture
def closed(world: World) -> World:
    """A closed year with two scored runs and published judgments."""
    for number in (1, 2):
        world.submit(run_text(number), threshold=0.5)
    world.drain()
    world.change_evaluation(closes_at=PAST, judgments_published=True)
    return world


def frozen(ok: Says, folder: Path, *more: str) -> Path:
    ok("freeze", "small/2026", folder / "copy", *more)
    return folder / "copy"


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@ONE_ENGINE
def test_every_link_of_the_pages_leads_to_a_file_and_no_page_asks_a_server(
    closed: World, ok: Says, tmp_path: Path
) -> None:
    folder = frozen(ok, tmp_path, "--all-runs")
    pages = sorted(folder.rglob("*.html"))
    assert {"index.html", "queries.html", "queries/q1.html", "submissions/1.html", "submissions/1/queries/q1.html",
            "judgments/q1.html", "measures/AP.html", "boards.html"} <= names(folder)  # fmt: skip
    for page in pages:
        text = page.read_text("utf-8")
        assert "<form" not in text, page
        assert "Log in" not in text, page
        assert "Frozen copy of" in text, page
        for link in LINK.findall(text):
            if not urlsplit(link).scheme:
                assert link == "" or (page.parent / unquote(link)).is_file(), (page, link)
    assert ok("verify", folder).startswith("nothing differs: figures of 2 of 2 runs computed again\nSHA-256 of ")
    assert shutil.which("sha256sum")
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=folder, check=True)


@ONE_ENGINE
def test_a_receipts_command_works_as_printed_in_the_folder_of_the_data(
    closed: World, ok: Says, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = frozen(ok, tmp_path, "--all-runs")
    receipt = json.loads((folder / "submissions/1/receipt.json").read_text())
    monkeypatch.chdir(folder / "data")
    done = command(*shlex.split(receipt["command"])[1:])
    assert done.status == 0, done
    rows = json.loads((folder / "data/submission-1.json").read_text())["rows"]
    # d1 at rank 3 of q1, d3 at rank 1 of q2, and nothing of q3
    assert json.loads(done.out)["runs"][0]["measures"]["AP"]["mean"] == rows[0]["AP"] == (1 / 3 + 1 + 0) / 3
    assert (folder / "data/submission-1.txt").read_text() == run_text(1)


def test_only_files_of_runs_whose_senders_accepted_the_last_version_are_published(
    closed: World, ok: Says, tmp_path: Path, command: Command
) -> None:
    (tmp_path / "text").write_text("Runs are published.")
    ok("form", "agreement", "small/2026", "publish", "--title", "Publishing runs", "--text", tmp_path / "text")
    none = frozen(ok, tmp_path, "--agreement", "publish")
    assert not names(none) & {"data/submission-1.txt", "submissions/1/queries/q1.html"}
    assert "The file of this run and its ranked lists are not in this copy" in (none / "submissions/1.html").read_text()
    assert "Run files in this copy: 0 of 2, those of teams that agreed" in (none / "index.html").read_text()
    assert 'those whose teams agreed to "Publishing runs"' in (none / "README.txt").read_text()
    said = ok("verify", none)
    assert "figures of submission 1 are not computed again: not in the folder: submission-1.txt\n" in said
    assert "nothing differs: figures of 0 of 2 runs computed again" in said
    shutil.rmtree(none)
    with closed.organising() as (session, _, evaluation):
        stated = evaluations.agreements_of(session, evaluation, {"publish": "1"})
        evaluations.accept_agreements(session, closed.ada, evaluation, stated)
    accepted = frozen(ok, tmp_path, "--agreement", "publish")
    assert {"data/submission-1.txt", "submissions/2/queries/q1.html"} <= names(accepted)
    shutil.rmtree(accepted)
    (tmp_path / "text").write_text("Runs are published, and sold.")
    ok("form", "agreement", "small/2026", "publish", "--title", "Publishing runs", "--text", tmp_path / "text")
    assert "data/submission-1.txt" not in names(frozen(ok, tmp_path, "--agreement", "publish"))
    done = command("freeze", "small/2026", tmp_path / "other", "--agreement", "publsh")
    assert (done.status, "publish" in done.err) == (2, True)
    assert not (tmp_path / "other").exists()


def test_a_yes_in_the_form_publishes_a_runs_file_too(world: World, ok: Says, tmp_path: Path) -> None:
    ok("form", "field", "small/2026", "publish", "--label", "May we publish it?", "--kind", "yes_no", "--confirm")
    for number, answer in enumerate((True, False, None), 1):
        world.submit(run_text(number), answers={} if answer is None else {"publish": answer})
    world.drain()
    world.change_evaluation(closes_at=PAST)
    folder = frozen(ok, tmp_path, "--agreement", "publish")
    assert [name for name in sorted(names(folder)) if re.fullmatch(r"data/submission-\d\.txt", name)] == [
        "data/submission-1.txt"
    ]
    assert 'of 1 of 3 runs: those whose teams agreed to "May we publish it?"' in (folder / "README.txt").read_text()


@ONE_ENGINE
def test_a_hidden_run_is_not_in_the_copy(closed: World, ok: Says, tmp_path: Path) -> None:
    ok("submission", "hide", "2", "--because", "By mistake", "--confirm")
    folder = frozen(ok, tmp_path, "--all-runs")
    assert "submissions/1.html" in names(folder)
    assert [name for name in names(folder) if "submission-2" in name or name.startswith("submissions/2")] == []


@ONE_ENGINE
def test_one_changed_byte_of_any_file_is_named_as_are_files_that_come_and_go(
    closed: World, ok: Says, command: Command, tmp_path: Path
) -> None:
    folder = frozen(ok, tmp_path, "--all-runs")
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
    (folder / "SHA256SUMS").write_text(sums + f"{'0' * 64}  ../../etc/passwd\n")
    assert f"SHA256SUMS: line {sums.count(chr(10)) + 1} can't be read\n" in command("verify", folder).out
    (folder / "SHA256SUMS").write_text(sums)
    (folder / "queries/q1.html").unlink()
    (folder / "data/more.csv").write_text("x")
    done = command("verify", folder, "--json")
    report = json.loads(done.out)
    assert (done.status, report["clean"], report["recomputed"]) == (1, False, 2)
    assert report["differences"] == [["queries/q1.html", "is missing"], ["data/more.csv", "was added"]]


@ONE_ENGINE
def test_a_figure_that_its_run_does_not_give_is_found_though_every_hash_is_written_anew(
    closed: World, ok: Says, command: Command, tmp_path: Path
) -> None:
    folder = frozen(ok, tmp_path, "--all-runs")
    own, board = folder / "data/submission-1.json", folder / "data/small-2026.json"
    mean = json.loads(own.read_text())["rows"][0]["AP"]
    for path in (own, board):
        path.write_text(path.read_text().replace(f'"AP": {mean!r}', '"AP": 0.75'))
    lines = (line.split("  ") for line in (folder / "SHA256SUMS").read_text().splitlines())
    sums = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for _, name in lines]
    (folder / "SHA256SUMS").write_text("".join(sums))
    done = command("verify", folder)
    assert done.status == 1
    assert f"data/submission-1.json: AP is 0.75; the run and the judgments give {mean!r}\n" in done.out
    assert f"data/small-2026.json: AP of submission 1 is 0.75; the run and the judgments give {mean!r}\n" in done.out


@ONE_ENGINE
def test_what_describes_the_folder_has_what_its_formats_require(closed: World, ok: Says, tmp_path: Path) -> None:
    closed.change_evaluation(title='The "2026": Ärger & <more>', opens_at=PAST - timedelta(days=1))
    folder = frozen(ok, tmp_path, "--all-runs", "--license", "CC-BY-4.0")
    title = 'A small campaign: The "2026": Ärger & <more>'
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
def test_without_a_licence_none_is_stated(closed: World, ok: Says, command: Command, tmp_path: Path) -> None:
    folder = frozen(ok, tmp_path)
    for name in ("CITATION.cff", "datacite.json", "ro-crate-metadata.json"):
        assert not re.search("licen|rights", (folder / name).read_text()), name
    done = command("freeze", "small/2026", tmp_path / "other", "--license", "mine & yours")
    assert (done.status, "--license: give an SPDX id" in done.err) == (2, True)


@ONE_ENGINE
def test_where_judgments_are_closed_the_folder_and_verify_say_that_nothing_can_be_computed_again(
    closed: World, ok: Says, tmp_path: Path
) -> None:
    closed.change_evaluation(judgments_published=False)
    folder = frozen(ok, tmp_path, "--all-runs")
    assert [name for name in names(folder) if "judgments" in name] == []
    assert (
        "The judgments are not published, so the figures can't be computed again."
        in (folder / "README.txt").read_text()
    )
    said = ok("verify", folder)
    assert "figures of submission 1 are not computed again: not in the folder: small-2026-judgments.txt\n" in said
    shutil.rmtree(folder)
    closed.change_evaluation(details=Opening.NEVER)
    folder = frozen(ok, tmp_path, "--all-runs")
    assert "submissions/1/queries/q1.html" not in names(folder)
    assert "figures of submission 1 are not computed again: The command that computes" in ok("verify", folder)


@ONE_ENGINE
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"closes_at": None}, "The year 2026 can't be frozen: it has no closing date"),
        (
            {"closes_at": datetime(2126, 1, 2, tzinfo=UTC)},
            "The year 2026 can't be frozen: it closes 2 Jan 2126, 00:00 UTC",
        ),
        ({"results": Opening.NEVER}, "The year 2026 can't be frozen: its results are not public"),
        (
            {"anonymous_until": datetime(2126, 1, 2, tzinfo=UTC)},
            "The year 2026 can't be frozen: names of teams are still hidden",
        ),
    ],
)
def test_a_year_that_is_not_over_and_public_is_refused(
    closed: World, command: Command, tmp_path: Path, changes: dict[str, object], reason: str
) -> None:
    closed.change_evaluation(**changes)
    assert command("freeze", "small/2026", tmp_path / "copy").err == f"{reason}\n"
    assert not [path for path in tmp_path.iterdir() if "copy" in path.name]


@ONE_ENGINE
def test_nothing_half_is_left(closed: World, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert command("freeze", "small/2027", tmp_path / "copy").status == 2
    assert command("freeze", "small/2026", tmp_path / "no" / "copy").err == f"there is no folder {tmp_path / 'no'}\n"
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
