"""Measures whole processes: wall time, processor time and peak memory."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO

__all__ = ["ROOT", "Cost", "measure", "measure_program", "side_by_side"]

ROOT = Path(__file__).resolve().parents[1]
KIB = 1024


@dataclass(frozen=True, slots=True)
class Cost:
    """One process and those that it started and waited for. wall and processor in seconds, memory in bytes at the peak
    of the largest, output as it printed it.
    """

    wall: float
    processor: float
    memory: int
    output: str

    def __lt__(self, other: "Cost") -> bool:
        return self.wall < other.wall


def measure(arguments: Sequence[str]) -> Cost:
    """Runs `python …` from the repository's folder. Raises RuntimeError when it fails."""
    (cost,) = side_by_side([arguments])
    return cost


def measure_program(arguments: Sequence[str], *, quiet: bool = False) -> Cost:
    """Runs any other program. quiet: its output goes nowhere."""
    start = time.perf_counter()
    with tempfile.TemporaryFile("w+") as file:
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL if quiet else file)
        return _cost(process, start, file)


def side_by_side(
    each: Sequence[Sequence[str]], environment: Mapping[str, str] | None = None, *, logged: bool = False
) -> list[Cost]:
    """As `measure`, several processes at once. logged: what they say on standard error is part of their output."""
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in each]
        start = time.perf_counter()
        processes = [
            subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                env=environment,
                stdout=file,
                stderr=subprocess.STDOUT if logged else None,
            )
            for arguments, file in zip(each, files, strict=True)
        ]
        return [_cost(process, start, file) for process, file in zip(processes, files, strict=True)]


def _cost(process: subprocess.Popen[bytes], start: float, file: IO[str]) -> Cost:
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    file.seek(0)
    output = file.read().strip()
    if process.returncode != 0:
        raise RuntimeError(f"{process.args!r} ended with status {process.returncode}\n{output}")
    memory = usage.ru_maxrss * (1 if sys.platform == "darwin" else KIB)
    return Cost(wall, usage.ru_utime + usage.ru_stime, memory, output)
