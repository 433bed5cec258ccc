"""Answers compressed for whoever takes that, and not sent again to whoever has them.

Style sheets and scripts: compressed, kept for a year, and fetched anew as soon as their content changes.
"""

import gzip
import hashlib
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

import brotli
from flask import Flask, Response, current_app, request
from werkzeug.http import parse_accept_header

WORTH_PACKING = 1000  # bytes
# By the name that HTTP has for it, how it compresses at which level; of those that a reader likes as well the first.
CODINGS: Mapping[str, Callable[[bytes, int], bytes]] = {
    "br": lambda body, level: brotli.compress(body, quality=level),
    "gzip": lambda body, level: gzip.compress(body, level, mtime=0),
}
LEVELS = {"br": 4, "gzip": 6}  # of what is sent a few times: brotli's is smaller than gzip's, and takes as long


def pack(body: bytes, coding: str) -> bytes:
    """The body in one of CODINGS."""
    return CODINGS[coding](body, LEVELS[coding])


@lru_cache(maxsize=128)  # there are few programs that read pages, and each sends the same
def coding_for(accepted: str) -> str | None:
    """Which of CODINGS a request with this Accept-Encoding is answered in; None for as it is.

    Who takes nothing of ours and refuses plain bytes too (`identity;q=0`) gets these all the same, as RFC 9110 allows:
    an error would help nobody.

    >>> coding_for("gzip, deflate, br"), coding_for("GZIP;q=0.5, *;q=0"), coding_for("*"), coding_for("identity")
    ('br', 'gzip', 'br', None)
    """
    liked = parse_accept_header(accepted)
    best = max(CODINGS, key=lambda name: liked[name])
    return best if liked[best] > 0 and liked[best] >= liked["identity"] else None


def offer(response: Response) -> Response:
    """Gives an answer to a GET its ETag, and has it go compressed, or only as 304 where its reader has it.

    For answers whose reader no cookie names: of what a browser sends by itself, another site could try what is in a
    compressed answer by its length.
    """
    if request.method not in {"GET", "HEAD"} or response.status_code != HTTPStatus.OK or response.is_streamed:
        return response
    body = response.get_data()
    response.add_etag(weak=True)  # the same body is sent compressed and plain
    response.vary.update(("Accept-Encoding", "Authorization"))
    response.make_conditional(request)
    coding = coding_for(request.headers.get("Accept-Encoding", ""))
    if coding is not None and len(body) >= WORTH_PACKING and response.status_code == HTTPStatus.OK:
        response.set_data(pack(body, coding))
        response.content_encoding = coding
    return response


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
    if coding is not None:
        response.direct_passthrough = False
        content = response.get_data()
        response.close()  # the file that it came from
        response.set_data(_pack_hard(content, coding))
        response.content_encoding = coding
        response.set_etag(response.get_etag()[0] or "", weak=True)
    return response


@lru_cache(maxsize=64)
def _pack_hard(content: bytes, coding: str) -> bytes:
    return CODINGS[coding](content, 9)
