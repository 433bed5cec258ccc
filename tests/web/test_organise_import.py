"""Past years that organisers bring in through the browser."""

import html
import io
import re
import tarfile
import zipfile
from pathlib import Path

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE, actor_of
from leaderboard.accounts.models import User
from leaderboard.audit.writes import present
from leaderboard.campaigns.models import Campaign
from leaderboard.evaluations.models import Evaluation
from leaderboard.mail.letters import written
from leaderboard.mail.models import Mail
from leaderboard.mail.rules import MailKind
from leaderboard.store import Received, RunStore
from leaderboard.submissions.models import Submission
from leaderboard.submissions.writes.past_runs import import_run
from leaderboard.teams.models import System, Team
from leaderboard.teams.writes import create_team
from leaderboard.transfer.exporting import exporting
from leaderboard.worker.loop import drain
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
FILES = {
    "manifest.toml": MANIFEST,
    "2019/qrels": QRELS,
    "2019/input.one": RUN,
    "2019/input.two": RUN + "q1 x\n",
    "notes": "x",
}
ONE_ENGINE = pytest.mark.parametrize("engine_name", ["sqlite"])


def archive(**changes: str) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as packed:
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


def evaluations(world: World) -> list[str]:
    with world.database.read() as session:
        return list(session.scalars(sa.select(Evaluation.slug).order_by(Evaluation.id)))


def manifest_in(page: str) -> str:
    """What stands in the field of the manifest."""
    text = html.unescape(page.partition('spellcheck="false"')[2])
    return text.partition(">")[2].partition("</textarea>")[0].strip()


def send_manifest(organiser: Reader, status: int, **fields: str) -> str:
    """The page that comes for a manifest, or for the wish to change it."""
    fields = {"csrf_token": organiser.token(), **fields}
    path, form = "/organise/harbour/import/manifest", "multipart/form-data"
    answer = organiser.client.post(path, data=fields, content_type=form)
    assert answer.status_code == status
    return answer.text


def hidden(page: str, name: str) -> str:
    found = re.search(rf'name="{name}"[^>]*value="([^"]+)"', page)
    assert found is not None
    return found[1]


@ONE_ENGINE
def test_an_organiser_sees_what_an_archive_makes_and_then_brings_it_in_once(organiser: Reader, world: World) -> None:
    assert "Preview" in organiser.get("/organise/harbour/import")
    preview = organiser.send("/organise/harbour/import/preview", archive(), "years.zip", field="archive")
    assert preview.status_code == 200
    assert "The year 2019" in preview.text
    assert "Nothing in the manifest names 1 file: notes" in preview.text
    assert "those that are judged" in preview.text
    assert "Here already" not in preview.text
    assert evaluations(world) == ["2025"]
    own = send_manifest(organiser, 200, kept=hidden(preview.text, "kept"), edit="yes")
    assert manifest_in(own) == MANIFEST.strip()  # the archive's own may be changed too
    other = send_manifest(organiser, 200, kept=hidden(own, "kept"), manifest=MANIFEST.replace("The year", "Year"))
    assert "Year 2019" in other
    for said in ("2 runs brought in; workers score what is new.", "0 runs brought in. 2 runs were there already."):
        answer = organiser.post("/organise/harbour/import", kept=hidden(preview.text, "kept"))
        assert (answer.status_code, answer.location) == (302, "/organise/harbour")
        assert said in organiser.get("/organise/harbour")
        assert evaluations(world) == ["2025", "2019"]
    named = MANIFEST.replace('period = "2019"', 'period = "2019"\nquery_ids = ["q1", "q2", "q3"]')
    other = named.replace("The year 2019", "Another title").replace("closes_at = 2019-09-30", "closes_at = 2019-12-24")
    preview = organiser.send(
        "/organise/harbour/import/preview", archive(**{"manifest.toml": other}), "years.zip", field="archive"
    )
    table = preview.text.partition("<tbody>")[2].partition("</tbody>")[0]
    assert "The year 2019" in table  # as it is, and stays
    assert "30 Sep 2019" in table
    assert "<td>3 queries by the manifest</td>" in table
    assert "<dt>Here already</dt><dd>2 runs, left as they are</dd>" in preview.text
    assert "<title>Nothing to bring in from years.zip" in preview.text
    assert "Yes, bring them in" not in preview.text
    third = archive(**{"2019/input.three": RUN + "q2 Q0 d9 2 0.5 third\n"})
    preview = organiser.send("/organise/harbour/import/preview", third, "years.zip", field="archive")
    assert "<dt>Here already</dt><dd>2 runs, left as they are</dd>" in preview.text
    assert "Yes, bring them in" in preview.text
    room = organiser.get("/organise/harbour")
    assert "Oldest waiting" in room
    assert "years ago" not in room  # a run waits from when it was queued, whenever the campaign received it
    extensions = organiser.client.application.extensions
    drain(extensions["database"], extensions["store"], extensions["config"])
    with world.database.read() as session:
        one, two = session.scalars(sa.select(Submission).order_by(Submission.label)).all()
        assert (one.imported_by_id, str(one.run_at)[:10], one.problem_count) == (
            world.users["orla"].id,
            "2019-09-01",
            0,
        )
        assert two.problem_count == 1
        assert session.scalars(sa.select(Team.name).where(Team.name == "Old hands")).all() == ["Old hands"]
    page = organiser.get(f"/submissions/{one.id}")
    assert "<dt>Made</dt><dd>" in page.replace("\n", "")
    assert "by orla" in page
    assert one.md5 in page
    room, board = "/organise/harbour/2019/submissions", "/campaigns/harbour/2019"
    assert "date assumed by the import" in page  # its own date, for want of one of receipt
    assert "date assumed by the import" in organiser.get(f"{room}/{one.id}")
    assert "assumed by the import" in organiser.get(room)
    assert "received_assumed" in organiser.get(f"{room}.csv").splitlines()[0]
    assert organiser.client.get(f"{board}.json").json["rows"][0]["received_assumed"] is True
    told = organiser.client.get("/api/v1/campaigns/harbour/evaluations/2019/board").json
    assert told["rows"][0]["entry"]["received_at"].startswith("2019-09-01")
    assert "scored_at" not in told["rows"][0]["entry"]  # nobody knows when, in its own time: its results say when here


