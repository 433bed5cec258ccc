"""Kills an import at random until it is done: what it made must be what one that nobody stopped makes.

    python -m trials.import_kills --runs 60 --seed 1

The command is started, killed with SIGKILL after a moment, and started again, on both engines.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.support.shared import REPOSITORY
from tests.support.transferred import held
from trials.installation import ENGINES, migrated_database

QUERIES, DEPTH = 30, 300
ALIVE_SECONDS = (1.0, 5.0)  # before a kill; starting alone takes about one
MOST_KILLS = 5  # each time all of it begins again


def main(arguments: list[str] | None = None) -> int:
    """The exit status: 1 when what a killed import made differs from what it should have."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    chance = random.Random(given.seed)
    status = 0
    for engine in ENGINES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            _make(folder / "2019", given.runs, chance)
            line = [sys.executable, "-m", "leaderboard", "import-campaign", str(folder / "2019")]
            manifest = folder / "m.toml"
            subprocess.run(
                [*line, "--write-manifest", str(manifest)], check=True, cwd=REPOSITORY, stdout=subprocess.DEVNULL
            )
            dated = manifest.read_text().replace("period_key = 2019\n", "period_key = 2019\ncloses_at = 2019-09-30\n")
            dated = dated.replace('file = "qrels.txt"', 'file = "qrels.txt", released = 2019-09-01')
            manifest.write_text(dated)  # else runs and judgments are of the moment at which they come in
            line += ["--manifest", str(manifest)]
            found, kills = [], 0
            for killed in (False, True):
                beside = folder / f"database-{killed}"
                beside.mkdir()
                with migrated_database(engine, beside) as (url, database):
                    environment = {
                        **os.environ,
                        "LEADERBOARD_DATABASE_URL": url,
                        "LEADERBOARD_STORE_URL": str(folder / f"store-{killed}"),
                        "LEADERBOARD_LEASE_SECONDS": "2",
                    }
                    kills = _import(line, environment, chance if killed else None)
                    found.append(held(database, "2019"))
            same = found[0] == found[1]
            runs = len(found[1]["2019"]["runs"])
            print(f"{engine}: {runs} runs, killed {kills} times: {'the same' if same else 'DIFFERENT'}", flush=True)
            status |= not same or runs != given.runs
    return int(status)


def _import(line: list[str], environment: dict[str, str], chance: random.Random | None) -> int:
    """Runs the command until it ends by itself, and a worker; how often it was killed."""
    kills = 0
    while True:
        importing = subprocess.Popen(
            line, cwd=REPOSITORY, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        if chance is not None and kills < MOST_KILLS:
            deadline = time.monotonic() + chance.uniform(*ALIVE_SECONDS)
            while time.monotonic() < deadline and importing.poll() is None:
                time.sleep(0.05)
            if importing.poll() is None:
                os.kill(importing.pid, signal.SIGKILL)
                importing.wait()
                kills += 1
                continue
        if importing.wait() != 0:
            raise RuntimeError(f"the import ended with status {importing.returncode}")
        worker = [sys.executable, "-m", "leaderboard", "worker", "--once"]
        subprocess.run(worker, check=True, cwd=REPOSITORY, env=environment, stderr=subprocess.DEVNULL)
        return kills


def _make(folder: Path, runs: int, chance: random.Random) -> None:
    folder.mkdir()
    documents = [f"d{number}" for number in range(5 * DEPTH)]
    judged = [
        f"{query} 0 {one} {chance.randrange(3)}" for query in range(QUERIES) for one in chance.sample(documents, 50)
    ]
    (folder / "qrels.txt").write_text("\n".join(judged) + "\n")
    for number in range(runs):
        lines = [
            f"{query} Q0 {one} {rank} {DEPTH - rank}.5 run{number:02}"
            for query in range(QUERIES)
            for rank, one in enumerate(chance.sample(documents, DEPTH))
        ]
        (folder / f"input.run{number:02}").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
