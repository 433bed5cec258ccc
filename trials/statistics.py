"""Are a board's claims true as often as it says? Campaigns are drawn from populations whose true figures are known.

    python -m trials statistics --campaigns 200 --headline 1000

Coverage of intervals for each kind of figure; false findings, simultaneous coverage of ranks and power of the
procedures that compare all systems of a board, all on the same draws. Every cell is made of chunks with seeds of their
own, so the same arguments give the same figures whatever the number of processes. What is done is written to --results
as it comes; a second start with the same arguments goes on from there. The tables are printed in Markdown.
docs/statistics.md has them, and what they mean.
"""

import argparse
import json
import multiprocessing
import os
import sys
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TypedDict

import numpy as np
from scipy import stats

from leaderboard.metrics import Bools, Floats, parse
from leaderboard.metrics.aggregation import MEAN
from leaderboard.statistics import difference_interval, holm, intervals, rank_sets, threshold_intervals, tukey_hsd
from tests.support.shared import SHARED_VARIABLE, shared_data
from trials.populations import (
    BETAS,
    COLLECTIONS,
    POLICIES,
    Population,
    clones,
    crossed,
    decided,
    detection,
    on_queries,
    real,
    recentred,
)  # fmt: skip

QUERIES = (5, 10, 25, 50, 200)
RANKED = ("AP", "nDCG@10", "RR", "P@10")
CHUNK = 50  # campaigns
RESAMPLES = 1_000  # a board draws 10,000
ALPHA = 0.05
LOWEST, HIGHEST = 0.92, 0.98  # coverage promised from 10 queries on
MOST_FALSE = {"equal": 0.07, "exchangeable": 0.06, "clones 1": 0.06, "clones 2": 0.06, "partial null": 0.07}
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


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


Counts = dict[str, int]
DIFFERENCE = "difference of "


class Options(TypedDict):
    resamples: int
    seed: int


def data() -> Path:
    folder = shared_data()
    if folder is None:
        raise SystemExit(f"no real runs are here: name their folder in {SHARED_VARIABLE}")
    return folder


@cache
def populations(measure: str) -> tuple[Population, ...]:
    if measure.startswith("AQWV"):
        _, beta, policy = measure.split()
        return tuple(detection(data(), float(beta), next(each for each in POLICIES if each == policy)))
    return tuple(real(data(), measure))


def detection_names() -> list[str]:
    return [f"AQWV {beta:g} {policy}" for policy in POLICIES for beta in BETAS]


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
            own = list(intervals(runs, population.aggregation, **options))
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
            for figure, interval, value in zip(
                THRESHOLD_RUNS, (own.maximum, own.lost), (maximum, maximum - actual), strict=True
            ):
                if interval.low is None or interval.high is None:
                    found[f"none {figure} {place}"] += 1
                    continue
                found[f"given {figure} {place}"] += 1
                found[f"covered {figure} {place}"] += interval.low - 1e-12 <= value <= interval.high + 1e-12
    return {name: int(count) for name, count in found.items()}


# A procedure takes the values, float64[Q, S], and says of every pair whether the first is significantly better.
Procedure = Callable[[Floats, int], Bools]


def by_tukey(values: Floats, seed: int) -> Bools:
    p = tukey_hsd(values, permutations=RESAMPLES, seed=seed).p
    return _better(values, p <= ALPHA)


def by_holm_and_t(values: Floats, _seed: int) -> Bools:
    first, second = np.triu_indices(values.shape[1], 1)
    difference = values[:, first] - values[:, second]
    spread = difference.std(axis=0, ddof=1)
    alike = spread <= 1e-12
    t = difference.mean(axis=0) / np.where(alike, 1.0, spread) * np.sqrt(len(values))
    p = np.where(alike, 1.0, 2 * stats.t.sf(np.abs(t), len(values) - 1))
    return _of_pairs(values, p)


