"""`leaderboard check`: what would become of a run, offline and against an evaluation; and `leaderboard form`."""

from pathlib import Path

import pytest
import sqlalchemy as sa

from leaderboard import cli
from leaderboard.access import CONSOLE
from leaderboard.campaigns.models import Campaign
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.evaluations import file_rules, find_evaluation, form_fields, standing_agreements
from leaderboard.submissions.models import Submission
from tests.support.world import RUN, World


@pytest.fixture
def engine_name() -> str:
    return "sqlite"


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    path = tmp_path / "a.run"
    path.write_text(RUN)
    return path


def place_of(world: World, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", world.config.database_url)
    monkeypatch.setenv("LEADERBOARD_STORE_URL", world.config.store_url)
    with world.database.read() as session:
        evaluation = session.get_one(Evaluation, world.evaluation)
        return f"{session.get_one(Campaign, evaluation.campaign_id).slug}/{evaluation.slug}"


def test_a_sound_run_is_described_and_its_exit_status_is_0(
    run_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    queries = tmp_path / "queries.tsv"
    queries.write_text("q1\tone\nq2\ttwo\nq3\tthree\n")
    assert cli.run(["check", str(run_file), "--queries", str(queries), "--document-pattern", "d[0-9]"]) == 0
    said = capsys.readouterr().out
    assert "a.run: 3 lines, 2 queries, 1 to 2 documents a query, median 1, tag a-run" in said
    assert "lists for 2 of 3 queries\nNo list for 1 query, scored as empty lists: q3.\n" in said
    assert "nothing in the file speaks against submitting it" in said


def test_what_is_wrong_is_grouped_and_the_exit_status_is_1(
    run_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["check", str(run_file), "--document-pattern", "doc-[0-9]+"]) == 1
    said = capsys.readouterr().out
    assert "a.run would be rejected: 3 problems\n  line 1: document d2 does not fit the pattern" in said
    assert "not of this collection" not in said  # which the problems say
    assert said.count("document d1 does") == 1
    judgments = tmp_path / "judgments"
    judgments.write_text("q1 0 d1 1\nq1 0 d2 0\n")
    assert cli.run(["check", str(judgments)]) == 1
    assert "2 of 2 lines: the decision is neither Y nor N; it looks like judgments" in capsys.readouterr().out
    assert cli.run(["check", str(run_file), "--document-pattern", "("]) == 2


def test_a_run_is_held_against_an_evaluation_with_what_it_asks(
    world: World, run_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = place_of(world, monkeypatch)
    assert cli.run(["check", str(run_file), "--evaluation", place]) == 1
    assert (
        "warning: AQWV is shown here, and this run has neither decisions nor a threshold θ" in capsys.readouterr().out
    )
    ids, terms = tmp_path / "ids", tmp_path / "terms"
    ids.write_text("d1\nd2\n")
    terms.write_bytes(b"\xef\xbb\xbfDo no harm.\n")  # as Windows writes one
    assert cli.run(["form", "rules", place]) == 2  # nothing to change
    assert cli.run(["form", "rules", place, "--most", "5", "--every-query"]) == 0
    documents = ["form", "documents", place, str(ids)]
    assert cli.run(documents) == 2  # there is nobody to ask
    assert "Not in the list: 2 of 4 judged documents, such as d3." in capsys.readouterr().err
    assert cli.run([*documents, "--confirm"]) == 0
    assert cli.run(["form", "field", place, "model", "--label", "Model", "--kind", "number"]) == 0
    assert cli.run(["form", "agreement", place, "terms", "--title", "Terms", "--text", str(terms)]) == 0
    assert cli.run(["form", "field", place, "cost"]) == 2  # a new one needs a label
    assert cli.run(["form", "field", place, "model", "--shown-to", "everyone", "--column"]) == 0
    assert cli.run(["form", "field", place, "model", "--hint", "How it works"]) == 0
    with world.database.read() as session:
        evaluation = find_evaluation(session, CONSOLE, *place.split("/"))
        assert (file_rules(evaluation).documents, file_rules(evaluation).most_documents) == (2, 5)
        [model] = form_fields(evaluation)
        assert (model.label, model.kind, model.column, model.hint) == ("Model", "number", True, "How it works")
        assert [one.text for one in standing_agreements(session, evaluation.id).values()] == ["Do no harm."]
    capsys.readouterr()
    assert cli.run(["check", str(run_file), "--evaluation", place, "--threshold", "0"]) == 1
    assert "line 3: document d3 is not of this collection" in capsys.readouterr().out
    assert cli.run(["form", "show", place]) == 0
    assert "most_documents" in capsys.readouterr().out
    assert cli.run(["form", "remove", place, "model"]) == 0
    assert cli.run(["form", "agreement", place, "terms", "--end"]) == 0
    assert cli.run(["form", "no-documents", place]) == 0


def test_submit_checks_each_run_as_the_form_does_and_asks_for_the_same_yes(
    world: World, run_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = place_of(world, monkeypatch)
    judgments, decided = tmp_path / "judgments", tmp_path / "decided.tsv"
    judgments.write_text("q1 0 d1 1\nq1 0 d2 0\n")
    decided.write_text("q1\td1\tY\t1\n")
    team = ["--team", "northern-lights", "--new-system", "Owl", "--wait", "0"]
    assert cli.run(["submit", place, str(run_file), str(judgments), str(decided), *team]) == 2
    out, said = capsys.readouterr()
    assert f"{run_file}: AQWV is shown here" in said
    assert f"{run_file}: not submitted, most likely a slip; if it is meant so, give --confirm\n" in said
    assert "judgments: 2 of 2 lines: the decision is neither Y nor N; it looks like judgments" in said
    assert out.startswith(f"{decided}: submission 1, SHA-256 ")
    assert cli.run(["submit", place, str(judgments), *team, "--confirm"]) == 1
    assert len([path for path in (Path(world.config.store_url) / "runs").rglob("*") if path.is_file()]) == 1
    team = ["--team", "northern-lights", "--system", "owl", "--wait", "0"]
    assert cli.run(["submit", place, str(run_file), *team, "--confirm"]) == 0
    assert [run.filename for run in world.all(sa.select(Submission))] == ["decided.tsv", "a.run"]


def test_submit_gives_answers_agreements_and_metadata_and_says_which_are_missing(
    world: World, run_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = place_of(world, monkeypatch)
    terms, side = tmp_path / "terms", tmp_path / "side.yaml"
    terms.write_bytes(b"\xef\xbb\xbfDo no harm.\n")  # as Windows writes one
    side.write_text("method:\n  retrieval: bm25\n")
    choices = ["--kind", "choice", "--choice", "sparse", "--choice", "dense"]
    assert cli.run(["form", "field", place, "model", "--label", "Kind of model", "--required", *choices]) == 0
    assert cli.run(["form", "agreement", place, "terms", "--title", "Terms", "--text", str(terms)]) == 0
    team = ["--team", "northern-lights", "--new-system", "Owl", "--wait", "0", "--confirm"]
    submit = ["submit", place, str(run_file), *team]
    capsys.readouterr()
    assert cli.run([*submit, "--as", "Ada"]) == 2
    said = capsys.readouterr().err
    assert "Kind of model is lacking, which every run here needs: choose one of: “sparse”, “dense”" in said
    assert "accept this to submit a run: Terms (version 1)" in said
    assert "what is asked goes with --answer KEY=VALUE (answer-KEY) and --agree KEY=VERSION (agreement-KEY)" in said
    for wrong in (
        ["--answer", "model"],
        ["--as", "Ada", "--answer", "model=dense", "--agree", "terms="],
        ["--as", "Ada", "--answer", "model=dense", "--agree", "terms=2"],
        ["--as", "Ada", "--answer", "model=dense", "--agree", "terms=1", "--agree", "terms=2"],
    ):
        assert cli.run([*submit, *wrong]) == 2
    given = ["--answer", "model=dense", "--agree", "terms=1", "--side-file", str(side)]
    assert cli.run([*submit, "--as", "Ada", *given]) == 0
    said = capsys.readouterr().err
    assert "asked now is version 1 of terms: read it" in said
    [run] = world.all(sa.select(Submission))
    assert (run.answers, run.said) == ({"model": "dense"}, {"method.retrieval": "bm25"})
