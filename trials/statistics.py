"""Are a board's claims true as often as it says? Campaigns are drawn from populations whose true figures are known.

    python -m trials statistics --campaigns 200 --headline 1000

Coverage of intervals for each kind of figure; false findings, simultaneous coverage of ranks and power of the
procedures that compare all systems of a board, all on the same draws. Every cell is made of chunks with seeds of their
own, so the same arguments give the same figures whatever the number of processes. What is done is written to --results
as it comes; a second start with the same arguments goes on from there. The tables are printed in Markdown.
docs/statistics.md has them, and what they mean.
"""

import json
import multiprocessing
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from trials.campaigns import Cell, Chunk, Counts
from trials.coverage import QUERIES, Shares, collection_table, coverage, coverage_of_thresholds, coverage_table
from trials.false_findings import ALONE, RANK_SETS, best_table, board, board_table
from trials.populations import BETAS, POLICIES, parser, real_runs

RANKED = ("AP", "nDCG@10", "RR", "P@10")
CHUNK = 50  # campaigns
LOWEST, HIGHEST = 0.92, 0.98  # coverage promised from 10 queries on
LEAST_HELD = 0.94  # of the best systems among those that may be
MOST_FALSE = {"equal": 0.07, "exchangeable": 0.06, "clones 1": 0.06, "clones 2": 0.06, "partial null": 0.07}
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def detection_names() -> list[str]:
    return [f"AQWV {beta:g} {policy}" for policy in POLICIES for beta in BETAS]


def cells(wanted: Sequence[str]) -> list[Cell]:
    alarms = [f"Pfa {beta:g}" for beta in BETAS]
    figures = [*RANKED, "GMAP", *detection_names(), *alarms, "difference of AP", "difference of GMAP"]
    found = [Cell("coverage", measure, queries, headline=queries >= 10) for measure in figures for queries in QUERIES]
    found += [Cell("coverage", f"MQWV {beta:g}", queries) for beta in BETAS for queries in (10, 25, 50)]
    for kind in ("equal", "exchangeable"):
        found += [Cell(kind, measure, queries, 10, queries in (25, 50)) for measure in RANKED for queries in QUERIES]
        found += [Cell(kind, measure, 50, systems) for measure in ("AP", "RR") for systems in (2, 30, 140)]
        found += [
            Cell(kind, name, queries, 10) for name in ("GMAP", *detection_names(), *alarms) for queries in (25, 50, 200)
        ]
    for kind in ("clones 1", "clones 2"):
        found += [Cell(kind, measure, queries, 30, True) for measure in ("AP", "RR") for queries in (25, 50)]
    for kind in ("one disastrous run", "partial null"):
        found += [Cell(kind, measure, queries, 10) for measure in ("AP", "RR") for queries in (10, 25, 50, 200)]
    found += [Cell("one disastrous run", "AQWV 20 exclude", queries, 10) for queries in (25, 50)]
    found += [Cell(ALONE, measure, queries, 10) for measure in RANKED for queries in (25, 50)]
    found += [Cell(ALONE, measure, 50, systems) for measure in RANKED for systems in (75, 140)]
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
    options = parser("statistics", __doc__)
    options.add_argument("--campaigns", type=int, default=50, help="campaigns of a cell")
    options.add_argument("--headline", type=int, default=0, help="campaigns of those cells that a promise hangs on")
    options.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", nargs="*", default=[], help='parts of "KIND MEASURE", such as: coverage, "equal RR"')
    options.add_argument("--results", type=Path, default=Path("build/statistics.jsonl"))
    options.add_argument("--into", type=Path, help="a Markdown file that gets the tables, each after its mark")
    given = options.parse_args(arguments)
    if real_runs() is None:
        return 0
    every = list(chunks(cells(given.only), given.campaigns, given.headline, given.seed))
    total = summed(every, run(every, given.results, given.processes))
    tables = {
        "coverage": coverage_table(total),
        "collections": collection_table(total),
        "boards": board_table(total),
        "best": best_table(total),
    }
    print("\nCoverage in % (the lowest of one system) –share without an interval, in %\n")
    print(tables["coverage"])
    print("\nThe same over 10 queries, by collection\n")
    print(tables["collections"])
    print("\nShare of campaigns with a false finding; share of the true differences found\n")
    print(tables["boards"])
    print("\nHow often a best system is among those that may be the best, how many these are, how many have rank 1\n")
    print(tables["best"])
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
            if own.given and not LOWEST - room <= own.covered <= HIGHEST + room:
                yield f"coverage of {cell.measure} at {cell.queries} queries is {own.covered:.3f}"
        elif counts.get("top"):
            held, campaigns = counts["held"] / counts["top"], counts[f"run {RANK_SETS}"]
            if held < LEAST_HELD - 3 * np.sqrt(LEAST_HELD * (1 - LEAST_HELD) / campaigns):
                yield f"the best is held in {held:.3f}: {cell.kind}, {cell.measure}, {cell.queries} queries"
        if cell.kind in MOST_FALSE:
            most, campaigns = MOST_FALSE[cell.kind], max(1, counts["campaigns"])
            false = counts["false rank sets"] / campaigns
            if false > most + 3 * np.sqrt(most * (1 - most) / campaigns):
                yield f"{false:.3f} false findings of rank sets: {cell.kind}, {cell.measure}, {cell.queries} queries"


if __name__ == "__main__":
    sys.exit(main())
