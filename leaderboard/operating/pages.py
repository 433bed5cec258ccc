"""What load balancers and Prometheus ask of this process, by whatever name they know it (`web/security.py`)."""

import hmac
import logging
import time
from concurrent.futures import Future, ThreadPoolExecutor
from http import HTTPStatus

import sqlalchemy as sa
from flask import Blueprint, Response, current_app, request

from leaderboard import migrate
from leaderboard.db import Database
from leaderboard.errors import NoDatabase, NoStore, NotFound, OtherBuild, Unavailable
from leaderboard.operating import logs
from leaderboard.store import RunStore
from leaderboard.submissions.models import Installation
from leaderboard.web.context import config, database, now

KEPT_SECONDS = 3.0  # what the checks found, however many ask
WAIT_SECONDS = 2.0  # for the checks: balancers wait for a few seconds
log = logging.getLogger(__name__)


class Readiness:
    """Whether this process can serve. One check at a time, by a thread of its own, whatever it has to wait for."""

    def __init__(self, database: Database, store: RunStore) -> None:
        self._database, self._store, self._pool = database, store, ThreadPoolExecutor(1)
        self._check, self._until = Future[str](), 0.0
        self._check.set_result("")

    def missing(self) -> str:
        """The parts that are needed and not there, one a line, in words for everybody."""
        if self._check.done() and time.monotonic() >= self._until:
            self._until = time.monotonic() + KEPT_SECONDS
            self._check = self._pool.submit(self._look)
        try:
            return self._check.result(WAIT_SECONDS)
        except TimeoutError:
            return "The database or the run store does not answer in time.\n"

    def _look(self) -> str:
        missing, identity = list[Unavailable](), None
        try:
            if (revision := migrate.current(self._database)) != migrate.newest():
                raise OtherBuild(f"it is at revision {revision}, this version needs {migrate.newest()}")
            with self._database.read() as session:
                identity = session.scalar(sa.select(Installation.store))
        except NoDatabase as error:
            missing.append(error)
        try:
            self._store.require(identity or self._store.identity)
        except NoStore as error:
            missing.append(error)
        for part in missing:
            log.warning("not ready: %s", part.reason, extra=logs.kind_of(part))
        return "".join(f"{part.message}\n" for part in missing)


operating = Blueprint("operating", __name__)


@operating.get("/healthz")
def healthz() -> Response:
    """That this process is alive. Nothing else is looked at: nobody must restart it for what is away."""
    return _plain("ok\n")


@operating.get("/readyz")
def readyz() -> Response:
    """`ok`, or the parts that are missing."""
    parts = current_app.extensions
    if "readiness" not in parts:
        parts["readiness"] = Readiness(database(), parts["store"])
    missing = parts["readiness"].missing()
    return _plain(missing or "ok\n", HTTPStatus.SERVICE_UNAVAILABLE if missing else HTTPStatus.OK)


@operating.get("/metrics")
def metrics() -> Response:
    """Figures for Prometheus, which shows the token that is set; without a setting there is nothing here."""
    if not config().metrics_token:
        raise NotFound
    sent = request.authorization
    if not hmac.compare_digest(f"{sent and sent.token}".encode(), config().metrics_token.encode()):
        return _plain("Send LEADERBOARD_METRICS_TOKEN as `Authorization: Bearer …`.\n", HTTPStatus.UNAUTHORIZED)
    from leaderboard.operating.metrics import exposition

    return _plain(exposition(database(), now()))


def _plain(text: str | bytes, status: int = HTTPStatus.OK) -> Response:
    return Response(text, status, {"Cache-Control": "no-store"}, content_type="text/plain; charset=utf-8")