@ONE_ENGINE
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"no archive", "neither a folder nor an archive"),
        (archive(**{"manifest.toml": "[campaign]\nslug = 1"}), "campaign, slug: Input should be a valid string"),
        (
            archive(**{"manifest.toml": MANIFEST.replace('"harbour"', '"other"')}),
            "other is another campaign: this is harbour",
        ),
        (archive(**{"../evil": "x"}), "leads out of the archive"),
        (
            archive(**{"manifest.toml": MANIFEST + '[[evaluation.run]]\nfile = "2019/three"\n'}),
            "2019/three: years.zip has no file 2019/three",
        ),
        (
            archive(**{"2019/input.two": "%PDF-1.4"}),
            "2019/input.two: 2019/input.two: is a PDF document; give plain text or gzip",
        ),
    ],
)
def test_an_archive_that_can_not_be_used_is_refused_in_words(
    organiser: Reader, world: World, content: bytes, said: str
) -> None:
    answer = organiser.send("/organise/harbour/import/preview", content, "years.zip", field="archive")
    assert answer.status_code == 400
    assert said in answer.text
    assert "<title>Error" in answer.text
    assert "Yes, bring them in" not in answer.text
    assert evaluations(world) == ["2025"]


@ONE_ENGINE
def test_an_archive_without_a_manifest_gets_a_draft_that_is_completed_and_brought_in(
    organiser: Reader, world: World
) -> None:
    whole = without_manifest()
    answer = organiser.send("/organise/harbour/import/preview", whole, "years.tar.gz", field="archive")
    assert answer.status_code == 200
    assert "1 evaluation and 2 runs" in answer.text
    assert "<li>1 file not recognised as anything: README</li>" in answer.text
    kept, drafted = hidden(answer.text, "kept"), manifest_in(answer.text)
    assert 'slug = "harbour"\ntitle = "Harbour"\n' in drafted  # of this campaign, whose settings stay
    assert '{ file = "round1/elm/second.run", team = "elm", system = "second" }' in drafted
    assert evaluations(world) == ["2025"]

    def send(text: str, status: int, kept: str = kept) -> str:
        return send_manifest(organiser, status, kept=kept, manifest=text)

    assert "is no TOML" in send("nonsense", 400)
    wrong = send(drafted.replace('"round1/qrels"', '"<gone>"'), 400)
    assert "&lt;gone&gt;&#34;" in wrong  # as it was sent
    assert "evaluation 1 (round1): years.tar.gz has no file &lt;gone&gt;" in wrong
    assert "Is empty" in send(" ", 400)
    assert "not here any more" in send(drafted, 400, kept="x")
    preview = send(drafted.replace("period_key = 1", "period_key = 1\ncloses_at = 2019-05-01\ndocuments = 1000"), 200)
    assert "1 May 2019" in preview
    again = send_manifest(organiser, 200, kept=hidden(preview, "kept"), edit="yes")
    text = manifest_in(again)
    assert text == drafted.replace("period_key = 1", "period_key = 1\ncloses_at = 2019-05-01\ndocuments = 1000")
    preview = send(text.replace("2019-05-01", "2019-05-02"), 200, kept=hidden(again, "kept"))
    assert "2 May 2019" in preview
    gone = send_manifest(organiser, 400, kept="x", edit="yes")
    assert "not here any more" in gone
    answer = organiser.post("/organise/harbour/import", kept=hidden(preview, "kept"))
    assert (answer.status_code, answer.location) == (302, "/organise/harbour")
    assert evaluations(world) == ["2025", "round1"]
    with world.database.read() as session:
        assert sorted(session.scalars(sa.select(System.name).join(Submission))) == ["first", "second"]


