"""`leaderboard ARGUMENTS` in this process, which has imported already what a command's own would need a second for."""

import io
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from leaderboard.cli import run


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended: its exit status and what it said."""

    status: int
    out: str
    err: str


def run_here(
    arguments: Sequence[str | os.PathLike[str]],
    environment: Mapping[str, str],
    *,
    text: str = "",
    folder: Path | None = None,
) -> Done:
    """Runs a command with `text` as its standard input, on no terminal.

    environment  beside what this process has
    folder       where it runs, else where this process does
    """
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.dict(os.environ, environment),
        patch.object(sys, "stdin", io.StringIO(text)),
        chdir(folder or Path.cwd()),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        status = run([os.fspath(argument) for argument in arguments])
    return Done(status, out.getvalue(), err.getvalue())
