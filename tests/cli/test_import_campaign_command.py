"""`leaderboard import-campaign` and `leaderboard export`."""

import datetime as dt
import gzip
import hashlib
import json
import os
import signal
import sys
import tomllib
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.accounts.writes import create_user
from leaderboard.campaigns.models import Campaign
from leaderboard.campaigns.rules import Visibility
from leaderboard.db import Database
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Subset
from leaderboard.judgments.models import JudgmentRevision, Query
from leaderboard.submissions.models import Submission
from leaderboard.teams.models import System, Team
from leaderboard.transfer.manifest import written
from leaderboard.worker.models import Score, Scoring
from tests.cli.conftest import Command
from tests.support.commands import Done
from tests.support.processes import Process
from tests.support.waiting import wait_until
from tests.support.world import new_account

Says = Callable[..., str]

QRELS = "q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\n"
TOPICS = "q1\tharbour fees\tlaw\nq2\ttides\t\nq3\tnobody judged this\t\n"
ONE_ENGINE = pytest.mark.parametrize("engine_name", ["sqlite"])


def run(tag: str, first: str = "d1") -> bytes:
    return f"q1 Q0 {first} 1 2.5 {tag}\nq1 Q0 d9 2 1.5 {tag}\nq2 Q0 d3 1 1.0 {tag}\n".encode()


def rows(url: str, statement: sa.Select[Any]) -> list[Any]:
    with closing(Database.connect(url)) as database, database.read() as session:
        return [tuple(row) for row in session.execute(statement)]


def outcome(url: str) -> list[Any]:
    """Every figure with whose it is and its dates, but for ids and this machine's clock."""
    return rows(
        url,
        sa.select(
            Evaluation.slug, Team.name, System.name, System.kind, Submission.label, Submission.run_at,
            Submission.received_at, Submission.late, Submission.charged, Scoring.state, Score.measure, Score.mean,
        )
        .join(Submission, Submission.evaluation_id == Evaluation.id)
        .join(Team, Team.id == Submission.team_id)
        .join(System, System.id == Submission.system_id)
        .join(Scoring, Scoring.submission_id == Submission.id)
        .outerjoin(Score, sa.and_(Score.scoring_id == Scoring.id, Score.subset == Subset.ALL))
        .order_by(Submission.id, Score.measure),
    )  # fmt: skip


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """As TREC's archive has it: a year's runs as input.TAG.gz, the judgments and topics beside them."""
    folder = tmp_path / "archive"
    for year, first in (("2019", "d1"), ("2020", "d8")):
        place = folder / f"trec-{year}"
        place.mkdir(parents=True)
        (place / "qrels.txt").write_text(QRELS)
        (place / "topics.tsv").write_text(TOPICS)
        for tag in ("alderA", "birchB"):
            (place / f"input.{tag}.gz").write_bytes(
                gzip.compress(run(tag, "d1" if tag == "alderA" else first), mtime=0)
            )
    (folder / "participants.csv").write_text("Run,Team,RunType\nalderA,Alder,manual\nbirchB,Birch,automatic\n")
    (folder / "MD5SUMS").write_text(f"{hashlib.md5(run('alderA')).hexdigest()}  trec-2019/input.alderA.gz\n")
    (folder / "notes.pdf").write_bytes(b"%PDF-1.4")
    return folder


def drafted(command: Command, folder: Path) -> dict[str, Any]:
    """What the draft of a folder says."""
    path = folder.parent / f"draft-{len(list(folder.parent.iterdir()))}.toml"
    assert command("import-campaign", folder, "--write-manifest", path).status == 0
    return tomllib.loads(path.read_text())


@pytest.fixture
def content(command: Command, archive: Path) -> dict[str, Any]:
    """The draft, with some of what the files don't say put in."""
    content = drafted(command, archive)
    year = content["evaluation"][0]
    year["closes_at"] = "2019-08-31"
    year["judgments"][0]["released"] = "2019-09-12"
    year["run"][0]["date"] = "2019-08-20"
    return content


@pytest.fixture
def imported(command: Command, archive: Path, tmp_path: Path) -> Callable[..., Done]:
    """Imports the archive by a manifest of this content, with further arguments, and scores what came in."""

    def bring_in(content: dict[str, Any], *arguments: str | Path) -> Done:
        (tmp_path / "manifest.toml").write_text(written(content))
        done = command("import-campaign", archive, "--manifest", tmp_path / "manifest.toml", *arguments)
        assert command("worker", "--once").status == 0
        return done

    return bring_in


