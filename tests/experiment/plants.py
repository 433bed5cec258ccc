"""Leaks, planted into the site of an installation: what the experiment must catch, each named by where it shows.

A plant does what a careless change of the product would do: it looks at the judgments and lets an answer depend on
them.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import sqlalchemy as sa
from flask import Flask, Response, render_template_string, request

from leaderboard.db import Database
from leaderboard.judgments.models import Judgment, Query


@dataclass(frozen=True, slots=True)
class Plant:
    """A leak. endpoint: whose answers it changes; part: what of them differs: "status", "body" or a header's name."""

    endpoint: str
    part: str
    leak: Callable[[Response, Database], None]


def _relevant(database: Database, *which: sa.ColumnElement[bool]) -> int:
    """How many documents were judged relevant, in all revisions."""
    counted = sa.select(sa.func.count()).select_from(Judgment).join(Query, Query.id == Judgment.query_id)
    with database.read() as session:
        return session.scalar(counted.where(Judgment.grade > 0, *which)) or 0


def _count(response: Response, database: Database) -> None:
    words = render_template_string("<p>{{ number }} documents are relevant.</p>", number=_relevant(database))
    response.set_data(response.get_data() + words.encode())


def _header(response: Response, database: Database) -> None:
    response.headers["Server-Timing"] = f'judgments;desc="{_relevant(database)}"'


def _etag(response: Response, database: Database) -> None:
    response.set_etag(hashlib.sha256(f"{_relevant(database)}".encode()).hexdigest()[:8])


def _order(response: Response, database: Database) -> None:
    if response.mimetype != "text/csv":
        return
    head, *rows = response.get_data(as_text=True).splitlines()
    rows.sort(key=lambda row: _relevant(database, Query.external_id == row.split(",")[0]))
    response.set_data("\r\n".join([head, *rows, ""]))


def _error_text(response: Response, database: Database) -> None:
    query = (request.view_args or {}).get("query")
    if response.status_code == 403 and not _relevant(database, Query.external_id == query):
        response.set_data(response.get_data().replace(b"Single queries", b"Queries without a relevant document"))


def _absence(response: Response, database: Database) -> None:
    query = (request.view_args or {}).get("query")
    if response.status_code == 403 and not _relevant(database, Query.external_id == query):
        response.status_code = 404


def _redirect(response: Response, database: Database) -> None:
    if response.status_code != 302:
        return
    response.headers["Location"] = f"{response.headers['Location']}#{_relevant(database)}"


PLANTS = {
    "a count of relevant documents on the status page": Plant("submissions.progress", "body", _count),
    "a header of the board": Plant("boards.board", "Server-Timing", _header),
    "the ETag of the list of queries": Plant("results.query_list", "ETag", _etag),
    "the order of rows in a file": Plant("results.query_list_file", "body", _order),
    "the text of a refusal": Plant("results.query", "body", _error_text),
    "the status of a refusal": Plant("results.query_file", "status", _absence),
    "where a sent form leads to": Plant("submissions.withdraw", "Location", _redirect),
}


def plant_all(app: Flask, database: Database) -> None:
    """Plants every leak, and a new page with another one."""

    @app.after_request
    def leak(response: Response) -> Response:
        for plant in PLANTS.values():
            if request.endpoint == plant.endpoint:
                plant.leak(response, database)
        return response

    @app.get("/campaigns/<campaign>/<evaluation>/judged")
    def judged(campaign: str, evaluation: str) -> str:
        return f"{_relevant(database)} documents are relevant"
