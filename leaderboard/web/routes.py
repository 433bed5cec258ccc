"""The site's blueprints, and links made from the address of the page at hand."""

from flask import Blueprint, Flask, request, url_for
from werkzeug.routing import IntegerConverter, Map

from leaderboard.accounts.pages import account, identities
from leaderboard.accounts.pages import login as auth
from leaderboard.audit import organise as organise_trail
from leaderboard.boards import pages as boards
from leaderboard.campaigns import pages as campaigns
from leaderboard.campaigns.organise import campaigns as organised_campaigns
from leaderboard.campaigns.organise import organisers as organised_people
from leaderboard.campaigns.organise import rooms
from leaderboard.evaluations.organise import evaluations as organised_evaluations
from leaderboard.evaluations.organise import form_fields as organised_forms
from leaderboard.evaluations.rules.form_fields import in_words
from leaderboard.history import pages as stood
from leaderboard.judgments import pages as judgments
from leaderboard.judgments.organise import judgments as organised_judgments
from leaderboard.judgments.organise import queries as organised_queries
from leaderboard.progress import pages as progress
from leaderboard.results.pages import compare as comparing
from leaderboard.results.pages import queries, ranked_lists
from leaderboard.submissions import organise as organise_submissions
from leaderboard.submissions.pages import checks as run_checks
from leaderboard.submissions.pages import submissions, submit
from leaderboard.teams import organise as organise_teams
from leaderboard.teams import pages as teams
from leaderboard.transfer import organise as organised_importing
from leaderboard.web import api_guide, documents, health, measures
from leaderboard.web.api import routes as api
from leaderboard.web.exports import FORMATS
from leaderboard.web.organise import sections

MODULES = (
    campaigns,
    progress,
    boards,
    stood,
    queries,
    comparing,
    judgments,
    submit,
    run_checks,
    submissions,
    ranked_lists,
    teams,
    measures,
    documents,
    auth,
    account,
    api_guide,
    identities,
    health,
    organised_campaigns,
    organised_people,
    organised_importing,
    organised_evaluations,
    rooms,
    organised_queries,
    organised_judgments,
    organise_submissions,
    organise_teams,
    organise_trail,
    organised_forms,
)


def init_app(app: Flask) -> None:
    app.url_map.converters["int"] = RowNumber  # before the blueprints, whose addresses use it
    for module in MODULES:
        for blueprint in vars(module).values():
            if isinstance(blueprint, Blueprint):
                app.register_blueprint(blueprint)
    api.init_app(app)
    app.jinja_env.globals.update(
        here=here, download=download, export_formats=FORMATS, pairs=zip, in_words=in_words, organise_sections=sections
    )


GREATEST = 2**31 - 1  # what a row's number may be on both engines: PostgreSQL refuses a greater one as out of range

# What a page may be asked for. Anything else in an address stays out of the links that are made from it: some names
# mean something to the function that makes them.
ARGUMENTS = (
    "measure",
    "tag",
    "show",
    "sort",
    "answer",
    "condition",
    "page",
    "state",
    "team",
    "kind",
    "late",
    "text",
    "subject",
    "number",
    "person",
    "since",
    "until",
)


class RowNumber(IntegerConverter):
    """A row's number in an address, in the digits of ASCII. A greater one than a row can have is not found."""

    regex = "[0-9]+"

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
