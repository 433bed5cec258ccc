"""The measure reference: pages made of what each measure says of itself in the registry.

The project's documents that pages and commands name, as the text that they are.

The page that says how to use the API.

Whether this process can serve: what a load balancer asks.
"""

from http import HTTPStatus
from itertools import groupby

import sqlalchemy as sa
from flask import Blueprint, Response, current_app, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from leaderboard.config import folder
from leaderboard.errors import NoDatabase, NoStore, NotFound, OtherBuild, OtherStore
from leaderboard.metrics import MEASURES_VERSION, agreements, families, groups
from leaderboard.metrics.measure import AGREEMENT
from leaderboard.submissions.models import Installation
from leaderboard.web.api import family_of
from leaderboard.web.context import reading
from leaderboard.web.endpoints import ENDPOINTS, PREFIX

measures = Blueprint("measures", __name__, url_prefix="/measures")


@measures.get("/")
def index() -> ResponseReturnValue:
    listed = {**groups(), AGREEMENT: agreements()}
    return render_template("measures/index.html", groups=listed, metric_version=MEASURES_VERSION)


@measures.get("/<name>")
def show(name: str) -> ResponseReturnValue:
    listed = {family.name: family for family in (*families(), *agreements())}
    if name not in listed:
        return redirect(url_for("measures.show", name=family_of(name).name))
    formula = Markup(listed[name].reference.mathml)  # noqa: S704  # made of our own registry's text, and escaped
    return render_template("measures/show.html", family=listed[name], formula=formula, names=list(listed))


documents = Blueprint("documents", __name__)

DOCS = folder("docs")
NAMES = {file.relative_to(DOCS).as_posix() for folder in ("", "decisions") for file in (DOCS / folder).glob("*.md")}


@documents.get("/docs/<path:name>")
@documents.get("/SECURITY.md", defaults={"name": "SECURITY.md"})  # its links start from here
def document(name: str) -> Response:
    """One of them: how accounts work, how a campaign is imported, what is promised against whom, and so on."""
    if name not in NAMES:  # an address that a request made up leads to no file
        raise NotFound
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
    missing, identity, store = [], None, current_app.extensions["store"]
    try:
        with reading() as session:
            identity = session.scalar(sa.select(Installation.store))
    except OtherBuild:
        missing.append("the database was made by another build of this program")
    except NoDatabase:
        missing.append("the database does not answer")
    try:
        store.check()
        store.require(identity)
    except OtherStore:
        missing.append("the run store is not that of the database")
    except NoStore:
        missing.append("the run store can't be written")
    if not missing:
        return Response("ok\n", mimetype="text/plain")
    return Response("".join(f"{line}\n" for line in missing), HTTPStatus.SERVICE_UNAVAILABLE, mimetype="text/plain")
