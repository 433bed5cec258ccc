"""What Prometheus reads: of answers, from all processes of this host; of the installation, from its database.

Imported by what counts or shows, once `leaderboard serve` has named the folder where its processes add up theirs:
prometheus_client looks for it as it is imported.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from leaderboard.config import METRICS_FOLDER
from leaderboard.db import Database
from leaderboard.errors import NoDatabase
from leaderboard.operating.reads import SILENT_SECONDS, installation_status, recent_scoring_seconds

BUCKETS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # seconds
QUANTILES = (0.5, 0.9, 0.99)
IN_WORDS = {
    "database_up": "Whether the database answers.",
    "queue_oldest_seconds": "Since when the oldest run waits to be scored.",
    "workers": "Workers with a heartbeat within two minutes.",
    "mails_waiting": "Mails that are not sent yet.",
    "mails_failed": "Mails that could not be sent.",
    "database_bytes": "Size of the database.",
    "last_backup_timestamp_seconds": "When the last backup was made; 0 for never.",
    "last_verify_timestamp_seconds": "When `leaderboard verify` last found nothing; 0 for never.",
}

PAGE_SECONDS = Histogram(
    "leaderboard_page_seconds", "From a request to the beginning of its answer, by kind of page and HTTP status.",
    ["endpoint", "status"], registry=None, buckets=BUCKETS,
)  # fmt: skip


def exposition(database: Database, now: datetime) -> bytes:
    """All figures in Prometheus' text format; without the database those of answers, and that it does not answer.

    Under another server than `leaderboard serve` there are figures of answers only where its processes share a folder.
    """
    registry = CollectorRegistry()
    if METRICS_FOLDER in os.environ:
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # prometheus_client has no type for it
    registry.register(_OfDatabase(database, now))
    return generate_latest(registry)


@dataclass(eq=False)
class _OfDatabase(Collector):
    database: Database
    now: datetime

    def collect(self) -> list[Metric]:
        try:
            return [*_figures(self.database, self.now)]
        except NoDatabase:
            return [_gauge("database_up", 0.0)]


def _gauge(name: str, value: float | None) -> Metric:
    return GaugeMetricFamily(f"leaderboard_{name}", IN_WORDS[name], value or 0.0)


def _figures(database: Database, now: datetime) -> Iterator[Metric]:
    with database.read() as session:
        status, seconds = installation_status(session, now), recent_scoring_seconds(session)
    yield _gauge("database_up", 1.0)
    yield _gauge("queue_oldest_seconds", status.waiting_seconds)
    yield _gauge("workers", sum(worker.silent_seconds < SILENT_SECONDS for worker in status.workers))
    for name in ("mails_waiting", "mails_failed", "database_bytes"):
        yield _gauge(name, getattr(status, name))
    for name, moment in (("backup", status.backed_up_at), ("verify", status.verified.clean_at)):
        yield _gauge(f"last_{name}_timestamp_seconds", None if moment is None else moment.timestamp())
    jobs = GaugeMetricFamily("leaderboard_jobs", "Runs that wait, are scored now, or were given up.", labels=["state"])
    for state in ("waiting", "scoring", "failed"):
        jobs.add_metric([state], getattr(status, state))
    yield jobs
    yield CounterMetricFamily("leaderboard_submissions", "Runs that were handed in.", status.submissions)
    scoring = Metric("leaderboard_scoring_seconds", "Of the newest 1,000 scorings.", "summary")
    for share in QUANTILES if seconds else ():
        scoring.add_sample(scoring.name, {"quantile": f"{share}"}, seconds[int(share * len(seconds))])
    yield scoring
