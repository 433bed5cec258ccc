"""`leaderboard demo`: the site, a worker and the demonstration campaigns, in one folder."""

import datetime as dt
import fcntl
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import click

from leaderboard import migrate, seeding
from leaderboard.cli.serve import address_of, listen
from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.errors import BadInput, Conflict, Unavailable
from leaderboard.services.queue import unfinished
from leaderboard.store import RunStore

__all__ = ["RESTARTS", "demo"]

FOLDER = Path("leaderboard-demo")
START_SECONDS = 60.0
LOOK_SECONDS = 0.5  # between two looks at whether all is well
STOP_SECONDS = 20.0  # to end by itself, before it is killed
RESTARTS = 3  # one after the other, before something is taken to be wrong
WELL_SECONDS = 60.0  # after which a program that ends has been well, and its restarts count anew
LAST_LINES = 15


@dataclass(frozen=True, slots=True)
class _Demonstration:
    folder: Path
    config: Config

    @property
    def environment(self) -> dict[str, str]:
        """For the two processes: this one's, with the demonstration's settings over it."""
        return {**os.environ, **self.config.as_environment()}


class _Process:
    """`leaderboard ARGUMENTS` in a process of its own, which ends when this one does, however that ends."""

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str], log: Path, keep_open: Sequence[int] = ()
    ) -> None:
        self.name = arguments[0]
        self._arguments = arguments
        self._environment = dict(environment)
        self._log = log
        self._restarts = 0
        log.write_bytes(b"")
        self._start(keep_open)

    def _start(self, keep_open: Sequence[int] = ()) -> None:
        self._started = time.monotonic()
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(  # noqa: S603  # our own program with our own arguments
                [sys.executable, "-m", "leaderboard", *self._arguments, "--until-stdin-closes"],
                env=self._environment,
                cwd=self._log.parent,
                stdin=subprocess.PIPE,  # held open by this process alone, so that the kernel closes it if we are killed
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=keep_open,
                # Ctrl-C goes to every process of the terminal's group: in a session of its own only we stop it.
                start_new_session=True,
            )

    def revive(self) -> str | None:
        """Starts it again when it has ended by itself; what to say of that, None while it runs.

        Raises Unavailable once it has ended a few times in a row. Not for a program that was given open files.
        """
        status = self._process.poll()
        if status is None:
            return None
        if time.monotonic() - self._started > WELL_SECONDS:
            self._restarts = 0
        if self._restarts == RESTARTS:
            self.require_alive()
        self._restarts += 1
        self._close_stdin()
        self._start()
        return f"`leaderboard {self.name}` ended with status {status}; started it again"

    def require_alive(self) -> None:
        """Raises Unavailable with the end of its log when it has ended."""
        status = self._process.poll()
        if status is not None:
            lines = self._log.read_text(errors="replace").splitlines()[-LAST_LINES:]
            said = "\n".join(f"    {line}" for line in lines) or "    (nothing)"
            raise Unavailable(f"`leaderboard {self.name}` ended with status {status}; {self._log} ends with\n{said}")

    def stop(self) -> None:
        """Asks it to end, and makes it after a while."""
        if self._process.poll() is None:
            self._process.terminate()

    def wait(self) -> None:
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._close_stdin()

    def _close_stdin(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()


@dataclass(frozen=True, slots=True)
class _Processes:
    """The two processes of an installation."""

    site: _Process
    worker: _Process

    def look_after(self) -> None:
        """Starts a worker that died again. Raises Unavailable where that does not help, or when the site has ended."""
        self.site.require_alive()
        revived = self.worker.revive()
        if revived is not None:
            click.echo(revived)


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes a free one.")
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=FOLDER,
    show_default=True,
    help="Everything it writes is below this.",
)
def demo(port: int, folder: Path) -> None:
    """Bring up a site with demonstration campaigns, and a worker. Ctrl-C stops both; started again, it goes on.

    \b
    leaderboard demo --port 8001
    """
    listener = listen("127.0.0.1", port)
    address = address_of(listener)
    with _held(folder.resolve()), _stop_asked() as stop:
        _bring_up(_set_up(folder.resolve()), listener, address, stop)
    click.echo("stopped")