def by_holm_and_sign_flips(values: Floats, seed: int) -> Bools:
    first, second = np.triu_indices(values.shape[1], 1)
    difference = values[:, first] - values[:, second]
    # Holm's smallest level is alpha / pairs: the draws have to reach well below it.
    flips = int(min(20_000, max(2_000, 10 * len(first) / ALPHA)))
    signs = np.random.default_rng(seed).integers(0, 2, (flips, len(values))) * 2.0 - 1.0
    reached = np.abs(difference.sum(axis=0)) - 1e-12
    p = (1 + np.count_nonzero(np.abs(signs @ difference) >= reached, axis=0)) / (1 + flips)
    return _of_pairs(values, p)


def _of_pairs(values: Floats, p: Floats) -> Bools:
    systems = values.shape[1]
    corrected = np.ones((systems, systems))
    corrected[np.triu_indices(systems, 1)] = np.array(holm(p.tolist()), dtype=np.float64)
    return _better(values, np.minimum(corrected, corrected.T) <= ALPHA)


def _better(values: Floats, apart: Bools) -> Bools:
    means = values.mean(axis=0)
    found: Bools = apart & (means[:, np.newaxis] > means)
    return found


def by_rank_sets(values: Floats, seed: int) -> Bools:
    return rank_sets(values, "higher", resamples=RESAMPLES, seed=seed).better


PROCEDURES: dict[str, Procedure] = {
    "rank sets": by_rank_sets,
    "Tukey": by_tukey,
    "Holm, t": by_holm_and_t,
    "Holm, sign flips": by_holm_and_sign_flips,
}
MOST_FOR_SIGN_FLIPS = 10  # systems: with more it takes very many draws to reach Holm's smallest level
NOISE = 0.01  # standard deviation of what a copy of a run adds to each query's value
STEP = 0.05  # between the systems that do differ, in a partial null


