"""The site's blueprints, the navigation over them, and links made from the address of the page at hand."""

from dataclasses import dataclass

from flask import Flask, request, url_for
from flask_login import current_user
from werkzeug.routing import IntegerConverter, Map

from leaderboard.web import (
    account,
    auth,
    boards,
    campaigns,
    health,
    measures,
    progress,
    queries,
    ranked_lists,
    submissions,
    submit,
    systems,
    teams,
)
from leaderboard.web.exports import FORMATS

FAMILIES = (
    campaigns,
    progress,
    boards,
    queries,
    submit,
    submissions,
    ranked_lists,
    teams,
    systems,
    measures,
    auth,
    account,
    health,
)

# (endpoint, text); what is not for all stands apart, at the right.
FOR_ALL = (("campaigns.front", "Campaigns"), ("measures.index", "Measures"))
FOR_VISITORS = (("auth.log_in", "Log in"), ("auth.register", "Register"))
FOR_ACCOUNTS = (("account.show", "Account"),)


@dataclass(frozen=True, slots=True)
class Link:
    """A link in the head of every page. here: for aria-current; empty when the page is not under it."""

    address: str
    text: str
    here: str
    apart: bool


def init_app(app: Flask) -> None:
    app.url_map.converters["int"] = RowNumber  # before the families' addresses, which are made of it
    for family in FAMILIES:
        app.register_blueprint(family.blueprint)
    app.jinja_env.globals.update(navigation=navigation, here=here, download=download, export_formats=FORMATS, pairs=zip)


def navigation() -> list[Link]:
    own = FOR_ACCOUNTS if current_user.is_authenticated else FOR_VISITORS
    return [
        Link(url_for(endpoint), text, _here(endpoint), apart=(endpoint, text) == own[0])
        for endpoint, text in FOR_ALL + own
    ]


def _here(endpoint: str) -> str:
    if request.endpoint == endpoint:
        return "page"
    # Logging in and registering are one family, but two links.
    below = request.blueprint == endpoint.partition(".")[0] and request.blueprint != auth.blueprint.name
    return "true" if below else ""


GREATEST = 2**31 - 1  # what a row's number may be on both engines: PostgreSQL refuses a greater one as out of range

# What a page may be asked for. Anything else in an address stays out of the links that are made from it: some names
# mean something to the function that makes them.
ARGUMENTS = ("measure", "tag", "show", "sort", "condition", "page")


class RowNumber(IntegerConverter):
    """A row's number in an address. A greater one than a row can have is not found."""

    def __init__(self, addresses: Map) -> None:
        super().__init__(addresses, max=GREATEST)


def here(**changes: str | None) -> str:
    """This page with some of its arguments, or parts of its path, changed; None or "" leaves one out."""
    return _address(str(request.endpoint), changes)


def download(ending: str) -> str:
    """This page's table as a file with this ending, under the same arguments."""
    return _address(f"{request.endpoint}_file", {"ending": ending})


def _address(endpoint: str, changes: dict[str, str | None]) -> str:
    given = {name: value for name, value in request.args.items() if name in ARGUMENTS}
    wanted = {**given, **(request.view_args or {}), **changes}
    return url_for(endpoint, **{name: value for name, value in wanted.items() if value})
