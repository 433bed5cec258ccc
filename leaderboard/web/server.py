"""What stands round gunicorn's threaded worker, which gives a connection a thread until its answer is sent.

There are hundreds of threads, every wait for a sender or a reader ends, and few requests compute at the same time.
"""

import io
import logging
import math
import socket
import struct
import threading
import time
from contextlib import nullcontext, suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from gunicorn import glogging  # type: ignore[import-untyped]  # gunicorn has no types
from gunicorn.workers import gthread  # type: ignore[import-untyped]  # gunicorn has no types
from werkzeug.exceptions import ClientDisconnected, RequestTimeout

from leaderboard.config import Config
from leaderboard.db import Database, Listener
from leaderboard.errors import TooSlow
from leaderboard.operating import logs
from leaderboard.web.security import FORM_BYTES

# For a head and a form without a file; a closed connection goes on being read: a sender that is cut off never shows the
# answer.
HEAD_SECONDS, FREE_SECONDS = 15.0, 30.0  # the latter of an upload before its speed counts
CROWD, CROWDED_SECONDS = 200, 1.0  # connections, half of the threads, beyond which nobody is waited for any longer

UNCROWDED = ("/healthz", "/readyz")  # answered while all that may compute wait for what is away

gthread.DEFAULT_WORKER_DATA_TIMEOUT = 0.05  # gunicorn's loop waits for first bytes, and no thread

# Requests of this process, each with a thread, that wait to be told of something; for how long, as what changes without
# a notice, such as a place in the queue, is as old then; the seconds between two looks at whether the site stops.
AWAITING, NOTICE_SECONDS, LOOK_SECONDS = 100, 5.0, 1.0

_stops = threading.Event()  # set when this process is to end
_ends: dict[socket.socket, float] = {}  # when each connection is read no more, by the monotonic clock


class Log(glogging.Logger):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's log as a part of ours."""

    def setup(self, cfg: Any) -> None:
        self.cfg = cfg
        self.error_log.propagate = True
        self.error_log.setLevel(logging.ERROR)  # warnings are of malformed requests: the client's address, and the line

    def access(self, response: Any, _: Any, __: Any, took: timedelta) -> None:
        """Called once an answer was sent, by the thread that made it."""
        known = {"status": response.status_code, "bytes": response.sent, "seconds": round(took.total_seconds(), 4)}
        logs.access.info("answered", extra=known)
        logs.begin()  # whatever the thread does from here on is not about this request


class Worker(gthread.ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's threaded worker with an end to every wait for a client."""

    def handle(self, connection: Any) -> Any:
        client = connection.sock
        # The seconds in which nobody takes a byte of an answer.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 30, 0))
        _ends[client] = _end()
        try:
            keeps = super().handle(connection)
            if keeps is False:  # gunicorn closes it, which must not take its loop any time
                end = _ends[client] = _end()
                with suppress(OSError):
                    client.shutdown(socket.SHUT_WR)
                    while client.recv(FORM_BYTES) and time.monotonic() < end:
                        pass
                    client.shutdown(socket.SHUT_RDWR)  # else gunicorn's loop goes on reading
            return keeps
        finally:
            _ends.pop(client, None)

    def set_accept_enabled(self, enabled: bool) -> None:
        """Called with False when the site stops, too: a client that came now would wait for an answer in vain."""
        super().set_accept_enabled(enabled)
        if not self.alive:
            _stops.set()
            for listener in self.sockets:
                listener.close()

    def murder_pending(self) -> None:
        """gunicorn's loop calls it every second."""
        super().murder_pending()
        # A copy is made at a stroke; threads may come between while a list of pairs is.
        for client in [client for client, end in _ends.copy().items() if end <= time.monotonic()]:
            with suppress(OSError):
                client.shutdown(socket.SHUT_RD)


def _end() -> float:
    """Until when a client is waited for that only begins, or has its answer."""
    return time.monotonic() + (HEAD_SECONDS if len(_ends) < CROWD else CROWDED_SECONDS)


def close_after_upload(_: Any, request: Any) -> None:
    """Has the answer say that the connection closes: an upload that is refused is not read to its end."""
    headers = dict(request.headers)
    if "TRANSFER-ENCODING" in headers or int(headers.get("CONTENT-LENGTH", 0)) > FORM_BYTES:
        request.force_close()


class Notices:
    """What PostgreSQL tells (`db.Listener`), for requests that wait for it: one thread and one connection of this
    process hear it for all of them."""

    def __init__(self, database: Database) -> None:
        self._awaited: dict[threading.Event, tuple[str, float]] = {}
        threading.Thread(target=self._listen, args=[Listener(database)], daemon=True).start()

    def of(self, what: str) -> threading.Event:
        """An event that is set once something is told of `what`, such as `submission 17`, or may have been; and some
        seconds later, when the site stops, and at once where too many wait."""
        told = threading.Event()
        if len(self._awaited) >= AWAITING:
            told.set()
        self._awaited[told] = what, time.monotonic() + NOTICE_SECONDS
        return told

    def _listen(self, listener: Listener) -> None:
        while True:
            notices = listener.notices(LOOK_SECONDS)
            for told, (what, end) in self._awaited.copy().items():
                if notices is None or what in notices or _stops.is_set() or end <= time.monotonic():
                    del self._awaited[told]
                    told.set()
            if notices is None:
                time.sleep(LOOK_SECONDS)


def gate(app: Any, config: Config, requests_at_once: int, notices: Notices | None = None) -> Any:
    """Stands before the application, which gets a request with its whole form, and an upload while it arrives.

    requests_at_once: that compute, uploads aside
    """
    slots = threading.BoundedSemaphore(requests_at_once)

    def ask(environ: dict[str, Any], start_response: Any) -> Any:
        environ["leaderboard.began"] = datetime.now(UTC)
        body, size = environ["wsgi.input"], int(environ.get("CONTENT_LENGTH") or 0)
        if size > FORM_BYTES:
            environ["wsgi.input"] = _Upload(body, size, environ["gunicorn.socket"], config)
            return app(environ, start_response)
        form = body.read(size)
        if len(form) < size:
            return RequestTimeout()(environ, start_response)
        environ["wsgi.input"] = io.BytesIO(form)
        environ["leaderboard.slots"], environ["leaderboard.notices"] = slots, notices
        with nullcontext() if environ.get("PATH_INFO") in UNCROWDED else slots:
            return app(environ, start_response)

    return ask


class _Upload(io.RawIOBase):
    """The body of an upload, read while it arrives."""

    def __init__(self, body: Any, size: int, client: socket.socket, config: Config) -> None:
        self._body, self._left, self._client = body, size, client
        now, speed = time.monotonic(), config.upload_bytes_per_second
        self._seconds_for_a_byte = 1 / (speed or math.inf)
        self._last = now + (config.upload_seconds or math.inf)
        self._end = _ends[client] = now + (FREE_SECONDS if speed else math.inf)

    def readinto(self, buffer: Any, /) -> int:
        """Raises TooSlow where it arrives more slowly than the installation takes."""
        size = min(len(buffer), FORM_BYTES, self._left)
        self._end += size * self._seconds_for_a_byte
        end = _ends[self._client] = min(self._end, self._last)
        data = self._body.read(size)
        if len(data) < size:
            raise TooSlow if end <= time.monotonic() else ClientDisconnected
        buffer[:size] = data
        self._left -= size
        return size