@ONE_ENGINE
def test_a_draft_is_made_from_trecs_archive(command: Command, archive: Path, tmp_path: Path) -> None:
    said = command("import-campaign", archive, "--write-manifest", tmp_path / "manifest.toml").out
    assert "2 evaluations, 4 runs" in said
    assert "1 file not recognised as anything: notes.pdf" in said
    assert "say when each evaluation opened and closed" in said
    content = tomllib.loads((tmp_path / "manifest.toml").read_text())
    assert content["campaign"]["visibility"] == "draft"
    assert content["team"] == [{"name": "Alder"}, {"name": "Birch"}]
    first, second = content["evaluation"]
    assert {name: first[name] for name in ("slug", "period", "period_key", "queries", "judgments")} == {
        "slug": "trec-2019", "period": "2019", "period_key": 2019, "queries": "trec-2019/topics.tsv",
        "judgments": [{"file": "trec-2019/qrels.txt"}],
    }  # fmt: skip
    alder = {"team": "Alder", "system": "alderA", "kind": "manual"}
    birch = {"team": "Birch", "system": "birchB", "kind": "automatic"}
    md5 = hashlib.md5(run("alderA")).hexdigest()
    assert first["run"][0] == {"file": "trec-2019/input.alderA.gz", **alder, "md5": md5}
    assert second["run"][1] == {"file": "trec-2020/input.birchB.gz", **birch}


RUN = run("one").decode()


def of_teams(year: str) -> dict[str, str]:
    return {f"{year}/runs/{team}/{team.lower()}-1.txt": RUN for team in ("Cedar", "Elm")}


@ONE_ENGINE
@pytest.mark.parametrize(
    ("files", "runs"),
    [
        (
            {"2021/qrels.txt": QRELS, "2022/qrels.txt": QRELS, **of_teams("2021"), **of_teams("2022")},
            {(year, team, f"{team.lower()}-1") for year in ("2021", "2022") for team in ("Cedar", "Elm")},
        ),
        (
            {"qrels/qrels.2021.txt": QRELS, "qrels/qrels.2022.txt": QRELS, "Elm.zip/2021/elm-1.txt": RUN,
             "Elm.zip/2022/elm-1.txt": RUN},
            {("2021", "Elm", "elm-1"), ("2022", "Elm", "elm-1")},
        ),
        (
            {"qrels.2020r1.txt": QRELS, "qrels.2020r2.txt": QRELS, "2020r1/a.txt": RUN, "2020r2/a.txt": RUN},
            {("2020r1", "a", "a"), ("2020r2", "a", "a")},
        ),
        (
            {"round1/qrels.txt": QRELS, "round2/qrels.txt": QRELS, "round1/run1.gz": RUN, "round2/run1.gz": RUN,
             "round1/leaderboard.csv": "run,team\nrun1,Oak\n", "round2/leaderboard.csv": "run,team\nrun1,Yew\n"},
            {("round1", "Oak", "run1"), ("round2", "Yew", "run1")},
        ),
    ],
    ids=["folders of teams", "an archive a team", "rounds of a year", "a table a round"],
)  # fmt: skip
def test_layouts_of_archives_are_understood(
    command: Command, tmp_path: Path, files: dict[str, str], runs: set[tuple[str, str, str]]
) -> None:
    folder = tmp_path / "years"
    for name, text in files.items():
        path = folder / name
        if ".zip/" in name:
            path = folder / name.partition(".zip/")[0]
            path.parent.mkdir(parents=True, exist_ok=True)
            with zipfile.ZipFile(f"{path}.zip", "a") as packed:
                packed.writestr(name.partition(".zip/")[2], text)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    content = drafted(command, folder)
    found = {
        (entry["slug"], one["team"], one["system"]) for entry in content["evaluation"] for one in entry.get("run", [])
    }
    assert found == runs


