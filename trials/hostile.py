"""Hostile files by form, on both engines: none may harm the worker, cost more than its lines, or leave a stray byte.

Then as many to every form that takes a file: runs, files beside them, checks, queries, judgments, lists of documents,
archives with manifests. None may make a server error, leave a stray file or take much memory.

python -m trials.hostile --files 500 --seed 1
python -m trials.hostile --files 0 --uploads 500
"""

import argparse
import contextlib
import sys
import tempfile
import time
from pathlib import Path

from tests.support.hostile_files import hostile_files
from tests.support.hostile_runs import send_all
from tests.support.hostile_uploads import FORMS, upload_all
from tests.support.world import build_world
from trials.faults import tell
from trials.installation import ENGINES, migrated_database

MIB = 1 << 20


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m trials.hostile", description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=500)
    parser.add_argument("--uploads", type=int, help="to all forms; as many as files without it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", choices=ENGINES, action="append", help="both without it")
    given = parser.parse_args(arguments)
    failed = False
    for engine in given.engine or ENGINES:
        print(f"{engine}, {given.files} files", flush=True)
        started = time.monotonic()
        with (
            tempfile.TemporaryDirectory() as folder,
            migrated_database(engine, Path(folder)) as (_, database),
            contextlib.closing(build_world(database, Path(folder))) as world,
        ):
            outcome = send_all(world, hostile_files(given.seed, given.files))
        print(f"  {outcome.states} in {time.monotonic() - started:.0f} s")
        print(f"  most computing for a million lines: {outcome.slowest[0]:.2f} s ({outcome.slowest[1]})")
        print(f"  most memory: {outcome.most_memory[0] / MIB:,.0f} MiB ({outcome.most_memory[1]})")
        print(f"  longest row of problems: {outcome.longest_row[0]:,} bytes ({outcome.longest_row[1]})")
        print(f"  longest page: {outcome.longest_page[0]:,} bytes ({outcome.longest_page[1]})")
        tell(outcome.faults)
        failed = failed or bool(outcome.faults)
        failed = _upload(engine, given.seed, given.files if given.uploads is None else given.uploads) or failed
    return 1 if failed else 0


def _upload(engine: str, seed: int, count: int) -> bool:
    """Sends files to all forms; whether one of them did harm."""
    started = time.monotonic()
    with (
        tempfile.TemporaryDirectory() as folder,
        migrated_database(engine, Path(folder)) as (_, database),
        contextlib.closing(build_world(database, Path(folder))) as world,
    ):
        found = upload_all(world, seed, count)
    print(f"  {count} uploads to {len(FORMS)} forms, {found.states} in {time.monotonic() - started:.0f} s")
    print(f"  the process grew by {found.memory / MIB:,.0f} MiB")
    print(f"  longest page: {found.longest[0]:,} bytes ({found.longest[1]})")
    tell(found.faults)
    return bool(found.faults)


if __name__ == "__main__":
    sys.exit(main())
