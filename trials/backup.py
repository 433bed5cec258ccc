"""Backs up under load and restores elsewhere, on the other engine too: figures must be equal bit for bit.

    python -m trials.backup --seconds 20 --runs 1000

Runs are submitted and scored by a worker all the time while one backup after the other is made, each with the run files
since the first one. Each is restored on both engines; `leaderboard verify --figures` must find nothing, and each run
that it has must have the figures of the original. Then the rows of so many runs are backed up and restored, for the
seconds and bytes that it takes.
"""

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.db import Database
from leaderboard.submissions.writes.run_store import bind
from leaderboard.worker.models import Scoring
from tests.support.commands import run_here
from tests.support.databases import Postgres
from tests.support.postgres import postgres_server
from tests.support.rows import every_row
from tests.support.scoring import WorkerHere
from tests.support.world import World, build_world
from trials.installation import ENGINES, migrated_database

DEPTH = 20
PER_RUN = ("score", "curve")  # tables of figures, whose first column is a scoring's number


def main(arguments: list[str] | None = None) -> int:
    """The exit status: 1 when something restored differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0, help="of load on each engine")
    parser.add_argument("--runs", type=int, default=1000, help="whose rows are backed up for the figures")
    parser.add_argument("--engine", choices=ENGINES, action="append")
    given = parser.parse_args(arguments)
    faults = []
    for engine in given.engine or ENGINES:
        with (
            tempfile.TemporaryDirectory() as name,
            migrated_database(engine, Path(name)) as (_, database),
            postgres_server() as url,
            closing(Postgres(url)) as server,  # of what is restored
        ):
            world = build_world(database, Path(name))
            world.worker = WorkerHere
            bind(database, world.store)
            with closing(world):
                found = [*_under_load(world, server, engine, Path(name), given.seconds)]
                found += _measure(world, server, engine, Path(name), given.runs)
            faults += [f"{engine}: {fault}" for fault in found]
    print("\n".join(faults) or "everything restored is equal to the last bit", flush=True)
    return int(bool(faults))


def _under_load(world: World, server: Postgres, engine: str, folder: Path, seconds: float) -> Iterator[str]:
    stop, submitted = threading.Event(), list[int]()

    def play() -> None:
        while not stop.is_set():
            submitted.append(world.submit(_run_text(len(submitted)), actor=CONSOLE))
            world.drain()

    playing = threading.Thread(target=play)
    playing.start()
    files, end = list[Path](), time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            files.append(folder / f"{len(files)}.zip")
            since = ["--since", str(files[0])] if len(files) > 1 else []
            _command(world.config.database_url, world.config.store_url, "backup", str(files[-1]), *since)
            time.sleep(seconds / 5)
    finally:
        stop.set()
        playing.join()
    original = every_row(world.database)
    print(f"{engine}: {len(files)} backups while {len(submitted)} runs were submitted and scored", flush=True)
    for file in files:
        for other in ENGINES:
            with _restored(server, other, file, files[0]) as (_, rows):
                for table in PER_RUN:
                    if not {*rows[table]} <= {*original[table]}:
                        yield f"{file.name} on {other}: {table} differs"
                print(f"  {file.name} on {other}: {len(rows['submission'])} runs, equal", flush=True)


def _measure(world: World, server: Postgres, engine: str, folder: Path, runs: int) -> Iterator[str]:
    """Prints the seconds and bytes of so many runs."""
    with world.database.read() as session:
        there = session.scalar(sa.select(sa.func.count(Scoring.id))) or 0
    for number in range(there, runs):
        world.submit(_run_text(number), actor=CONSOLE)
    world.drain()
    before, file = every_row(world.database), folder / "all.zip"
    started = time.monotonic()
    _command(world.config.database_url, world.config.store_url, "backup", str(file))
    written = time.monotonic() - started
    for other in ENGINES:
        with _restored(server, other, file) as (seconds, rows):
            counted = sum(map(len, rows.values()))
            print(
                f"{engine}: {runs} runs, {counted:,} rows: backup {written:.1f} s, {file.stat().st_size:,} bytes; "
                f"restored on {other} in {seconds:.1f} s",
                flush=True,
            )
            yield from (f"on {other}: {table} differs" for table in PER_RUN if rows[table] != before[table])


@contextmanager
def _restored(
    server: Postgres, engine: str, file: Path, *earlier: Path
) -> Iterator[tuple[float, dict[str, list[str]]]]:
    """The seconds that a restore into a new database and store took, and all rows, verified."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = f"sqlite:///{folder / 'restored.sqlite'}"
        if engine == "postgresql":
            url = server.create()
            stack.callback(server.drop, url)
        started = time.monotonic()
        others = [word for path in earlier for word in ("--with", str(path))]
        _command(url, str(folder / "store"), "restore", str(file), *others)
        seconds = time.monotonic() - started
        _command(url, str(folder / "store"), "verify", "--figures")
        with closing(Database.connect(url)) as database:
            yield seconds, every_row(database)


def _command(database_url: str, store_url: str, *arguments: str) -> None:
    environment = {"LEADERBOARD_DATABASE_URL": database_url, "LEADERBOARD_STORE_URL": store_url}
    done = run_here(arguments, environment)
    if done.status:
        raise RuntimeError(f"{arguments}: {done}")


def _run_text(number: int) -> str:
    """A run of three judged queries among many others, unlike those of other numbers."""
    lines = [
        f"q{query} Q0 d{(number * 7 + query * 3 + rank) % 50} {rank} {DEPTH - rank}.{number % 10} run-{number}"
        for query in (1, 2, 3)
        for rank in range(DEPTH)
    ]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main())
