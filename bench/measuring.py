"""Measures whole processes: wall time, processor time and peak memory."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ROOT", "Cost", "measure"]

ROOT = Path(__file__).resolve().parents[1]
KIB = 1024


@dataclass(frozen=True, slots=True)
class Cost:
    """One process. wall and processor in seconds, memory in bytes at its peak, output as it printed it."""

    wall: float
    processor: float
    memory: int
    output: str

    def __lt__(self, other: "Cost") -> bool:
        return self.wall < other.wall


def measure(arguments: Sequence[str]) -> Cost:
    """Runs `python …` from the repository's folder. Raises RuntimeError when it fails."""
    start = time.perf_counter()
    with subprocess.Popen([sys.executable, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        output = process.stdout.read() if process.stdout else ""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(arguments)} ended with status {process.returncode}")
    memory = usage.ru_maxrss * (1 if sys.platform == "darwin" else KIB)
    return Cost(wall, usage.ru_utime + usage.ru_stime, memory, output.strip())
