"""TREC-COVID's first round, frozen: NIST's figures, computed again from the folder; a changed judgment is found."""

import csv
import tomllib
from pathlib import Path

import pytest

from leaderboard.cli import run as call
from leaderboard.transfer.manifest import written

COVID = {"nDCG@10": -5, "P@5": -4, "Bpref": -2, "AP": -1}  # column of NIST's table
RUNS = 2  # of each round


def command(*arguments: str | Path) -> None:
    assert call([str(argument) for argument in arguments]) == 0


@pytest.mark.usefixtures("scores_here")
def test_the_first_round_of_trec_covid_leaves_its_server_whole(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", f"sqlite:///{tmp_path / 'leaderboard.sqlite'}")
    monkeypatch.setenv("LEADERBOARD_STORE_URL", str(tmp_path / "store"))
    folder, draft, copy = shared_data / "trec-covid", tmp_path / "trec-covid.toml", tmp_path / "copy"
    command("db", "upgrade")
    command("import-campaign", folder, "--write-manifest", draft)
    content = tomllib.loads(draft.read_text())
    content["campaign"] |= {"measures": list(COVID), "compat": 9, "visibility": "public"}
    for entry in content["evaluation"]:
        entry.update(opens_at="2020-04-15", closes_at="2020-05-13", judgments_published=True, run=entry["run"][:RUNS])
    draft.write_text(written(content))
    command("import-campaign", folder, "--manifest", draft)
    command("worker", "--once")
    command("freeze", "trec-covid/round1", copy, "--all-runs")

    with (folder / "round1" / "leaderboard.csv").open(newline="", encoding="utf-8-sig") as file:
        published = {row[0].strip(): row for row in csv.reader(file) if row}
    with (copy / "data" / "trec-covid-round1.csv").open(newline="", encoding="utf-8") as file:
        board = list(csv.DictReader(file))
    assert len(board) == RUNS
    for row in board:
        own = {measure: f"{float(row[measure]):.4f}" for measure in COVID}
        assert own == {measure: published[row["label"]][column] for measure, column in COVID.items()}

    capsys.readouterr()
    command("verify", copy)
    assert capsys.readouterr().out.startswith(f"nothing differs: figures of {RUNS} of {RUNS} runs computed again\n")
    judgments = copy / "data" / "trec-covid-round1-judgments.txt"
    lines = judgments.read_text().splitlines(keepends=True)
    relevant = next(at for at, line in enumerate(lines) if line.endswith(" 2\n"))
    judgments.write_text("".join((*lines[:relevant], lines[relevant].replace(" 2\n", " 0\n"), *lines[relevant + 1 :])))
    assert call(["verify", str(copy)]) == 1
    said = capsys.readouterr().out
    assert "data/trec-covid-round1-judgments.txt: was changed" in said
    assert "data/trec-covid-round1.json: AP of submission " in said
