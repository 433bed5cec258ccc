"""Past years that organisers bring in through the browser."""

import io
import resource
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pytest
import sqlalchemy as sa
from werkzeug.test import TestResponse

from leaderboard.access import CONSOLE, actor_of
from leaderboard.accounts.models import Attempt, User
from leaderboard.audit.writes import present
from leaderboard.campaigns.models import Campaign
from leaderboard.evaluations.models import Evaluation
from leaderboard.mail.letters import written
from leaderboard.mail.models import Mail
from leaderboard.mail.rules import MailKind
from leaderboard.store import Received, RunStore
from leaderboard.submissions.models import Submission
from leaderboard.submissions.writes.submissions import import_run
from leaderboard.teams.models import System, Team
from leaderboard.teams.writes import create_team
from leaderboard.transfer.exporting import exporting
from tests.support.pages import filled, hidden
from tests.support.scoring import drain_here
from tests.support.world import QRELS, RUN
from tests.web.conftest import Reader, World

MANIFEST = """
[campaign]
slug = "harbour"
title = "Harbour"
measures = ["AP"]
[[evaluation]]
slug = "2019"
title = "The year 2019"
period = "2019"
documents = 1000
closes_at = 2019-09-30
judgments = "2019/qrels"
[[evaluation.runs]]
files = "2019/input.{tag}"
team = "Old hands"
date = 2019-09-01
"""
FORM = '<form method="post" enctype="multipart/form-data"'  # of a manifest
FILES = {
    "manifest.toml": MANIFEST,
    "2019/qrels": QRELS,
    "2019/input.one": RUN,
    "2019/input.two": RUN + "q1 x\n",
    "notes": "x",
}


def preview_of(organiser: Reader, content: bytes, status: int = 200) -> str:
    """The page that comes for an archive."""
    answer = organiser.send("/organise/harbour/import/preview", content, "years.zip", field="archive")
    assert answer.status_code == status, answer.text
    return answer.text


def slugs(world: World) -> list[str]:
    return world.all(sa.select(Evaluation.slug).order_by(Evaluation.id))


def archive(**changes: str) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in {**FILES, **changes}.items():
            packed.writestr(name, content)
    return target.getvalue()


def without_manifest(**changes: str) -> bytes:
    """A folder a round, as an archive without a manifest: two runs of each of two teams."""
    target = io.BytesIO()
    files = {
        "round1/qrels": QRELS, "round1/alder/first.run": RUN, "round1/elm/second.run": RUN, "README": "Ask us.",
    }  # fmt: skip
    with tarfile.open(fileobj=target, mode="w:gz") as packed:
        for name, content in {**files, **changes}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content.encode())
            packed.addfile(entry, io.BytesIO(content.encode()))
    return target.getvalue()


def send_manifest(organiser: Reader, status: int, **fields: str) -> str:
    """The page that comes for a manifest, or for the wish to change it."""
    fields = {"csrf_token": organiser.token(), **fields}
    path, form = "/organise/harbour/import/manifest", "multipart/form-data"
    answer = organiser.client.post(path, data=fields, content_type=form)
    assert answer.status_code == status
    return answer.text


def test_an_organiser_sees_what_an_archive_makes_and_then_brings_it_in_once(organiser: Reader, world: World) -> None:
    preview = preview_of(organiser, archive())
    assert "The year 2019" in preview
    assert "Nothing in the manifest names 1 file: notes" in preview
    assert "Here already" not in preview
    assert slugs(world) == ["2025"]
    kept = hidden(preview, "kept")
    own = send_manifest(organiser, 200, kept=kept, edit="yes")
    assert filled(own, FORM)["manifest"] == MANIFEST.strip()  # the archive's own may be changed too
    changed = MANIFEST.replace("The year", "Year")
    assert "Year 2019" in send_manifest(organiser, 200, kept=hidden(own, "kept"), manifest=changed)
    for said in ("2 runs brought in; workers score what is new.", "0 runs brought in. 2 runs were there already."):
        assert organiser.post("/organise/harbour/import", kept=kept).location == "/organise/harbour"
        assert said in organiser.get("/organise/harbour")
        assert slugs(world) == ["2025", "2019"]
    nothing = preview_of(organiser, archive(**{"manifest.toml": MANIFEST.replace("2019-09-30", "2019-12-24")}))
    assert "30 Sep 2019" in nothing.partition("<tbody>")[2]  # as it is, and stays
    assert "<title>Nothing to import from years.zip" in nothing
    assert "Import this archive" not in nothing
    third = preview_of(organiser, archive(**{"2019/input.three": RUN + "q2 Q0 d9 2 0.5 third\n"}))
    assert "<dt>Here already</dt><dd>2 runs, left as they are</dd>" in third
    assert "Import this archive" in third


