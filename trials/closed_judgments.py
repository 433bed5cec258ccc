"""Plays years that differ in closed judgments only, on both engines: is everybody but organisers answered the same?

    python -m trials.closed_judgments --judgments 200 --seed 1

The experiment of tests/experiment on a larger scale. In one installation everybody reads every address. Each of the
others has judgments drawn anew for all its evaluations, reads one of twelve parts of the addresses in turn, and must be
answered as the first one was, byte for byte; an organiser reads each page that is kept first, and each reader twice.
"""

import argparse
import contextlib
import itertools
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import sqlalchemy as sa

from leaderboard import migrate
from leaderboard.db import Database
from tests.experiment.answers import said
from tests.experiment.draws import FIRST, Drawn, draw_years
from tests.experiment.installation import Installation, installed
from tests.experiment.walk import Asked, Share, compared
from tests.experiment.year import IMPORTS, play
from tests.support.databases import Postgres
from tests.support.postgres import postgres_server
from tests.support.quick import compile_once, keep_files_in_memory
from trials.installation import ENGINES

PARTS = 12


@contextlib.contextmanager
def new_databases(engine: str, folder: Path) -> Iterator[Callable[[], str]]:
    """Makes migrated, empty databases; gives their addresses."""
    if engine == "sqlite":
        numbers = itertools.count()
        template = folder / "migrated.sqlite"
        _migrate(f"sqlite:///{template}")
        yield lambda: f"sqlite:///{shutil.copyfile(template, folder / f'{next(numbers)}.sqlite')}"
        return
    with postgres_server() as address, contextlib.closing(Postgres(address)) as server:
        url = server.create()
        _migrate(url)
        yield lambda: server.create(str(sa.make_url(url).database))


def _migrate(url: str) -> None:
    with contextlib.closing(Database.connect(url)) as database:
        migrate.upgrade(database)


def trial(engine: str, years: int, seed: int) -> list[str]:
    """Every fault found; prints how much was compared."""
    started = time.monotonic()
    faults: list[str] = []
    answers = told_apart = 0
    with tempfile.TemporaryDirectory() as name, new_databases(engine, Path(name)) as new_database:
        folder = Path(name)

        def played(number: int, judgments: Drawn, asked: Asked) -> Installation:
            with installed(new_database(), folder / f"store-{number}") as here:
                play(here, judgments, asked)
            shutil.rmtree(folder / f"store-{number}")
            return here

        one = played(0, FIRST, Asked(warm=True, twice=True))
        print(f"  {len(one.steps)} steps and {len(one.walked):,} answers in a year", flush=True)
        for number, judgments in enumerate(draw_years(years, seed), 1):
            share = Share((number % PARTS,), PARTS)
            other = played(number, judgments, Asked(share, warm=True, twice=True))
            found = compared(one, other, share)
            print(
                f"  year {number}: {len(other.steps) + len(other.walked)} answers, {len(found)} differences", flush=True
            )
            if found:
                faults.append(f"year {number}: {said(found)}\n  under {judgments}")
            answers += len(other.steps) + len(other.walked)
            told_apart += one.to_organiser != other.to_organiser
    print(f"  {years} years with {years * IMPORTS} judgments drawn: {answers:,} answers, {len(faults)} years differ")
    print(f"  the organiser's boards differ in {told_apart} of {years}; {time.monotonic() - started:.0f} s")
    return faults


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m trials.closed_judgments", description=__doc__.splitlines()[0])
    parser.add_argument("--judgments", type=int, default=200, help="sets of judgments that are drawn (default: 200)")
    parser.add_argument("--engine", choices=ENGINES, help="this one only")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    keep_files_in_memory()
    compile_once()
    years = -(-given.judgments // IMPORTS)
    faults = []
    for engine in [given.engine] if given.engine else ENGINES:
        print(f"{engine}, {years} years, seed {given.seed}", flush=True)
        faults += trial(engine, years, given.seed)
    for fault in faults:
        print(f"  FAULT {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
