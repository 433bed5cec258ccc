"""A whole installation for a test: the site and a worker as processes of their own, on a database of their own."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.commands import run_here
from tests.support.processes import Process, free_port

__all__ = ["Site", "running_site"]

START_SECONDS = 60.0
LEADERBOARD = (sys.executable, "-m", "leaderboard")


@dataclass(frozen=True, slots=True)
class Site:
    """A site that answers at `url`; `environment` is what its processes and commands are started with."""

    url: str
    environment: dict[str, str]
    serve: Process
    workers: tuple[Process, ...]

    def command(self, *arguments: str | os.PathLike[str], text: str = "") -> str:
        """Runs `leaderboard ARGUMENTS` on this installation, with `text` as its standard input; what it said."""
        done = run_here(arguments, self.environment, text=text)
        assert done.status == 0, f"{arguments}: {done}"
        return done.out


@contextmanager
def running_site(database_url: str, folder: Path, *, workers: int = 1) -> Iterator[Site]:
    """Serves a migrated database, its run files and everything else that it writes below `folder`."""
    port = free_port()
    environment = {
        **os.environ,
        "LEADERBOARD_DATABASE_URL": database_url,
        "LEADERBOARD_STORE_URL": str(folder / "store"),
        "LEADERBOARD_SECRET_KEY": "a secret of the tests only",
        "LEADERBOARD_SECURE_COOKIES": "no",
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
    }
    with ExitStack() as stack:

        def start(*arguments: str) -> Process:
            return stack.enter_context(Process([*LEADERBOARD, *arguments], env=environment, cwd=folder))

        serve = start("serve", "--port", str(port))
        started = tuple(start("worker") for _ in range(workers))
        url = f"http://127.0.0.1:{port}"
        serve.wait_for_url(f"{url}/healthz", seconds=START_SECONDS)
        yield Site(url, environment, serve, started)
        for process in (serve, *started):  # without waiting: what stopping means is the subject of other tests
            process.kill()