def test_a_run_that_was_brought_in_says_by_whom_and_that_its_date_is_assumed(organiser: Reader, world: World) -> None:
    organiser.post("/organise/harbour/import", kept=hidden(preview_of(organiser, archive()), "kept"))
    assert "years ago" not in organiser.get("/organise/harbour")  # a run waits from when it was queued
    extensions = organiser.client.application.extensions
    drain_here(extensions["database"], extensions["store"], extensions["config"])
    one, two = world.all(sa.select(Submission).order_by(Submission.label))
    assert (one.imported_by_id, str(one.run_at)[:10], one.problem_count) == (world.users["orla"].id, "2019-09-01", 0)
    assert two.problem_count == 1
    page = organiser.get(f"/submissions/{one.id}")
    assert ("by orla" in page, one.md5 in page) == (True, True)
    room, board = "/organise/harbour/2019/submissions", "/campaigns/harbour/2019"
    for shown in (page, organiser.get(f"{room}/{one.id}"), organiser.get(room)):
        assert "assumed by the import" in shown  # its own date, for want of one of receipt
    assert organiser.client.get(f"{board}.json").json["rows"][0]["received_assumed"] is True
    [row] = organiser.client.get("/api/v1/campaigns/harbour/evaluations/2019/board").json["rows"]
    assert row["entry"]["received_at"].startswith("2019-09-01")
    assert "scored_at" not in row["entry"]  # nobody knows when, in its own time: its results say when here


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"no archive", "neither a folder nor an archive"),
        (archive(**{"manifest.toml": "[campaign]\nslug = 1"}), "campaign, slug: give a text"),
        (
            archive(**{"manifest.toml": MANIFEST.replace('"harbour"', '"other"')}),
            "other is another campaign: this is harbour",
        ),
        (archive(**{"2019/input.two": "%PDF-1.4"}), "is a PDF document; give plain text or gzip"),
        (without_manifest(**{"round1/qrels": "nothing"}), "no judgments by which one could be drafted"),
    ],
)
def test_an_archive_that_can_not_be_used_is_refused_in_words(
    organiser: Reader, world: World, content: bytes, said: str
) -> None:
    page = preview_of(organiser, content, 400)
    assert said in page
    assert "<title>Error" in page
    assert slugs(world) == ["2025"]


def test_an_archive_without_a_manifest_gets_a_draft_that_is_completed_and_brought_in(
    organiser: Reader, world: World
) -> None:
    page = preview_of(organiser, without_manifest())
    assert "1 evaluation and 2 runs" in page
    kept, drafted = hidden(page, "kept"), filled(page, FORM)["manifest"]
    assert 'slug = "harbour"\ntitle = "Harbour"\n' in drafted  # of this campaign, whose settings stay
    assert "is no TOML" in send_manifest(organiser, 400, kept=kept, manifest="nonsense")
    wrong = send_manifest(organiser, 400, kept=kept, manifest=drafted.replace('"round1/qrels"', '"<gone>"'))
    assert "&lt;gone&gt;&#34;" in wrong  # as it was sent
    assert "evaluation 1 (round1): years.zip has no file &lt;gone&gt;" in wrong
    for gone in ({"manifest": drafted}, {"edit": "yes"}):
        assert "not here any more" in send_manifest(organiser, 400, kept="x", **gone)
    assert slugs(world) == ["2025"]
    whole = drafted.replace("period_key = 1", "period_key = 1\ncloses_at = 2019-05-01\ndocuments = 1000")
    preview = send_manifest(organiser, 200, kept=kept, manifest=whole)
    assert "1 May 2019" in preview
    again = send_manifest(organiser, 200, kept=hidden(preview, "kept"), edit="yes")
    assert filled(again, FORM)["manifest"] == whole
    assert organiser.post("/organise/harbour/import", kept=hidden(preview, "kept")).location == "/organise/harbour"
    assert slugs(world) == ["2025", "round1"]
    assert sorted(world.all(sa.select(System.name).join(Submission))) == ["first", "second"]


def test_what_is_refused_after_its_preview_leaves_nothing(organiser: Reader, world: World) -> None:
    """Somebody else makes a team of the name between the preview and the yes."""
    with world.database.write() as session:
        session.get_one(User, world.users["orla"].id).may_found = True
    whole = MANIFEST.replace('"harbour"', '"new"')
    preview = organiser.send("/organise/import/preview", archive(**{"manifest.toml": whole}), "y.zip", field="archive")
    assert preview.status_code == 200
    before = slugs(world)
    with world.database.write() as session:
        create_team(session, actor_of(session, world.users["eve"].id), "old  HANDS")
    answer = organiser.post("/organise/import", kept=hidden(preview.text, "kept"))
    assert answer.status_code == 400
    assert "team Old hands: is here already" in answer.text
    assert "leaderboard import-campaign" in answer.text
    assert slugs(world) == before
    assert world.all(sa.select(Campaign.slug)) == ["harbour"]


