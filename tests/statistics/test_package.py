import subprocess
import sys

CODE = """
import sys
import numpy as np
import leaderboard.statistics as statistics
values = {"a": (np.array([0.5, 0.25]),), "b": (np.array([0.75, 0.5]),)}
statistics.board_statistics(values, resamples=10)
assert not any(name.split(".")[0] == "scipy" for name in sys.modules), "a board needs no scipy"
statistics.compare(values, "a", resamples=10)
"""


def test_scipy_is_not_imported_before_two_systems_are_compared():
    subprocess.run([sys.executable, "-W", "error", "-c", CODE], check=True, timeout=60)
