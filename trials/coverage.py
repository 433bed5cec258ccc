"""How often intervals hold the truth: campaigns drawn from populations whose true figures are known."""

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TypedDict

import numpy as np

from leaderboard.metrics import parse
from leaderboard.statistics import difference_interval, intervals, threshold_intervals
from trials.campaigns import RESAMPLES, Cell, Chunk, Counts, data, least, markdown, populations
from trials.populations import COLLECTIONS, decided, on_queries

QUERIES = (5, 10, 25, 50, 200)
DIFFERENCE = "difference of "


class Options(TypedDict):
    resamples: int
    seed: int


def coverage(chunk: Chunk) -> Counts:
    """Intervals given and those that hold the truth, of each system ("given 0 3": population 0, system 3)."""
    difference = chunk.cell.measure.startswith(DIFFERENCE)
    generator = chunk.generator
    found: Counts = defaultdict(int)
    for place, population in enumerate(populations(chunk.cell.measure.removeprefix(DIFFERENCE))):
        truth = population.truth
        drawn = [population.draw(chunk.cell.queries, generator) for _ in range(chunk.campaigns)]
        runs = [tuple(column[:, run] for column in own) for own in drawn for run in range(population.systems)]
        options: Options = {"resamples": RESAMPLES, "seed": int(generator.integers(2**31))}
        if difference:  # of each run and the next; the last with the first of the next campaign, which is left out
            own = [difference_interval(one, other, population.aggregation, **options) for one, other in pairwise(runs)]
            truth = truth - np.roll(truth, -1)
        else:  # all campaigns at once, as if they were systems of one board: the figures are the same
            own = list(intervals(runs, population.aggregation, least=least(chunk.cell.measure).for_interval, **options))
        for number, interval in enumerate(own):
            run = number % population.systems
            if difference and run == population.systems - 1:
                continue
            if interval.low is None or interval.high is None:
                found[f"none {place} {run}"] += 1
                continue
            found[f"given {place} {run}"] += 1
            found[f"covered {place} {run}"] += interval.low - 1e-12 <= truth[run] <= interval.high + 1e-12
    return {name: int(count) for name, count in found.items()}


THRESHOLD_RUNS: tuple[str, ...] = ("MQWV", "MQWV − AQWV")
THRESHOLD_RESAMPLES = 400


def coverage_of_thresholds(chunk: Chunk) -> Counts:
    """The same for MQWV and MQWV − AQWV, both at once ("given MQWV 3": run 3)."""
    generator, beta = chunk.generator, float(chunk.cell.measure.split()[1])
    found: Counts = defaultdict(int)
    runs = [(name, run) for name in COLLECTIONS for run in decided(data(), name, beta)]
    for place, (name, run) in enumerate(runs):
        rel = COLLECTIONS[name].rel
        maximum, actual = (parse(measure).at_relevance(rel).evaluate(run).mean for measure in ("MQWV", "AQWV"))
        for _ in range(chunk.campaigns):
            drawn = on_queries(run, generator.integers(0, run.queries, chunk.cell.queries))
            seed = int(generator.integers(2**31))
            own = threshold_intervals(drawn, rel, resamples=THRESHOLD_RESAMPLES, seed=seed)
            for figure, interval, value in zip(THRESHOLD_RUNS, own, (maximum, maximum - actual), strict=True):
                if interval.low is None or interval.high is None:
                    found[f"none {figure} {place}"] += 1
                    continue
                found[f"given {figure} {place}"] += 1
                found[f"covered {figure} {place}"] += interval.low - 1e-12 <= value <= interval.high + 1e-12
    return {name: int(count) for name, count in found.items()}


def coverage_table(total: dict[Cell, Counts]) -> str:
    """Share of the intervals that hold the truth: over all systems, the lowest of one; and how often none is given."""
    rows: dict[str, dict[int, str]] = {}
    for cell, counts in total.items():
        if cell.kind != "coverage":
            continue
        for figure in THRESHOLD_RUNS if cell.measure.startswith("MQWV") else ("",):
            own = Shares.of(counts, figure)
            text = f"{100 * own.covered:.1f} ({100 * own.lowest:.0f})" if own.given else "none"
            text += f" –{100 * own.without:.0f}" if own.without else ""
            name = cell.measure.replace("MQWV", figure) if figure else cell.measure
            rows.setdefault(name, {})[cell.queries] = text
    head = ["figure", *(f"{queries} queries" for queries in QUERIES)]
    return markdown(head, [[name, *(own.get(queries, "") for queries in QUERIES)] for name, own in rows.items()])


def collection_table(total: dict[Cell, Counts]) -> str:
    """The share over 10 queries, of each collection by itself."""
    own = {
        cell.measure: [f"{100 * Shares.of(counts, str(place)).covered:.1f}" for place in range(len(COLLECTIONS))]
        for cell, counts in total.items()
        if cell.kind == "coverage" and cell.queries == 10 and Shares.of(counts, "0").given
    }
    return markdown(["figure", *COLLECTIONS], [[name, *shares] for name, shares in own.items()])


@dataclass(frozen=True)
class Shares:
    """Of a coverage cell. covered, lowest: of the intervals given, over all runs and of the run that does worst."""

    given: int
    covered: float
    lowest: float
    without: float

    @classmethod
    def of(cls, counts: Counts, figure: str = "") -> "Shares":
        given = {
            name[6:]: count for name, count in counts.items() if name.startswith(f"given {figure} ".replace("  ", " "))
        }
        none = sum(count for name, count in counts.items() if name.startswith(f"none {figure} ".replace("  ", " ")))
        covered = {name: counts[f"covered {name}"] for name in given}
        total = sum(given.values())
        return cls(
            total,
            sum(covered.values()) / max(1, total),
            min((covered[name] / given[name] for name in given), default=0.0),
            none / max(1, total + none),
        )
