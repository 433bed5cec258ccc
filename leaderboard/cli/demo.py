"""`leaderboard demo`: the site, a worker and the demonstration campaigns, in one folder."""

import fcntl
import os
import secrets
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

import click

from leaderboard import db, errors, migrate, private_files, store
from leaderboard.cli.options import PORT, address_of, aligned, listen, option
from leaderboard.config import Config
from leaderboard.demo import campaigns as seeding
from leaderboard.submissions.writes.run_store import bind
from leaderboard.worker.queue import unfinished

FOLDER = Path("leaderboard-demo")
LOOK_SECONDS = 0.5  # between two checks of the processes
STOP_SECONDS = 20.0  # for a process to end by itself, before it is killed
LAST_LINES = 15
AFRESH = "delete the folder to start afresh, or name another one with --dir"
# Ctrl-C, `kill`, the closing of the terminal; and the alarm with which _stop tries again
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)


def _started(config: Config, log: Path, *arguments: str, keep_open: Sequence[int] = ()) -> subprocess.Popen[bytes]:
    """`leaderboard ARGUMENTS` in a process of its own, which ends when this one does, however that ends.

    keep_open  open files that it is handed over
    """
    private_files.private_file(log)
    with log.open("wb") as output:
        return subprocess.Popen(  # noqa: S603  # our own program with our own arguments
            [sys.executable, "-m", "leaderboard", *arguments, "--until-stdin-closes"],
            env={**os.environ, **config.as_environment()},
            cwd=log.parent,
            stdin=subprocess.PIPE,  # held open by this process alone, so that the kernel closes it if we are killed
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=keep_open,
            # Ctrl-C goes to every process of the terminal's group: in a session of its own only we stop it.
            start_new_session=True,
        )


@click.command()
@PORT
@option("--dir folder", "Everything is below it.", click.Path(file_okay=False, path_type=Path), default=FOLDER)
def demo(port: int, folder: Path) -> None:
    """Bring up a site with demonstration campaigns, and a worker. Ctrl-C stops both; started again, it goes on.

    \b
    leaderboard demo --port 8001
    """
    listener = listen("127.0.0.1", port)
    for number in STOP_SIGNALS:
        signal.signal(number, _stop)
    try:
        with _locked(folder.resolve()):
            _run(folder.resolve(), listener)
    except KeyboardInterrupt:
        _go_on_stopping()
    except (errors.OtherBuild, errors.FileRejected) as error:  # of our own names, where something else has them
        raise errors.Conflict(f"{getattr(error, 'reason', error)}\n{folder} can't be gone on with: {AFRESH}") from error
    except errors.OtherStore as error:
        raise errors.Conflict(
            f"the database and the run store in {folder} don't belong together, as after one of them was deleted: "
            f"{AFRESH}"
        ) from error
    click.echo("stopped")


def _stop(_number: int, _frame: FrameType | None) -> None:
    """Interrupts the demonstration wherever it is; an open transaction is rolled back."""
    # Python drops what is raised within a callback of its garbage collector: then the next try stops us.
    signal.setitimer(signal.ITIMER_REAL, LOOK_SECONDS)
    raise KeyboardInterrupt


def _go_on_stopping() -> None:
    """From here on nothing interrupts the stopping."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Makes the folder and keeps it for this demonstration alone. Raises Conflict where another one runs in it."""
    if not folder.is_dir():  # a folder that was there may hold other things: only what we make is closed to others
        private_files.private_folder(folder)
    # The system lets go of it when this process ends, however it ends.
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise errors.Conflict(
                f"a demonstration runs in {folder} already; stop it, or name another with --dir"
            ) from None
        yield


def _run(folder: Path, listener: socket.socket) -> None:
    """Sets up and starts everything, and keeps it going until KeyboardInterrupt."""
    click.echo(f"setting up the demonstration in {folder} …")
    config = Config(
        database_url=f"sqlite:///{folder / 'leaderboard.sqlite'}",
        store_url=str(folder / "store"),
        secret_key=_secret_key(folder / "secret-key"),
        public_url=address_of(listener),
        secure_cookies=False,  # it is served without TLS, to this machine only
    )
    with closing(db.Database.connect(config.database_url)) as database:
        migrate.upgrade(database)
        bind(database, runs := store.RunStore(config.store_url))
        with _site_and_worker(config, folder, listener) as look_after:
            seeded = seeding.load(database, runs, datetime.now(UTC))
            sample = folder / seeded.sample.name
            sample.write_bytes(seeded.sample.text)
            is_scoring = 1
            while is_scoring:  # seconds, and the first page then shows finished boards
                look_after()
                time.sleep(LOOK_SECONDS / 5)
                with database.read() as session:
                    is_scoring = unfinished(session)
            _announce(config, seeded, sample, folder)
            while True:
                look_after()
                time.sleep(LOOK_SECONDS)


def _secret_key(path: Path) -> str:
    """Kept, so that a restart signs nobody out."""
    private_files.private_file(path)
    key = path.read_text() or secrets.token_hex(32)
    path.write_text(key)
    return key


@contextmanager
def _site_and_worker(config: Config, folder: Path, listener: socket.socket) -> Iterator[Callable[[], None]]:
    """Runs the site on the open socket, and a worker; both are stopped when the block ends, killed if they take too
    long.

    Gives a function that raises Unavailable with the end of its log when one of them has ended.
    """
    descriptor = listener.fileno()
    serve = ("serve", "--fd", str(descriptor), "--workers", "1", "--setting-up")
    logs = {name: folder / f"{name}.log" for name in ("site", "worker")}
    started: dict[str, subprocess.Popen[bytes]] = {}

    def look_after() -> None:
        for name, process in started.items():
            if (status := process.poll()) is not None:
                lines = logs[name].read_text(errors="replace").splitlines()[-LAST_LINES:]
                said = "\n".join(f"    {line}" for line in lines) or "    (nothing)"
                raise errors.Unavailable(f"the {name} ended with status {status}; {logs[name]} ends with\n{said}")

    try:
        started["site"] = _started(config, logs["site"], *serve, keep_open=[descriptor])
        listener.close()  # from here on nobody else keeps the port
        started["worker"] = _started(config, logs["worker"], "worker")
        yield look_after
    finally:
        _go_on_stopping()
        for process in started.values():
            process.terminate()
        for process in started.values():
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def _announce(config: Config, seeded: seeding.Seeded, sample: Path, folder: Path) -> None:
    address = config.public_url
    named = [f"LEADERBOARD_{name}" for name in ("DATABASE_URL", "STORE_URL", "PUBLIC_URL")]
    command = " ".join(f"{name}={shlex.quote(config.as_environment()[name])}" for name in named)
    program = shlex.quote(str(Path(sys.executable).with_name("leaderboard")))
    rows = [("   ", account.name, "password", account.password, account.does) for account in seeded.accounts]
    accounts = aligned(rows, range(5))
    click.echo(
        f"\nThe site is at {address}\n\n{accounts}\n"
        f"To see a run go in: sign in as {seeded.accounts[0].name}, open\n"
        f"    {address}/campaigns/{seeding.SimulatedCampaign.SLUG}/{seeded.sample.evaluation}/submit\n"
        f"and submit {sample}\n\n"
        f"Commands see it like this:\n    {command} {program} mail list\n\n"
        f"Everything is below {folder}; delete it to start afresh.\n"
        "Ctrl-C stops the site and the worker.\n"
    )
