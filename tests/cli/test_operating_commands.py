"""`leaderboard init`, `status` and `doctor`, and the completion of commands by a shell."""

import json
import re
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import click.testing
import pytest

from leaderboard.cli import leaderboard
from tests.cli.conftest import Command, Working
from tests.support.commands import run_here

Says = Callable[..., str]
PASSWORD = "correct horse battery\n"


@pytest.fixture
def install(
    new_database_url: Callable[[], str], tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> Says:
    """Runs `leaderboard init` in an empty folder, with a database of either engine; what it said."""
    monkeypatch.chdir(tmp_path)
    url = new_database_url()

    def run_it(*more: str, status: int = 0) -> str:
        own = ("--database", url, "--store", "runs", "--smtp", "", "--password-stdin")
        done = command("init", *own, *more, text=PASSWORD)
        assert done.status == status, done
        return done.out if status == 0 else done.err

    return run_it


def settings_in(path: Path) -> dict[str, str]:
    """As a shell reads them."""
    read = subprocess.run(["sh", "-c", f"set -a; . {path}; env -0"], capture_output=True, text=True, check=True)
    pairs = (line.partition("=") for line in read.stdout.split("\0"))
    return {name: value for name, _, value in pairs if name.startswith("LEADERBOARD_")}


def test_init_leaves_an_installation_that_is_ready(
    install: Says, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = install("--public-url", "https://board.example.org", "--admin", "ada")
    file = tmp_path / "leaderboard.env"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert said.splitlines()[-2:] == [
        f"set -a; . {file}; leaderboard serve", f"set -a; . {file}; leaderboard worker",
    ]  # fmt: skip
    monkeypatch.delenv("LEADERBOARD_DATABASE_URL")
    monkeypatch.delenv("LEADERBOARD_STORE_URL")
    settings = settings_in(file)
    assert settings["LEADERBOARD_STORE_URL"] == str(tmp_path / "runs")
    assert re.fullmatch("[0-9a-f]{64}", settings["LEADERBOARD_SECRET_KEY"])
    assert settings["LEADERBOARD_HOSTS"] == "board.example.org,localhost,127.0.0.1"
    assert "LEADERBOARD_SECURE_COOKIES" not in settings  # they are, unless told
    assert settings["LEADERBOARD_TRUSTED_PROXIES"] == "1"
    assert re.search(r"ada +– +admin", run_here(["user", "list"], settings).out)
    assert run_here(["worker", "--once"], settings).status == 0
    assert run_here(["verify"], settings).status == 0


def test_init_keeps_what_is_set_already(install: Says, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEADERBOARD_UPLOAD_BYTES", "1000000")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "its secret")
    install("--public-url", "http://localhost", "--admin", "ada")
    assert "AWS_SECRET_ACCESS_KEY='its secret'\n" in (tmp_path / "leaderboard.env").read_text()
    assert settings_in(tmp_path / "leaderboard.env")["LEADERBOARD_UPLOAD_BYTES"] == "1000000"


def test_init_without_tls_lets_people_log_in_without_it(install: Says, tmp_path: Path) -> None:
    install("--public-url", "http://localhost:8000", "--admin", "ada")
    settings = settings_in(tmp_path / "leaderboard.env")
    assert settings["LEADERBOARD_SECURE_COOKIES"] == "no"
    assert "LEADERBOARD_TRUSTED_PROXIES" not in settings


def test_init_overwrites_nothing_and_goes_on_after_a_failure(install: Says, tmp_path: Path) -> None:
    install("--public-url", "http://localhost", "--admin", "ada")
    file = tmp_path / "leaderboard.env"
    before = file.read_bytes()
    assert "is there already, and stays as it is" in install("--admin", "eve", status=2)
    assert file.read_bytes() == before
    file.unlink()  # as if the machine had gone down before it was written
    install("--public-url", "http://localhost", "--admin", "ada")
    assert run_here(["user", "list"], settings_in(file)).out.count("admin") == 1


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--public-url", "board.example.org"), "LEADERBOARD_PUBLIC_URL: expected an address"),
        (("--public-url", "https://b.example/x"), "LEADERBOARD_PUBLIC_URL: expected an address"),
        (
            ("--public-url", "https://b.example", "--smtp", "mail:25", "--mail-from", "a@b.example"),
            "LEADERBOARD_SMTP_URL",
        ),
        (("--public-url", "https://b.example", "--smtp", "smtp://mail", "--mail-from", "a"), "LEADERBOARD_MAIL_FROM"),
    ],
)
def test_init_refuses_what_can_not_be_before_it_makes_anything(
    options: tuple[str, ...], says: str, install: Says, tmp_path: Path
) -> None:
    assert says in install(*options, "--admin", "ada", status=2)
    assert not (tmp_path / "leaderboard.env").exists()
    assert not (tmp_path / "runs").exists()


def test_init_asks_for_what_is_not_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick_hashes: None) -> None:
    monkeypatch.chdir(tmp_path)
    answers = [
        "mysql://x", "data", "", "localhost:8000", "https://board.example.org", "smtp://ada:a#b@mail.example.org",
        "smtp://mail.example.org", "ada", "board@example.org",
    ]  # fmt: skip
    asked = click.testing.CliRunner().invoke(
        leaderboard, ["init", "--password-stdin"], input=PASSWORD + "\n".join(answers)
    )
    assert asked.exit_code == 0, asked.output
    assert asked.output.count("Error: ") == 3  # each where it was asked
    assert "%23 for #" in asked.output
    settings = settings_in(tmp_path / "leaderboard.env")
    assert settings["LEADERBOARD_DATABASE_URL"] == f"sqlite:///{tmp_path}/data/leaderboard.sqlite"
    assert settings["LEADERBOARD_STORE_URL"] == f"{tmp_path}/store"
    assert settings["LEADERBOARD_MAIL_FROM"] == "board@example.org"


