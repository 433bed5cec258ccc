"""`leaderboard import-campaign` and `leaderboard export`."""

import gzip
import hashlib
import json
import os
import re
import signal
import sys
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE, actor_of
from leaderboard.db import Database
from leaderboard.models import Campaign, Evaluation, JudgmentRevision, Query, Score, Scoring, Submission, System, Team
from leaderboard.rules.settings import Subset
from leaderboard.rules.visibility import Visibility
from leaderboard.services import teams
from leaderboard.services.campaigns import DEFAULTS
from leaderboard.services.people import create_user
from leaderboard.transfer.columns import as_moment
from tests.cli.conftest import Command
from tests.support.processes import Process
from tests.support.waiting import wait_until
from tests.support.world import new_account

Says = Callable[..., str]

QRELS = "q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\n"
PRINTED = "num_q                 \tall\t2\nmap                   \tall\t0.5000\n"
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


@pytest.fixture
def manifest(command: Command, archive: Path, tmp_path: Path) -> Path:
    """The draft, with what the files don't say put in."""
    path = tmp_path / "manifest.toml"
    assert command("import-campaign", archive, "--write-manifest", path).status == 0
    text = path.read_text().replace("period_key = 2019\n", "period_key = 2019\ncloses_at = 2019-08-31\n")
    dated = 'file = "trec-2019/input.alderA.gz"\ndate = 2019-08-20\n'
    text = text.replace('file = "trec-2019/input.alderA.gz"\n', dated)
    judged = 'file = "trec-2019/qrels.txt"\n'
    assert f"{judged}# released = YYYY-MM-DD\n" in text
    path.write_text(text.replace(f"{judged}# released = YYYY-MM-DD\n", f"{judged}released = 2019-09-12\n"))
    return path


@ONE_ENGINE
def test_a_draft_is_made_from_trecs_archive(ok: Says, archive: Path, tmp_path: Path) -> None:
    said = ok("import-campaign", archive, "--write-manifest", tmp_path / "manifest.toml")
    assert "2 evaluations, 4 runs" in said
    assert "notes.pdf: not recognised as anything" in said
    assert "participants.csv" not in said
    text = (tmp_path / "manifest.toml").read_text()
    assert text.count('name = "Alder"\n') == 1
    assert 'file = "trec-2020/input.birchB.gz"\nteam = "Birch"\nsystem = "birchB"\n' in text
    assert 'system = "alderA"\nkind = "manual"\nmd5 = ' in text
    assert 'period = "2019"\nperiod_key = 2019\n# opens_at = YYYY-MM-DD\n# closes_at = YYYY' in text
    assert 'queries = "trec-2019/topics.tsv"\n' in text
    assert "say when each evaluation opened and closed" in said
    assert "# kind" not in text.partition("[[evaluation]]")[2]  # the table says the kind of each
    table = "Run,Team,RunType,MAP,RBP(p=.5)\nalderA,Alder,manual,0.3,.5\nbirchB,Birch,automatic,0.25,.75\n"
    (archive / "participants.csv").write_text(table)
    for name in ("alderA", "birchB"):
        (archive / "trec-2019" / f"{name}.eval.gz").write_bytes(gzip.compress(PRINTED.encode()))
    said = ok("import-campaign", archive, "--write-manifest", tmp_path / "of-figures.toml")
    assert "participants.csv: has figures (MAP, RBP(p=.5)) to compare the board's with: figures of trec_eval 9" in said
    assert "need compat = 9; RBP of NIST is graded: RBP(p=0.5, gain=scaled) where its p is 0.5\n" in said
    of_evaluations = "2 files with what trec_eval prints of a run, such as trec-2019/alderA.eval.gz: left out"
    assert (said.count(of_evaluations), said.count("birchB.eval.gz")) == (1, 0)


