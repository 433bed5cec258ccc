"""What Prometheus reads: of answers, from all processes of this host; of the installation, from its database.

Imported by what counts or shows, once `leaderboard serve` has named the folder where its processes add up theirs:
prometheus_client looks for it as it is imported.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from leaderboard.config import METRICS_FOLDER
from leaderboard.db import Database
from leaderboard.errors import NoDatabase
from leaderboard.operating.reads import SILENT_SECONDS, installation_status

PAGE_SECONDS = Histogram(
    "leaderboard_page_seconds", "From a request to the beginning of its answer, by kind of page and HTTP status.",
    ["endpoint", "status"], registry=None, buckets=(0.01, 0.03, 0.1, 0.3, 1, 3, 10),
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

    def collect(self) -> Iterator[Metric]:
        try:
            with self.database.read() as session:
                status = installation_status(session, self.now)
        except NoDatabase:
            yield _gauge("database_up", "Whether the database answers.", 0)
            return
        alive = sum(worker.silent_seconds < SILENT_SECONDS for worker in status.workers)
        last = status.backed_up_at, status.verified.clean_at
        backup, verified = (moment.timestamp() if moment else 0.0 for moment in last)
        yield _gauge("database_up", "Whether the database answers.", 1)
        yield _gauge("queue_oldest_seconds", "How long the oldest run has waited to be scored.", status.waiting_seconds)
        yield _gauge("scoring_seconds", "Mean of the newest 1,000 scorings.", status.scoring_seconds)
        yield _gauge("workers", "Workers with a heartbeat within two minutes.", alive)
        yield _gauge("mails_waiting", "Mails that are not sent yet.", status.mails_waiting)
        yield _gauge("mails_failed", "Mails that were given up and not dropped.", status.mails_failed)
        yield _gauge("last_backup_timestamp_seconds", "When the last backup was made; 0 for never.", backup)
        yield _gauge("last_verify_timestamp_seconds", "When `verify` last found no difference; 0 for never.", verified)
        jobs = GaugeMetricFamily("leaderboard_jobs", "Runs that wait, are scored now, or failed.", labels=["state"])
        for state in ("waiting", "scoring", "failed"):
            jobs.add_metric([state], getattr(status, state))
        yield jobs


def _gauge(name: str, words: str, value: float | None) -> Metric:
    return GaugeMetricFamily(f"leaderboard_{name}", words, value or 0.0)
