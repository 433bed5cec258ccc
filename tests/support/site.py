"""A whole installation for a test: the site and a worker as processes of their own, on a database of their own; or the
site alone, in the process of the test.
"""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from werkzeug.serving import make_server

from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.web.app import create_app
from tests.support.commands import run_here
from tests.support.processes import Process, free_port

START_SECONDS = 60.0
LEADERBOARD = (sys.executable, "-m", "leaderboard")


@dataclass(frozen=True, slots=True)
class Site:
    """A site that answers at `url`; `environment` is what its commands are started with."""

    url: str
    environment: dict[str, str]

    def command(self, *arguments: str | os.PathLike[str], text: str = "") -> str:
        """Runs `leaderboard ARGUMENTS` on this installation, with `text` as its standard input; what it said."""
        done = run_here(arguments, self.environment, text=text)
        assert done.status == 0, f"{arguments}: {done}"
        return done.out


@dataclass(frozen=True, slots=True)
class Installation(Site):
    """One with its processes, which are started with `environment` too."""

    serve: Process
    workers: tuple[Process, ...]


@contextmanager
def site_here(database_url: str, folder: Path) -> Iterator[Site]:
    """Serves a migrated database from threads of this process, without a worker: for tests of what pages look like.

    A server of its own would import, and compile of templates and statements, what this process has already.
    """
    environment = _environment(database_url, folder)
    app = create_app(Config.from_environment(environment))
    server = make_server("127.0.0.1", 0, app, threaded=True)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    try:
        yield Site(f"http://127.0.0.1:{server.server_port}", environment)
    finally:
        server.shutdown()
        serving.join()
        server.server_close()
        database: Database = app.extensions["database"]
        database.close()


def _environment(database_url: str, folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "LEADERBOARD_DATABASE_URL": database_url,
        "LEADERBOARD_STORE_URL": str(folder / "store"),
        "LEADERBOARD_SECRET_KEY": "a secret that only the tests know",
        "LEADERBOARD_SECURE_COOKIES": "no",
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
    }


@contextmanager
def running_site(
    database_url: str, folder: Path, *, workers: int = 1, processes: int = 2, **settings: str
) -> Iterator[Installation]:
    """Serves a migrated database, its run files and everything else that it writes below `folder`.

    processes  of the site; each compiles for itself what it is asked for
    settings  variables of the environment without their common beginning
    """
    port = free_port()
    more = {f"LEADERBOARD_{name.upper()}": value for name, value in settings.items()}
    environment = {**_environment(database_url, folder), **more}
    with ExitStack() as stack:

        def start(*arguments: str) -> Process:
            return stack.enter_context(Process([*LEADERBOARD, *arguments], env=environment, cwd=folder))

        serve = start("serve", "--port", str(port), "--workers", str(processes))
        started = tuple(start("worker") for _ in range(workers))
        url = f"http://127.0.0.1:{port}"
        serve.wait_for_url(f"{url}/healthz", seconds=START_SECONDS)
        yield Installation(url, environment, serve, started)
        for process in (serve, *started):  # without waiting: what stopping means is the subject of other tests
            process.kill()
