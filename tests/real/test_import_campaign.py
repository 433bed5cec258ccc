"""Years that others published, imported by one command each: the figures are theirs, and an export gives them again."""

import csv
import tomllib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from leaderboard import migrate
from leaderboard.cli import run as call
from leaderboard.db import Database
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Subset
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import SetState, State
from leaderboard.teams.models import Team
from leaderboard.transfer.manifest import written
from leaderboard.worker.models import Score, Scoring, ScoringSet
from tests.support.transferred import held

COVID = {"nDCG@10": -5, "P@5": -4, "RBP(p=0.5, gain=scaled)": -3, "Bpref": -2, "AP": -1}  # column of NIST's table
ROUNDS = [
    {"period": "2020 round 1", "opens_at": "2020-04-15", "closes_at": "2020-04-23"},
    {"period": "2020 round 2", "opens_at": "2020-05-04", "closes_at": "2020-05-13"},
]


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Makes an installation of a name the one that commands work on; gives its database."""

    def make(name: str) -> str:
        url = f"sqlite:///{tmp_path / name}.sqlite"
        monkeypatch.setenv("LEADERBOARD_DATABASE_URL", url)
        monkeypatch.setenv("LEADERBOARD_STORE_URL", str(tmp_path / f"{name}-store"))
        with closing(Database.connect(url)) as database:
            migrate.upgrade(database)
        return url

    return make


def command(*arguments: str | Path) -> None:
    assert call([str(one) for one in arguments]) == 0


def completed(draft: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """The draft with what its files don't say."""
    content = tomllib.loads(draft.read_text())
    change(content)
    draft.write_text(written(content))
    return draft


def boards(url: str) -> dict[tuple[str, str], dict[str, float]]:
    """Evaluation and label of each run -> measure -> mean."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    with closing(Database.connect(url)) as database, database.read() as session:
        rows = session.execute(
            sa.select(Evaluation.slug, Submission.label, Score.measure, Score.mean)
            .join(Submission, Submission.evaluation_id == Evaluation.id)
            .join(Scoring, Scoring.submission_id == Submission.id)
            .join(ScoringSet, ScoringSet.id == Scoring.scoring_set_id)
            .join(Score, Score.scoring_id == Scoring.id)
            .where(ScoringSet.state == SetState.CURRENT, Scoring.state == State.SCORED, Score.subset == Subset.ALL)
        )
        for slug, label, measure, mean in rows:
            found.setdefault((slug, label), {})[measure] = mean
    return found


@pytest.mark.usefixtures("scores_here")
def test_trec_covids_rounds_come_in_by_one_command_and_go_out_and_in_again(
    installation: Callable[[str], str], shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, draft = shared_data / "trec-covid", tmp_path / "trec-covid.toml"
    first = installation("first")
    command("import-campaign", folder, "--write-manifest", draft)

    def complete(content: dict[str, Any]) -> None:
        content["campaign"] |= {"measures": list(COVID), "compat": 9}
        for entry, dates in zip(content["evaluation"], ROUNDS, strict=True):
            entry.update(dates)
        content["evaluation"][0]["run"][0]["date"] = "2020-04-22T10:30:00Z"  # BERT's

    manifest = completed(draft, complete)
    command("import-campaign", folder, "--manifest", manifest)
    command("worker", "--once")
    found, compared = boards(first), 0
    for name in ("round1", "round2"):
        with (folder / name / "leaderboard.csv").open(newline="", encoding="utf-8-sig") as file:
            published = {row[0].strip(): row for row in csv.reader(file) if row}
        runs = {file.name.removesuffix(".gz") for file in (folder / name).glob("*.gz") if ".trec_eval" not in file.name}
        assert {label for slug, label in found if slug == name} == runs
        for label in runs:
            for measure, column in COVID.items():
                assert f"{found[name, label][measure]:.4f}" == published[label][column], (name, label, measure)
                compared += 1
    with closing(Database.connect(first)) as database, database.read() as session:
        dates = dict(session.execute(sa.select(Submission.label, Submission.received_at)).all())
        assert [str(dates[label])[:16] for label in ("BERT", "T5R3")] == ["2020-04-22 10:30", "2020-04-23 00:00"]
        teams = dict(session.execute(sa.select(Submission.label, Team.name).join(Team)).all())
        assert (teams["BERT"], teams["r2.fusion1"]) == ("THUMSR", "anserini")

    command("export", "trec-covid", "--out", tmp_path / "out.tar.gz")
    second = installation("second")
    command("import-campaign", tmp_path / "out.tar.gz")
    command("worker", "--once")
    with closing(Database.connect(first)) as one, closing(Database.connect(second)) as other:
        before, after = held(one, "trec-covid"), held(other, "trec-covid")
    assert before == after
    command("verify", "--figures")
    with capsys.disabled():
        vectors = sum(len(before[name]["figures"]) for name in ("round1", "round2"))
        print(
            f"\n{compared} figures of TREC-COVID equal NIST's; {vectors} vectors are the same after export and import"
        )
