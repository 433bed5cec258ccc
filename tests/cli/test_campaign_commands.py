"""`leaderboard campaign`, `evaluation`, `queries`, `judgments`, `submit`, `rescore` and `worker`."""

import io
import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import click.testing
import pytest
import sqlalchemy as sa

from leaderboard.cli import leaderboard, run
from leaderboard.cli.database import reading
from leaderboard.db import Database
from leaderboard.evaluations.models import Evaluation
from leaderboard.judgments.models import Query
from leaderboard.numbers import GRADE_LIMIT
from leaderboard.submissions.models import Submission
from tests.cli.conftest import Command, Working
from tests.support.databases import Filling

Says = Callable[..., str]
PASSWORD = "correct horse battery"
QUERIES = "q1\tfirst question\tweather,lexical\nq2\tsecond question\tsport\n"
JUDGMENTS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 1\n"
RUN = "q1\td1\tY\t0.9\nq1\td2\tN\t0.2\nq2\td9\tY\t0.8\n"


@pytest.fixture
def engine_name() -> str:
    """What these commands add are words: their services are tested on both engines, and here one run is."""
    return "sqlite"


@pytest.fixture
def campaign(ok: Says) -> str:
    ok(*CAMPAIGN)
    return "harbour"


EVALUATION = "harbour/2026"
CAMPAIGN = [
    "campaign",
    "add",
    "harbour",
    "--title",
    "Harbour",
    "--measures",
    "AQWV AP",
    "--beta",
    "20",
    "--visibility",
    "public",
]
COMMANDS = [
    CAMPAIGN,
    [
        "evaluation", "add", EVALUATION, "--title", "2026", "--period", "2026", "--documents", "601",
        "--judging", "complete", "--public",
    ],
    ["queries", "import", EVALUATION, "queries.tsv"],
    ["judgments", "import", EVALUATION, "qrels.txt", "--note", "the first ones"],
    ["user", "add", "ada", "--password-stdin"],
    ["team", "add", "Alder"],
    ["team", "member", "add", "alder", "ada"],
]  # fmt: skip


def _write_files(folder: Path) -> None:
    (folder / "queries.tsv").write_text(QUERIES)
    (folder / "qrels.txt").write_text(JUDGMENTS)


@pytest.fixture(scope="session")
def fill_world(tmp_path_factory: pytest.TempPathFactory) -> Filling:
    """Runs the commands that make the campaign, once for each engine."""
    folder = tmp_path_factory.mktemp("commands")
    _write_files(folder)

    def fill(database: Database) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            patch.setenv("LEADERBOARD_DATABASE_URL", database.engine.url.render_as_string(hide_password=False))
            patch.setenv("LEADERBOARD_STORE_URL", str(folder / f"store-{database.engine.name}"))
            for command in COMMANDS:
                patch.setattr("sys.stdin", io.StringIO(PASSWORD))
                assert run(command) == 0, command

    return fill


@pytest.fixture
def evaluation(fill_world: Filling, tmp_path: Path) -> str:
    """With two queries, their judgments, and a team that has an account."""
    _write_files(tmp_path)
    return EVALUATION


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    path = tmp_path / "run.tsv"
    path.write_text(RUN)
    return path


def _shown(text: str) -> dict[str, str]:
    return {line[:16].strip(): line[16:] for line in text.splitlines()}


def _submissions(database_url: str) -> list[Submission]:
    with closing(Database.connect(database_url)) as database, database.read() as session:
        return list(session.scalars(sa.select(Submission).order_by(Submission.id)))


def _query_ids(database_url: str) -> list[str]:
    with closing(Database.connect(database_url)) as database, database.read() as session:
        return list(session.scalars(sa.select(Query.external_id).order_by(Query.position)))


def test_beta_follows_from_cost_value_and_prior(ok: Says) -> None:
    said = ok(
        "campaign", "add", "material", "--title", "M", "--measures", "AQWV,MQWV",
        "--cost", "0.0333", "--value", "1", "--prior", str(1 / 600), "--no-relevant", "pfa_only", "--compat", "9",
    )  # fmt: skip
    # The worked figure of the definition: .0333 · 599.
    assert said == "made the campaign material, a draft that only its organisers see; β = 19.9467\n"
    shown = _shown(ok("campaign", "show", "material"))
    assert shown["measures"] == "AQWV, MQWV"
    assert shown["no relevant"] == "pfa_only"
    assert (shown["compat"], shown["locked at"]) == ("9", "–")


