"""Many people read pages while runs are submitted, on both engines: does every page answer, and how fast?

    python -m trials.readers --seconds 60 --readers 8 --seed 1

Readers walk through the demonstration's pages at random, each asking for the next page as soon as it has one, while
runs are submitted one after the other and a worker scores them. Every page must answer, and every run be scored.
"""

import argparse
import datetime as dt
import random
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median, quantiles
from urllib.error import URLError

import sqlalchemy as sa

from leaderboard.campaigns.models import Campaign
from leaderboard.config import folder
from leaderboard.demo import campaigns as seeding
from leaderboard.evaluations.models import Evaluation
from leaderboard.store import RunStore
from leaderboard.transfer.manifest import NAME
from trials.faults import tell
from trials.installation import ENGINES, Installation, installation

FINISH_SECONDS = 300.0
REJECTED = 1  # of the demonstration's runs has mistakes
CAMPAIGN = "harbour"
EVALUATION = "\n[[evaluation]]\n"
PAGES = {
    "front page": "/",
    "campaign": f"/campaigns/{CAMPAIGN}",
    "progress": f"/campaigns/{CAMPAIGN}/progress",
    "open board": f"/campaigns/{CAMPAIGN}/{{open}}",
    "closed board": f"/campaigns/{CAMPAIGN}/{{closed}}",
    "closed board as CSV": f"/campaigns/{CAMPAIGN}/{{closed}}.csv",
    "all queries": f"/campaigns/{CAMPAIGN}/{{closed}}/queries",
    "measures": "/measures",
}


class Readers:
    """Threads that read pages. `seconds` has the times that each page took, `faults` the pages that did not answer."""

    def __init__(self, here: Installation, pages: Mapping[str, str], count: int, seed: int) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.faults: list[str] = []
        self._here = here
        self._pages = list(pages.items())
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._walk, args=(random.Random(seed + n),)) for n in range(count)]

    def _walk(self, chance: random.Random) -> None:
        while not self._stop.is_set():
            name, path = chance.choice(self._pages)
            try:
                self.seconds[name].append(self._here.read(path)[1])
            except (URLError, TimeoutError) as error:
                self.faults.append(f"{path}: {error}")

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()


def trial(engine: str, seconds: float, readers: int, seed: int, *, few: bool) -> Sequence[str]:
    """Every fault found; prints how long the pages took. few: of the campaign, its oldest and newest evaluation only"""
    with installation(engine) as here:
        store = RunStore(here.site.environment["LEADERBOARD_STORE_URL"])
        sample = _load(here, store, few=few)
        with here.database.read() as session:
            by_year = sa.select(Evaluation.slug).join(Campaign).order_by(Evaluation.period_key)
            closed = session.scalars(by_year.where(Campaign.slug == CAMPAIGN)).first()
        pages = {name: path.format(closed=closed, open=sample.evaluation) for name, path in PAGES.items()}
        evaluation = f"{CAMPAIGN}/{sample.evaluation}"
        here.site.command("evaluation", "change", evaluation, "--daily-quota", "none", "--total-quota", "none")
        crowd = Readers(here, pages, readers, seed)
        crowd.start()
        started = time.monotonic()
        runs = 0
        while time.monotonic() - started < seconds:
            _submit(here, evaluation, sample.text, runs)
            runs += 1
        crowd.stop()
        not_scored = here.not_scored(FINISH_SECONDS) - REJECTED
    count = sum(map(len, crowd.seconds.values()))
    print(f"  {count} pages to {readers} readers in {seconds:.0f} s, {runs} runs submitted meanwhile")
    for name in pages:
        if len(taken := crowd.seconds[name]) > 1:
            print(f"  {name}: median {median(taken):.3f} s, 95 of 100 within {quantiles(taken, n=20)[-1]:.3f} s")
    return [*crowd.faults, *([f"{not_scored} runs were not scored"] if not_scored else [])]


def _load(here: Installation, store: RunStore, *, few: bool) -> seeding.SampleRun:
    """The seeds, or little of them; the sample run."""
    now = dt.datetime.now(dt.UTC)
    if not few:
        return seeding.load(here.database, store, now).sample
    harbour = seeding.SimulatedCampaign(folder("seeds") / "harbour", now.year, now)
    sample = harbour.sample()
    with tempfile.TemporaryDirectory() as drawn:
        harbour.write(Path(drawn))
        manifest = Path(drawn, NAME)
        campaign, oldest, *others = manifest.read_text().split(EVALUATION)
        newest = next(each for each in others if f'"{sample.evaluation}"' in each)
        manifest.write_text(EVALUATION.join([campaign, oldest, newest]))
        seeding.import_folder(here.database, store, Path(drawn), manifest)
    return sample


def _submit(here: Installation, evaluation: str, text: bytes, number: int) -> None:
    """Submits the run under a system of its own, with a last line of its own, so that no two files are the same."""
    file = here.folder / f"trial-{number}.run"
    file.write_bytes(text + f"# trial {number}\n".encode())
    here.site.command(
        "submit", "--wait", "0", evaluation, file, "--team", "team-alder", "--new-system", f"Trial {number}"
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m trials.readers", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="on each engine (default: 60)")
    parser.add_argument("--readers", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", choices=ENGINES, help="this one only")
    parser.add_argument("--few", action="store_true", help="of the campaign, its oldest and newest evaluation only")
    given = parser.parse_args(arguments)
    faults: list[str] = []
    for engine in [given.engine] if given.engine else ENGINES:
        print(f"{engine}, {given.readers} readers, seed {given.seed}", flush=True)
        faults += trial(engine, given.seconds, given.readers, given.seed, few=given.few)
    tell(faults)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
