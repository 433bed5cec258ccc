"""`leaderboard fuse`: one run made of several."""

from functools import partial
from pathlib import Path

import pytest

from tests.cli.conftest import Called


@pytest.fixture
def called(offline: Called) -> Called:
    Path("a.txt").write_text("q1 Q0 a 1 9 one\nq1 Q0 b 2 5 one\nq2 Q0 a 1 3 one\n")
    Path("b.csv").write_text("query,document,score\nq1,b,0.5\nq1,c,0.25\n")
    return partial(offline, "fuse")


def test_reciprocal_ranks_of_runs_in_any_format(called: Called) -> None:
    status, out, err = called("rrf", "a.txt", "b.csv", "--out", "f.txt")
    assert (status, err) == (0, "b.csv: 1 query of other runs not in it: q2\n")
    assert out == "f.txt: rrf-of-2, 2 queries, 4 lines, fused of 2 runs\n"
    assert Path("f.txt").read_text() == (
        f"q1 Q0 b 1 {1 / 62 + 1 / 61!r} rrf-of-2\nq1 Q0 a 2 {1 / 61!r} rrf-of-2\nq1 Q0 c 3 {1 / 62!r} rrf-of-2\n"
        f"q2 Q0 a 1 {1 / 61!r} rrf-of-2\n"
    )


def test_sums_of_scores(called: Called) -> None:
    assert called("combsum", "a.txt", "b.csv", "--out", "f.txt", "--depth", "2", "--tag", "mine")[0] == 0
    assert Path("f.txt").read_text() == "q1 Q0 b 1 1.0 mine\nq1 Q0 a 2 1.0 mine\nq2 Q0 a 1 1.0 mine\n"
    assert called("combsum", "a.txt", "b.csv", "--out", "f.txt", "--normalise", "none")[0] == 0
    assert Path("f.txt").read_text().splitlines()[:2] == ["q1 Q0 a 1 9.0 combsum-of-2", "q1 Q0 b 2 5.5 combsum-of-2"]


def test_a_link_is_followed_and_the_file_has_the_usual_rights(called: Called) -> None:
    Path("real.txt").write_text("old")
    Path("link.txt").symlink_to("real.txt")
    assert called("rrf", "a.txt", "b.csv", "--out", "link.txt")[0] == 0
    assert Path("link.txt").is_symlink()
    assert Path("real.txt").read_text().startswith("q1 Q0 b 1 ")
    assert Path("real.txt").stat().st_mode == Path("a.txt").stat().st_mode


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.txt", "--out", "f"], "leaderboard fuse rrf: name two runs or more"),
        (["a.txt", "b.csv", "--out", "b.csv"], "leaderboard fuse rrf: --out b.csv is one of the files that are read"),
        (["a.txt", "b.csv", "--out", "/dev/null"], "leaderboard fuse rrf: --out /dev/null is no file that could be"),
        (["a.txt", "b.csv", "--out", "f", "--k", "-1"], "leaderboard fuse rrf: Invalid value for '--k': give"),
        (["a.txt", "bad.txt", "--out", "f"], "bad.txt: line 1: "),
        (["a.txt", "none.txt", "--out", "f"], "leaderboard fuse rrf: Invalid value for 'RUN RUN...': File 'none.txt'"),
    ],
)
def test_what_can_not_be_fused_is_said_and_nothing_is_written(
    called: Called, arguments: list[str], message: str
) -> None:
    Path("bad.txt").write_text("q1 Q0 a 1 nine x\n")
    before = {path: path.read_bytes() for path in Path().iterdir()}
    status, out, err = called("rrf", *arguments)
    assert (status, out) == (2, "")
    assert err.startswith(message)
    assert {path: path.read_bytes() for path in Path().iterdir()} == before