def test_what_is_wrong_with_a_campaign_or_an_evaluation_is_said_by_option(
    ok: Says, refused: Says, campaign: str
) -> None:
    assert refused("campaign", "add", "c", "--title", "C", "--measures", " ") == "--measures: is missing\n"
    assert refused("campaign", "add", "c", "--title", "C", "--measures", "AQWV").startswith("--beta: AQWV needs β")
    assert "nothing to change" in refused("campaign", "change", campaign)
    assert "did you mean harbour?" in refused("campaign", "show", "harbor")
    add = ("evaluation", "add", "harbour/2026", "--title", "T", "--period", "2026", "--documents", "9")
    complaint = refused(*add, "--opens", "2026-02-01", "--closes", "2026-01-01")
    assert complaint == "--closes: give a moment after the opening\n"
    assert "expected CAMPAIGN/SLUG" in refused("evaluation", "add", "harbour", "--title", "T", "--period", "1")
    assert "expected NAME, with no other slash, found 'Alpha </b>'" in refused("team", "add", "Alpha </b>")
    assert "there is no evaluation 'x' in harbour" in refused("evaluation", "change", "harbour/x", "--title", "T")


def test_a_file_that_is_no_queries_adds_none(
    ok: Says, refused: Says, evaluation: str, tmp_path: Path, database_url: str
) -> None:
    file = tmp_path / "run.csv"
    file.write_text("q3\nquery,document,score\n" + "".join(f"q1,d{number},0.5\n" for number in range(9)))
    assert "no TAB, and no id alone either" in refused("queries", "import", evaluation, file)
    assert _query_ids(database_url) == ["q1", "q2"]
    file.write_text("q3\n")
    assert ok("queries", "import", evaluation, file) == f"{evaluation} has 3 queries now\n"
    assert _query_ids(database_url) == ["q1", "q2", "q3"]


def test_an_evaluation_is_changed_only_where_asked_and_listed(ok: Says, evaluation: str) -> None:
    ok("evaluation", "change", evaluation, "--opens", "2026-01-01", "--closes", "2026-09-30T20:00+02:00", "--confirm")
    row = ok("evaluation", "list", "harbour").splitlines()[1]
    assert re.split(r"\s{2,}", row) == [
        "harbour/2026", "2026", "2026", "–", "2", "0", "2026-01-01 00:00", "2026-09-30 18:00",
    ]  # fmt: skip
    ok("evaluation", "change", evaluation, "--closes", "none")
    assert ok("evaluation", "list").splitlines()[1].endswith("–")


def test_a_campaign_and_an_evaluation_are_drafts_until_they_are_published(ok: Says) -> None:
    """As those that are made by form and API."""
    made = ok("campaign", "add", "harbour", "--title", "Harbour", "--measures", "AP")
    assert made == "made the campaign harbour, a draft that only its organisers see\n"
    ok("evaluation", "add", "harbour/2026", "--title", "2026", "--period", "2026")
    assert "visibility      draft" in ok("campaign", "show", "harbour")
    with reading() as session:
        assert session.scalars(sa.select(Evaluation)).one().draft
    published = ok("campaign", "change", "harbour", "--visibility", "public")
    assert published == "changed the campaign harbour\n"
    ok("evaluation", "change", "harbour/2026", "--public")
    with reading() as session:
        assert not session.scalars(sa.select(Evaluation)).one().draft


@pytest.fixture
def unjudged(ok: Says, campaign: str, tmp_path: Path) -> str:
    """An evaluation with two queries and nothing that stays on record."""
    place = f"{campaign}/2026"
    ok("evaluation", "add", place, "--title", "2026", "--period", "2026", "--documents", "601", "--public")
    (tmp_path / "queries.tsv").write_text(QUERIES)
    ok("queries", "import", place, tmp_path / "queries.tsv")
    return place