def _bring_up(demonstration: _Demonstration, listener: socket.socket, address: str, stop: threading.Event) -> None:
    """Sets up and starts everything, and keeps it going until it is to stop."""
    click.echo(f"setting up the demonstration in {demonstration.folder} …")
    with _running(demonstration, listener) as processes:
        # The worker scores the first runs while the others are still being drawn.
        seeded = _load(demonstration.config)
        sample = demonstration.folder / seeded.sample.name
        sample.write_bytes(seeded.sample.text)
        _wait_for_site(address, processes, stop)
        _wait_for_scores(demonstration.config, processes, stop)
        if not stop.is_set():
            _announce(address, seeded, sample, demonstration.folder)
        while not stop.wait(LOOK_SECONDS):
            processes.look_after()


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """The folder for this demonstration alone. Raises Conflict where another one runs in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise BadInput(f"{folder} is a file; name a folder with --dir") from None
    # The system lets go of it when this process ends, however it ends.
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict(
                f"a demonstration runs in {folder} already; stop it first, or name another folder with --dir"
            ) from None
        yield


def _set_up(folder: Path) -> _Demonstration:
    """A secret key and a database with the newest tables, in the folder."""
    config = Config(
        database_url=f"sqlite:///{folder / 'leaderboard.sqlite'}",
        store_url=str(folder / "store"),
        secret_key=_secret_key(folder / "secret-key"),
        secure_cookies=False,  # it is served without TLS, to this machine only
    )
    database = Database.connect(config.database_url)
    try:
        migrate.upgrade(database)
    finally:
        database.close()
    return _Demonstration(folder, config)


def _secret_key(path: Path) -> str:
    """Kept, so that a restart signs nobody out."""
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_hex(32))
    return path.read_text()


def _load(config: Config) -> seeding.Seeded:
    database = Database.connect(config.database_url)
    try:
        return seeding.load(database, RunStore.open(config.store_url), dt.datetime.now(dt.UTC))
    finally:
        database.close()


@contextmanager
def _running(demonstration: _Demonstration, listener: socket.socket) -> Iterator[_Processes]:
    """The site on the open socket and a worker, stopped when the block ends."""
    folder, environment = demonstration.folder, demonstration.environment
    descriptor = listener.fileno()
    started = [
        _Process(
            ["serve", "--fd", str(descriptor), "--workers", "1", "--setting-up"],
            environment,
            folder / "site.log",
            [descriptor],
        )
    ]
    try:
        listener.close()  # from here on nobody else keeps the port
        started.append(_Process(["worker"], environment, folder / "worker.log"))
        yield _Processes(*started)
    finally:
        for process in started:
            process.stop()
        for process in started:
            process.wait()


def _wait_for_site(address: str, processes: _Processes, stop: threading.Event) -> None:
    deadline = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=START_SECONDS)
    while not stop.is_set():
        processes.look_after()
        try:
            with urllib.request.urlopen(f"{address}/healthz", timeout=LOOK_SECONDS):  # noqa: S310  # our own address
                return
        except OSError as error:
            if dt.datetime.now(dt.UTC) > deadline:
                raise Unavailable(
                    f"the site at {address} does not answer after {START_SECONDS:g} s: {error}"
                ) from error
            stop.wait(LOOK_SECONDS / 5)


def _wait_for_scores(config: Config, processes: _Processes, stop: threading.Event) -> None:
    """Until nothing waits to be scored: seconds, and the first page then shows finished boards."""
    database = Database.connect(config.database_url)
    try:
        while not stop.is_set():
            processes.look_after()
            with database.read() as session:
                if not unfinished(session):
                    return
            stop.wait(LOOK_SECONDS / 5)
    finally:
        database.close()


def _announce(address: str, seeded: seeding.Seeded, sample: Path, folder: Path) -> None:
    width = max(len(account.name) for account in seeded.accounts)
    long = max(len(account.password) for account in seeded.accounts)
    accounts = "\n".join(
        f"    {one.name:{width}}  password {one.password:{long}}  {one.does}" for one in seeded.accounts
    )
    click.echo(
        f"\nThe site is at {address}\n\n{accounts}\n\n"
        f"To see a run go in: sign in as {seeded.accounts[0].name}, open\n"
        f"    {address}/campaigns/{seeding.Harbour.SLUG}/{seeded.sample.evaluation}/submit\n"
        f"and submit {sample}\n\n"
        f"Everything is below {folder}; delete it to start afresh.\n"
        "Ctrl-C stops the site and the worker.\n"
    )


@contextmanager
def _stop_asked() -> Iterator[threading.Event]:
    """An event that Ctrl-C, SIGTERM and the closing of the terminal set while the block runs."""
    asked = threading.Event()

    def ask(_number: int, _frame: FrameType | None) -> None:
        asked.set()

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, ask) for number in numbers}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
