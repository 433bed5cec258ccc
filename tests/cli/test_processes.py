"""`leaderboard serve` and `leaderboard worker` as processes, and what they refuse before they start."""

import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.support.processes import Process

Says = Callable[..., str]
START_SECONDS = 60.0
STOP_SECONDS = 40.0
COMMAND = (sys.executable, "-m", "leaderboard")


@pytest.fixture
def environment(database_url: str, tmp_path: Path) -> dict[str, str]:
    return {
        **os.environ,
        "HOME": str(tmp_path),
        "LEADERBOARD_DATABASE_URL": database_url,
        "LEADERBOARD_STORE_URL": str(tmp_path / "store"),
        "LEADERBOARD_SECRET_KEY": "a secret that only the tests know",
    }


def test_a_site_without_a_secret_key_is_refused_and_told_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch, refused: Says
) -> None:
    monkeypatch.delenv("LEADERBOARD_SECRET_KEY", raising=False)
    complaint = refused("serve", "--port", "0")
    assert complaint.startswith("LEADERBOARD_SECRET_KEY is not set")
    assert "secrets.token_hex" in complaint


@pytest.mark.parametrize("engine_name", ["sqlite"])
def test_more_processes_than_a_host_bears_are_taken_for_a_slip(refused: Says) -> None:
    assert "'--processes': give a number from 1 to 128" in refused("worker", "--once", "--processes", "129")


def test_where_the_output_can_not_be_written_it_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COMMAND, "score", "--help"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (2, "the output: No space left on device\n")


@pytest.mark.parametrize("process", [["serve", "--port", "0"], ["worker"]])
def test_neither_starts_without_the_store_that_the_database_has(
    process: list[str], tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch, refused: Says
) -> None:
    monkeypatch.setenv("LEADERBOARD_SECRET_KEY", "a secret that only the tests know")
    assert command("worker", "--once").status == 0
    gone = tmp_path / "unmounted"
    monkeypatch.setenv("LEADERBOARD_STORE_URL", str(gone))
    assert refused(*process).startswith(f"{gone} is no run store")
    assert not gone.exists()


@pytest.mark.parametrize("process", [["serve"], ["worker"], ["user", "list"]])
def test_none_starts_on_a_database_without_tables(
    process: list[str], new_database_url: Callable[[], str], monkeypatch: pytest.MonkeyPatch, refused: Says
) -> None:
    monkeypatch.setenv("LEADERBOARD_SECRET_KEY", "a secret that only the tests know")
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", new_database_url())
    assert "`leaderboard db upgrade`" in refused(*process)


@pytest.mark.parametrize("engine_name", ["sqlite"])  # what listens; the sites of `tests/browser` are on PostgreSQL
def test_the_site_says_where_it_listens_believes_no_header_of_a_peer_on_this_machine_and_stops_on_sigterm(
    environment: dict[str, str], tmp_path: Path
) -> None:
    with Process([*COMMAND, "serve", "--port", "0"], env=environment, cwd=tmp_path) as site:
        address = site.wait_for_output(r"the site listens at (http://127\.0\.0\.1:\d+)", seconds=START_SECONDS)[1]
        site.wait_for_url(f"{address}/healthz", seconds=START_SECONDS)
        with urllib.request.urlopen(address, timeout=START_SECONDS) as response:
            assert response.status == 200
        for name in ("SCRIPT_NAME", "Script-Name", "X-Script-Name"):
            told = urllib.request.Request(f"{address}/login", headers={name: "/evil", "PATH_INFO": "/evil"})
            with urllib.request.urlopen(told) as answer:
                page = answer.read().decode()
            assert 'action="/login"' in page
            assert "evil" not in page
        assert site.terminate(seconds=STOP_SECONDS) == 0
    # gunicorn would keep a socket for remote control below the home folder.
    assert not (tmp_path / ".gunicorn").exists()