def test_previews_and_refusals_that_tell_of_absent_teams_are_counted_as_tries_of_their_names(
    organiser: Reader, world: World
) -> None:
    with world.database.write() as session:
        session.get_one(User, world.users["orla"].id).may_found = True
        eve = actor_of(session, world.users["eve"].id)
        for number in range(9):
            create_team(session, eve, f"Hidden {number}")
        session.execute(sa.update(Team).where(Team.slug == "alpha").values(is_listed=True))

    def sent(*teams: str, slug: str = "") -> TestResponse:
        runs = "".join(f'[[evaluation.runs]]\nfiles = "2019/run.{n}"\nteam = "{t}"\n' for n, t in enumerate(teams))
        listed = f'[[team]]\nname = "{teams[0]}"\nslug = "{slug}"\n' if slug else ""
        whole = f"{MANIFEST}{runs}{listed}".replace('"harbour"', '"new"').replace("Old hands", teams[0])
        files = {f"2019/run.{number}": RUN for number in range(len(teams))}
        packed = archive(**{"manifest.toml": whole, **files})
        return organiser.send("/organise/import/preview", packed, "y.zip", field="archive")

    for name in ("Alpha", "Alpha", "Gamma"):  # Alpha lets itself be found, and nobody is called Gamma
        assert sent(name).status_code in (200, 400)
    assert world.count(Attempt) == 0
    preview = sent("Delta")
    told = sent(*(f"HIDDEN {number}" for number in range(8)), "Gamma")
    assert (told.status_code, told.text.count("is here already, and")) == (400, 8)
    assert sent("Gamma", slug="hidden-8").status_code == 400
    with world.database.write() as session:
        create_team(session, eve, "Delta")
    assert organiser.post("/organise/import", kept=hidden(preview.text, "kept")).status_code == 400
    refused = sent("Hidden 0")
    assert (refused.status_code, "is here already" in refused.text) == (429, False)
    assert "Too many of the teams&#39; names" in refused.text
    before = world.count(Attempt)
    for name in ("Gamma", "Hidden 8", "Gamma"):  # a free name is told from a taken one no more
        assert sent(name).status_code == 429
    assert sent("Alpha").status_code == 400
    assert organiser.post("/organise/import", kept=hidden(preview.text, "kept")).status_code == 429
    assert world.count(Attempt) == before
    with world.database.write() as session:
        session.execute(sa.delete(Attempt))
    assert sent(*(f"Free {number}" for number in range(12))).status_code == 200  # as many as there are to bring in
    assert world.all(sa.select(Campaign.slug)) == ["harbour"]


def test_members_of_a_team_are_told_once_that_runs_were_brought_in_under_its_name(
    organiser: Reader, world: World
) -> None:
    with world.database.write() as session:
        for name in ("ada", "ben"):
            user = session.get_one(User, world.users[name].id)
            user.email = user.email_key = f"{name}@example.org"
        evaluation = session.get_one(Evaluation, world.evaluation.id)
        evaluation.draft = True
        upload = Received("a" * 64, "b" * 32, "a" * 64, 1, 1, "f.txt")
        import_run(session, CONSOLE, evaluation, session.get_one(System, world.system.id), upload)
    content = MANIFEST.replace('team = "Old hands"', 'team = "alpha"')
    preview = preview_of(organiser, archive(**{"manifest.toml": content}))
    assert organiser.post("/organise/harbour/import", kept=hidden(preview, "kept")).status_code == 302
    with world.database.write() as session:
        mails = session.scalars(sa.select(Mail).where(Mail.kind == MailKind.IMPORTED)).all()
        assert sorted(mail.user_id or 0 for mail in mails) == sorted([world.users["ada"].id, world.users["ben"].id])
        letter = written(session, mails[0], "https://site", present())
        assert letter is not None
        assert "under the name of your team Alpha" in letter.text
        assert "a campaign that is not public yet" in letter.text  # the evaluation is a draft
        assert "harbour" not in letter.text
        session.get_one(Evaluation, world.evaluation.id).draft = False
        letter = written(session, mails[0], "https://site", present())
        assert letter is not None
        assert "https://site/campaigns/harbour/2025" in letter.text


def test_without_room_for_temporary_files_exports_and_imports_ask_to_try_again(
    organiser: Reader, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    answers = []
    with monkeypatch.context() as at:
        at.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
        answers.append(organiser.client.get("/organise/harbour/export.tar.gz"))
        answers.append(organiser.send("/organise/harbour/import/preview", archive(), "years.zip", field="archive"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        answers.append(organiser.client.get("/organise/harbour/export.tar.gz"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    for answer in answers:
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30"), answer.text
        assert "does not answer or is full" in answer.text
    assert preview_of(organiser, archive())


def test_an_organiser_downloads_what_the_command_exports(organiser: Reader, world: World, tmp_path: Path) -> None:
    assert 'href="/organise/harbour/export.tar.gz"' in organiser.get("/organise/harbour/import")
    answer = organiser.client.get("/organise/harbour/export.tar.gz")
    assert answer.content_type == "application/gzip"
    assert 'filename="harbour.tar.gz"' in answer.headers["Content-Disposition"]
    with tarfile.open(fileobj=io.BytesIO(answer.data)) as opened:
        opened.extractall(tmp_path, filter="data")
    with exporting(world.database, CONSOLE, "harbour") as export:
        written = {path: source.read_bytes() for path, source in export.files(RunStore(str(tmp_path / "store")))}
    assert {path: (tmp_path / "harbour" / path).read_bytes() for path in written} == written
    assert "manifest.toml" in written
