"""Addresses of the page at hand: with other arguments, or as a file."""

from flask import Flask, request, url_for
from werkzeug.routing import IntegerConverter, Map

__all__ = ["download", "here", "init_app"]

GREATEST = 2**31 - 1  # what a row's number may be on both engines: PostgreSQL refuses a greater one as out of range

# What a page may be asked for. Anything else in an address stays out of the links that are made from it: some names
# mean something to the function that makes them.
ARGUMENTS = ("measure", "tag", "show", "sort", "condition", "page")


class RowNumber(IntegerConverter):
    """A number in an address: one that no row can have is an address that does not exist."""

    def __init__(self, addresses: Map) -> None:
        super().__init__(addresses, max=GREATEST)


def init_app(app: Flask) -> None:
    app.url_map.converters["int"] = RowNumber
    app.jinja_env.globals.update(here=here, download=download, pairs=zip)


def here(**changes: str | None) -> str:
    """This page with some of its arguments, or parts of its path, changed; None or "" leaves one out."""
    return _address(str(request.endpoint), changes)


def download(kind: str, endpoint: str = "") -> str:
    """This page's table as a file, csv or json, under the same arguments.

    `endpoint`: of the file; without it the page's own with `_file` after it.
    """
    return _address(endpoint or f"{request.endpoint}_file", {"kind": kind})


def _address(endpoint: str, changes: dict[str, str | None]) -> str:
    given = {name: value for name, value in request.args.items() if name in ARGUMENTS}
    wanted = {**given, **(request.view_args or {}), **changes}
    return url_for(endpoint, **{name: value for name, value in wanted.items() if value})
