"""Writes into a wheel, and into the archive of the source, which commit it is of: `leaderboard/version.py` reads it."""

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface[Any]):
    """An editable install gets no file: it asks git."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        sys.path.insert(0, self.root)  # importing the package needs nothing that is not there
        from leaderboard.version import COMMIT, commit_of

        commit = commit_of(Path(self.root))
        if commit and version != "editable":  # an unpacked archive of the source has the file
            self._folder = tempfile.TemporaryDirectory()
            file = Path(self._folder.name, COMMIT.name)
            file.write_text(f"{commit}\n", encoding="utf-8")
            build_data["force_include"][str(file)] = COMMIT.relative_to(self.root).as_posix()
