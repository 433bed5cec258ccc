"""Many runs at once: what one command takes to submit them, one worker to score them, and two workers.

Real runs, cut to about a megabyte, are sent again and again under changed tags. What a run costs beyond reading and
measuring is what `leaderboard score` leaves over: one process that reads the same files and computes the same measures.
"""

import gzip
import io
import os
import re
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import sqlalchemy as sa

from bench.measuring import Cost, side_by_side
from leaderboard.access import CONSOLE
from leaderboard.campaigns import writes as campaigns
from leaderboard.db import Database
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.evaluations import find_evaluation
from leaderboard.formats import QueryRow, read_judgments
from leaderboard.judgments import writes as judgments, writes as queries
from leaderboard.judgments.rules import JudgmentFiles
from leaderboard.store import RunStore
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import State
from leaderboard.submissions.writes.submissions import submit
from leaderboard.teams import writes as teams
from leaderboard.teams.reads import find_team
from leaderboard.teams.writes import NewSystem
from leaderboard.worker.models import Scoring
from trials.installation import migrated_database

__all__ = ["COLLECTION", "QRELS", "Here", "ManyRuns", "copies", "many_runs"]

COLLECTION = Path("data", "dl-hard")
QRELS = "qrels.txt"
RUNS = ("bm25.gz", "bm25_rm3_t5-zs.gz")
DEPTH = 500  # lines of each of 50 queries: a megabyte
CAMPAIGN, TEAM = "many", "Team Alder"
MEASURES = ("AP", "nDCG@10", "RR@10", "P@10", "R@1000", "AQWV")
BETA, DOCUMENTS = 20, 8_841_823
SENT, ALONE, TOGETHER = "sent", "alone", "together"  # evaluations
MEMORY = Path("/dev/shm")
REFRESHED = re.compile(r" refreshed in ([0-9.]+) s")  # what a worker says of a measure of a board


@dataclass(frozen=True, slots=True)
class ManyRuns:
    """What so many runs cost on one engine.

    reading    `leaderboard score`, one process for all files
    sending    `leaderboard submit`, one call for all files
    worker     one worker until nothing waits, its scoring process and the boards included
    refreshes  of measures of the board, by this worker: the seconds that each took
    alone, together  seconds from the first claim to the last result, with one worker and with two
    """

    runs: int
    reading: Cost
    sending: Cost
    worker: Cost
    refreshes: list[float]
    alone: float
    together: float

    @property
    def beyond_reading(self) -> float:
        """Processor seconds of the worker, a run, beyond reading and measuring."""
        return (self.worker.processor - self.reading.processor) / self.runs

    @property
    def gain(self) -> float:
        """By how much two workers are faster than one."""
        return self.alone / self.together


def many_runs(engine: str, shared: Path, count: int) -> ManyRuns:
    """Submits `count` runs and has them scored. shared: the folder of real runs and judgments."""
    with ExitStack() as stack:
        memory = MEMORY if MEMORY.is_dir() else None
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=memory)))
        url, database = stack.enter_context(migrated_database(engine, folder))
        qrels = shared / COLLECTION / QRELS
        files = copies(shared / COLLECTION, folder, count)
        here = Here(url, database, str(folder / "store"))
        here.make_campaign(qrels, [SENT, ALONE, TOGETHER])
        setting = ("--measures", " ".join(MEASURES), "--beta", BETA, "--documents", DOCUMENTS)
        reading = here.run("score", *files, "--judgments", qrels, *setting)
        place = f"{CAMPAIGN}/{SENT}"
        sending = here.run(
            "submit", place, *files, "--team", "team-alder", "--new-system", "Heron", "--confirm", "--wait", 0
        )
        here.submit_each(ALONE, files)
        worker = here.run("worker", "--once")
        here.submit_each(TOGETHER, files)
        here.run("worker", "--once", at_once=2)
        refreshes = [float(seconds) for seconds in REFRESHED.findall(worker.output)]
        alone, together = (here.seconds(name, count) for name in (ALONE, TOGETHER))
        with redirect_stdout(io.StringIO()):  # of a server that is stopped
            stack.close()
        return ManyRuns(count, reading, sending, worker, refreshes, alone, together)


def copies(source: Path, folder: Path, count: int) -> list[Path]:
    """Files with the first lines of each query, each with a tag of its own."""
    texts = []
    for name in RUNS:
        kept: dict[str, list[str]] = {}
        for line in gzip.decompress((source / name).read_bytes()).decode().splitlines():
            kept.setdefault(line.split()[0], []).append(line.rsplit(maxsplit=1)[0])
        texts.append([line for lines in kept.values() for line in lines[:DEPTH]])
    files = []
    for number, lines in enumerate(islice(cycle(texts), count)):
        files.append(folder / f"run-{number}.txt")
        files[-1].write_text("".join(f"{line} run-{number}\n" for line in lines))
    return files


class Here:
    """An installation, and commands on it."""

    def __init__(self, url: str, database: Database, store: str) -> None:
        self.environment = {**os.environ, "LEADERBOARD_DATABASE_URL": url, "LEADERBOARD_STORE_URL": store}
        self._database = database
        self._store = RunStore(store)

    def run(self, *arguments: str | float | Path, at_once: int = 1) -> Cost:
        """Runs a command; the cost of the first where there are several at once."""
        command = ["-m", "leaderboard", *map(str, arguments)]
        return side_by_side([command] * at_once, self.environment, logged=True)[0]

    def make_campaign(self, qrels: Path, evaluations_named: Sequence[str]) -> None:
        """With these evaluations; the one called SENT has no judgments yet, so that its runs wait."""
        judged = read_judgments(qrels)
        asked = [QueryRow(query, f"query {query}", ()) for query in judged.queries]
        with self._database.write() as session:
            teams.create_team(session, CONSOLE, TEAM)
            campaign = campaigns.create_campaign(
                session, CONSOLE, CAMPAIGN, "Many", measures=MEASURES, primary_measure=MEASURES[0], beta=BETA
            )
            for name in evaluations_named:
                bounds = {"documents": DOCUMENTS, "condition": name, "daily_quota": None}
                made = evaluations.create_evaluation(session, CONSOLE, campaign, name, name, "2026", **bounds)
                queries.import_queries(session, CONSOLE, made, asked)
                if name != SENT:
                    judgments.import_judgments(session, CONSOLE, made, JudgmentFiles(judged))

    def submit_each(self, name: str, files: list[Path]) -> None:
        """Queues each file as the run of a system of its own, so that the board has as many rows."""
        for number, file in enumerate(files):
            with file.open("rb") as stream:
                upload = self._store.receive(stream, file.name)
            with self._database.write() as session:
                evaluation, team = find_evaluation(session, CONSOLE, CAMPAIGN, name), find_team(session, "team-alder")
                system = NewSystem(f"{name} {number}")
                submit(session, CONSOLE, evaluation.id, team.id, system=system, upload=upload)

    def seconds(self, name: str, count: int) -> float:
        """From the first claim to the last result. Raises RuntimeError unless all runs were scored."""
        with self._database.read() as session:
            rows = session.execute(
                sa.select(Scoring.started_at, Scoring.finished_at)
                .join(Submission, Submission.id == Scoring.submission_id)
                .join(Evaluation, Evaluation.id == Submission.evaluation_id)
                .where(Evaluation.slug == name, Scoring.state == State.SCORED)
            ).all()
        if len(rows) != count:
            raise RuntimeError(f"{len(rows)} of {count} runs were scored")
        started = min(started for started, _ in rows if started is not None)
        finished = max(finished for _, finished in rows if finished is not None)
        return (finished - started).total_seconds()
