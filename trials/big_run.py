"""Scores a run of seven million lines in a whole installation, on both engines: is its figure right, and what is slow?

    python -m trials.big_run --queries 6980 --depth 1000

The mean must be the one that `leaderboard trec_eval` gives for the same files; then each page about the run is read
once.
"""

import argparse
import csv
import io
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.loads import Load, make_loads
from tests.support.shared import shared_folder
from tests.support.site import LEADERBOARD, Site
from trials.installation import ENGINES, installation

EVALUATION = "big/2026"
MAKER = Path("data", "synth", "make_msmarco.py")
SCORED_SECONDS = 600.0
MIB = 1 << 20
PAGES = {
    "board": f"/campaigns/{EVALUATION}",
    "all queries": f"/campaigns/{EVALUATION}/queries",
    "all queries as CSV": f"/campaigns/{EVALUATION}/queries.csv",
    "one query": f"/campaigns/{EVALUATION}/queries/{{query}}",
    "one run": "/submissions/1",
    "a ranked list": "/submissions/1/queries/{query}",
    "progress": "/campaigns/big/progress",
}


def set_up(site: Site, folder: Path, load: Load) -> str:
    """The campaign with its queries, its judgments and a team; the id of a query."""
    queries = list(dict.fromkeys(line.split()[0] for line in load.judgments.read_text().splitlines()))
    listed = folder / "queries.tsv"
    listed.write_text("".join(f"{query}\tquery {query}\n" for query in queries))
    measures = "AP nDCG@10 RR@10 R@1000 AQWV"
    site.command(
        "campaign",
        "add",
        "big",
        "--title",
        "Big",
        "--measures",
        measures,
        "--primary",
        "AP",
        "--beta",
        "20",
        "--visibility",
        "public",
    )
    settings = ("--title", "2026", "--period", "2026", "--documents", "10000000", "--details", "always", "--public")
    site.command("evaluation", "add", EVALUATION, *settings)
    site.command("queries", "import", EVALUATION, listed)
    site.command("judgments", "import", EVALUATION, load.judgments)
    site.command("team", "add", "Team Alder")
    return queries[0]


def trial(engine: str, load: Load, expected: str) -> list[str]:
    """Every fault found."""
    with installation(engine, processes=1) as here:  # each page is read once
        query = set_up(here.site, here.folder, load)
        start = time.monotonic()
        here.site.command(
            "submit", "--confirm", "--wait", "0", EVALUATION, load.run, "--team", "team-alder", "--new-system", "Heron"
        )
        received = time.monotonic()
        if here.not_scored(SCORED_SECONDS):
            return ["the run was not scored"]
        print(f"  received in {received - start:.1f} s, scored {time.monotonic() - received:.1f} s later")
        for name, path in PAGES.items():
            body, seconds = here.read(path.format(query=query))
            print(f"  {name}: {seconds:.2f} s, {len(body) / MIB:.2f} MiB")
        (row,) = csv.DictReader(io.StringIO(here.read(f"/campaigns/{EVALUATION}.csv")[0].decode()))
        found = f"{float(row['AP']):.4f}"
        return [] if found == expected else [f"the board has AP {found}, the command {expected}"]


def by_command(load: Load) -> str:
    """AP as `leaderboard trec_eval` prints it."""
    command = [*LEADERBOARD, "trec_eval", "-m", "map", str(load.judgments), str(load.run)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m trials.big_run", description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=6980)
    parser.add_argument("--depth", type=int, default=1000, help="lines of each query")
    parser.add_argument("--engine", choices=ENGINES, help="this one only")
    given = parser.parse_args(arguments)
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        load = make_loads(Path(folder), shared_folder() / MAKER, given.queries, given.depth)["sorted"]
        expected = by_command(load)
        for engine in [given.engine] if given.engine else ENGINES:
            print(f"{engine}, {given.queries * given.depth:,} lines", flush=True)
            faults += trial(engine, load, expected)
    for fault in faults:
        print(f"  FAULT {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
