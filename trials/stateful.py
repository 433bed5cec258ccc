"""Does whatever people and workers do to the runs of an evaluation in whatever order, many times longer than the tests.

    python -m trials stateful --times 20

It is `tests/worker/test_stateful.py` with so many times the sequences, new ones each time, on both engines.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tests.support.examples import TIMES_VARIABLE

ROOT = Path(__file__).resolve().parents[1]
TIMES = 20


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m trials stateful", description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=TIMES, help=f"so many times as many as in `make test` ({TIMES})")
    given = parser.parse_args(arguments)
    environment = {name: value for name, value in os.environ.items() if name != "CI"}  # it draws the same ones again
    environment[TIMES_VARIABLE] = str(given.times)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-rP", "tests/worker/test_stateful.py"]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
