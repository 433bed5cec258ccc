"""Every request has an id: its answer's header X-Request-ID has it, its log events, and pages that say what failed."""

import re
import secrets
import time
from collections.abc import Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from flask import Flask

from leaderboard.operating import logs

HEADER = "X-Request-ID"
WELL_FORMED = re.compile(r"[A-Za-z0-9._-]{8,64}")
REQUEST_ID = "leaderboard.request id"  # in a request's environment, from the middleware to the application
ENDPOINT = "leaderboard.endpoint"  # there too, from the application, or its page cache, to the middleware
SECRET = "token"  # noqa: S105  # the part of an address that opens something for whoever has it
SHOWN = 200  # characters of an address in the log


class RequestMiddleware:
    """Stands before everything else of the site. A proxy's own id is taken where proxies are trusted."""

    def __init__(self, app: Flask, behind: WSGIApplication) -> None:
        self._behind = behind
        self._counts = app.extensions["config"].metrics_token != ""
        self._trusts = app.extensions["config"].trusted_proxies > 0
        opening = {rule.rule.partition("<")[0] for rule in app.url_map.iter_rules() if SECRET in rule.arguments}
        self._opening = tuple(sorted(opening))

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        sent = environ.get("HTTP_X_REQUEST_ID", "") if self._trusts else ""
        request_id = environ[REQUEST_ID] = sent if WELL_FORMED.fullmatch(sent) else secrets.token_hex(6)
        logs.begin(request=request_id, method=environ["REQUEST_METHOD"], path=self._shown(environ["PATH_INFO"]))

        started = time.perf_counter()

        def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            if self._counts:
                from leaderboard.operating.metrics import PAGE_SECONDS

                PAGE_SECONDS.labels(environ.get(ENDPOINT) or "none", status[:3]).observe(time.perf_counter() - started)
            return start_response(status, [*headers, (HEADER, request_id)], *more)

        return self._behind(environ, start)

    def _shown(self, path: str) -> str:
        """The address as it is logged: of one that opens something, such as an invitation's, its beginning."""
        path = path.encode("latin-1").decode(errors="replace")
        opening = next((opening for opening in self._opening if path.startswith(opening)), None)
        return path[:SHOWN] if opening is None else f"{opening}…"