def test_a_campaign_comes_in_with_its_own_dates_and_once(
    command: Command, imported: Callable[..., Done], content: dict[str, Any], database_url: str, tmp_path: Path
) -> None:
    done = imported(content, "--report", tmp_path / "report.json")
    assert (done.status, done.out.splitlines()[-1]) == (0, "4 runs brought in")
    assert done.err.splitlines() == [
        "note: Trec-2020: nothing says when it closed (closes_at), so it is a draft",
        *(f"nothing in the manifest names {name}" for name in ("MD5SUMS", "notes.pdf", "participants.csv")),
    ]
    assert rows(database_url, sa.select(Evaluation.slug, Evaluation.draft).order_by(Evaluation.id)) == [
        ("trec-2019", False),
        ("trec-2020", True),
    ]
    assert rows(database_url, sa.select(Campaign.visibility)) == [(Visibility.DRAFT,)]
    released = rows(database_url, sa.select(JudgmentRevision.released_at).order_by(JudgmentRevision.id))
    assert released[0] == (dt.datetime(2019, 9, 12, tzinfo=dt.UTC),)
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["imported"], report["already"]) == (4, 0)
    reciprocal = [row for row in outcome(database_url) if row[10] == "RR"]
    said, closed = dt.datetime(2019, 8, 20, tzinfo=dt.UTC), dt.datetime(2019, 8, 31, tzinfo=dt.UTC)
    assert [(*row[:7], *row[7:10], row[11]) for row in reciprocal[:2]] == [
        ("trec-2019", "Alder", "alderA", "manual", "alderA", said, said, False, False, "scored", 1.0),
        ("trec-2019", "Birch", "birchB", "automatic", "birchB", None, closed, False, False, "scored", 1.0),
    ]
    assert [(row[0], row[2], row[11]) for row in reciprocal[2:]] == [
        ("trec-2020", "alderA", 1.0),
        ("trec-2020", "birchB", 0.5),
    ]
    assert command("verify", "--figures").status == 0

    before = outcome(database_url)
    again = imported(content)
    assert (again.status, again.out.splitlines()[-1]) == (0, "0 runs brought in, 4 were there already")
    assert outcome(database_url) == before
    counts = [sa.select(sa.func.count()).select_from(table) for table in (JudgmentRevision, Query, Team, System)]
    assert [rows(database_url, count) for count in counts] == [[(2,)], [(6,)], [(2,)], [(2,)]]


@ONE_ENGINE
def test_what_is_here_keeps_its_settings_and_gets_the_years_and_runs_that_it_lacks(
    imported: Callable[..., Done], content: dict[str, Any], archive: Path, database_url: str
) -> None:
    first, second = content["evaluation"]
    assert imported({**content, "evaluation": [{**first, "run": first["run"][:1]}]}).status == 0
    changed = {**first, "title": "Another title", "closes_at": "2019-12-24"}
    done = imported({**content, "evaluation": [changed, second]})
    assert done.out.splitlines()[-3:] == [
        "left as it is: the campaign Archive",
        "left as it is: the evaluation Trec-2019",
        "3 runs brought in, 1 were there already",
    ]
    assert rows(database_url, sa.select(Evaluation.title, Evaluation.closes_at).order_by(Evaluation.id)) == [
        ("Trec-2019", dt.datetime(2019, 8, 31, tzinfo=dt.UTC)),
        ("Trec-2020", None),
    ]
    (archive / "trec-2019/input.cedarC").write_bytes(run("cedarC"))
    first["run"].append({"file": "trec-2019/input.cedarC", "team": "Cedar"})
    assert imported(content).out.splitlines()[-1] == "1 run brought in, 4 were there already"
    assert rows(database_url, sa.select(sa.func.count(JudgmentRevision.id))) == [(2,)]


def test_runs_of_teams_that_were_renamed_or_merged_are_there_already(
    command: Command, ok: Says, imported: Callable[..., Done], content: dict[str, Any], database_url: str
) -> None:
    imported(content)

    def again() -> None:
        done = imported(content)
        assert (done.status, done.out.splitlines()[-1]) == (0, "0 runs brought in, 4 were there already"), done.err
        assert rows(database_url, sa.select(sa.func.count(Team.id))) == [(2,)]
        assert rows(database_url, sa.select(sa.func.count(System.id))) == [(2,)]

    ok("team", "rename", "alder", "Alder Waterloo")
    assert "another team is called so, or was" in command("team", "add", "Alder").err  # nor do runs of it go to others
    again()
    ok("team", "merge", "birch", "alder-waterloo", "--confirm")
    ok("team", "rename", "alder-waterloo", "Trees")
    again()


@ONE_ENGINE
def test_runs_go_to_a_team_with_members_that_has_none_here_only_where_it_is_said_to_be_this_one(
    ok: Says, imported: Callable[..., Done], content: dict[str, Any], database_url: str
) -> None:
    ok("user", "add", "anna", "--password-stdin", text="correct horse battery staple\n")
    ok("team", "add", "Alder")
    ok("team", "member", "add", "alder", "anna")
    refused = imported(content)
    assert refused.status == 2
    assert "team Alder: a team of this name (alder) is here already and has no run in this campaign" in refused.err
    assert rows(database_url, sa.select(Campaign.id)) == []
    content["team"][0]["known"] = True
    assert imported(content).status == 0
    assert rows(database_url, sa.select(sa.func.count(Team.id))) == [(2,)]


