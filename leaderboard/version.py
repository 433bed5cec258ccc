"""Which build of the program this is."""

import subprocess
from functools import cache
from pathlib import Path

from leaderboard import __version__

PACKAGE = Path(__file__).parent
COMMIT = PACKAGE / "COMMIT"  # of a wheel; hatch_build.py writes it


@cache
def build() -> str:
    """The version and, where it is known, the commit: "0.2.0 (commit 0123456789)", "(commit 0123456789, changed)"."""
    commit = COMMIT.read_text(encoding="utf-8").strip() if COMMIT.exists() else commit_of(PACKAGE.parent)
    return f"{__version__} (commit {commit})" if commit else __version__


def commit_of(checkout: Path) -> str:
    """The commit of a folder that is itself a checkout of git's, with ", changed" where its files are not; else ""."""
    if not (checkout / ".git").exists():
        return ""
    describe = ["git", "-C", str(checkout), "describe", "--always", "--exclude=*", "--abbrev=10", "--dirty=, changed"]
    try:
        done = subprocess.run(describe, check=True, capture_output=True, text=True)  # noqa: S603  # no word of a user's
    except (OSError, subprocess.CalledProcessError):  # no git, or a checkout of somebody else
        return ""
    return done.stdout.strip()
