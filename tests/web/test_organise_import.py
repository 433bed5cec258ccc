"""Past years that organisers bring in through the browser."""

import io
import re
import tarfile
import zipfile
from pathlib import Path

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.models import Evaluation, Submission, Team
from leaderboard.store import RunStore
from leaderboard.transfer.packing import exporting
from leaderboard.worker import drain
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


def evaluations(world: World) -> list[str]:
    with world.database.read() as session:
        return list(session.scalars(sa.select(Evaluation.slug).order_by(Evaluation.id)))


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
    assert evaluations(world) == ["2025"]
    for _ in range(2):
        answer = organiser.post("/organise/harbour/import", kept=hidden(preview.text, "kept"))
        assert (answer.status_code, answer.location) == (302, "/organise/harbour")
        assert evaluations(world) == ["2025", "2019"]
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


@ONE_ENGINE
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"no archive", "neither a folder nor an archive"),
        (archive(**{"manifest.toml": "[campaign]\nslug = 1"}), "slug: give a text, in quotes"),
        (archive(**{"manifest.toml": MANIFEST.replace('"harbour"', '"other"')}), "is of the campaign &#39;other&#39;"),
        (archive(**{"../evil": "x"}), "leads out of the archive"),
    ],
)
def test_an_archive_that_can_not_be_used_is_refused_in_words(
    organiser: Reader, world: World, content: bytes, said: str
) -> None:
    answer = organiser.send("/organise/harbour/import/preview", content, "years.zip", field="archive")
    assert answer.status_code == 400
    assert said in answer.text
    assert "<title>Error" in answer.text
    assert evaluations(world) == ["2025"]


@ONE_ENGINE
def test_an_organiser_downloads_what_the_command_exports(organiser: Reader, world: World, tmp_path: Path) -> None:
    assert 'href="/organise/harbour/export.tar.gz"' in organiser.get("/organise/harbour/import")
    answer = organiser.client.get("/organise/harbour/export.tar.gz")
    assert answer.content_type == "application/gzip"
    assert 'filename="harbour.tar.gz"' in answer.headers["Content-Disposition"]
    with tarfile.open(fileobj=io.BytesIO(answer.data)) as opened:
        opened.extractall(tmp_path, filter="data")
    with exporting(world.database, CONSOLE, "harbour", tmp_path) as export:
        written = {file.path: file.place.read_bytes() for file in export.files(RunStore(str(tmp_path / "store")))}
    assert {path: (tmp_path / "harbour" / path).read_bytes() for path in written} == written
    assert "manifest.toml" in written
