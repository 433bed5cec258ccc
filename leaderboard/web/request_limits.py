"""What a request may hold at all: one of the site's own names, a body of known size, text that can be kept and shown.

Decided here for every address, argument and form, before any view: a control character or a text without bounds would
fail somewhere else in each of them, and not the same way on both databases.
"""

import re
import unicodedata
from http import HTTPStatus
from typing import Any

from flask import Flask, abort, request
from werkzeug.datastructures import MultiDict

from leaderboard.errors import BadInput, NotFound
from leaderboard.web.context import config

# The longest form without a file, which the application gets once it is whole.
FORM_BYTES = 2**16
FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")  # what a body says that is a form's
# Those of organisers, whose texts may be long in any script: 50,000 characters can be 450,000 bytes of a form. These
# are read as uploads are, and leave room for a text that is too long to come back with that beside it.
ORGANISED_FORM_BYTES = 2**20

ORGANISED = ("/organise/", "/api/v1/organise/")
LONGEST_ADDRESS = 2000  # characters of a path, and of all arguments together
HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?")
LAYOUT = "\t\n\r"  # the control characters that a text of several lines may hold


def init_app(app: Flask) -> None:
    """Refuses what no view should have to look at."""
    app.before_request(_require_host)
    app.before_request(_require_size)
    app.before_request(_require_address)


def require_text(fields: MultiDict[str, str]) -> None:
    """Raises BadInput when a field of a form, by its name or content, holds what can't be kept or shown."""
    for name, value in fields.items(multi=True):
        if _is_broken(name, "") or _is_broken(value, LAYOUT):
            raise BadInput("The form holds a character that can't be kept or shown. Take it out and send it again.")


def require_plain(content: Any) -> None:
    """Raises BadInput when a text anywhere in decoded JSON holds what can't be kept or shown."""
    if isinstance(content, str) and _is_broken(content, LAYOUT):
        raise BadInput("The body holds a character that can't be kept or shown. Take it out and send it again.")
    if isinstance(content, dict):
        for name, value in content.items():
            require_plain(name)
            require_plain(value)
    elif isinstance(content, list):
        for value in content:
            require_plain(value)


def _require_host() -> None:
    """The name asked for stands in links that leave the site, such as an invitation's: it must be one of ours."""
    asked = HOST.fullmatch(request.host.lower())
    if asked is None or asked["name"].rstrip(".") not in config().host_names:
        raise BadInput("This site does not answer to that name. Its operator lists its names in LEADERBOARD_HOSTS.")


def _require_size() -> None:
    """A body without a size can't be refused for it before it was read."""
    if request.content_length is None and "Transfer-Encoding" in request.headers:
        abort(HTTPStatus.LENGTH_REQUIRED)
    if request.path.startswith(ORGANISED):
        request.max_content_length = request.max_form_memory_size = ORGANISED_FORM_BYTES


def _require_address() -> None:
    if len(request.path) > LONGEST_ADDRESS or _is_broken(request.path, ""):
        raise NotFound
    arguments = request.args
    if sum(len(name) + len(value) for name, value in arguments.items(multi=True)) > LONGEST_ADDRESS:
        raise BadInput("This address is too long.")
    if any(_is_broken(text, "") for pair in arguments.items(multi=True) for text in pair):
        raise BadInput("This address holds a character that can't be kept or shown.")


def _is_broken(text: str, allowed: str) -> bool:
    """Whether it holds a control character, or half of a character that is written in two."""
    return any(unicodedata.category(one) in {"Cc", "Cs"} and one not in allowed for one in text)
