"""Style sheets and scripts: compressed, kept for a year, and fetched anew as soon as their content changes."""

import hashlib
from functools import cache, lru_cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

from flask import Flask, Response, current_app, request

from leaderboard.web.compression import coding_for, pack

STATIC = frozenset({"static", "bootstrap.static"})  # the endpoints that serve files
A_YEAR = 365 * 24 * 3600  # seconds


def init_app(app: Flask) -> None:
    """Static files are kept by browsers for a year, under addresses that change with their content."""
    app.config["SEND_FILE_MAX_AGE_DEFAULT"] = A_YEAR
    app.url_defaults(_add_version)
    app.after_request(_pack)


def _add_version(endpoint: str, values: dict[str, Any]) -> None:
    """Puts a digest of the file's content into its address."""
    if endpoint in STATIC and "filename" in values:
        blueprint = current_app.blueprints.get(endpoint.rpartition(".")[0])
        folder = (blueprint or current_app).static_folder
        values["v"] = _digest(Path(folder or "") / values["filename"])


@cache
def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12] if file.is_file() else ""


def _pack(response: Response) -> Response:
    """A static file compressed, for whoever takes that; each is compressed once."""
    if request.endpoint not in STATIC or response.status_code != HTTPStatus.OK or request.method != "GET":
        return response
    response.vary.add("Accept-Encoding")
    coding = coding_for(request.headers.get("Accept-Encoding", ""))
    if coding is None:
        return response
    response.direct_passthrough = False
    content = response.get_data()
    response.close()  # the file that it came from
    response.set_data(_packed(content, coding))
    response.content_encoding = coding
    response.set_etag(response.get_etag()[0] or "", weak=True)
    return response


@lru_cache(maxsize=64)
def _packed(content: bytes, coding: str) -> bytes:
    return pack(content, coding, hard=True)
