"""How much faster several workers are than one, on PostgreSQL and a bucket, and what waiting workers ask for.

    python -m trials.throughput --runs 60 --workers 1 2 4

Real runs of a megabyte wait in the queue, and so many workers score them until none waits: runs a second from the first
claim to the last result, as a ratio to one worker. Then ten workers wait, and PostgreSQL's log says how many statements
a second they send. The requests to the bucket are counted by a proxy in front of it.
"""

import argparse
import os
import re
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, redirect_stdout
from pathlib import Path

from bench.many_runs import COLLECTION, QRELS, Here, copies
from bench.measuring import side_by_side
from leaderboard import migrate
from leaderboard.db import Database
from tests.support.postgres import PostgresServer, stoppable_server
from tests.support.processes import Process
from tests.support.shared import shared_data
from tests.support.site import LEADERBOARD, START_SECONDS
from tests.support.stores import BUCKET, s3_service
from trials.proxy import proxy

RUNS = 60
WORKERS = (1, 2, 4)
WAITING, SETTLING_SECONDS, IDLE_SECONDS = 10, 15.0, 30.0
LISTED = 8
STATEMENT = re.compile(r"LOG:  (?:statement|execute [^:]*): ")


def idle(here: Here, server: PostgresServer, stack: ExitStack, seconds: float) -> None:
    """Prints how many statements a second WAITING workers send that have nothing to do, of which kinds."""
    for _ in range(WAITING):
        worker = stack.enter_context(Process([*LEADERBOARD, "worker"], env=here.environment))
        worker.wait_for_output("waiting for work", seconds=START_SECONDS)
    time.sleep(SETTLING_SECONDS)
    before = len(server.output)
    time.sleep(seconds)
    said = [line for line in server.output[before:].splitlines() if STATEMENT.search(line)]
    kinds = Counter(" ".join(STATEMENT.split(line, maxsplit=1)[1].split()[:3]) for line in said)
    print(
        f"  {WAITING} waiting workers: {len(said) / seconds:.2f} statements a second: {dict(kinds.most_common(LISTED))}"
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m trials.throughput", description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS, help=f"of each round ({RUNS})")
    parser.add_argument("--workers", type=int, nargs="+", default=WORKERS)
    parser.add_argument("--idle", type=float, default=IDLE_SECONDS, help=f"seconds of waiting ({IDLE_SECONDS:.0f})")
    given = parser.parse_args(arguments)
    data = shared_data()
    if data is None:
        print("left out: no real runs", file=sys.stderr)
        return 0
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(stoppable_server(log_statement="all"))
        bucket = stack.enter_context(proxy(stack.enter_context(s3_service())))
        access = {"AWS_ENDPOINT_URL": bucket.url, "AWS_ACCESS_KEY_ID": "trial", "AWS_SECRET_ACCESS_KEY": "of the trial"}
        os.environ.update(access)
        database = Database.connect(server.url)
        stack.callback(database.close)
        migrate.upgrade(database)
        here = Here(server.url, database, f"s3://{BUCKET}/throughput")
        rounds = {f"with-{workers}": workers for workers in given.workers}
        files = copies(data.parent / COLLECTION, folder, given.runs)
        here.make_campaign(data.parent / COLLECTION / QRELS, list(rounds))
        size, alone = sum(file.stat().st_size for file in files) / len(files), 0.0
        for name, workers in rounds.items():
            here.submit_each(name, files)
            asked, received = bucket.requests.copy(), bucket.received
            costs = side_by_side([["-m", "leaderboard", "worker", "--once"]] * workers, here.environment, logged=True)
            processor = sum(cost.processor for cost in costs) / given.runs
            rate = given.runs / here.seconds(name, given.runs)
            alone = alone or rate
            asked = bucket.requests - asked
            print(
                f"  {workers} workers: {rate:.2f} runs of {size:,.0f} bytes a second, {rate / alone:.2f} of one; "
                f"{processor:.2f} s of processor a run; "
                f"requests a run { ({verb: round(count / given.runs, 1) for verb, count in asked.items()}) }, "
                f"{(bucket.received - received) / given.runs:,.0f} bytes read",
                flush=True,
            )
        idle(here, server, stack, given.idle)
        with redirect_stdout(None):  # what each process said
            stack.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
