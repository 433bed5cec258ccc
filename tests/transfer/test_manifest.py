"""What a manifest says, and what is told of one that is wrong."""

import datetime as dt

import pytest

from leaderboard.campaigns.writes import DEFAULTS as CAMPAIGN
from leaderboard.errors import FileRejected
from leaderboard.evaluations.writes import DEFAULTS as EVALUATION
from leaderboard.submissions.inputs import PastRun
from leaderboard.submissions.rules import SystemKind
from leaderboard.transfer import manifest as transfer_manifest

PATTERN = "evaluation 1 (2020), runs 1 (runs/input.{year}.gz)"
CAPTURED = "team, system, tag, label, version"
GOOD = b"""
archives = ["a.zip"]
[campaign]
slug = "years"
title = "Years"
measures = ["AP"]
prior = 1
cost = 0.5
[[team]]
name = "Northern lights"
spellings = ["NLIGHTS", "nlights-2020"]
[[team.system]]
name = "Heron"
kind = "manual"
[[evaluation]]
slug = "2020"
title = "The year 2020"
period = "2020"
judging = "complete"
results = "never"
closes_at = 2020-10-01
opens_at = 2020-09-01T12:00:00+02:00
daily_quota = "none"
judgments = "qrels"
hidden = ["q2"]
excluded = [{query = "q3", because = "a typing error"}]
[[evaluation.run]]
file = "./runs/one"
team = "nlights"
system = "Heron"
date = 2020-09-30
designation = "primary"
threshold = 3
md5 = "D41D8CD98F00B204E9800998ECF8427E"
[[evaluation.runs]]
files = "runs/input.{tag}.gz"
team = "Team of {tag}"
kind = "baseline"
"""


def problems(text: bytes) -> list[str]:
    with pytest.raises(FileRejected) as rejected:
        transfer_manifest.read_manifest(text)
    return [str(problem) for problem in rejected.value.problems]


def only(manifest: transfer_manifest.Manifest) -> transfer_manifest.EvaluationEntry:
    (evaluation,) = manifest.evaluation
    return evaluation


def test_settings_are_read_as_they_are_written() -> None:
    manifest = transfer_manifest.read_manifest(GOOD)
    assert (manifest.campaign.slug, manifest.campaign.title, manifest.archives) == ("years", "Years", ["a.zip"])
    assert manifest.campaign.measures == ["AP"]
    assert manifest.campaign.settings(CAMPAIGN) == {"prior": 1, "cost": 0.5}
    evaluation = only(manifest)
    assert evaluation.settings(EVALUATION) == {
        "judging": "complete",
        "results": "never",
        "closes_at": dt.datetime(2020, 10, 1, tzinfo=dt.UTC),
        "opens_at": dt.datetime(2020, 9, 1, 10, tzinfo=dt.UTC),
        "daily_quota": None,
    }
    assert evaluation.hidden == ["q2"]
    assert evaluation.excluded == [transfer_manifest.ExcludedEntry(query="q3", because="a typing error")]
    (run,) = evaluation.run
    assert (run.file, run.md5) == ("runs/one", "d41d8cd98f00b204e9800998ecf8427e")
    assert run.settings(PastRun.model_fields) == {
        "run_at": dt.datetime(2020, 9, 30, tzinfo=dt.UTC),
        "designation": "primary",
        "threshold": 3,
    }


def test_what_is_written_is_read_again() -> None:
    texts = ["", 'a "b" \\ c', "two\nlines\ttab", "ü – β \x7f \u202e", "''' \"\"\"", "# no comment"]
    campaign = {"slug": "a", "title": "A", "description": "\n".join(texts), "measures": ["AP"], "beta": None}
    runs = [{"file": text or "x", "date": dt.datetime(2020, 4, 23, 18, tzinfo=dt.UTC)} for text in texts]
    manifest = transfer_manifest.read_manifest(
        transfer_manifest.written(
            {"campaign": campaign, "evaluation": [{"slug": "e", "period": "1", "run": runs}]}
        ).encode()
    )
    assert manifest.campaign.description == campaign["description"]
    assert [run.file for run in only(manifest).run] == [run["file"] for run in runs]
    assert {run.run_at for run in only(manifest).run} == {runs[0]["date"]}


def test_a_pattern_names_many_runs() -> None:
    (many,) = only(transfer_manifest.read_manifest(GOOD)).runs
    taken = transfer_manifest.match(many.files, "runs/input.bm25.v2.gz")
    assert taken == {"tag": "bm25.v2"}
    run = many.of("runs/input.bm25.v2.gz", taken)
    assert (run.team, run.system, run.kind) == ("Team of bm25.v2", "bm25.v2", SystemKind.BASELINE)
    assert run.settings(PastRun.model_fields) == {"label": "bm25.v2"}


@pytest.mark.parametrize(
    ("pattern", "path", "taken"),
    [
        ("a/b", "a/b", {}),
        ("*", "a/b", None),
        ("{team}/{tag}.txt", "Alder/one.txt", {"team": "Alder", "tag": "one"}),
        ("{team}-{tag}", "a-b-c", {"team": "a", "tag": "b-c"}),
        ("{team}/{team}-*", "a/a-1", {"team": "a"}),
        ("{team}/{team}-*", "a/b-1", None),
        ("{tag}.gz", ".gz", None),
        ("{tag}", "a\n", {"tag": "a\n"}),
        ("a{tag}a", "a", None),
        ("*a*b*c*", "xxaxxbxxc", {}),
        ("*a*a*a*", "aa", None),
        ("*a" * 200 + "b", "a" * 100_000, None),  # in no time
    ],
)
def test_what_a_pattern_takes_from_a_path(pattern: str, path: str, taken: dict[str, str] | None) -> None:
    assert transfer_manifest.match(pattern, path) == taken


def test_every_problem_is_told_with_its_place() -> None:
    wrong = GOOD.replace(b'judging = "complete"', b'colour = "red"').replace(b"D41D8", b"xyz")
    wrong = wrong.replace(b'measures = ["AP"]', b"measures = 3").replace(b"date = 2020-09-30", b'date = "spring"')
    of_run = "evaluation 1 (2020), run 1 (./runs/one)"
    assert sorted(problems(wrong.replace(b"{tag}.gz", b"{year}.gz"))) == [
        "campaign, measures: give a list",
        "evaluation 1 (2020), colour: there is no such setting",
        f"{of_run}, date: give a day, or a day and a time like 2026-09-30T18:00",
        f"{of_run}, md5: expected the form (?i)^([0-9a-f]{{32}})?$",
        f"{PATTERN}: files: there is no {{year}}; write * or one of {CAPTURED}",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"[campaign\n", "line 1: is no TOML"),
        (b"\xff", "is no TOML: 'utf-8' codec"),
        (b"a = " + b"9" * 5_000, "is no TOML: Exceeds the limit"),
        (b"", "campaign: is missing"),
        (b"[campaign]\nslug = 3\n", "campaign, slug: give a text"),
        (b'[campaign]\nslug = "a\\u0000"\n', "campaign, slug: this text holds a character that can't be kept"),
        (
            b'[campaign]\nslug = "a"\ntitle = "A"\n[[team]]\nname="A b"\n[[team]]\nname="a B"',
            "team a B: is there twice",
        ),
    ],
)
def test_what_is_no_manifest_is_refused_in_words(text: bytes, said: str) -> None:
    assert any(problem.startswith(said) for problem in problems(text)), problems(text)