@ONE_ENGINE
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"round1/qrels": "nothing"}, "no judgments by which one could be drafted"),
        ({f"round1/{number}.run": "q1 Q0 d1 1 1.0 x\n" for number in range(500)}, "has more than 500 runs; use"),
    ],
    ids=["no judgments", "too many runs"],
)
def test_an_archive_of_which_no_manifest_can_be_drafted_is_refused_in_words(
    organiser: Reader, changes: dict[str, str], said: str
) -> None:
    content = without_manifest(**changes)
    answer = organiser.send("/organise/harbour/import/preview", content, "years.tar.gz", field="archive")
    assert answer.status_code == 400
    assert said in answer.text


@ONE_ENGINE
def test_what_is_refused_after_its_preview_leaves_nothing(organiser: Reader, world: World) -> None:
    """Somebody else makes a team of the name between the preview and the yes."""
    with world.database.write() as session:
        session.get_one(User, world.users["orla"].id).may_found = True
    whole = MANIFEST.replace('"harbour"', '"new"')
    preview = organiser.send("/organise/import/preview", archive(**{"manifest.toml": whole}), "y.zip", field="archive")
    assert preview.status_code == 200
    before = evaluations(world)
    with world.database.write() as session:
        create_team(session, actor_of(session, world.users["eve"].id), "old  HANDS")
    answer = organiser.post("/organise/import", kept=hidden(preview.text, "kept"))
    assert answer.status_code == 400
    assert "team Old hands: is here already" in answer.text
    assert "leaderboard import-campaign" in answer.text
    assert evaluations(world) == before
    with world.database.read() as session:
        assert session.scalars(sa.select(Campaign.slug)).all() == ["harbour"]


@ONE_ENGINE
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
    preview = organiser.send(
        "/organise/harbour/import/preview", archive(**{"manifest.toml": content}), "y.zip", field="archive"
    )
    assert organiser.post("/organise/harbour/import", kept=hidden(preview.text, "kept")).status_code == 302
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


@ONE_ENGINE
def test_an_organiser_downloads_what_the_command_exports(organiser: Reader, world: World, tmp_path: Path) -> None:
    assert 'href="/organise/harbour/export.tar.gz"' in organiser.get("/organise/harbour/import")
    answer = organiser.client.get("/organise/harbour/export.tar.gz")
    assert answer.content_type == "application/gzip"
    assert 'filename="harbour.tar.gz"' in answer.headers["Content-Disposition"]
    with tarfile.open(fileobj=io.BytesIO(answer.data)) as opened:
        opened.extractall(tmp_path, filter="data")
    with exporting(world.database, CONSOLE, "harbour", tmp_path) as export:
        written = {file.path: file.source.read_bytes() for file in export.files(RunStore(str(tmp_path / "store")))}
    assert {path: (tmp_path / "harbour" / path).read_bytes() for path in written} == written
    assert "manifest.toml" in written
