"""Tries what must always hold on many more examples than `make test`, and on other ones each time.

    python -m trials properties --times 100

The tests of TESTS: what holds for every measure, with so many times the examples; hostile texts at every place of
their kind in a request; and the demonstration's campaign that goes out and comes in again, whole.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tests.support.examples import TIMES_VARIABLE

ROOT = Path(__file__).resolve().parents[1]
TESTS = (
    "tests/metrics/test_properties.py",
    "tests/metrics/test_bounds.py",
    "tests/web/test_hostile_requests.py",
    "tests/demo/test_round_trip.py",
)
TIMES = 10


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m trials properties", description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=TIMES, help=f"so many times as many as in `make test` ({TIMES})")
    given = parser.parse_args(arguments)
    environment = {name: value for name, value in os.environ.items() if name != "CI"}  # it draws the same ones again
    environment[TIMES_VARIABLE] = str(given.times)
    command = [sys.executable, "-m", "pytest", "-q", *TESTS]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