@ONE_ENGINE
def test_a_draft_asks_for_dates_and_kinds_and_an_import_without_them_says_what_holds(
    command: Command, archive: Path, database_url: str, tmp_path: Path
) -> None:
    (archive / "participants.csv").unlink()
    (archive / "trec-2020" / "topics.tsv").write_text("q1\tfirst\n")
    drafted = command("import-campaign", archive, "--write-manifest", tmp_path / "m.toml")
    assert "of 4 runs nothing says whether they are manual" in drafted.out
    assert "trec-2020/topics.tsv: lacks 1 of the 2 judged queries, so the draft lists the ids" in drafted.out
    text = (tmp_path / "m.toml").read_text()
    assert "trec-2020/topics.tsv" not in text
    assert (text.count("\n# closes_at = "), text.count("\n# kind = ")) == (2, 4)
    assert f"compat = {DEFAULTS['compat']}\n" in text
    assert text.count('\nvisibility = "draft"\n') == 1
    (tmp_path / "m.toml").write_text(text.replace('visibility = "draft"\n', ""))
    done = command("import-campaign", archive, "--manifest", tmp_path / "m.toml", "--report", tmp_path / "r.json")
    assert done.status == 0
    notes = json.loads((tmp_path / "r.json").read_text())["notes"]
    assert [note.partition(": ")[0] for note in notes if "so it is a draft, which" in note] == [
        "Trec-2019",
        "Trec-2020",
    ]
    assert any("nothing says who sees it (visibility), so it is a draft" in note for note in notes)
    assert rows(database_url, sa.select(Campaign.visibility)) == [(Visibility.DRAFT,)]
    assert any(note.startswith("Kinds: of 2 systems nothing says whether they are manual") for note in notes)
    assert sum("2 runs without a date" in note for note in notes) == 2
    assert all(f"note: {note}" in done.err for note in notes)
    drafts = rows(database_url, sa.select(Evaluation.draft, Evaluation.closes_at))
    assert drafts == [(True, None), (True, None)]


def test_a_campaign_comes_in_with_its_own_dates(
    command: Command, archive: Path, manifest: Path, database_url: str, tmp_path: Path
) -> None:
    done = command("import-campaign", archive, "--manifest", manifest, "--report", tmp_path / "report.json")
    assert (done.status, done.out.splitlines()[-1]) == (0, "4 runs brought in")
    said = "so it is a draft, which only organisers see and which takes no runs"
    assumed = "it is assumed that they were on their own date, or when the evaluation closed"
    undated = (
        "nothing says when its judgments were given out (released): they bear the day on which they are brought in"
    )
    assert done.err.splitlines() == [
        "note: Archive: a draft: only its organisers see it until they publish it",
        f"note: Trec-2020: nothing says when it closed (closes_at), {said}",
        f"note: Trec-2020: {undated}",
        f"note: Trec-2019: of 2 runs nothing says when they were received (received): {assumed}",
        "note: Trec-2020: 2 runs without a date count as received on the day on which they are brought in",
        "nothing in the manifest names 3 files: MD5SUMS, notes.pdf, participants.csv",
    ]
    assert rows(database_url, sa.select(Evaluation.slug, Evaluation.draft).order_by(Evaluation.id)) == [
        ("trec-2019", False),
        ("trec-2020", True),
    ]
    released = rows(database_url, sa.select(JudgmentRevision.released_at).order_by(JudgmentRevision.id))
    assert released == [(as_moment("2019-09-12"),), (None,)]
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["imported"], report["already"], report["refused"]) == (4, 0, [])
    reciprocal = [row for row in outcome(database_url) if row[10] == "RR"]
    said, closed = as_moment("2019-08-20"), as_moment("2019-08-31")
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
    again = command("import-campaign", archive, "--manifest", manifest)
    assert (again.status, again.out.splitlines()[-1]) == (0, "0 runs brought in, 4 were there already")
    assert outcome(database_url) == before
    assert again.err.splitlines() == done.err.splitlines()[-1:]  # nothing is otherwise, or assumed, this time
    counts = [sa.select(sa.func.count()).select_from(table) for table in (JudgmentRevision, Query, Team, System)]
    assert [rows(database_url, count) for count in counts] == [[(2,)], [(6,)], [(2,)], [(2,)]]


def test_runs_of_teams_that_were_renamed_or_merged_are_there_already(
    command: Command, ok: Says, archive: Path, manifest: Path, database_url: str, tmp_path: Path
) -> None:
    command("import-campaign", archive, "--manifest", manifest)
    exported = tmp_path / "out.tar.gz"
    ok("export", "archive", "--out", exported)

    def again() -> None:
        there = "0 runs brought in, 4 were there already"
        for told in (("import-campaign", archive, "--manifest", manifest), ("import-campaign", exported)):
            done = command(*told)
            assert (done.status, done.out.splitlines()[-1]) == (0, there), done.err
            assert "is there already as" not in done.err  # by their systems, not by their bytes alone
        assert rows(database_url, sa.select(sa.func.count(Team.id))) == [(2,)]
        assert rows(database_url, sa.select(sa.func.count(System.id))) == [(2,)]

    ok("team", "rename", "alder", "Alder Waterloo")
    assert "'Alder Waterloo' was called so" in command("team", "add", "Alder").err  # nor do runs of it go to others
    again()
    ok("team", "rename", "birch", "Birches", "--slug", "birch")
    again()
    ok("team", "merge", "birch", "alder-waterloo", "--confirm")
    ok("team", "rename", "alder-waterloo", "Trees")
    again()


