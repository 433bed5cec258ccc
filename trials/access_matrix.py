"""Reads the whole access matrix: every address, in every format, by everybody, in every phase, on both engines.

    python -m trials.access_matrix

`make test` reads one format of each table a phase on SQLite, and one phase whole and a share of the others, as
`tests/web/matrix_share.py` says.
"""

import argparse
import contextlib
import sys
import tempfile
import time
from pathlib import Path

from leaderboard.web.exports import FORMATS
from tests.support.quick import compile_once, keep_files_in_memory
from tests.web.access_rules import PHASES
from tests.web.matrix import played, wrong_answers, wrong_refusals
from trials.closed_judgments import new_databases
from trials.installation import ENGINES


def trial(engine: str, phases: list[str]) -> list[str]:
    """Every fault found; prints how much was asked."""
    started = time.monotonic()
    faults: list[str] = []
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        new_database = stack.enter_context(new_databases(engine, folder))
        matrix = stack.enter_context(played(new_database(), folder))
        for phase in phases:
            wrong = [*wrong_answers(matrix, phase, list(FORMATS)), *wrong_refusals(matrix, phase)]
            faults += [f"{phase}: {one}" for one in wrong]
            statuses = {status: count for (when, status), count in sorted(matrix.asked.items()) if when == phase}
            told = ", ".join(f"{count:,} of {status}" for status, count in statuses.items())
            print(f"  {phase}: {sum(statuses.values()):,} answers ({told})", flush=True)
    print(f"  {matrix.asked.total():,} answers, {len(faults)} wrong; {time.monotonic() - started:.0f} s")
    return faults


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m trials.access_matrix", description=__doc__.splitlines()[0])
    parser.add_argument("--engine", choices=ENGINES, help="this one only")
    parser.add_argument("--phase", choices=[*PHASES], action="append", help="this one only; can be repeated")
    given = parser.parse_args(arguments)
    keep_files_in_memory()
    compile_once()
    faults = []
    for engine in [given.engine] if given.engine else ENGINES:
        print(engine, flush=True)
        faults += trial(engine, given.phase or [*PHASES])
    for fault in faults:
        print(f"  FAULT {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
