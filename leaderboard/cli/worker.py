"""`leaderboard worker`: scores what is submitted."""

import logging
import signal
import subprocess
import sys
import threading
import time

import click

from leaderboard.cli.database import up_to_date
from leaderboard.cli.options import UNTIL_STDIN_CLOSES, flag, named, option, whole
from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.errors import Unavailable
from leaderboard.operating import logs
from leaderboard.operating.reads import draining
from leaderboard.operating.writes import drain as ask_to_drain
from leaderboard.worker.loop import run

LOOK_SECONDS = 1.0
log = logging.getLogger("leaderboard.worker")


@click.command()
@flag("--once", "End when no run waits any more.")
@flag("--drain", "Start none: have all workers, on every host, finish the run in hand and end; wait for them.")
@option("--processes", "Workers to run; one that dies is replaced.", whole(1, 128), default=1)
@UNTIL_STDIN_CLOSES
def worker(once: bool, drain: bool, processes: int) -> None:
    """Score submitted runs until SIGTERM or Ctrl-C; a run being scored then goes back into the queue.

    Start as many workers as you like.

    \b
    LEADERBOARD_DATABASE_URL=postgresql://localhost/leaderboard leaderboard worker
    """
    config = Config.from_environment()
    logs.set_up(config)
    with up_to_date(config) as database:  # each of its processes opens the database for itself
        if drain:
            _drain(database, config.lease_seconds)
            return
    if processes == 1:
        run(config, once=once)
    else:
        _look_after(processes, once)


def _drain(database: Database, lease_seconds: float) -> None:
    with database.write() as session:
        ask_to_drain(session)
    told: tuple[str, ...] = ()
    while True:
        with database.read() as session:
            names = draining(session, lease_seconds)
        if not names:
            break
        if names != told:
            click.echo(f"waiting for {named(names)}")
        told = names
        time.sleep(LOOK_SECONDS)
    click.echo("all workers that were at work have ended")


def _look_after(processes: int, once: bool) -> None:
    """Runs so many workers until they have ended by themselves, or until a signal, which is passed on. Raises
    Unavailable where one of `once` failed; others are replaced.
    """
    stop, failed = threading.Event(), 0
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    # They end with this process, however it ends.
    command = [sys.executable, "-m", "leaderboard", "worker", "--until-stdin-closes", *["--once"] * once]
    running = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(processes)]  # noqa: S603  # our own program
    while running and not stop.wait(LOOK_SECONDS):
        for ended in [process for process in running if process.poll()]:
            log.warning("a worker ended with status %s", ended.returncode)
            failed = failed or ended.returncode
            if not once:
                running.append(subprocess.Popen(command, stdin=subprocess.PIPE))  # noqa: S603  # our own program
        running = [process for process in running if process.poll() is None]
    for process in running:
        process.terminate()
    for process in running:
        process.wait()
    if once and failed:
        raise Unavailable(f"A worker ended with status {failed}.")
