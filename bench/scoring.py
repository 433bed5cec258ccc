"""The table of scoring at the limit: what is measured beside what is required and what is aimed at."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from statistics import median_low

from bench.loads import Load
from bench.many_runs import many_runs
from bench.measuring import Cost, measure, measure_program

__all__ = ["scoring"]

GZIP_LEVEL = "-6"  # its own default


def scoring(load: Load, lines: int, shared: Path, repeat: int, runs: int, engines: Sequence[str]) -> None:
    """Prints the table. shared: the folder of real runs; runs: how many of them are sent and scored, on each engine."""
    print("\n| scoring | ours | beside | ratio | required | aim |\n|---|---|---|---|---|---|")
    _large_run(load, lines, repeat)
    _gzipped(load, lines, repeat)
    for engine in engines:
        _many(engine, shared, runs)


def _row(case: str, ours: str, beside: str, ratio: float, required: object, aim: object) -> None:
    print(f"| {case} | {ours} | {beside} | {ratio:.2f} | {required} | {aim} |")


def _ours(load: Load) -> list[str]:
    return ["-m", "leaderboard", "trec_eval", "-c", "-m", "all_trec", str(load.judgments), str(load.run)]


def _large_run(load: Load, lines: int, repeat: int) -> None:
    """Whole commands in turn."""
    theirs: list[Cost] = []
    ours: list[Cost] = []
    for _ in range(repeat):
        ours.append(measure(_ours(load)))
        theirs.append(measure(["-m", "bench.trec_eval", str(load.judgments), str(load.run)]))
    mine, peer = median_low(ours), median_low(theirs)
    told = f"{mine.wall:.2f} s, {mine.memory >> 20} MiB", f"trec_eval 9.0.8 {peer.wall:.2f} s"
    _row(f"`trec_eval -m all_trec`, {lines:,} lines", *told, mine.wall / peer.wall, 0.20, 0.10)


def _gzipped(load: Load, lines: int, repeat: int) -> None:
    """The same run gzipped, beside decompressing it to nowhere."""
    packed = load.run.with_name(f"{load.run.name}.gz")
    with packed.open("wb") as target:
        subprocess.run(["gzip", GZIP_LEVEL, "-c", load.run], stdout=target, check=True)
    own = Load(load.name, packed, load.judgments)
    ours, theirs = [], []
    for _ in range(repeat):
        ours.append(measure(_ours(own)))
        theirs.append(measure_program(["zcat", str(packed)], quiet=True))
    mine, peer = median_low(ours), median_low(theirs)
    told = f"{mine.wall:.2f} s", f"zcat {peer.wall:.2f} s"
    _row(f"the same gzipped, {lines:,} lines", *told, mine.wall / peer.wall, 1.15, 0.6)


def _many(engine: str, shared: Path, runs: int) -> None:
    found = many_runs(engine, shared, runs)
    each = found.reading.processor / runs
    beside = f"reading and measuring {1e3 * each:.0f} ms a run"
    sent = found.sending.wall / runs
    what = f"{engine}: {runs} files in one call"
    _row(what, f"{1e3 * sent:.0f} ms a file", beside, sent / each, "100 ms", "")
    beyond, refreshed = (
        found.beyond_reading,
        f"{len(found.refreshes)} refreshes of measures in {sum(found.refreshes):.1f} s",
    )
    what = f"{engine}: a worker's processor time beyond, {refreshed}"
    _row(what, f"{1e3 * beyond:.0f} ms a run", beside, beyond / each, "60 ms", "")
    alone = f"one {found.alone:.1f} s"
    _row(f"{engine}: two workers", f"{found.together:.1f} s", alone, found.gain, "1.6 × on PostgreSQL", 1.9)
