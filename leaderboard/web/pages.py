"""Every page family of the site, and the navigation over them."""

from dataclasses import dataclass

from flask import Flask, request, url_for
from flask_login import current_user

from leaderboard.web import (
    account,
    addresses,
    auth,
    boards,
    campaigns,
    health,
    lists,
    measures,
    progress,
    queries,
    submissions,
    submit,
    systems,
    teams,
    wording,
)

FAMILIES = (
    campaigns,
    progress,
    boards,
    queries,
    submit,
    submissions,
    lists,
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
    addresses.init_app(app)  # first: the families' addresses are made of its numbers
    for family in FAMILIES:
        app.register_blueprint(family.blueprint)
    wording.init_app(app)
    app.jinja_env.globals["navigation"] = navigation


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
