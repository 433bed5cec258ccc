"""Runs every benchmark and prints the tables as Markdown."""

import argparse
import os
import platform
import tempfile
from collections.abc import Sequence
from compileall import compile_dir
from importlib.metadata import version
from pathlib import Path
from statistics import median, median_low

from bench.loads import Load, judged_deeper, make_loads, shortened
from bench.measuring import ROOT, Cost, measure
from bench.rank_sets import BOARDS, QUERIES, RANKERS
from bench.scoring import scoring
from bench.searching import SEARCHERS
from trials.installation import ENGINES

SHARED = Path(os.environ.get("LEADERBOARD_SHARED") or Path(__file__).resolve().parents[2] / "shared")
MAKER = SHARED / "data" / "synth" / "make_msmarco.py"
MIB, GB = 1 << 20, 1e9
PACKAGES = ("numpy", "pytrec_eval-terrier", "ir_measures", "bm25s", "PyStemmer")
PACKAGES_OF_OURS = ("leaderboard", "bench")
FORMS = ("sorted", "shuffled", "blanks")
LINES = (10_000, 100_000, 1_000_000)
JUDGED_EACH = (1000, 100, 10)
IMPORTS_EACH = 5
SEARCHED, ASKED = 100_000, 200
SAME_IN_32_BITS = 1e-5  # bm25s adds up numbers of 32 bits


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--folder", type=Path, help="where the load is kept for the next time (default: thrown away)")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each process, the median counts (5)")
    parser.add_argument("--queries", type=int, default=6980, help="queries of the load (6980)")
    parser.add_argument("--depth", type=int, default=1000, help="lines of each query (1000)")
    parser.add_argument("--documents", type=int, default=SEARCHED, help=f"documents that are searched ({SEARCHED})")
    parser.add_argument("--runs", type=int, default=500, help="real runs that are submitted and scored at once (500)")
    parser.add_argument("--scoring", action="store_true", help="only the table of scoring at the limit")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        bench(
            folder, arguments.repeat, arguments.queries, arguments.depth, arguments.documents, arguments.runs,
            only_scoring=arguments.scoring,
        )  # fmt: skip


def bench(
    folder: Path,
    repeat: int,
    queries: int,
    depth: int,
    documents: int,
    runs: int,
    *,
    forms: Sequence[str] = FORMS,
    boards: Sequence[int] = BOARDS,
    engines: Sequence[str] = ENGINES,
    judged_each: Sequence[int] = JUDGED_EACH,
    imports_each: int = IMPORTS_EACH,
    only_scoring: bool = False,
) -> None:
    """Prints all tables, or that of scoring only. The load is made below `folder`; boards: their systems.

    forms    of the large run that whole processes read
    engines  on which many runs are sent and scored
    judged_each   how many documents of a query are judged, one load for each
    imports_each  how often a module is imported for each of `repeat`
    """
    for package in PACKAGES_OF_OURS:
        compile_dir(ROOT / package, quiet=1)  # as pip does with what it installs
    loads = make_loads(folder.resolve(), MAKER, queries, depth)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    print(f"Python {platform.python_version()}, {versions}; {cores} cores")
    print(f"{queries * depth:,} lines, medians of {repeat}\n")
    scoring(loads["sorted"], queries * depth, SHARED, repeat, runs, engines)
    if only_scoring:
        return
    print()
    whole_processes([loads[form] for form in forms], repeat)
    short_and_imports(loads["short"], repeat, imports_each)
    growth(loads["sorted"], queries * depth, judged_each, repeat)
    searching(folder.resolve(), repeat, documents)
    ranking(boards, repeat)


def whole_processes(loads: list[Load], repeat: int) -> None:
    """The large run in its forms, against both peers: wall time, processor time and peak memory."""
    print("| run | ours | pytrec_eval | ratio | of processor time | ir_measures | ratio | our memory | pytrec_eval's |")
    print("|---|---|---|---|---|---|---|---|---|")
    for load in loads:
        ours, pytrec, irm = contest(load, ("ours", "pytrec_eval", "ir_measures"), repeat).values()
        print(
            f"| {load.name} | {ours.wall:.2f} s | {pytrec.wall:.2f} s | {ours.wall / pytrec.wall:.3f} "
            f"| {ours.processor / pytrec.processor:.3f} | {irm.wall:.2f} s | {ours.wall / irm.wall:.3f} "
            f"| {ours.memory / GB:.2f} GB | {pytrec.memory / GB:.2f} GB |"
        )


