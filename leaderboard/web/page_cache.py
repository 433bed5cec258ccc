"""Answers compressed for whoever takes that, and not sent again to whoever has them.

Style sheets and scripts: compressed, kept for a year, and fetched anew as soon as their content changes.

Pages that are kept as they were rendered, so that an unchanged one costs one statement.

A page is a function of what was committed, of who looks, and of the clock. It is kept in this process for one address,
one reader (whoever has no session, or one session's cookie) and one generation (`generations/reads.py`), until the
clock next changes something. `VIEWS` names the views whose pages are kept: what anything else changes must not be
there.

`CacheMiddleware` stands before Flask, whose own work for a request costs several times as much as the statement.
"""

import gzip
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache, cached_property, lru_cache, partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import brotli
from flask import Flask, Response, current_app, g, request, session
from werkzeug.http import generate_etag, parse_accept_header, parse_cookie, parse_etags

from leaderboard import db, errors
from leaderboard.accounts.rules import token_hash
from leaderboard.accounts.writes import SEEN_EVERY
from leaderboard.generations.reads import next_moment, visit
from leaderboard.web.context import now, reading
from leaderboard.web.requests import ENDPOINT

WORTH_PACKING = 1000  # bytes
CODINGS = ("br", "gzip")  # of those that a reader likes as well the first


def pack(body: bytes, coding: str, level: int | None = None) -> bytes:
    """The body in one of CODINGS. level: of what is sent a few times brotli's is smaller than gzip's at the level that
    takes as long.
    """
    if coding == "gzip":
        return gzip.compress(body, level or 6, mtime=0)
    packed: bytes = brotli.compress(body, quality=level or 4)
    return packed


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
    return best if liked[best] > 0 else None


def offer(response: Response, pack: Callable[[bytes, str], bytes] = pack) -> Response:
    """Gives an answer to a GET its ETag, and has it go compressed, or only as 304 where its reader has it.

    For answers whose reader no cookie names: of what a browser sends by itself, another site could try what is in a
    compressed answer by its length.
    """
    if request.method not in {"GET", "HEAD"} or response.status_code != HTTPStatus.OK or response.is_streamed:
        return response
    body = response.get_data()
    response.add_etag(overwrite=True, weak=True)  # the same body is sent compressed and plain
    response.vary.update(("Accept-Encoding", "Authorization"))
    response.make_conditional(request)
    coding = coding_for(request.headers.get("Accept-Encoding", ""))
    if coding is not None and len(body) >= WORTH_PACKING and response.status_code == HTTPStatus.OK:
        response.set_data(pack(body, coding))
        response.content_encoding = coding
    return response


STATIC = frozenset({"static", "bootstrap.static"})  # the endpoints that serve files
A_YEAR = 365 * 24 * 3600  # seconds


def _add_version(endpoint: str, values: dict[str, Any]) -> None:
    """Puts a digest of the file's content into its address."""
    if endpoint in STATIC and "filename" in values:
        blueprint = current_app.blueprints.get(endpoint.rpartition(".")[0])
        folder = (blueprint or current_app).static_folder
        values["v"] = _digest(Path(folder or "") / values["filename"])


@cache
def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12]


def _pack(response: Response) -> Response:
    """A static file compressed, for whoever takes that; each is compressed once."""
    if request.endpoint not in STATIC:
        return response
    response.direct_passthrough = False
    response.make_sequence()
    response.close()  # the file that it came from
    return offer(response, _pack_hard)


_pack_hard = lru_cache(maxsize=64)(partial(pack, level=9))


TABLES = (  # pages that are files too, under the same name with `_file`
    "boards.board", "campaigns.campaign", "results.compare_runs", "judgments.documents", "judgments.index",
    "progress.progress", "results.query", "results.query_list", "results.ranked_list", "boards.old_board",
    "boards.sources", "boards.tags", "boards.what_moved", "progress.across", "submissions.show", "systems.system",
    "progress.years", "results.leave_one_team_out",
)  # fmt: skip
OTHERS = (
    "api_guide.guide", "campaigns.front", "documents.document", "documents.index_of_documents", "judgments.qrels",
    "measures.index", "measures.show", "results.heat_map", "results.query_rows", "boards.board_versions",
    "sharing.badge", "sharing.bibtex", "sharing.card", "sharing.cite", "sharing.feed", "submissions.score_receipt",
    "teams.show",
)  # fmt: skip
VIEWS = frozenset((*TABLES, *(f"{view}_file" for view in TABLES), *OTHERS))
CSRF = "csrf_token"  # where Flask-WTF notes that a page holds a form's token, in `g`
TO_KEEP = "leaderboard.page to keep"  # in a request's environment: the page, from Flask to the front
ASKED = "leaderboard.what was asked"  # and the other way, of a page that is right no more: what `visit` took and gave
SOON = timedelta(minutes=1)