def campaign(cell: Cell, population: Population, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """(values of a board, float64[Q, S], and the true mean of each system, float64[S])."""
    systems, kind = cell.systems, cell.kind
    if kind.startswith("clones"):
        of_board = clones(population, systems, int(kind.split()[1]), generator)
    elif kind == "exchangeable":
        of_board = crossed(population, systems, generator)
    else:
        below = np.zeros(systems)
        if kind == "partial null":
            below[systems // 2 :] = STEP * np.arange(1, systems - systems // 2 + 1)
        elif kind.startswith("apart by"):
            below[systems // 2 :] = float(kind.split()[2])
        of_board = recentred(crossed(population, systems, generator), below)
    (values,) = of_board.draw(cell.queries, generator)
    truth = of_board.truth
    if kind == "exchangeable":  # on every query, the values belong to the systems in an order of its own
        return generator.permuted(values, axis=1), np.zeros(systems)
    if kind.startswith("clones"):  # nearly copies: each has a little noise of its own
        copies = systems - int(kind.split()[1])
        return values + generator.normal(0, NOISE, values.shape) * (np.arange(systems) < copies), truth
    if kind == "one disastrous run":
        worst = -float(cell.measure.split()[1]) if cell.measure.startswith("AQWV") else 0.0
        values, truth = values.copy(), truth.copy()
        values[:, -1] = truth[-1] = worst
    return values, truth


def board(chunk: Chunk) -> Counts:
    """For each procedure: campaigns that it judged, those with a false finding, and the true differences found."""
    cell, generator = chunk.cell, chunk.generator
    found: Counts = defaultdict(int)
    every = populations(cell.measure)
    for number in range(chunk.campaigns):
        population = every[number % len(every)]
        if len(population.columns) == 2:
            p_miss, weighted_p_fa = population.columns
            population = Population(population.name, (1.0 - p_miss - weighted_p_fa,), MEAN)
        values, truth = campaign(cell, population, generator)
        is_better = truth[:, np.newaxis] > truth + 1e-9
        found["campaigns"] += 1
        found["pairs"] += int(np.count_nonzero(is_better))
        seed = int(generator.integers(2**31))
        for name, procedure in PROCEDURES.items():
            if procedure is by_holm_and_sign_flips and cell.systems > MOST_FOR_SIGN_FLIPS:
                continue
            better = procedure(values, seed)
            found[f"run {name}"] += 1
            found[f"false {name}"] += bool((better & ~is_better).any())
            found[f"pairs {name}"] += int(np.count_nonzero(better & is_better))
    return found


def cells(wanted: Sequence[str]) -> list[Cell]:
    figures = [*RANKED, "GMAP", *detection_names(), "difference of AP", "difference of GMAP"]
    found = [Cell("coverage", measure, queries, headline=queries >= 10) for measure in figures for queries in QUERIES]
    found += [Cell("coverage", f"MQWV {beta:g}", queries) for beta in BETAS for queries in (10, 25, 50)]
    for kind in ("equal", "exchangeable"):
        found += [Cell(kind, measure, queries, 10, queries in (25, 50)) for measure in RANKED for queries in QUERIES]
        found += [Cell(kind, measure, 50, systems) for measure in ("AP", "RR") for systems in (2, 30, 140)]
        found += [Cell(kind, f"AQWV {beta:g} exclude", queries, 10) for beta in BETAS for queries in (25, 50)]
    for kind in ("clones 1", "clones 2"):
        found += [Cell(kind, measure, queries, 30, True) for measure in ("AP", "RR") for queries in (25, 50)]
    for kind in ("one disastrous run", "partial null"):
        found += [Cell(kind, measure, queries, 10) for measure in ("AP", "RR") for queries in (10, 25, 50, 200)]
    found += [Cell("one disastrous run", "AQWV 20 exclude", queries, 10) for queries in (25, 50)]
    for kind in ("apart by .03", "apart by .05"):
        found += [Cell(kind, "AP", queries, 10, queries in (25, 50)) for queries in QUERIES]
    return [cell for cell in found if not wanted or any(each in f"{cell.kind} {cell.measure}" for each in wanted)]


def chunks(every: Sequence[Cell], campaigns: int, headline: int, seed: int) -> Iterator[Chunk]:
    for cell in every:
        wanted = headline // 2 if cell.kind == "coverage" else headline
        number_of = max(campaigns, wanted) if cell.headline else campaigns
        if cell.measure.startswith("MQWV"):  # every campaign sweeps every run
            number_of = -(-campaigns // 3)
        for number, start in enumerate(range(0, number_of, CHUNK)):
            yield Chunk(cell, number, min(CHUNK, number_of - start), seed)


def work(chunk: Chunk) -> tuple[str, Counts, float]:
    started = time.perf_counter()
    if chunk.cell.kind != "coverage":
        counts = board(chunk)
    else:
        counts = coverage_of_thresholds(chunk) if chunk.cell.measure.startswith("MQWV") else coverage(chunk)
    return chunk.key, dict(counts), time.perf_counter() - started


def run(every: Sequence[Chunk], results: Path, processes: int) -> dict[str, Counts]:
    """Key of a chunk -> its counts, those that the file has already among them."""
    lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    done: dict[str, Counts] = dict(json.loads(line) for line in lines)
    left = [chunk for chunk in every if chunk.key not in done]
    for variable in THREADS:  # read when a new process imports numpy
        os.environ[variable] = "1"
    results.parent.mkdir(parents=True, exist_ok=True)
    started = said = time.monotonic()
    with results.open("a", encoding="utf-8") as file, multiprocessing.get_context("spawn").Pool(processes) as pool:
        for number, (key, counts, took) in enumerate(pool.imap_unordered(work, left), 1):
            done[key] = counts
            file.write(json.dumps([key, counts]) + "\n")
            file.flush()
            if time.monotonic() - said > 10 or number == len(left):
                said = time.monotonic()
                print(f"  {number} of {len(left)} chunks, {said - started:.0f} s ({took:.1f} s {key})", flush=True)
    return done


def summed(every: Sequence[Chunk], done: dict[str, Counts]) -> dict[Cell, Counts]:
    total: dict[Cell, Counts] = {}
    for chunk in every:
        own = total.setdefault(chunk.cell, defaultdict(int))
        for name, count in done.get(chunk.key, {}).items():
            own[name] += count
    return total


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


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


def board_table(total: dict[Cell, Counts]) -> str:
    rows = []
    for cell, counts in total.items():
        if cell.kind == "coverage" or not counts["campaigns"]:
            continue
        shares = []
        for name in PROCEDURES:
            if not (drawn := counts[f"run {name}"]):
                shares.append("–")
                continue
            text = f"{counts[f'false {name}'] / drawn:.3f}".lstrip("0") if counts[f"false {name}"] < drawn else "1"
            if counts["pairs"]:
                text += f"; {counts[f'pairs {name}'] / counts['pairs']:.2f}".replace("; 0", "; ")
            shares.append(text)
        rows.append([cell.kind, cell.measure, str(cell.systems), str(cell.queries), str(counts["campaigns"]), *shares])
    return markdown(["systems", "measure", "S", "queries", "campaigns", *PROCEDURES], rows)


def with_tables(text: str, tables: Mapping[str, str]) -> str:
    """The text with each table after its mark, in place of the table that stood there.

    >>> print(with_tables("<!-- table: a -->\\n\\n| old |\\n\\nMore.", {"a": "| new |"}))
    <!-- table: a -->
    <BLANKLINE>
    | new |
    <BLANKLINE>
    More.
    """
    for name, table in tables.items():
        before, mark, after = text.partition(f"<!-- table: {name} -->\n\n")
        if mark:
            lines = after.splitlines(keepends=True)
            kept = next((place for place, line in enumerate(lines) if not line.startswith("|")), len(lines))
            rest = "".join(lines[kept:]).lstrip("\n")
            text = f"{before}{mark}{table}\n\n{rest}"
    return text


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m trials statistics", description=__doc__.splitlines()[0])
    parser.add_argument("--campaigns", type=int, default=50, help="campaigns of a cell")
    parser.add_argument("--headline", type=int, default=0, help="campaigns of those cells that a promise hangs on")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[], help='parts of "KIND MEASURE", such as: coverage, "equal RR"')
    parser.add_argument("--results", type=Path, default=Path("build/statistics.jsonl"))
    parser.add_argument("--into", type=Path, help="a Markdown file that gets the tables, each after its mark")
    given = parser.parse_args(arguments)
    every = list(chunks(cells(given.only), given.campaigns, given.headline, given.seed))
    total = summed(every, run(every, given.results, given.processes))
    tables = {"coverage": coverage_table(total), "boards": board_table(total)}
    print("\nCoverage in % (the lowest of one system) –share without an interval, in %\n")
    print(tables["coverage"])
    print("\nShare of campaigns with a false finding; share of the true differences found\n")
    print(tables["boards"])
    if given.into:
        given.into.write_text(with_tables(given.into.read_text(encoding="utf-8"), tables), encoding="utf-8")
    broken = list(broken_promises(total))
    print("\n" + ("\n".join(broken) or "all promises are kept"))
    return 1 if broken else 0


def broken_promises(total: dict[Cell, Counts]) -> Iterator[str]:
    """The cells beyond what docs/statistics.md promises by more than three standard errors."""
    for cell, counts in total.items():
        if cell.kind == "coverage" and cell.headline:
            own = Shares.of(counts)
            campaigns = own.given / max(1, len([name for name in counts if name.startswith("given ")]))
            room = 3 * np.sqrt(0.05 * 0.95 / max(1.0, campaigns))
            if not LOWEST - room <= own.covered <= HIGHEST + room:
                yield f"coverage of {cell.measure} at {cell.queries} queries is {own.covered:.3f}"
        elif cell.kind in MOST_FALSE:
            most, campaigns = MOST_FALSE[cell.kind], max(1, counts["campaigns"])
            false = counts["false rank sets"] / campaigns
            if false > most + 3 * np.sqrt(most * (1 - most) / campaigns):
                yield f"{false:.3f} false findings of rank sets: {cell.kind}, {cell.measure}, {cell.queries} queries"


if __name__ == "__main__":
    sys.exit(main())
