"""Pages that are kept as they were rendered, so that an unchanged one costs one statement.

A page is a function of what was committed, of who looks, and of the clock. It is kept in this process for one address,
one kind of reader (a visitor, or one session) and one generation (`reads/generations.py`), until the clock next changes
something. `VIEWS` names the views whose pages are kept: what another thing changes than these three must not be there.
"""

import datetime as dt
import gzip
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus

from flask import Flask, Response, current_app, g, request, session

from leaderboard.reads.generations import next_moment, visit
from leaderboard.services.sessions import SEEN_EVERY
from leaderboard.web.context import now, reading

__all__ = ["VIEWS", "changes_soon", "init_app", "not_this_one"]

TABLES = (  # pages that are files too, under the same name with `_file`
    "boards.board",
    "campaigns.campaign",
    "progress.progress",
    "queries.query",
    "queries.query_list",
    "ranked_lists.ranked_list",
    "submissions.show",
    "systems.system",
)
VIEWS = frozenset(
    (*TABLES, *(f"{view}_file" for view in TABLES), "campaigns.front", "measures.index", "measures.show", "teams.show")
)
WORTH_PACKING = 1000  # bytes
FLASHES, CSRF = "_flashes", "csrf_token"  # where Flask and Flask-WTF keep them in a session; the second in `g` too
SOON = dt.timedelta(minutes=1)


@dataclass(frozen=True)
class Page:
    """A page as it was rendered.

    until     when the clock changes it; None: never
    personal  it holds a token of its reader's, which compressing together with what others choose could give away
    """

    generation: int
    since: dt.datetime
    until: dt.datetime | None
    body: bytes
    headers: tuple[tuple[str, str], ...]
    personal: bool

    def holds(self, generation: int, moment: dt.datetime) -> bool:
        return self.generation == generation and self.since <= moment and (self.until is None or moment < self.until)

    @cached_property
    def tag(self) -> str:
        return hashlib.sha256(self.body).hexdigest()[:32]

    @cached_property
    def packed(self) -> bytes:
        return gzip.compress(self.body, 6, mtime=0)

    @property
    def size(self) -> int:
        """Bytes in memory, about."""
        return len(self.body) * 5 // 4 + 1000


class Shelf:
    """The pages that this process keeps, up to so many bytes; those that nobody asked for longest go first."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._pages: OrderedDict[Hashable, Page] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def take(self, key: Hashable) -> Page | None:
        with self._lock:
            page = self._pages.get(key)
            if page is not None:
                self._pages.move_to_end(key)
            return page

    def put(self, key: Hashable, page: Page) -> None:
        if page.size > self.most_bytes // 4:  # one page must not push all others out
            return
        with self._lock:
            before = self._pages.pop(key, None)
            self._bytes += page.size - (before.size if before else 0)
            self._pages[key] = page
            while self._bytes > self.most_bytes:
                self._bytes -= self._pages.popitem(last=False)[1].size


def init_app(app: Flask) -> None:
    """Answers from what is kept, before any view; and keeps what the views of VIEWS answer."""
    app.extensions["kept pages"] = Shelf(app.extensions["config"].kept_bytes)
    app.before_request(_answer)
    app.after_request(_keep)
    app.jinja_env.globals["not_this_one"] = not_this_one


def not_this_one() -> None:
    """Has the page of this request not be kept: it shows what changes without raising a generation."""
    g.not_kept = True


def changes_soon() -> None:
    """Has the page of this request be kept for a minute at most: it counts time from the request on."""
    g.changes_at = now() + SOON


def _shelf() -> Shelf:
    shelf: Shelf = current_app.extensions["kept pages"]
    return shelf


def _answer() -> Response | None:
    """The page that is kept for this request, if one is."""
    if request.method not in {"GET", "HEAD"} or request.endpoint not in VIEWS or not _shelf().most_bytes:
        return None
    if current_app.config["SETTING_UP"] or FLASHES in session:
        return None
    token = session.get("_user_id")
    with reading() as database_session:
        seen = visit(database_session, (request.view_args or {}).get("campaign"), token, now())
    reader = seen.reader
    if token is not None and (reader is None or reader.last_seen_at <= now() - SEEN_EVERY):
        return None  # it is over, or the visit is to be noted
    who = (reader.id, reader.organises, session.get(CSRF)) if reader else None
    key = (who, request.scheme, request.host, request.full_path)
    page = _shelf().take(key)
    if page is not None and page.holds(seen.generation, now()):
        return _dressed(Response(), page)
    g.to_keep = (key, seen.generation)
    return None


def _keep(response: Response) -> Response:
    """Keeps what a view has answered, under the generation that was read before it was rendered."""
    whole = response.status_code == HTTPStatus.OK and not response.is_streamed
    if "to_keep" not in g or not whole or session.modified or "not_kept" in g:
        return response
    key, generation = g.to_keep
    personal = CSRF in g
    if personal and key[0] is None:
        return response  # a form of this visitor's own
    with reading() as database_session:
        due = next_moment(database_session, (request.view_args or {}).get("campaign"), now())
    moments = [one for one in (due, g.get("changes_at")) if one is not None]
    headers = tuple((name, value) for name, value in response.headers.items() if name != "Content-Length")
    page = Page(generation, now(), min(moments, default=None), response.get_data(), headers, personal)
    _shelf().put(key, page)
    return _dressed(response, page)


def _dressed(response: Response, page: Page) -> Response:
    """The page as the answer to this request: compressed where its reader can take it, or only that it is unchanged."""
    packed = not page.personal and len(page.body) > WORTH_PACKING and request.accept_encodings["gzip"] > 0
    for name, value in page.headers:
        response.headers[name] = value
    response.set_data(page.packed if packed else page.body)  # which says how long it is
    if packed:
        response.headers["Content-Encoding"] = "gzip"
    response.vary.update(("Accept-Encoding", "Cookie"))
    response.set_etag(page.tag, weak=True)
    response.make_conditional(request)
    return response