Key = tuple[str | None, ...]  # what a page is asked for with: its address in parts, and the session's cookie


@dataclass(frozen=True)
class Page:
    """An answer as it was rendered.

    made_for   the campaign that its address named, by id, and the generation
    campaign   the slug in its address; None where it names none
    reader     the hash of the token of its reader's session; None for a visitor
    organises  what it shows its reader of `OpenSession.organises`
    since      when it was made: a clock that is set back shows nothing of it
    until      when the clock changes it; None: never
    endpoint   its view's
    personal   it holds a token of its reader's, which compressing it with what others choose could give away
    headers    but for those that depend on the request
    """

    made_for: tuple[int | None, int]
    campaign: str | None
    reader: str | None
    organises: bool
    since: datetime
    until: datetime | None
    endpoint: str | None
    personal: bool
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    _packed: dict[str, bytes] = field(default_factory=dict)  # by coding: each is made once, when it is asked for

    @cached_property
    def tag(self) -> str:
        return generate_etag(self.body)

    def packed(self, coding: str) -> bytes | None:
        """Compressed; None where that is not worth it or not safe."""
        if self.personal or len(self.body) < WORTH_PACKING:
            return None
        if coding not in self._packed:
            self._packed[coding] = pack(self.body, coding)
        return self._packed[coding]


