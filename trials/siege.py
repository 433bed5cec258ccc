"""Many slow clients hold a site, started by `leaderboard serve` without a proxy: how fast does it answer meanwhile?

    python -m trials.siege --seconds 30 --uploads 64 --silent 100 --half-sent 100

Uploads come in byte by byte, other connections send nothing or half a head. Whoever is cut off is followed by the next.
Meanwhile pages and /healthz are asked for, one after the other: every one must answer, and all but one in a hundred
within a second.
"""

import argparse
import asyncio
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from itertools import cycle, islice
from statistics import median

from tests.support.clients import crowd, run, upload_requests
from tests.support.world import PASSWORD, add_senders, build_world
from trials.faults import tell
from trials.installation import ENGINES, installation

MOST_SECONDS = 1.0
LATE_SHARE = 100  # one answer among so many may meet a machine that is busy with something else
FORM = "/campaigns/small/2026/submit"
PAGES = ["/healthz", "/", "/login", "/campaigns/small", "/campaigns/small/2026"]
UPLOAD_BYTES = 10_000_000
FILES_OF_ONE = 16  # that arrive; more than 20 of one person are refused
FIRST_BYTES = b"q1 Q0 d1 1 0.9 alpha\n" * 20_000  # beyond what the site awaits before an upload gets its thread
ANSWER_SECONDS = 25.0


async def besieged(
    address: str, requests: Sequence[bytes], seconds: float, silent: int, half_sent: int
) -> tuple[dict[str, list[float]], list[str]]:
    """The seconds that each page took, and what went wrong."""
    taken: dict[str, list[float]] = defaultdict(list)
    faults: list[str] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        # A round is shorter than the time after which a site cuts off who sends half a head.
        async with crowd(address, requests, silent=silent, half_sent=half_sent) as slow:
            round_ends = min(until, time.monotonic() + 10.0)
            while time.monotonic() < round_ends:
                for page in PAGES:
                    try:
                        status, took = await asyncio.wait_for(slow.ask(page), ANSWER_SECONDS)
                    except (OSError, IndexError, TimeoutError) as error:
                        faults.append(f"{page}: no answer ({type(error).__name__})")
                        continue
                    taken[page].append(took)
                    if status != 200:
                        faults.append(f"{page}: status {status}")
                await asyncio.sleep(0.05)
    return taken, faults


def trial(engine: str, seconds: float, uploads: int, silent: int, half_sent: int) -> list[str]:
    """Every fault found; prints how long the answers took."""
    with installation(engine, workers=0) as here:  # no upload comes to its end
        build_world(here.database, here.folder).change_evaluation(daily_quota=None)
        names = add_senders(here.database, -(-uploads // FILES_OF_ONE))
        requests = upload_requests(here.site.url, names, PASSWORD, FORM, UPLOAD_BYTES, FIRST_BYTES)
        address = here.site.url.removeprefix("http://")
        all_requests = list(islice(cycle(requests), uploads))
        taken, faults = run(besieged(address, all_requests, seconds, silent, half_sent))
    for page in PAGES:
        if times := taken[page]:
            print(f"  {page}: median {median(times):.3f} s, slowest {max(times):.3f} s, {len(times)} answers")
    every = [took for times in taken.values() for took in times]
    late = sum(took > MOST_SECONDS for took in every)
    print(f"  {late} of {len(every)} answers took longer than {MOST_SECONDS:g} s")
    if late > max(1, len(every) // LATE_SHARE):
        faults.append(f"{late} of {len(every)} answers took longer than {MOST_SECONDS:g} s")
    return faults


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m trials.siege", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=30.0, help="on each engine (default: 30)")
    parser.add_argument("--uploads", type=int, default=64)
    parser.add_argument("--silent", type=int, default=100)
    parser.add_argument("--half-sent", type=int, default=100)
    parser.add_argument("--engine", choices=ENGINES, help="this one only")
    given = parser.parse_args(arguments)
    faults: list[str] = []
    for engine in [given.engine] if given.engine else ENGINES:
        print(f"{engine}, {given.uploads} slow uploads, {given.silent} silent, {given.half_sent} half-sent", flush=True)
        faults += trial(engine, given.seconds, given.uploads, given.silent, given.half_sent)
    tell(faults)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
