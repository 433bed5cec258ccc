"""Commands run in this process, on an installation of the test's own."""

import io
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from leaderboard.cli import run
from leaderboard.config import Config
from tests.support.commands import Done
from tests.support.scoring import working_here

Command = Callable[..., Done]
Called = Callable[..., tuple[int, str, str]]
Working = Callable[[], AbstractContextManager[None]]


@pytest.fixture
def command(
    database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    quick_hashes: None,
    scores_here: None,
) -> Command:
    """Runs `leaderboard ARGUMENTS`, with `text` as standard input, on a migrated, empty database of either engine."""
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", database_url)
    monkeypatch.setenv("LEADERBOARD_STORE_URL", str(tmp_path / "store"))

    def run_it(*arguments: str | Path, text: str = "") -> Done:
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        capsys.readouterr()
        status = run([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Done(status, said.out, said.err)

    return run_it


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Called:
    """Runs `leaderboard ARGUMENTS` in a folder of the test's own; gives (status, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        status = run(arguments)
        said = capsys.readouterr()
        return status, said.out, said.err

    return call


@pytest.fixture
def ok(command: Command) -> Callable[..., str]:
    """Runs a command that must succeed; what it said."""

    def run_it(*arguments: str | Path, text: str = "") -> str:
        done = command(*arguments, text=text)
        assert (done.status, done.err) == (0, ""), f"{arguments}: {done}"
        return done.out

    return run_it


@pytest.fixture
def working(database_url: str, tmp_path: Path) -> Working:
    """Gives a block in which a worker scores what is submitted; what waited is scored when it ends."""
    return lambda: working_here(Config(database_url=database_url, store_url=str(tmp_path / "store")))


@pytest.fixture
def refused(command: Command) -> Callable[..., str]:
    """Runs a command that must fail with status 2 and nothing on standard output; what it complained of."""

    def run_it(*arguments: str | Path, text: str = "") -> str:
        done = command(*arguments, text=text)
        assert (done.status, done.out) == (2, ""), f"{arguments}: {done}"
        return done.err

    return run_it