@ONE_ENGINE
def test_a_run_that_is_there_under_another_name_is_not_brought_in_twice(
    command: Command, archive: Path, manifest: Path
) -> None:
    command("import-campaign", archive, "--manifest", manifest)
    text = manifest.read_text().replace('system = "birchB"', 'system = "Birch, revised"')
    late = '\n[[evaluation.run]]\nfile = "trec-2019/input.cedarC"\nteam = "Cedar"\ndate = 2019-09-20\n'
    parts = text.partition('[[evaluation]]\nslug = "trec-2020"')
    manifest.write_text(f"{parts[0]}{late}\n{parts[1]}{parts[2]}")
    (archive / "trec-2019/input.cedarC").write_bytes(run("cedarC"))
    done = command("import-campaign", archive, "--manifest", manifest)
    assert done.out.splitlines()[-1] == "1 run brought in, 4 were there already"
    assert "note: trec-2020/input.birchB.gz: is there already as a run by birchB of Birch" in done.err
    assert "note: Trec-2019: 1 run received after it closed and not marked late" in done.err


@ONE_ENGINE
def test_what_is_there_and_otherwise_in_the_manifest_is_left_and_named(
    command: Command, archive: Path, manifest: Path, database_url: str
) -> None:
    assert command("import-campaign", archive, "--manifest", manifest).status == 0
    text, before = manifest.read_text(), outcome(database_url)
    (archive / "trec-2020" / "topics.tsv").write_text(TOPICS.replace("tides", "ebb and flow"))
    changed = {
        'title = "Archive"': 'title = "The archive"',
        "closes_at = 2019-08-31": "closes_at = 2019-09-30",
        "released = 2019-09-12": "released = 2019-09-13",
        "date = 2019-08-20": "date = 2019-08-21",
        'kind = "automatic"': 'kind = "baseline"',
        'file = "trec-2020/input.alderA.gz"': 'file = "trec-2020/input.alderA.gz"\ndate = 2020-09-01',
    }
    for old, new in changed.items():
        assert old in text
        text = text.replace(old, new)
    manifest.write_text(text)
    done = command("import-campaign", archive, "--manifest", manifest)
    assert done.out.splitlines()[-1] == "0 runs brought in, 4 were there already"
    settings = "change it in its settings"
    dates = "runs that were brought in get the dates of the manifest where the import corrects dates (--correct-dates, "
    file = "of trec-{0}/input.alderA.gz it is {1} here, {2} in the manifest; " + dates
    released = "released of revision 1 of the judgments of Trec-2019"
    said = [
        f'left as it is: title of Archive is "Archive" here, "The archive" in the manifest; {settings}',
        f"left as it is: closes_at of Trec-2019 is 2019-08-31 here, 2019-09-30 in the manifest; {settings}",
        f"left as it is: {released} is 2019-09-12 here, 2019-09-13 in the manifest",
        "left as they are: 1 query of Trec-2020 with another text, description or tags in the manifest's file (q2)",
        'left as it is: kind of the system birchB is "automatic" here, "baseline" in the manifest',
        f"Trec-2019: left as it is: date of 1 run: {file.format(2019, '2019-08-20', '2019-08-21')}",
        f"Trec-2020: left as it is: date of 1 run: {file.format(2020, 'none', '2020-09-01')}",
    ]
    notes = [line.removeprefix("note: ") for line in done.err.splitlines() if line.startswith("note: ")]
    assert [note[: len(start)] for note, start in zip(notes, said, strict=True)] == said
    assert outcome(database_url) == before
    text = re.sub(r"(?m)^primary_measure = .*\n", "", text)
    manifest.write_text(re.sub(r"(?m)^measures = .*$", 'measures = ["RR", "AP"]', text))
    done = command("import-campaign", archive, "--manifest", manifest)  # the first one is the primary one
    assert 'primary_measure of Archive is "nDCG@10" here, "RR" in the manifest; ' in done.err
    done = command("import-campaign", archive, "--manifest", manifest, "--correct-dates")
    assert [line for line in done.out.splitlines() if line.startswith("made ")] == [
        "made the dates of 1 run of Trec-2019 as the manifest has them",
        "made the dates of 1 run of Trec-2020 as the manifest has them",
    ]
    assert "date of 1 run" not in done.err
    dates = sa.select(Submission.run_at, Submission.received_at, Submission.received_assumed).order_by(Submission.id)
    assert [tuple(map(str, row)) for row in rows(database_url, dates.where(Submission.label == "alderA"))] == [
        ("2019-08-21 00:00:00+00:00", "2019-08-21 00:00:00+00:00", "True"),
        ("2020-09-01 00:00:00+00:00", "2020-09-01 00:00:00+00:00", "True"),
    ]
    again = command("import-campaign", archive, "--manifest", manifest, "--correct-dates")
    assert "made " not in again.out
    manifest.write_text(text.replace("measures = [", 'measures = ["nDGC@10", '))
    refused = command("import-campaign", archive, "--manifest", manifest)
    assert refused.status == 2
    assert "campaign: measures: " in refused.err
    assert "nDGC@10" in refused.err