def contest(load: Load, names: tuple[str, ...], repeat: int) -> dict[str, Cost]:
    """The median of each contender's processes; they take turns, so that a busy machine is busy for all of them."""
    costs: dict[str, list[Cost]] = {name: [] for name in names}
    for _ in range(repeat):
        for name in names:
            costs[name].append(measure(["-m", "bench.contenders", name, str(load.run), str(load.judgments)]))
    means = {float(cost.output) for taken in costs.values() for cost in taken}
    if max(means) - min(means) > 1e-9:
        raise RuntimeError(f"{load.name}: the contenders disagree on AP: {means}")
    return {name: median_low(taken) for name, taken in costs.items()}


def short_and_imports(short: Load, repeat: int, imports_each: int) -> None:
    """A short run in a warm process, and what importing the metric module costs."""
    pairs = [measure(["-m", "bench.warm", str(short.run), str(short.judgments)]).output.split() for _ in range(repeat)]
    ours, theirs = (median(map(float, column)) for column in zip(*pairs, strict=True))
    with short.run.open() as file:
        lines = sum(1 for _ in file)
    print("\n| case | ours | peer | ratio |\n|---|---|---|---|")
    row(f"{lines:,} lines, warm process", ours, "pytrec_eval", theirs)
    ours, theirs = (imports(module, imports_each * repeat) for module in ("leaderboard.metrics", "numpy"))
    row("import leaderboard.metrics", ours, "numpy", theirs)


def row(case: str, ours: float, peer: str, theirs: float) -> None:
    print(f"| {case} | {ours * 1e3:.1f} ms | {peer} {theirs * 1e3:.1f} ms | {ours / theirs:.3f} |")


def imports(module: str, times: int) -> float:
    """Seconds that importing a module takes in a new process, the median of some."""
    timed = f"import time; start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"
    return median(float(measure(["-c", timed]).output) for _ in range(times))


def growth(load: Load, lines: int, judged_each: Sequence[int], repeat: int) -> None:
    """Our cost over the number of lines, and over the number of judgments."""
    print("\n| run | wall | processor | peak memory |\n|---|---|---|---|")
    grown = [shortened(load, count) for count in LINES if count < lines]
    deeper = [judged_deeper(load, each) for each in judged_each]
    for each in [*grown, Load(f"{lines:,} lines", load.run, load.judgments), *deeper]:
        cost = contest(each, ("ours",), repeat)["ours"]
        print(f"| {each.name} | {cost.wall:.2f} s | {cost.processor:.2f} s | {cost.memory / MIB:,.0f} MiB |")


def searching(folder: Path, repeat: int, documents: int) -> None:
    """A collection indexed and searched with BM25, against bm25s: wall time, processor time and peak memory."""
    made = f"from pathlib import Path; from bench.searching import make_collection as make; make(Path({str(folder)!r})"
    measure(["-c", f"{made}, {documents}, {ASKED})"])
    costs: dict[str, list[Cost]] = {name: [] for name in SEARCHERS}
    for _ in range(repeat):
        for name, taken in costs.items():
            taken.append(measure(["-m", "bench.searching", name, str(folder)]))
    best = [float(cost.output.split()[-1]) for taken in costs.values() for cost in taken]
    if max(best) - min(best) > SAME_IN_32_BITS * max(best):
        raise RuntimeError(f"the searchers disagree on the mean of the best scores: {best}")
    ours, theirs = (median_low(taken) for taken in costs.values())
    print("\n| searched | ours | bm25s | ratio | of processor time | our memory | bm25s's |")
    print("|---|---|---|---|---|---|---|")
    print(
        f"| {documents:,} documents, {ASKED} queries | {ours.wall:.2f} s | {theirs.wall:.2f} s "
        f"| {ours.wall / theirs.wall:.3f} | {ours.processor / theirs.processor:.3f} "
        f"| {ours.memory / MIB:,.0f} MiB | {theirs.memory / MIB:,.0f} MiB |"
    )


def ranking(boards: Sequence[int], repeat: int) -> None:
    """The rank sets of boards, against the matrix product that resampling them takes."""
    print(
        "\n| rank sets | resamples | ours | bare product | of processor time | our memory |\n|---|---|---|---|---|---|"
    )
    for systems in boards:
        costs: dict[str, list[Cost]] = {name: [] for name in RANKERS}
        for _ in range(repeat):
            for name, taken in costs.items():
                taken.append(measure(["-m", "bench.rank_sets", name, str(systems)]))
        ours, product = (median_low(taken) for taken in costs.values())
        print(
            f"| {systems} systems, {QUERIES} queries | {int(ours.output):,} | {ours.wall:.2f} s "
            f"| {product.wall:.2f} s | {ours.processor / product.processor:.1f} | {ours.memory / MIB:,.0f} MiB |"
        )


if __name__ == "__main__":
    main()
