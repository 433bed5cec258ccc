"""Drafts of manifests, from the files alone."""

import re
import time
from pathlib import Path

from leaderboard.transfer.drafting import draft_of
from leaderboard.transfer.manifest import open_tree


def test_judgments_with_wrong_grades_are_named_with_the_line_whatever_they_are(tmp_path: Path) -> None:
    few = [f"q{number % 3} 0 d{number} {number % 2}" for number in range(20)]
    few[7] = "q1 0 d7 x"
    files = {
        "few": few,
        "all": [f"q{number} 0 d{number} 1.0" for number in range(20)],
        "words": ["q1 0 d1 1", "q1 0 d2 relevant", "q2 0 d3 yes"],
    }
    for name, lines in files.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "qrels.txt").write_text("\n".join(lines) + "\n")
        (tmp_path / name / "one.run").write_text("q1 Q0 d1 1 1.0 one\n")
    (tmp_path / "README").write_text("Ask us.")
    with open_tree(tmp_path) as tree:
        draft = draft_of(tree)
    assert (draft.evaluations, draft.runs) == (3, 3)
    why = "correct it, since nothing comes in before"
    assert [note for note in draft.notes if "qrels" in note or "README" in note] == [
        "1 file not recognised as anything: README",
        f"all/qrels.txt: 20 of 20 lines: the grade is no integer: {why}",
        f"few/qrels.txt: line 8: grade x is no integer: {why}",
        f"words/qrels.txt: line 2: grade relevant is no integer: {why}",
    ]


def test_sums_beside_runs_are_read_in_time_that_grows_with_their_file(tmp_path: Path) -> None:
    name = "b" + 50_000 * " " + "b"
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    for run in ("one.run", "two.run"):
        (tmp_path / run).write_text("q1 Q0 d1 1 1.0 one\n")
    lines = [f"{'f' * 32}  {name}", *50_000 * [" "], f"  {'0' * 32}  ./one.run \t", f"{'A' * 32} *two.run"]
    (tmp_path / "md5sums").write_text("\n".join(lines))
    started = time.process_time()
    with open_tree(tmp_path) as tree:
        draft = draft_of(tree)
    assert time.process_time() - started < 5
    assert re.findall('md5 = "(.*)"', draft.text) == ["0" * 32, "a" * 32]


def test_what_a_table_beside_a_run_leaves_open_one_at_the_root_says(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    (tmp_path / "runs" / "one").write_text("q1 Q0 d1 1 1.0 one\n")
    (tmp_path / "runs" / "teams.csv").write_text("run,team\none,Oak\n")
    (tmp_path / "kinds.csv").write_text("run,team,kind\none,Yew,manual\n")
    with open_tree(tmp_path) as tree:
        text = draft_of(tree).text
    assert '{ file = "runs/one", team = "Oak", system = "one", kind = "manual" }' in text