@ONE_ENGINE
def test_what_a_form_and_queries_set_apart_become_by_an_import_is_told_and_so_is_what_stays(
    command: Command, archive: Path, manifest: Path
) -> None:
    draft = manifest.read_text()
    apart = 'period_key = 2020\nhidden = ["q3"]\nexcluded = [{query = "q1", because = "a typing error"}]\n'
    asked = """
[[evaluation.field]]
key = "model"
label = "Model"
[[evaluation.agreement]]
key = "terms"
title = "Terms"
text = "Do no harm."
[evaluation.file_rules]
most_documents = 5
"""

    def notes() -> tuple[list[str], list[str]]:
        done = command("import-campaign", archive, "--manifest", manifest)
        assert done.status == 0, done
        lines = [line.removeprefix("note: ") for line in done.err.splitlines() if line.startswith("note: ")]
        return [line for line in done.out.splitlines() if line.startswith("made ")], lines

    manifest.write_text(draft.replace("period_key = 2020\n", apart) + asked)
    made, _ = notes()
    assert {
        "made the field model of the form of Trec-2020", "made the agreement terms of Trec-2020",
        "made file rules (most_documents) of Trec-2020", "made 1 query of Trec-2020 hidden (q3)",
        "made 1 query of Trec-2020 excluded (q1)",
    } <= set(made)  # fmt: skip
    assert notes() == ([], [])
    changed = apart.replace('"q3"', '"q2"').replace("a typing error", "two readings")
    asked = asked.replace("Do no harm", "Harm nobody").replace('"Model"', '"Its model"').replace("= 5", "= 6")
    manifest.write_text(draft.replace("period_key = 2020\n", changed) + asked)
    under = "; change it under Queries"
    other = f'"two readings" in the manifest{under}'
    assert notes() == (
        [
            "made the field model of the form of Trec-2020",
            "made file rules (most_documents) of Trec-2020",
            "made 1 query of Trec-2020 hidden (q2)",
        ],
        [
            "left as it is: the agreement terms of Trec-2020 has other words in the manifest; state it under Form",
            "left as it is: hidden here and not in the manifest: 1 query of Trec-2020 (q3)" + under,
            f'left as it is: the reason of the excluded query q1 of Trec-2020 is "a typing error" here, {other}',
        ],
    )


@ONE_ENGINE
def test_runs_are_not_given_to_whoever_took_a_teams_name_first_unless_the_manifest_knows_it(
    command: Command, archive: Path, manifest: Path, database_url: str
) -> None:
    with closing(Database.connect(database_url)) as database, database.write() as session:
        rival = create_user(session, CONSOLE, new_account("rival"))
        teams.create_team(session, actor_of(session, rival.id), "ALDER")
    refused = command("import-campaign", archive, "--manifest", manifest)
    assert refused.status == 2
    assert "the team ALDER (alder) is here already" in refused.err
    assert "its 1 member would have these runs" in refused.err
    assert rows(database_url, sa.select(Submission.id)) == []
    text = manifest.read_text()
    assert text.count('name = "Alder"') == 1
    manifest.write_text(text.replace('name = "Alder"', 'name = "Alder"\nknown = true'))
    assert command("import-campaign", archive, "--manifest", manifest).status == 0
    manifest.write_text(text)  # its runs are here now: nobody asks again
    assert "4 were there already" in command("import-campaign", archive, "--manifest", manifest).out