def test_a_campaign_is_removed_only_after_a_yes(
    ok: Says, refused: Says, unjudged: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert refused("campaign", "remove", "harbour") == (
        "there is nobody to ask here; give --confirm to do it without a question\n"
    )
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True)
    asked = click.testing.CliRunner().invoke(leaderboard, ["campaign", "remove", "harbour"], input="n\n")
    assert asked.exit_code == 1
    assert "Remove Harbour (harbour) for good, with 1 evaluation, 2 queries and 0 judgments?" in asked.stderr
    assert "harbour" in ok("campaign", "list")
    agreed = click.testing.CliRunner().invoke(leaderboard, ["campaign", "remove", "harbour"], input="y\n")
    assert (agreed.exit_code, agreed.stdout) == (0, "removed the campaign harbour\n")
    assert refused("campaign", "show", "harbour").startswith("there is no campaign 'harbour'")


def test_a_campaign_with_a_submission_is_kept_without_a_question(
    ok: Says, refused: Says, evaluation: str, run_file: Path
) -> None:
    ok("submit", "--wait", "0", evaluation, run_file, "--team", "alder", "--new-system", "Heron")
    complaint = "Harbour has submissions, which stay on record; it can't be removed.\n"
    assert refused("campaign", "remove", "harbour") == complaint
    assert refused("campaign", "remove", "harbour", "--confirm") == complaint
    assert "harbour/2026" in ok("evaluation", "list")


@pytest.mark.parametrize("option", [None, "--known"])
def test_judgments_that_can_not_be_used_are_told_by_option_and_line(
    option: str | None, refused: Says, ok: Says, evaluation: str, tmp_path: Path
) -> None:
    (tmp_path / "more.txt").write_text("q1 0 d9 1\n")
    (tmp_path / "other.txt").write_text("q1 0 d1 1\nq9 0 d1\nq1 0 d4 99999999999\n")
    files = [tmp_path / "other.txt"] if option is None else [tmp_path / "more.txt", option, tmp_path / "other.txt"]
    assert refused("judgments", "import", evaluation, *files) == (
        f"{option or 'JUDGMENTS'}: line 2: expected 4 columns, found 3 (query iteration document grade)\n"
        f"{option or 'JUDGMENTS'}: line 3: grade 99999999999 is beyond ±{GRADE_LIMIT:,}, the largest allowed\n"
    )
    assert "revision 2" in ok("judgments", "import", evaluation, tmp_path / "more.txt")


@pytest.mark.parametrize("engine_name", ["sqlite", "postgresql"])
def test_a_run_is_submitted_and_scored(ok: Says, evaluation: str, run_file: Path) -> None:
    said = ok("submit", "--wait", "0", evaluation, run_file, "--team", "alder", "--new-system", "Heron", "--as", "ada")
    assert re.fullmatch(r".*run\.tsv: submission \d+, SHA-256 [0-9a-f]{64}\n", said)
    primary = ("--designation", "primary", "--confirm")
    ok("submit", "--wait", "0", evaluation, run_file, "--team", "alder", "--system", "heron", *primary)
    assert ok("rescore", evaluation) == "harbour/2026: runs that wait to be scored: 2\n"
    ok("worker", "--once")
    assert ok("rescore", evaluation) == "harbour/2026: runs that wait to be scored: 0\n"
    assert ok("rescore", evaluation, "--failed") == "harbour/2026: runs that wait to be scored: 0\n"
    assert _shown(ok("campaign", "show", "harbour"))["locked at"].startswith("20")


def test_submit_prints_the_means_of_a_scored_run_and_fails_with_the_problems_of_a_rejected_one(
    ok: Says, command: Command, working: Working, evaluation: str, run_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "wrong.tsv").write_text(RUN + "q1\td7\tY\tnan\nq1\td8\tY\n")
    submit = ("submit", "--wait", "100", evaluation)
    with working():
        said = ok(*submit, run_file, "--team", "alder", "--new-system", "Heron")
        # q1 is answered; q2 has one miss and one false alarm among 600 that are not relevant: 1 − (1 + 20/600).
        assert [line.split()[1:] for line in said.splitlines()[1:]] == [["AQWV", "AP"], ["0.4833", "0.5000"]]
        done = command(*submit, run_file, tmp_path / "wrong.tsv", "--team", "alder", "--system", "heron", "--confirm")
    assert done.status == 1
    assert done.out.splitlines()[-1].split() == [str(run_file), "0.4833", "0.5000"]
    assert re.search(r"wrong\.tsv: line 4: .*\n.*wrong\.tsv: line 5: ", done.err)


