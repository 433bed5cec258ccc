"""What a request may hold at all: one of the site's own names, a body of known size, text that can be kept and shown.

Decided here for every address, argument and form, before any view: a control character or a text without bounds would
fail somewhere else in each of them, and not the same way on both databases.

Security headers of every answer, and the protection of forms against cross-site requests.
"""

import re
from http import HTTPStatus
from typing import Any

from flask import Flask, Response, abort, g, request
from flask_wtf import CSRFProtect
from werkzeug.datastructures import MultiDict

from leaderboard.access import Actor
from leaderboard.errors import BadInput, NotFound
from leaderboard.texts import is_broken
from leaderboard.web.context import actor, config, now
from leaderboard.web.page_cache import A_YEAR, STATIC
from leaderboard.web.requests import ENDPOINT

# The longest form without a file, which the application gets once it is whole.
FORM_BYTES = 2**16
FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")  # what a body says that is a form's
# Those of organisers, whose texts may be long in any script: 50,000 characters can be 450,000 bytes of a form. These
# are read as uploads are, and leave room for a text that is too long to come back with that beside it.
ORGANISED_FORM_BYTES = 2**20

ORGANISED = ("/organise/", "/api/v1/organise/")  # in the second a token says who asks
LONGEST_ADDRESS = 2000  # characters of a path, and of all arguments together
HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?")


def require_text(fields: MultiDict[str, str]) -> None:
    """Raises BadInput when a field of a form, by its name or content, holds what can't be kept or shown."""
    for name, value in fields.items(multi=True):
        if is_broken(name, "") or is_broken(value):
            raise BadInput("The form holds a character that can't be kept or shown. Take it out and send it again.")


def require_plain(content: Any) -> None:
    """Raises BadInput when a text anywhere in decoded JSON holds what can't be kept or shown."""
    if isinstance(content, str) and is_broken(content):
        raise BadInput("The body holds a character that can't be kept or shown. Take it out and send it again.")
    if isinstance(content, dict):
        content = [*content, *content.values()]
    if isinstance(content, list):
        for value in content:
            require_plain(value)


def _require_host() -> None:
    """The name asked for stands in links that leave the site, such as an invitation's: it must be one of ours."""
    if request.blueprint == "operating":  # a balancer knows this process by its address, and no link leads from there
        return
    asked = HOST.fullmatch(request.host.lower())
    if asked is None or asked["name"].rstrip(".") not in config().host_names:
        raise BadInput("This site does not answer to that name. Its operator lists its names in LEADERBOARD_HOSTS.")


def _require_size() -> None:
    """A body without a size can't be refused for it before it was read."""
    if request.content_length is None and "Transfer-Encoding" in request.headers:
        abort(HTTPStatus.LENGTH_REQUIRED)
    if request.path.startswith(ORGANISED[0]):
        take_long_form(actor())


def take_long_form(sender: Actor) -> None:
    """Takes a form of an organiser that is longer than others'; of nobody else is such a form read."""
    if request.path.startswith(ORGANISED) and (sender.all_powerful or sender.may_found or sender.organises):
        request.max_content_length = request.max_form_memory_size = ORGANISED_FORM_BYTES


def _require_address() -> None:
    if len(request.path) > LONGEST_ADDRESS or is_broken(request.path, ""):
        raise NotFound
    arguments = "".join(text for pair in request.args.items(multi=True) for text in pair)
    if len(arguments) > LONGEST_ADDRESS:
        raise BadInput("This address is too long.")
    if is_broken(arguments, ""):
        raise BadInput("This address holds a character that can't be kept or shown.")


class _Forms(CSRFProtect):  # type: ignore[misc]  # Flask-WTF has no types
    """Looks at every form that is sent, but for those of exempt views, which read theirs as they arrive."""

    def protect(self, **how: Any) -> None:
        super().protect(**how)
        if g.get("csrf_valid", False):  # not so for a view that is exempt: what it reads itself must be left to it
            require_text(request.form)


csrf = _Forms()

# Everything comes from this site, and nothing inline runs. Bootstrap draws its ticks and arrows as data: images.
POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # a link of a page must not carry an invitation's address elsewhere
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


def init_app(app: Flask) -> None:
    """Notes when a request began, refuses what no view should see, protects forms, and sends the security headers."""
    # The time first of all: reading the rest of the request may take minutes.
    for look in (_note_the_time, _require_host, _require_size, _require_address):
        app.before_request(look)
    csrf.init_app(app)
    app.after_request(_protect)


def _note_the_time() -> None:
    request.environ[ENDPOINT] = request.endpoint
    now()


def _protect(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    if config().secure_cookies:
        response.headers.setdefault("Strict-Transport-Security", f"max-age={A_YEAR}")
    if request.endpoint not in STATIC:
        # What a page shows depends on who asks: no cache in between keeps it, the browser asks again.
        response.headers.setdefault("Cache-Control", "private, no-cache")
    return response