@ONE_ENGINE
def test_an_address_that_was_another_teams_is_a_problem_that_names_it(
    ok: Says, command: Command, archive: Path, manifest: Path
) -> None:
    ok("team", "add", "Elms")
    ok("team", "rename", "elms", "Elm Group")
    text = manifest.read_text()
    manifest.write_text(text.replace('[[team]]\nname = "Alder"\n', '[[team]]\nname = "Alder"\nslug = "elms"\n'))
    done = command("import-campaign", archive, "--manifest", manifest)
    assert done.status == 2
    said = (
        "slug: elms was the address of another team here, Elm Group (elm-group): give another slug, or that team's name"
    )
    assert f"team 1 (Alder): {said}" in done.err


@ONE_ENGINE
def test_what_is_refused_is_said_with_its_lines_and_the_rest_comes_in(
    command: Command, archive: Path, manifest: Path, database_url: str, tmp_path: Path
) -> None:
    (archive / "trec-2019/input.birchB.gz").write_bytes(run("birchB") + b"q1 Q0 d9 3 oops birchB\n")
    (archive / "trec-2019/input.alderA.gz").write_bytes(run("alderA", "d7"))
    (archive / "trec-2020/input.birchB.gz").unlink()
    done = command("import-campaign", archive, "--manifest", manifest, "--report", tmp_path / "report.json")
    assert done.status == 1
    refused = {one["file"]: one["why"] for one in json.loads((tmp_path / "report.json").read_text())["refused"]}
    assert set(refused) == {"trec-2019/input.birchB.gz", "trec-2019/input.alderA.gz", "trec-2020/input.birchB.gz"}
    assert refused["trec-2019/input.birchB.gz"][0].startswith("line 4: ")
    assert "its MD5 is" in refused["trec-2019/input.alderA.gz"][0]
    assert refused["trec-2020/input.birchB.gz"] == ["archive has no file trec-2020/input.birchB.gz"]
    assert {(row[0], row[2], row[9]) for row in outcome(database_url)} == {
        ("trec-2019", "birchB", "rejected"),
        ("trec-2020", "alderA", "scored"),
    }


@ONE_ENGINE
def test_no_team_and_no_system_is_left_without_a_run(
    command: Command, archive: Path, manifest: Path, database_url: str
) -> None:
    (archive / "trec-2019/input.birchB.gz").write_bytes(b"%PDF-1.4 about the run")
    (archive / "trec-2020/input.birchB.gz").write_bytes(gzip.compress(QRELS.encode()))
    (archive / "trec-2019/input.alderA.gz").write_bytes(run("alderA", "d7"))  # not of the MD5 that was published
    done = command("import-campaign", archive, "--manifest", manifest)
    assert done.status == 1
    refused = [line for line in done.err.splitlines() if line.startswith("trec-20")]
    assert "trec-2019/input.birchB.gz: is a PDF document; give plain text or gzip" in refused
    judged = "no line of its beginning is one of a run; it looks like judgments (query iteration document grade)"
    assert f"trec-2020/input.birchB.gz: {judged}" in refused
    assert rows(database_url, sa.select(Team.name, System.name).outerjoin(System)) == [("Alder", "alderA")]
    made = [line for line in done.out.splitlines() if "team" in line or "system" in line]
    assert made == ["made the team Alder", "made the system alderA of Alder"]
    assert command("verify").status == 0


@ONE_ENGINE
def test_an_archive_a_team_with_a_folder_a_period_is_understood(
    command: Command, tmp_path: Path, database_url: str
) -> None:
    folder = tmp_path / "clef"
    for year in ("2021", "2022"):
        (folder / "qrels").mkdir(parents=True, exist_ok=True)
        (folder / "qrels" / f"qrels.{year}.txt").write_text(QRELS)
    for team in ("Cedar", "Elm"):
        with zipfile.ZipFile(folder / f"{team}.zip", "w") as packed:
            for year in ("2021", "2022"):
                packed.writestr(f"{year}/{team.lower()}-1.txt", run(team))
    manifest = tmp_path / "m.toml"
    assert command("import-campaign", folder, "--write-manifest", manifest).status == 0
    assert command("import-campaign", folder, "--manifest", manifest).status == 0
    assert sorted({row[:3] for row in outcome(database_url)}) == [
        (year, team, f"{team.lower()}-1") for year in ("2021", "2022") for team in ("Cedar", "Elm")
    ]


