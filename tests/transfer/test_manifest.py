"""What a manifest says, and what is told of one that is wrong."""

import datetime as dt

import pytest

from leaderboard.errors import FileRejected
from leaderboard.rules.phases import Opening
from leaderboard.rules.settings import Judging
from leaderboard.rules.standings import Designation, SystemKind
from leaderboard.transfer.manifest import EvaluationEntry, Manifest, Many, RunEntry, match, of_pattern, read_manifest

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
        read_manifest(text)
    return [str(problem) for problem in rejected.value.problems]


def only(manifest: Manifest) -> EvaluationEntry:
    (evaluation,) = manifest.evaluations
    return evaluation


def test_settings_are_read_as_columns_keep_them() -> None:
    manifest = read_manifest(GOOD)
    assert (manifest.slug, manifest.archives) == ("years", ("a.zip",))
    assert manifest.settings == {"title": "Years", "measures": ["AP"], "prior": 1.0, "cost": 0.5}
    evaluation = only(manifest)
    assert evaluation.settings == {
        "judging": Judging.COMPLETE,
        "results": Opening.NEVER,
        "closes_at": dt.datetime(2020, 10, 1, tzinfo=dt.UTC),
        "opens_at": dt.datetime(2020, 9, 1, 10, tzinfo=dt.UTC),
        "daily_quota": None,
    }
    assert (evaluation.hidden, evaluation.excluded) == (("q2",), {"q3": "a typing error"})
    run = evaluation.runs[0]
    assert isinstance(run, RunEntry)
    assert (run.file, run.md5) == ("runs/one", "d41d8cd98f00b204e9800998ecf8427e")
    assert run.settings == {
        "run_at": dt.datetime(2020, 9, 30, tzinfo=dt.UTC),
        "designation": Designation.PRIMARY,
        "threshold": 3.0,
    }


def test_spellings_mean_one_team_and_others_are_teams_of_their_own() -> None:
    manifest = read_manifest(GOOD)
    for spelled in ("Northern lights", "northern  LIGHTS", "NLIGHTS", "nlights-2020"):
        assert manifest.team(spelled).name == "Northern lights"
    assert manifest.team("southern-lights").name == "southern-lights"


def test_a_pattern_names_many_runs() -> None:
    many = only(read_manifest(GOOD)).runs[1]
    assert isinstance(many, Many)
    taken = many.match("runs/input.bm25.v2.gz")
    assert taken == {"tag": "bm25.v2"}
    run = of_pattern(many, "runs/input.bm25.v2.gz", taken)
    assert (run.team, run.system, run.kind) == ("Team of bm25.v2", "bm25.v2", SystemKind.BASELINE)
    assert run.settings == {"label": "bm25.v2"}


@pytest.mark.parametrize(
    ("pattern", "path", "taken"),
    [
        ("a/b", "a/b", {}),
        ("a/b", "a/c", None),
        ("*.gz", "x.gz", {}),
        ("*", "a/b", None),
        ("{team}/{tag}.txt", "Alder/one.txt", {"team": "Alder", "tag": "one"}),
        ("{team}-{tag}", "a-b-c", {"team": "a", "tag": "b-c"}),
        ("{team}/{team}-*", "a/a-1", {"team": "a"}),
        ("{team}/{team}-*", "a/b-1", None),
        ("{tag}.gz", ".gz", None),
        ("a{tag}a", "a", None),
        ("*a*b*c*", "xxaxxbxxc", {}),
        ("*a*a*a*", "aa", None),
    ],
)
def test_what_a_pattern_takes_from_a_path(pattern: str, path: str, taken: dict[str, str] | None) -> None:
    assert match(pattern, path) == taken


def test_a_pattern_of_many_stars_takes_no_time() -> None:
    assert match("*a" * 200 + "b", "a" * 100_000) is None


def test_every_problem_is_told_with_its_place() -> None:
    wrong = GOOD.replace(b'judging = "complete"', b'judging = "sloppy"\ncolour = "red"').replace(b"D41D8", b"xyz")
    wrong = wrong.replace(b"prior = 1", b'prior = "1"').replace(b"date = 2020-09-30", b'date = "spring"')
    assert problems(wrong.replace(b"{tag}.gz", b"{year}.gz")) == [
        "campaign: prior: give a number, without quotes",
        "evaluation 1 (2020), run 1 (./runs/one): md5: give its hexadecimal digits, all of them",
        "evaluation 1 (2020), run 1 (./runs/one): date: give a date like 2020-04-23 or 2020-04-23T18:00:00Z",
        f"{PATTERN}: files: there is no {{year}}; write * or one of {CAPTURED}",
        "evaluation 1 (2020): judging: give one of pooled, complete",
        "evaluation 1 (2020): colour: there is no such setting",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"[campaign\n", "line 1: is no TOML"),
        (b"\xff", "is no UTF-8 text"),
        (b"a = " + b"[" * 10_000, "is nested too deeply"),
        (b"a = " + b"9" * 5_000, "holds a number of too many digits"),
        (b"", "[campaign] is missing"),
        (b"[[campaign]]", "[campaign] is missing"),
        (b"[campaign]\nslug = 3\n", "campaign: slug: give a text, in quotes"),
        (b"[campaign]\n[team]\n", "campaign: team: write [[team]] for each"),
        (
            b'[campaign]\n[[evaluation]]\nslug = "a"\nrun = 3\n',
            "evaluation 1 (a): run: write [[evaluation.run]] for each",
        ),
        (b'[campaign]\n[[team]]\nname="A b"\n[[team]]\nname="a B"', "team a B: is there twice, as A b"),
    ],
)
def test_what_is_no_manifest_is_refused_in_words(text: bytes, said: str) -> None:
    assert any(problem.startswith(said) for problem in problems(text))


def test_tables_in_the_wrong_place_and_numbers_out_of_bounds_say_what_to_write() -> None:
    start = b'[campaign]\nslug = "a"\ntitle = "A"\n[[evaluation]]\nperiod = "2020"\ntitle = "E"\n'
    for more, told in (
        (b'[[run]]\nfile = "x"\n', "campaign: run: there is no such setting; write [[evaluation.run]], below"),
        (b'[evaluation.run]\nfile = "x"\n', "evaluation 1: run: write [[evaluation.run]] for each"),
        (b'excluded = ["9"]\n', 'evaluation 1: excluded: write excluded = [{ query = "9", because = "…" }]'),
        (b"period_key = 2.5\n", "evaluation 1: period_key: give a whole number, without quotes"),
        (b'[[team]]\nname = "x"\nknown = "true"\n', "team 1 (x): known: give true or false, without quotes"),
        (b'[[evaluation.run]]\nfile = "x"\nrejected = 1\n', "evaluation 1, run 1 (x): rejected: give true or false"),
        (
            b'[[evaluation.agreement]]\nkey = "k"\ntitle = "T"\ntext = "t"\nended = "no"\n',
            "evaluation 1, agreement 1 (k): ended: give true or false, without quotes",
        ),
        (b"documents = 99999999999999999999\n", "evaluation 1: documents: give a whole number of at most 18 digits"),
    ):
        (problem,) = problems(start + more)
        assert problem.startswith(told)