@ONE_ENGINE
def test_every_problem_is_told_at_once_and_nothing_is_made(
    imported: Callable[..., Done], content: dict[str, Any], archive: Path, tmp_path: Path, database_url: str
) -> None:
    first, second = content["evaluation"]
    (tmp_path / "elsewhere").write_bytes(run("secret"))
    (archive / "link").symlink_to(tmp_path / "elsewhere")
    (archive / "trec-2019/input.birchB.gz").write_bytes(b"%PDF-1.4 about the run")
    (archive / "trec-2020/input.birchB.gz").write_bytes(gzip.compress(QRELS.encode()))
    (archive / "trec-2019/input.alderA.gz").write_bytes(run("alderA", "d7"))  # not of the MD5 that was published
    first["run"] += [{"file": "link", "team": "Alder"}, {"file": "trec-2019/qrels.txt"}]
    first["run"].append({"file": "trec-2020/input.alderA.gz", "team": "Alder", "chosen_at": "2099-01-01"})
    second |= {"slug": "settings", "queries": "../../secret"}
    refused = imported(content)
    assert (refused.status, refused.out) == (2, "")
    said = [line.removeprefix(f"{tmp_path / 'manifest.toml'}: ") for line in refused.err.splitlines()]
    expected = [
        "trec-2019/input.alderA.gz: is not the file that the manifest means: its md5 is",
        "trec-2019/input.birchB.gz: trec-2019/input.birchB.gz: is a PDF document; give plain text or gzip",
        "link: archive has no file link",
        "trec-2019/qrels.txt: no team is named: add team = …",
        "trec-2020/input.birchB.gz: no line of its beginning is one of a run; 3 of 3 lines: ",
        "trec-2020/input.alderA.gz: chosen_at: 1 Jan 2099, 00:00 UTC is in the future",
        "evaluation 2 (settings): slug: the address 'settings' can't be had here",
    ]
    assert [line[: len(start)] for line, start in zip(said, expected, strict=True)] == expected
    content["campaign"] |= {"measures": ["nDGC@10"]}
    assert "campaign: measures: no measure is called 'nDGC@10'" in imported(content).err
    for table in (Evaluation, Campaign, Team, Submission):
        assert rows(database_url, sa.select(table.id)) == []


@ONE_ENGINE
def test_only_who_organises_the_campaign_imports_into_it(
    imported: Callable[..., Done], content: dict[str, Any], database_url: str
) -> None:
    assert imported(content).status == 0
    with closing(Database.connect(database_url)) as database, database.write() as session:
        create_user(session, CONSOLE, new_account("Eve"))
    refused = imported(content, "--as", "Eve")
    assert (refused.status, refused.out) == (2, "")


@ONE_ENGINE
def test_an_import_that_is_killed_leaves_nothing_or_all_and_is_repeated(
    command: Command, tmp_path: Path, database_url: str
) -> None:
    folder = tmp_path / "2019"
    folder.mkdir()
    (folder / "qrels.txt").write_text(QRELS)
    for number in range(20):
        (folder / f"input.run{number:02}").write_bytes(run(f"run{number:02}", f"d{number % 3}"))
    (tmp_path / "m.toml").write_text(written(drafted(command, folder)))
    store = tmp_path / "store"
    environment = {**os.environ, "LEADERBOARD_DATABASE_URL": database_url, "LEADERBOARD_STORE_URL": str(store)}
    line = [sys.executable, "-m", "leaderboard", "import-campaign", str(folder), "--manifest", str(tmp_path / "m.toml")]
    with Process(line, env=environment) as importing:
        wait_until(lambda: importing.returncode is not None or len(list(store.rglob("*"))) > 5, "some files")
        os.kill(importing.pid, signal.SIGKILL)
        importing.wait(seconds=30)
    assert len(rows(database_url, sa.select(Submission.id))) in (0, 20)
    assert command("import-campaign", folder, "--manifest", tmp_path / "m.toml").status == 0
    assert command("worker", "--once").status == 0
    found = outcome(database_url)
    assert [row[2] for row in found if row[10] == "AP"] == [f"run{number:02}" for number in range(20)]
    assert [row[11] for row in found if row[10] == "RR"] == [1.0 if number % 3 == 1 else 0.5 for number in range(20)]