class PageCache:
    """The pages that this process keeps, up to so many bytes; those that nobody asked for longest go first."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._pages: OrderedDict[Key, Page] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def take(self, key: Key) -> Page | None:
        with self._lock:
            page = self._pages.get(key)
            if page is not None:
                self._pages.move_to_end(key)
            return page

    def put(self, key: Key, page: Page) -> None:
        """Keeps it, with its key: addresses and cookies are as long as who asks makes them."""
        if _size(key, page) > self.most_bytes // 4:  # one page must not push all others out
            return
        with self._lock:
            before = self._pages.pop(key, None)
            self._bytes += _size(key, page) - (_size(key, before) if before else 0)
            self._pages[key] = page
            while self._bytes > self.most_bytes:
                self._bytes -= _size(*self._pages.popitem(last=False))


def _size(key: Key, page: Page) -> int:
    """Bytes in memory, about."""
    return len(page.body) * 4 // 3 + 1000 + sum(len(part) for part in key if part)


class CacheMiddleware:
    """Answers with a page that is kept and still right; has Flask answer everything else, and keeps what it may."""

    def __init__(self, app: Flask, behind: WSGIApplication) -> None:
        self.cache = PageCache(app.extensions["config"].kept_bytes)
        self._behind = behind
        self._database: db.Database = app.extensions["database"]
        self._app = app
        self._cookie = app.config["SESSION_COOKIE_NAME"]

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] != "GET" or not self.cache.most_bytes:
            return self._behind(environ, start_response)
        key = (
            environ["wsgi.url_scheme"],
            environ.get("HTTP_HOST"),
            environ.get("PATH_INFO"),
            environ.get("QUERY_STRING"),
            parse_cookie(environ).get(self._cookie) if "HTTP_COOKIE" in environ else None,
        )
        page = self.cache.take(key)
        if page is None or not self._is_right(page, environ):
            return self._ask(key, environ, start_response)
        environ[ENDPOINT] = page.endpoint
        return _send(page, environ, start_response)

    def _is_right(self, page: Page, environ: "WSGIEnvironment") -> bool:
        """Whether nothing has changed that the page depends on, by one statement and the clock."""
        moment = self._app.extensions["clock"]()
        if moment < page.since or (page.until is not None and page.until <= moment):
            return False
        try:
            with db.answering(), self._database.glance.connect() as connection:
                visited = visit(connection, page.campaign, page.reader, moment)
        except errors.NoDatabase:
            return False  # Flask finds the same, and says so
        environ[ASKED] = page.campaign, page.reader, visited  # before anything of a new page is read
        if page.reader is not None:
            reader = visited.reader
            if reader is None or reader.organises != page.organises or reader.last_seen_at <= moment - SEEN_EVERY:
                return False  # the session is over, or its visit is to be noted
        return (visited.campaign_id, visited.generation) == page.made_for

    def _ask(self, key: Key, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        begun: list[Any] = []
        answer: Any = self._behind(environ, lambda *what: begun.extend(what))  # type: ignore[arg-type]  # Flask writes by no callable
        page: Page | None = environ.get(TO_KEEP)
        if page is None:
            start_response(*begun)
            return cast(Iterable[bytes], answer)
        with closing(answer):
            body = b"".join(answer)
        headers = tuple((name, value) for name, value in begun[1] if name.lower() not in {"content-length", "vary"})
        page = replace(page, headers=headers, body=body)
        self.cache.put(key, page)
        return _send(page, environ, start_response)


def _send(page: Page, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """The page as the answer to this request: compressed where its reader takes that, or only that it is unchanged."""
    headers = [*page.headers, ("ETag", f'W/"{page.tag}"'), ("Vary", "Accept-Encoding, Cookie")]
    if parse_etags(environ.get("HTTP_IF_NONE_MATCH")).contains_weak(page.tag):
        start_response("304 NOT MODIFIED", [pair for pair in headers if pair[0] != "Content-Type"])
        return ()
    body = page.body
    coding = coding_for(environ.get("HTTP_ACCEPT_ENCODING", ""))
    if coding is not None and (packed := page.packed(coding)) is not None:
        body = packed
        headers.append(("Content-Encoding", coding))
    headers.append(("Content-Length", str(len(body))))
    start_response("200 OK", headers)
    return (body,)


def init_app(app: Flask) -> None:
    """Puts the front before the application; to be called after all that looks at a request before its view.

    Static files are kept by browsers for a year, under addresses that change with their content.
    """
    app.config["SEND_FILE_MAX_AGE_DEFAULT"] = A_YEAR
    app.url_defaults(_add_version)
    app.after_request(_pack)
    front = CacheMiddleware(app, app.wsgi_app)
    app.extensions["kept pages"] = front.cache
    app.wsgi_app = front  # type: ignore[method-assign]  # Flask's own advice
    app.before_request(_note_generation)
    app.after_request(_keep)
    app.jinja_env.globals["not_this_one"] = not_this_one


def not_this_one() -> None:
    """Has the page of this request not be kept: it shows what changes without raising a generation."""
    g.not_kept = True


def changes_soon() -> None:
    """Has the page of this request be kept for a minute at most: it counts time from the request on."""
    g.changes_at = now() + SOON


def _campaign() -> str | None:
    named: str | None = (request.view_args or {}).get("campaign")
    return named


def _note_generation() -> None:
    """Before anything of the page is read: what is committed meanwhile makes it too old, and never too new."""
    if request.method == "GET" and request.endpoint in VIEWS:
        token = session.get("_user_id")
        g.token_hash = None if token is None else token_hash(token)
        *asked, visited = request.environ.get(ASKED, (None,))
        if asked == [_campaign(), g.token_hash]:
            g.visit = visited
            return
        with reading() as database_session:
            g.visit = visit(database_session, _campaign(), g.token_hash, now())


def _keep(response: Response) -> Response:
    """Leaves to the front what a view has answered, where that depends on nothing else."""
    is_page = response.status_code == HTTPStatus.OK and not response.is_streamed
    if "visit" not in g or not is_page or session.modified or "not_kept" in g:
        return response
    reader = g.visit.reader
    if (reader is None) != (g.token_hash is None):
        return response  # a session that is over
    personal = CSRF in g
    if personal and reader is None:
        return response  # a form of this visitor's own
    with reading() as database_session:
        due = next_moment(database_session, _campaign(), now())
    request.environ[TO_KEEP] = Page(
        (g.visit.campaign_id, g.visit.generation),
        _campaign(),
        g.token_hash,
        organises=reader is not None and reader.organises,
        since=now(),
        until=min(filter(None, (due, g.get("changes_at"))), default=None),
        endpoint=request.endpoint,
        personal=personal,
    )
    return response