@ONE_ENGINE
def test_rounds_of_a_year_are_evaluations_of_their_own(command: Command, tmp_path: Path, database_url: str) -> None:
    folder = tmp_path / "covid"
    folder.mkdir()
    for name in ("2020r1", "2020r2"):
        (folder / f"qrels.{name}.txt").write_text(QRELS.replace("d1 2", "d1 1") if name == "2020r1" else QRELS)
    with zipfile.ZipFile(folder / "Cedar.zip", "w") as packed:
        for name in ("2020r1", "2020r2"):
            packed.writestr(f"{name}/cedar-1.txt", run("Cedar"))
    manifest = tmp_path / "m.toml"
    drafted = command("import-campaign", folder, "--write-manifest", manifest)
    assert "revisions" not in drafted.out
    assert command("import-campaign", folder, "--manifest", manifest).status == 0
    assert sorted({row[:3] for row in outcome(database_url)}) == [
        ("2020r1", "Cedar", "cedar-1"),
        ("2020r2", "Cedar", "cedar-1"),
    ]
    assert rows(database_url, sa.select(JudgmentRevision.number, JudgmentRevision.highest_grade)) == [(1, 1), (1, 2)]


@ONE_ENGINE
def test_files_of_judgments_that_no_folder_parts_are_revisions_and_the_draft_says_so(
    command: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "2020"
    (folder / "runs").mkdir(parents=True)
    for name in ("early", "late"):
        (folder / f"qrels.2020-{name}.txt").write_text(QRELS)
    (folder / "runs" / "cedar-1.txt").write_bytes(run("Cedar"))
    drafted = command("import-campaign", folder, "--write-manifest", tmp_path / "m.toml")
    assert (
        "qrels.2020-early.txt, qrels.2020-late.txt: taken for revisions of one evaluation's judgments; part them if "
        "they are rounds" in drafted.out
    )


@ONE_ENGINE
def test_a_tree_as_clef_has_them_is_one_evaluation_with_its_graded_judgments(command: Command, tmp_path: Path) -> None:
    """Judgments and runs in folders of their own; grades and none; how readable documents are; published scores."""
    folder, manifest = tmp_path / "clef" / "2015", tmp_path / "manifest.toml"
    (folder / "assessments").mkdir(parents=True)
    for name in ("qrels.bin.txt", "qrels.graded.txt", "qread.graded.txt"):
        (folder / "assessments" / name).write_text(QRELS)
    (folder / "queries.tsv").write_text("q1\tharbour fees\nq2\ttides\n")
    for team in ("Alder", "Birch"):
        (folder / "runs" / team).mkdir(parents=True)
        (folder / "runs" / team / "run1.txt").write_bytes(run(team))
        (folder / "runs" / team / "run1.urbp.txt").write_text("RBP(0.8)\tq1\trun1.dat\t0.25\nRBP(0.8)\tall\t0.25\n")
    drafted = command("import-campaign", folder.parent, "--write-manifest", manifest)
    assert "1 evaluation, 2 runs" in drafted.out
    assert "qread.graded.txt: says how readable documents are" in drafted.out
    assert "qrels.bin.txt: the same judgments as 2015/assessments/qrels.graded.txt without their grades" in drafted.out
    text = manifest.read_text()
    assert [line for line in text.splitlines() if line.startswith(("file = ", "queries = ", "team = "))] == [
        'queries = "2015/queries.tsv"',
        'file = "2015/assessments/qrels.graded.txt"',
        'file = "2015/runs/Alder/run1.txt"', 'team = "Alder"',
        'file = "2015/runs/Birch/run1.txt"', 'team = "Birch"',
    ]  # fmt: skip
    assert command("import-campaign", folder.parent, "--manifest", manifest).status == 0


@ONE_ENGINE
def test_judgments_of_others_without_runs_beside_them_are_sources_and_no_address_is_there_twice(
    command: Command, tmp_path: Path
) -> None:
    folder, manifest = tmp_path / "dl", tmp_path / "manifest.toml"
    (folder / "2019").mkdir(parents=True)
    (folder / "others").mkdir()
    (folder / "2019" / "qrels.txt").write_text(QRELS)
    (folder / "2019" / "alder.run").write_bytes(run("alder"))
    for name in ("anna-qrels.txt", "bert-qrels.txt"):
        (folder / "others" / name).write_text(QRELS.replace("d3 1", "d9 1") + "q7 0 d9 1\n")
    assert "1 evaluation, 1 run" in command("import-campaign", folder, "--write-manifest", manifest).out
    text = manifest.read_text()
    assert [line for line in text.splitlines() if line.startswith("source = ")] == [
        'source = "anna"',
        'source = "bert"',
    ]
    assert "query_ids" not in text  # nothing names other queries than judgments do
    manifest.unlink()
    (folder / "2019" / "alder.run").write_bytes(run("alder") + b"q8 Q0 d1 1 1.0 alder\n")
    assert "1 evaluation, 1 run" in command("import-campaign", folder, "--write-manifest", manifest).out
    assert 'query_ids = ["q1", "q2", "q7", "q8"]\n' in manifest.read_text()  # one judged by others only too
    assert command("import-campaign", folder, "--manifest", manifest).status == 0
    manifest.unlink()
    (folder / "2020").mkdir()
    (folder / "2020" / "qrels.txt").write_text(QRELS)
    (folder / "2020" / "birch.run").write_bytes(run("birch"))  # now nobody knows whose sources they are
    assert "4 evaluations, 2 runs" in command("import-campaign", folder, "--write-manifest", manifest).out
    slugs = [line for line in manifest.read_text().splitlines() if line.startswith("slug = ")]
    assert len(set(slugs)) == len(slugs) == 5


@ONE_ENGINE
def test_an_archive_of_one_folder_is_drafted_as_the_folder_is(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "2021"
    folder.mkdir()
    (folder / "qrels.txt").write_text(QRELS)
    (folder / "BERT.txt").write_bytes(run("BERT"))
    with tarfile.open(tmp_path / "nomanifest.tar.gz", "w:gz") as packed:
        packed.add(folder, "2021")
    texts = []
    for source in (folder, tmp_path / "nomanifest.tar.gz"):
        assert command("import-campaign", source, "--write-manifest", tmp_path / f"{len(texts)}.toml").status == 0
        texts.append((tmp_path / f"{len(texts)}.toml").read_text().partition("[[evaluation]]")[2])
    assert texts[0] == texts[1]
    assert 'period = "2021"\nperiod_key = 2021\n' in texts[0]


@ONE_ENGINE
def test_a_folder_a_team_is_understood_and_spellings_mean_one_team(
    command: Command, tmp_path: Path, database_url: str
) -> None:
    folder = tmp_path / "2023"
    for team, tag in (("Alder_Lab", "one"), ("alder lab", "two"), ("ALDR", "three")):
        (folder / "runs" / team).mkdir(parents=True)
        (folder / "runs" / team / f"{tag}.run").write_bytes(run(tag))
    (folder / "qrels.txt").write_text(QRELS)
    manifest = tmp_path / "m.toml"
    assert command("import-campaign", folder, "--write-manifest", manifest).status == 0
    text = manifest.read_text().replace(
        'name = "Alder_Lab"\n', 'name = "Alder Lab"\nspellings = ["Alder_Lab", "ALDR"]\n'
    )
    text = text.replace('[[team]]\nname = "ALDR"\n', "").replace('[[team]]\nname = "alder lab"\n', "")
    manifest.write_text(text)
    assert command("import-campaign", folder, "--manifest", manifest).status == 0
    assert {row[:3] for row in outcome(database_url)} == {("2023", "Alder Lab", tag) for tag in ("one", "two", "three")}


@ONE_ENGINE
def test_a_hostile_archive_or_manifest_is_refused_in_words_and_makes_nothing(
    command: Command, archive: Path, tmp_path: Path, database_url: str
) -> None:
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as packed:
        packed.writestr("../../outside", b"x")
    assert "leads out of the archive" in command("import-campaign", tmp_path / "evil.zip").err
    (tmp_path / "bad.toml").write_text("[campaign]\nslug = 'x'\n")
    assert (
        "bad.toml: campaign: title: is missing"
        in command("import-campaign", archive, "--manifest", tmp_path / "bad.toml").err
    )
    assert "has no manifest.toml; write one" in command("import-campaign", archive).err
    assert rows(database_url, sa.select(Evaluation.id)) == []


@ONE_ENGINE
def test_every_problem_is_told_at_once_and_nothing_is_made(
    command: Command, archive: Path, manifest: Path, database_url: str
) -> None:
    text = manifest.read_text().replace('slug = "archive"', 'slug = "import"').replace('"nDCG@10", "AP"', '"nDGC@10"')
    text = text.replace('slug = "trec-2020"', 'slug = "settings"').replace("2020/qrels.txt", "2020/none.txt")
    text = text.replace("date = 2019-08-20\n", "date = 2099-01-01\nreceived = 2098-01-01\n")
    text = text.replace("2019/topics.tsv", "2019/../../secret").replace("closes_at = 2019-08-31", 'closes_at = "May"')
    manifest.write_text(text)
    refused = command("import-campaign", archive, "--manifest", manifest)
    assert (refused.status, refused.out) == (2, "")
    said = [line.removeprefix(f"{manifest}: ") for line in refused.err.splitlines()]
    expected = [
        "evaluation 1 (trec-2019): closes_at: give a date like 2020-04-23",
        "campaign: slug: 'import' is the address of a page of this site",
        "campaign: measures: no measure is called 'nDGC@10'",
        "evaluation 1 (trec-2019): queries: trec-2019/../../secret leads out of archive",
        "evaluation 2 (settings): slug: 'settings' is the address of a page of the campaign",
        "evaluation 2 (settings): judgments: archive has no file trec-2020/none.txt",
        "trec-2019/input.alderA.gz: date: 1 Jan 2099, 00:00 UTC is in the future",
        "trec-2019/input.alderA.gz: received: 1 Jan 2098, 00:00 UTC is in the future",
    ]
    assert [line[: len(start)] for line, start in zip(said, expected, strict=True)] == expected
    assert rows(database_url, sa.select(Evaluation.id)) == []
    assert rows(database_url, sa.select(Campaign.id)) == []
    assert rows(database_url, sa.select(Team.id)) == []


@ONE_ENGINE
def test_a_link_that_leads_out_of_the_folder_is_no_file_of_it(
    command: Command, archive: Path, manifest: Path, tmp_path: Path, database_url: str
) -> None:
    (tmp_path / "elsewhere").write_bytes(run("secret"))
    inside, outside = archive / "trec-2019/input.alderA.gz", archive / "trec-2019/input.birchB.gz"
    inside.rename(archive / "moved.gz")
    inside.symlink_to("../moved.gz")
    outside.unlink()
    outside.symlink_to(tmp_path / "elsewhere")
    done = command("import-campaign", archive, "--manifest", manifest)
    assert done.status == 1
    assert "trec-2019/input.birchB.gz: trec-2019/input.birchB.gz is a link that leads out of archive" in done.err
    assert len(rows(database_url, sa.select(Submission.id))) == 3


@ONE_ENGINE
def test_only_who_organises_the_campaign_imports_into_it(
    command: Command, archive: Path, manifest: Path, database_url: str
) -> None:
    assert command("import-campaign", archive, "--manifest", manifest).status == 0
    with closing(Database.connect(database_url)) as database, database.write() as session:
        create_user(session, CONSOLE, new_account("Eve"))
    refused = command("import-campaign", archive, "--manifest", manifest, "--as", "Eve")
    assert (refused.status, refused.out) == (2, "")


def has_come(importing: Process, url: str, least: int) -> bool:
    return importing.returncode is not None or len(rows(url, sa.select(Submission.id))) >= least


@ONE_ENGINE
def test_an_import_that_is_killed_goes_on_where_it_was(command: Command, tmp_path: Path, database_url: str) -> None:
    folder = tmp_path / "2019"
    folder.mkdir()
    (folder / "qrels.txt").write_text(QRELS)
    for number in range(20):
        (folder / f"input.run{number:02}").write_bytes(run(f"run{number:02}", f"d{number % 3}"))
    manifest = tmp_path / "m.toml"
    assert command("import-campaign", folder, "--write-manifest", manifest).status == 0
    environment = {
        **os.environ, "LEADERBOARD_DATABASE_URL": database_url, "LEADERBOARD_STORE_URL": str(tmp_path / "store"),
        "LEADERBOARD_LEASE_SECONDS": "1",
    }  # fmt: skip
    line = [sys.executable, "-m", "leaderboard", "import-campaign", str(folder), "--manifest", str(manifest)]
    with Process(line, env=environment) as importing:
        wait_until(partial(has_come, importing, database_url, 5), "five runs")
        assert importing.returncode is None
        os.kill(importing.pid, signal.SIGKILL)
        importing.wait(seconds=30)
    with Process(line, env=environment) as importing:
        assert importing.wait(seconds=120) == 0
    found = outcome(database_url)
    assert [row[2] for row in found if row[10] == "AP"] == [f"run{number:02}" for number in range(20)]
    assert {row[9] for row in found} == {"scored"}
    assert [row[11] for row in found if row[10] == "RR"] == [1.0 if number % 3 == 1 else 0.5 for number in range(20)]
