"""Hostile files by form, on both engines: none may harm the worker, cost more than its lines, or leave a stray byte.

python -m trials.hostile --files 500 --seed 1
"""

import argparse
import contextlib
import sys
import tempfile
import time
from pathlib import Path

from tests.support.hostile_files import hostile_files
from tests.support.hostile_runs import send_all
from tests.support.world import build_world
from trials.installation import ENGINES, migrated_database

SHOWN_FAULTS = 20
MIB = 1 << 20


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m trials.hostile", description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=500)
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
        for fault in outcome.faults[:SHOWN_FAULTS]:
            print(f"  FAULT {fault}")
        failed = failed or bool(outcome.faults)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
