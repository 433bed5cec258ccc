"""Importing runs costs little more than scoring their files: a ratio, by the processor time of both in one process."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from leaderboard.cli import run as call
from tests.cli.conftest import Command

RUNS, QUERIES, DEPTH = 12, 50, 200
TIMES, SECONDS_A_RUN = 1.3, 0.1  # of scoring the files in one call, and more for each run
MEASURES = ["nDCG@10", "AP", "P@10", "RR"]


def computed(work: Callable[[], int]) -> float:
    """Processor seconds of this process, all its threads."""
    started = time.process_time()
    assert work() == 0
    return time.process_time() - started


@pytest.mark.parametrize("engine_name", ["sqlite"])
def test_importing_runs_takes_little_more_than_scoring_their_files(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "2019"
    folder.mkdir()
    judged = [f"{query} 0 d{query}-{number} {number % 3}" for query in range(QUERIES) for number in range(0, DEPTH, 4)]
    (folder / "qrels.txt").write_text("\n".join(judged) + "\n")
    files = [folder / f"input.run{number:02}" for number in range(RUNS)]
    for number, file in enumerate(files):
        lines = [
            f"{query} Q0 d{query}-{(rank * 7 + number) % DEPTH} {rank} {DEPTH - rank}.5 run{number:02}"
            for query in range(QUERIES)
            for rank in range(DEPTH)
        ]
        file.write_text("\n".join(lines) + "\n")
    manifest = tmp_path / "m.toml"
    assert command("import-campaign", folder, "--write-manifest", manifest).status == 0
    line = ["score", *map(str, files), "--judgments", str(folder / "qrels.txt"), "--measures", " ".join(MEASURES)]
    scored = computed(lambda: call(line))
    imported = computed(lambda: call(["import-campaign", str(folder), "--manifest", str(manifest)]))
    assert imported <= TIMES * scored + SECONDS_A_RUN * RUNS, (imported, scored)
