"""Which build of the program this is."""

import subprocess
from pathlib import Path

import pytest

from leaderboard import __version__, version
from leaderboard.cli import run


def _git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    done = subprocess.run(["git", "-C", folder, *who, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_a_checkout_names_its_commit_and_whether_files_were_changed_since(tmp_path: Path) -> None:
    _git(tmp_path, "init", "--quiet")
    (tmp_path / "file").write_text("first\n")
    _git(tmp_path, "add", "file")
    _git(tmp_path, "commit", "--quiet", "--message", "First")
    _git(tmp_path, "tag", "v9.9.9")
    commit = _git(tmp_path, "rev-parse", "HEAD")[:10]
    assert version.commit_of(tmp_path) == commit
    (tmp_path / "another").write_text("no part of it\n")
    assert version.commit_of(tmp_path) == commit
    (tmp_path / "file").write_text("second\n")
    assert version.commit_of(tmp_path) == f"{commit}, changed"
    (inside := tmp_path / "site-packages").mkdir()
    assert version.commit_of(inside) == "", "another's repository that the program is installed in"


def test_the_version_stands_alone_without_git_and_with_the_commit_of_a_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".git").mkdir()  # git finds no repository there
    assert version.commit_of(tmp_path) == ""
    monkeypatch.setenv("PATH", "")
    assert version.commit_of(tmp_path) == ""
    monkeypatch.setattr(version, "COMMIT", tmp_path / "COMMIT")
    (tmp_path / "COMMIT").write_text("0123456789\n")
    version.build.cache_clear()
    try:
        assert run(["--version"]) == 0
    finally:
        version.build.cache_clear()
    assert capsys.readouterr().out == f"leaderboard {__version__} (commit 0123456789)\n"