def test_init_takes_no_password_for_the_answer_to_a_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    asked = click.testing.CliRunner().invoke(leaderboard, ["init", "--password-stdin"], input=PASSWORD)
    assert asked.exit_code != 0
    assert PASSWORD.strip() not in asked.output
    assert [*tmp_path.iterdir()] == []


def test_where_nobody_answers_a_question_it_is_said_what_to_do(tmp_path: Path) -> None:
    asked = run_here(["init", "--database", str(tmp_path)], {}, folder=tmp_path)
    assert asked.status == 130
    assert asked.err.endswith("\nnobody answers here: give what is asked for as an option\n")
    assert [*tmp_path.iterdir()] == []


def test_status_says_what_goes_on(ok: Says, command: Command, working: Working) -> None:
    with working():
        pass
    lines = ok("status").splitlines()
    assert lines[0] == "runs       0 waiting; 0 being scored; 0 failed"
    assert "verified   never" in lines
    assert lines[-1] == "backed up  never"
    assert command("verify").status == 0
    assert "verified   never" not in ok("status")
    found = json.loads(ok("status", "--json"))
    assert (found["waiting"], found["waiting_seconds"], found["backed_up_at"]) == (0, None, None)
    assert found["verified"]["clean_at"].endswith("+00:00")


def test_doctor_prints_each_finding_and_ends_with_1_where_one_is_a_problem(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADERBOARD_SECRET_KEY", "a secret that only the tests know")
    assert command("worker", "--once").status == 0
    done = command("doctor")
    assert (done.status, done.err) == (0, "")
    assert re.search(r"^database +ok +(sqlite|postgresql) [0-9.]+, schema 0", done.out, re.MULTILINE)
    assert "only the tests know" not in done.out
    monkeypatch.setenv("LEADERBOARD_STORE_URL", "/nowhere")
    done = command("doctor", "--json")
    assert done.status == 1
    store = next(finding for finding in json.loads(done.out) if finding["check"] == "store")
    assert store["verdict"] == "problem"
    assert store["words"].startswith("/nowhere is no run store")
