"""`leaderboard baseline`: runs of BM25 and tf-idf."""

import datetime as dt
import io
import json
import resource
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.boards.reads.board import board
from leaderboard.cli import options as progress_bar
from leaderboard.db import Database
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import SystemKind
from leaderboard.teams.models import System
from tests.cli.conftest import Called, Command, Working

DOCUMENTS = [
    {"id": "d1", "text": "The harbour fees of the old port."},
    {"id": "d2", "title": "Fees", "text": "Fees, fees and more fees"},
    {"id": "d3", "text": "Ships in the harbour"},
    {"id": "d4", "text": "Weather at sea, and ships"},
]
QUERIES = "q1\tharbour fees\nq2\tthe of\nq3\tships\n"
FILES = ["--documents", "docs.jsonl", "--queries", "queries.tsv"]


@pytest.fixture
def called(offline: Called) -> Called:
    Path("docs.jsonl").write_text("".join(json.dumps(each) + "\n" for each in DOCUMENTS))
    Path("queries.tsv").write_text(QUERIES)
    return partial(offline, "baseline")


def test_a_run_is_written_and_what_it_is_is_said(called: Called) -> None:
    status, out, err = called("bm25", *FILES, "--out", "run.txt", "--k1", "1", "--b", "0")
    assert (status, err) == (0, "1 query without a document: q2\n")
    assert out == (
        "BM25 (k1 = 1, b = 0, idf = lucene); english: 131 stop words, Snowball stems\n"
        "4 documents, 3.2 terms each on average\n"
        "run.txt: 2 queries, 5 lines\n"
    )
    # Of four documents two have harbour, two fee, two ship: ln 2 each. Four times fee: 4 · 2 / 5.
    lines = [line.split() for line in Path("run.txt").read_text().splitlines()]
    assert [(query, q0, document, rank, tag) for query, q0, document, rank, _, tag in lines] == [
        ("q1", "Q0", "d1", "1", "bm25"),
        ("q1", "Q0", "d2", "2", "bm25"),
        ("q1", "Q0", "d3", "3", "bm25"),
        ("q3", "Q0", "d4", "1", "bm25"),
        ("q3", "Q0", "d3", "2", "bm25"),
    ]
    ln2 = 0.6931471805599453
    assert [float(line[4]) for line in lines] == pytest.approx([2 * ln2, ln2 * 8 / 5, ln2, ln2, ln2])


def test_the_shares_of_a_score_are_explained(called: Called) -> None:
    status, out, err = called("bm25", *FILES, "--explain", "q1", "d1", "--k1", "1", "--b", "0")
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "BM25 (k1 = 1, b = 0, idf = lucene); english: 131 stop words, Snowball stems",
        "d1 has 4 terms, a document 3.2 on average (4 documents): length part 1.000000",
        "",
        "term     in query  weight  tf  df       idf   tf part               share",
        "harbour         1       1   1   2  0.693147  1.000000  0.6931471805599453",
        "fee             1       1   1   2  0.693147  1.000000  0.6931471805599453",
        "",
        "score of d1 for q1: 1.3862943611198906, the sum of the shares (weight · idf · tf part)",
    ]
    assert (
        "d4 has no term of the query q1 and is in no list of it" in called("bm25", *FILES, "--explain", "q1", "d4")[1]
    )


def test_a_bar_over_a_folder_keeps_no_file_open(called: Called, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("texts").mkdir()
    for number in range(90):
        Path("texts", f"{number}.txt").write_text("harbour")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    open_now = len(list(Path("/dev/fd").iterdir()))
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(progress_bar, "LONG_BYTES", 1)
    monkeypatch.setattr(sys, "stderr", screen)
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_now + 40, hard))
    try:
        status, out, _ = called("bm25", "--documents", "texts", "--queries", "queries.tsv", "--out", "run.txt")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (status, out.splitlines()[-1]) == (0, "run.txt: 1 query, 90 lines")
    assert "Reading" in screen.getvalue()
    assert "100%" in screen.getvalue()


