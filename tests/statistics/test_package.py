import subprocess
import sys

CODE = """
import sys
import numpy as np
import leaderboard.statistics as statistics
values = {"a": (np.array([0.5, 0.25, 0.75, 0.4, 0.1, 0.9]),), "b": (np.array([0.75, 0.5, 0.2, 0.3, 0.6, 0.8]),)}
board = statistics.board_statistics(values, resamples=99)
assert board.intervals["a"].low is not None
assert "scipy.stats" not in sys.modules, "intervals and rank sets need no more than scipy.special"
statistics.compare(values, "a", resamples=10)
"""


def test_the_slow_part_of_scipy_is_not_imported_before_two_systems_are_compared():
    subprocess.run([sys.executable, "-W", "error", "-c", CODE], check=True, timeout=60)
