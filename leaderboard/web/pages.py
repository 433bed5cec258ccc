"""The project's documents that pages and commands name, as the text that they are.

The page that says how to use the API.

Whether this process can serve: what a load balancer asks.
"""

from http import HTTPStatus
from itertools import groupby
from pathlib import Path

import sqlalchemy as sa
from flask import Blueprint, Response, render_template
from flask.typing import ResponseReturnValue

from leaderboard.accounts.models import User
from leaderboard.config import folder
from leaderboard.errors import NoDatabase, NoStore, OtherBuild
from leaderboard.web.context import reading, store
from leaderboard.web.endpoints import ENDPOINTS, PREFIX

documents = Blueprint("documents", __name__)

DOCS = folder("docs")
SECURITY = "SECURITY.md"  # whose links start from the folder above


def _names(of: Path) -> str:
    """The documents of a folder as alternatives of a rule: an address that a request made up leads to no file."""
    return ", ".join(f"'{path.name}'" for path in sorted(of.glob("*.md")) if path.name != SECURITY)


@documents.get(f"/docs/<any({_names(DOCS)}):name>")
def document(name: str) -> Response:
    """One of them: how accounts work, how a campaign is imported, what figures rest on, and so on."""
    return _text(name)


@documents.get(f"/docs/decisions/<any({_names(DOCS / 'decisions')}):name>")
def decision(name: str) -> Response:
    """Why something is done as it is."""
    return _text(f"decisions/{name}")


@documents.get("/SECURITY.md")
def security() -> Response:
    """What is promised against whom, and how to report a hole."""
    return _text(SECURITY)


def _text(name: str) -> Response:
    return Response((DOCS / name).read_text(encoding="utf-8"), mimetype="text/plain")  # with charset=utf-8


api_guide = Blueprint("api_guide", __name__)


@api_guide.get("/api")
def guide() -> ResponseReturnValue:
    subjects = [(subject, list(own)) for subject, own in groupby(ENDPOINTS, key=lambda endpoint: endpoint.subject)]
    return render_template("api/guide.html", subjects=subjects, prefix=PREFIX)


health = Blueprint("health", __name__)


@health.get("/healthz")
def healthz() -> Response:
    """`ok`, or the parts that don't answer, one a line."""
    missing = []
    try:
        with reading() as session:
            session.execute(sa.select(User.id).limit(1))  # a table: SQLite does not open its file for less
    except OtherBuild:
        missing.append("the database was made by another build of this program")
    except NoDatabase:
        missing.append("the database does not answer")
    try:
        store().check()
    except NoStore:
        missing.append("the run store can't be written")
    if not missing:
        return Response("ok\n", mimetype="text/plain")
    return Response("".join(f"{line}\n" for line in missing), HTTPStatus.SERVICE_UNAVAILABLE, mimetype="text/plain")