def test_a_threshold_tuned_on_other_queries_makes_decisions(called: Called) -> None:
    Path("other.tsv").write_text("t1\tfees\nt2\tweather\nt3\tnot judged\n")
    Path("other.qrels").write_text("t1 0 d2 1\nt1 0 d1 0\nt2 0 d4 1\nq1 0 d1 1\n")
    tuning = ["--tune-threshold", "other.qrels", "--tune-queries", "other.tsv", "--beta", "4"]
    status, out, err = called("tfidf", *FILES, "--out", "run.tsv", *tuning)
    assert (status, err) == (0, "not judged, left out of the tuning: t3\n1 query without a document: q2\n")
    # t1: d2 4/4 · 1, d1 1/4; t2: d4 1/3 · 2 = 2/3. At 2/3 both relevant ones are returned and nothing else.
    assert out.splitlines()[-1] == "θ = 0.6666666666666666 (value 1.0000 on what it was tuned on, queries: 2)"
    assert [line.split("\t")[:3] for line in Path("run.tsv").read_text().splitlines()] == [
        ["q1", "d2", "Y"], ["q1", "d3", "N"], ["q1", "d1", "N"], ["q3", "d3", "N"], ["q3", "d4", "N"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "leaderboard baseline bm25: --out is missing; name the run to write"),
        (["--out", "docs.jsonl"], "leaderboard baseline bm25: --out docs.jsonl is one of the files that are read"),
        (["--out", "r", "--queries", "odd.tsv"], "no document was found for any query; no run is written"),
        (["--explain", "q9", "d1"], "queries.tsv: there is no query 'q9'; it has q1, q2, q3"),
        (["--explain", "q1", "d1", "--out", "r"], "leaderboard baseline bm25: --explain only prints"),
        (["--out", "r", "--beta", "3"], "leaderboard baseline bm25: --beta: only --tune-threshold needs it"),
        (["--out", "r", "--submit", "a/b"], "leaderboard baseline bm25: --submit needs --team"),
        (["--out", "r", "--tune-threshold", "q.qrels"], "leaderboard baseline bm25: --tune-threshold QRELS goes with"),
        (
            ["--out", "r", "--tune-threshold", "q.qrels", "--tune-queries", "queries.tsv", "--beta", "2"],
            "3 of the queries to tune the threshold on are queries of the run, by id or by text (q1, q2, q3)",
        ),
        (
            ["--out", "r", "--tune-threshold", "q.qrels", "--tune-queries", "other.tsv"],
            "leaderboard baseline bm25: --tune-threshold needs β: --beta B,",
        ),
        (
            ["--out", "r", "--tune-threshold", "q.qrels", "--tune-queries", "other.tsv", "--beta", "2"],
            "q.qrels: none of the queries to tune the threshold on has judgments",
        ),
    ],
)  # fmt: skip
def test_what_can_not_be_done_is_said_and_nothing_is_written(
    called: Called, arguments: list[str], message: str
) -> None:
    Path("odd.tsv").write_text("q1\tunheard of\n")
    Path("other.tsv").write_text("t1\tfees\n")
    Path("q.qrels").write_text("q1 0 d1 1\n")
    before = {path: path.read_bytes() for path in Path().iterdir()}
    status, out, err = called("bm25", *FILES, *arguments)
    assert (status, out) == (2, "")
    assert err.startswith(message)
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