def test_submit_names_queries_without_a_list_and_which_need_none_only_to_whoever_may_know(
    ok: Says, command: Command, working: Working, evaluation: str, tmp_path: Path
) -> None:
    (tmp_path / "queries.tsv").write_text(f"{QUERIES}q3\tthird question\tsport\n")
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d3 0\nq3 0 d4 1\n")
    (tmp_path / "run.tsv").write_text("q1\td1\tY\t0.9\n")
    ok("queries", "import", evaluation, tmp_path / "queries.tsv")
    ok("judgments", "import", evaluation, tmp_path / "qrels.txt")
    submit = ("submit", "--wait", "100", evaluation, tmp_path / "run.tsv", "--team", "alder", "--confirm")
    with working():
        for_all = command(*submit, "--new-system", "Heron")
        for_its_team = command(*submit, "--system", "heron", "--as", "ada")
    without = f"{tmp_path / 'run.tsv'}: queries without a list: q2, q3\n"
    assert for_all.err == f"{without}of these, no document is judged relevant for q2\n"
    assert for_its_team.err == without


def test_of_several_runs_those_before_a_refusal_are_submitted_and_the_others_named(
    ok: Says, command: Command, evaluation: str, run_file: Path, tmp_path: Path, database_url: str
) -> None:
    ok("evaluation", "change", evaluation, "--total-quota", "2")
    others = [tmp_path / f"{number}.tsv" for number in (2, 3, 4)]
    for number, other in enumerate(others):
        other.write_text(f"{RUN}q1\td{number + 50}\tY\t0.1\n")
    done = command("submit", "--wait", "0.1", evaluation, run_file, *others, "--team", "alder", "--new-system", "Heron")
    assert done.status == 2
    assert [line.partition(",")[0] for line in done.out.splitlines()] == [
        f"{run_file}: submission 1", f"{others[0]}: submission 2",
    ]  # fmt: skip
    assert f"{others[1]}: not taken: " in done.err
    assert f"not sent either: {others[2]}" in done.err
    assert {one.system_id for one in _submissions(database_url)} == {1}


def test_a_scored_campaign_keeps_its_prior(
    ok: Says, refused: Says, working: Working, evaluation: str, run_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "more.tsv").write_text("q9\tone more\n")
    with working():
        ok("submit", "--wait", "0", evaluation, run_file, "--team", "alder", "--new-system", "Heron")
    assert "fixed for good" in refused("campaign", "change", "harbour", "--beta", "40")
    for change in (
        ("campaign", "change", "harbour", "--measures", "AQWV AP RR"),
        ("evaluation", "change", evaluation, "--documents", "700"),
        ("queries", "import", evaluation, tmp_path / "more.tsv"),
        ("queries", "hide", evaluation, "q2"),
    ):
        asked = refused(*change)
        assert asked.startswith("1 run of 1 evaluation scored again")
        assert "there is nobody to ask here; give --confirm" in asked
    assert "changed the evaluation" in ok("evaluation", "change", evaluation, "--title", "Another")  # scores nothing
    assert ok(*change, "--confirm") == "hidden: q2\n"


def test_a_submission_with_mistakes_leaves_nothing_behind(
    ok: Says, refused: Says, evaluation: str, run_file: Path, tmp_path: Path
) -> None:
    submit = ("submit", evaluation, run_file)
    assert "give either system, or new_system" in refused(*submit, "--team", "alder")
    assert "there is no team 'elder'; did you mean alder?" in refused(*submit, "--team", "elder", "--new-system", "H")
    assert "there is no system 'h' of Alder" in refused(*submit, "--team", "alder", "--system", "h")
    assert "there is no evaluation" in refused("submit", "harbour/27", run_file, "--team", "alder", "--new-system", "H")
    assert not (tmp_path / "store" / "runs").exists()
    assert ok("evaluation", "list").splitlines()[1].split()[5] == "0"


def test_an_account_submits_with_its_own_rights_only(ok: Says, refused: Says, evaluation: str, run_file: Path) -> None:
    ok("team", "add", "Birch")
    complaint = refused("submit", evaluation, run_file, "--team", "birch", "--new-system", "Quartz", "--as", "ada")
    assert "not taken: team: there is no team 'birch'" in complaint
    assert ok("evaluation", "list").splitlines()[1].split()[5] == "0"
