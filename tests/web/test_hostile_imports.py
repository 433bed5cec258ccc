"""Archives and manifests that somebody made to do harm: refused in words, and nothing is left of them."""

import io
import os
import re
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from leaderboard.campaigns.models import Campaign
from leaderboard.evaluations.models import Evaluation
from leaderboard.submissions.models import Submission
from leaderboard.teams.models import Team
from tests.web.conftest import Reader, World
from tests.web.test_organise_import import MANIFEST, archive

ONE_ENGINE = pytest.mark.parametrize("engine_name", ["sqlite"])
PREVIEW = "/organise/harbour/import/preview"
VALUES = (
    '"\\u0000"', '"\\u202e\\u0007"', '"=1+1"', '"<script>"', "-1", "99999999999999999999", "nan", "inf", "1e400",
    "true",
    "[]", "[[]]", "[1, 2]", '[["a"]]', "{}", "{a = 2020-01-01}", "{a = nan}", "2020-01-01", "23:59:59", "0001-01-01",
    "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59", '"' + "x" * 70_000 + '"',
)  # fmt: skip
PLACES = {
    "campaign": ("slug", "title", "measures", "primary_measure", "links", "contact", "guidelines", "prior", "beta",
                 "compat", "visibility", "run_choice", "simulated"),
    "evaluation": ("slug", "title", "period", "period_key", "documents", "closes_at", "opens_at", "time_zone",
                   "daily_quota", "queries", "query_ids", "hidden", "excluded", "judgments", "judging", "draft",
                   "relevance_level", "field", "agreement", "file_rules", "document_list", "official_source", "run"),
    "run": ("files", "file", "team", "system", "kind", "date", "received", "scored", "label", "designation",
            "threshold", "notes", "version", "late", "answers", "said", "ruling", "md5", "rejected"),
    "team": ("name", "slug", "description", "spellings", "system"),
}  # fmt: skip


def counts(world: World) -> list[int]:
    return [world.count(table) for table in (Campaign, Evaluation, Submission, Team)]


def with_value(place: str, name: str, value: str) -> str:
    """The manifest with one value in one place."""
    if place == "team":
        return f"{MANIFEST}\n[[team]]\n" + ("" if name == "name" else 'name = "Old hands"\n') + f"{name} = {value}\n"
    headings = {"campaign": "[campaign]\n", "evaluation": "[[evaluation]]\n", "run": "[[evaluation.runs]]\n"}
    before, heading, after = MANIFEST.partition(headings[place])
    return f"{before}{heading}{name} = {value}\n" + re.sub(rf"^{name} =.*\n", "", after, flags=re.MULTILINE)


@ONE_ENGINE
@pytest.mark.parametrize("place", PLACES)
def test_no_value_in_a_manifest_is_a_fault_of_ours(organiser: Reader, world: World, place: str) -> None:
    """Each setting gets some of the values in turn; LEADERBOARD_ALL_VALUES=1 tries all."""
    before, answers = counts(world), {200: 0, 400: 0}
    some = 1 if os.environ.get("LEADERBOARD_ALL_VALUES") else 23
    for number, name in enumerate(PLACES[place]):
        for value in VALUES[number % some :: some]:
            content = archive(**{"manifest.toml": with_value(place, name, value)})
            answer = organiser.send(PREVIEW, content, "years.zip", field="archive")
            assert answer.status_code in answers, (name, value[:40], answer.status)
            assert "<script>" not in answer.text.partition("<main")[2].partition("</main>")[0]
            answers[answer.status_code] += 1
    # A campaign that is there keeps its settings, whatever the manifest says of them.
    assert answers[400] > (0 if place == "campaign" else answers[200])
    assert counts(world) == before


def entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", size: int = 0) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.size = kind, link, size
    return made


def tar_of(*entries: tarfile.TarInfo) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as packed:
        packed.addfile(entry("manifest.toml", size=len(MANIFEST)), io.BytesIO(MANIFEST.encode()))
        for one in entries:
            packed.addfile(one, io.BytesIO(bytes(one.size)))
    return target.getvalue()


def many_patterns() -> bytes:
    pattern = '[[evaluation.runs]]\nfiles = "*a*a*a*b"\nteam = "x"\n'
    return archive(**{"manifest.toml": MANIFEST + 5_000 * pattern, **{str(number): "" for number in range(500)}})


@ONE_ENGINE
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: tar_of(entry("2019/input.x", tarfile.SYMTYPE, "/etc/passwd")), "link"),
        (lambda: tar_of(entry("2019/input.x", tarfile.LNKTYPE, "manifest.toml")), "link"),
        (lambda: tar_of(entry("2019/input.x", tarfile.CHRTYPE)), "link or another thing"),
        (lambda: tar_of(entry("/etc/cron.d/x")), "leads out of the archive"),
        (lambda: tar_of(entry("a/../../x")), "leads out of the archive"),
        (lambda: tar_of(entry("..\\x")), "leads out of the archive"),
        (lambda: tar_of(entry("a\x1b[31m\n")), "can&#39;t be seen"),
        (lambda: tar_of(entry("manifest.toml")), "twice"),
        (lambda: tar_of(entry("2019/zeros", size=50_000_000)), "expands"),
        (lambda: tar_of(*(entry(str(number)) for number in range(20_500))), "files"),
        (many_patterns, "patterns"),
        (lambda: archive(**{"manifest.toml": 'archives = ["a.zip"]\n' + MANIFEST, "a.zip": "no"}), "a.zip"),
    ],
    ids=["symlink", "hard link", "device", "absolute", "up", "backslash", "unseen", "twice", "bomb", "many", "patterns",
         "within"],
)  # fmt: skip
def test_a_hostile_archive_is_refused_in_words_and_leaves_nothing(
    organiser: Reader, world: World, tmp_path: Path, make: Callable[[], bytes], said: str
) -> None:
    before = counts(world)
    answer = organiser.send(PREVIEW, make(), "years.archive", field="archive")
    assert answer.status_code == 400
    assert said in answer.text
    assert "Import this archive" not in answer.text
    assert counts(world) == before
    assert not [path for path in tmp_path.rglob("*") if "zeros" in path.name]


def test_teams_without_runs_are_not_made(organiser: Reader) -> None:
    squatters = MANIFEST + "".join(f'[[team]]\nname = "Squatter {n}"\n' for n in range(3_000))
    preview = organiser.send(PREVIEW, archive(**{"manifest.toml": squatters}), "years.zip", field="archive")
    assert (preview.status_code, "Squatter" in preview.text) == (200, False)