def _place(ok: Callable[..., str], tmp_path: Path) -> list[str | Path]:
    """An evaluation that is judged, and the files of its collection."""
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps(each) + "\n" for each in DOCUMENTS))
    (tmp_path / "queries.tsv").write_text("q1\tharbour fees\nq3\tships\n")
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq3 0 d3 1\n")
    ok(
        "campaign",
        "add",
        "harbour",
        "--title",
        "Harbour",
        "--measures",
        "AQWV AP",
        "--beta",
        "4",
        "--visibility",
        "public",
    )
    ok("evaluation", "add", "harbour/2026", "--title", "2026", "--period", "2026", "--documents", "4", "--public")
    ok("queries", "import", "harbour/2026", tmp_path / "queries.tsv")
    ok("judgments", "import", "harbour/2026", tmp_path / "qrels.txt", "--note", "the first ones")
    ok("team", "add", "Organisers")
    return ["--documents", tmp_path / "docs.jsonl", "--queries", tmp_path / "queries.tsv", "--out", tmp_path / "run"]


SUBMIT = ("--submit", "harbour/2026", "--team", "organisers")


def test_a_baseline_is_submitted_scored_and_pinned_to_the_board(
    ok: Callable[..., str], command: Command, working: Working, tmp_path: Path, database_url: str
) -> None:
    files = _place(ok, tmp_path)
    (tmp_path / "other.tsv").write_text("t1\tfees\n")
    (tmp_path / "other.qrels").write_text("t1 0 d2 1\n")
    tuning = ["--tune-threshold", tmp_path / "other.qrels", "--tune-queries", tmp_path / "other.tsv"]
    waits = ["--wait", "0"]
    out = ok("baseline", "tfidf", *files, *SUBMIT, "--system", "Term matching", *tuning, *waits)
    assert "θ = 1.0 (value 1.0000" in out
    assert "run: submission 1, SHA-256" in out
    ok("baseline", "tfidf", *files, *SUBMIT, "--system", "Term matching", "--no-stems", *waits)  # the same system again
    with working():
        pass
    with closing(Database.connect(database_url)) as database, database.read() as session:
        [system] = session.scalars(sa.select(System))
        assert (system.name, system.kind) == ("Term matching", SystemKind.BASELINE)
        runs = session.scalars(sa.select(Submission).order_by(Submission.id)).all()
        assert [(run.label, run.threshold) for run in runs] == [("english", 1.0), ("english, no stems", None)]

        page = board(session, CONSOLE, "harbour", "2026", dt.datetime.now(dt.UTC))
        assert [(row.entry.system.name, row.rank) for row in page.baselines] == [("Term matching", None)]
        assert page.baselines[0].entry.submission_id == runs[1].id  # the later one stands
        assert page.rows == ()


def test_a_system_that_is_no_baseline_is_not_taken_for_one(
    ok: Callable[..., str], command: Command, tmp_path: Path
) -> None:
    files = _place(ok, tmp_path)
    (tmp_path / "run").write_text("q1 Q0 d1 1 1 x\n")
    team = ["--team", "organisers", "--new-system", "BM25", "--confirm", "--wait", "0"]
    ok("submit", "harbour/2026", tmp_path / "run", *team)
    done = command("baseline", "bm25", *files, *SUBMIT, "--system", "BM25")
    assert done.status == 2
    assert done.err == "Organisers has a system 'BM25' that is no baseline; give another name: --system\n"
    assert (tmp_path / "run").read_text() == "q1 Q0 d1 1 1 x\n"  # found before anything was written
    (tmp_path / "docs.jsonl").write_text('{"id": "d1", "text": "harbour"}\n')
    done = command("baseline", "bm25", *files, *SUBMIT, "--system", "Terms", "--wait", "0")
    assert done.status == 0
    assert done.err == (
        "1 query without a document: q3\nthe collection of harbour/2026 has 4 documents, and these are others\n"
    )
    (tmp_path / "queries.tsv").write_text("q1\tharbour\nq8\tharbour\n")
    done = command("baseline", "bm25", *files, *SUBMIT, "--system", "Terms")
    assert (done.status, "q8" in done.err, "not submitted" in done.err) == (1, True, True)
    done = command("baseline", "bm25", *files, *SUBMIT, "--beta", "3")
    assert done.err.startswith("leaderboard baseline bm25: leave out --beta: with --submit the campaign states it")
