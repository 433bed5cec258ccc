"""Cells of simulated campaigns, in chunks with seeds of their own: what the trials of statistics share."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from leaderboard.metrics import Setting, parse
from leaderboard.statistics import least_queries
from leaderboard.statistics.samples import Least
from trials.populations import POLICIES, Population, detection, false_alarms, real, real_runs

RESAMPLES = 1_000  # a board draws 10,000
ALPHA = 0.05

Counts = dict[str, int]


@dataclass(frozen=True)
class Cell:
    """One figure of a table. kind: "coverage", or what the systems of a board are; systems: 0 for those of the runs."""

    kind: str
    measure: str
    queries: int
    systems: int = 0
    headline: bool = False


@dataclass(frozen=True)
class Chunk:
    cell: Cell
    number: int
    campaigns: int
    seed: int

    @property
    def key(self) -> str:
        own = self.cell
        return f"{own.kind}|{own.measure}|{own.queries}|{own.systems}|{self.number}|{self.campaigns}|{self.seed}"

    @property
    def generator(self) -> np.random.Generator:
        return np.random.default_rng([self.seed, zlib.crc32(self.key.encode())])


def data() -> Path:
    """The folder of the real runs, which whoever asked for campaigns has seen to."""
    folder = real_runs()
    if folder is None:
        raise FileNotFoundError("campaigns are drawn from real runs")
    return folder


def least(measure: str) -> Least:
    """How many queries a board would need."""
    name, *beta = measure.removeprefix("difference of ").split()
    return least_queries(parse(name), Setting(beta=float(beta[0]) if beta else None))


@cache
def populations(measure: str) -> tuple[Population, ...]:
    if measure.startswith("AQWV"):
        _, beta, policy = measure.split()
        return tuple(detection(data(), float(beta), next(each for each in POLICIES if each == policy)))
    if measure.startswith("Pfa"):
        return tuple(false_alarms(data(), float(measure.split()[1])))
    return tuple(real(data(), measure))


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
