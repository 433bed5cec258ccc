"""The measure reference: pages made of what each measure says of itself in the registry.

The project's documents as pages, and all of their headings to search.

The page that says how to use the API.
"""

import base64
from http import HTTPStatus
from itertools import groupby

from flask import Blueprint, Response, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from leaderboard.boards.reads.entries import is_found
from leaderboard.campaigns.reads import measures_used
from leaderboard.errors import NotFound
from leaderboard.metrics import AGREEMENTS, GROUPS, MEASURES_VERSION, RUN_MEASURES
from leaderboard.metrics.measure import AGREEMENT
from leaderboard.metrics.names import search
from leaderboard.web.api import family_of
from leaderboard.web.context import read, site
from leaderboard.web.documents import documents
from leaderboard.web.endpoints import ENDPOINTS, PREFIX

measures = Blueprint("measures", __name__, url_prefix="/measures")


@measures.get("/")
def index() -> ResponseReturnValue:
    text, used = request.args.get("q", "").strip(), read(measures_used)
    agreeing = (family for family in AGREEMENTS if is_found(text, (family.name, family.title)))
    wanted = {family.name for family in (*(search(text).values() if text else RUN_MEASURES), *agreeing)}
    found = {"text": text, "used": used, "wanted": wanted & used if "used" in request.args else wanted}
    listed = {**GROUPS, AGREEMENT: AGREEMENTS}
    return render_template("measures/index.html", groups=listed, metric_version=MEASURES_VERSION, **found)


@measures.get("/<name>")
def show(name: str) -> ResponseReturnValue:
    listed = {family.name: family for family in (*RUN_MEASURES, *AGREEMENTS)}
    if name not in listed:
        return redirect(url_for("measures.show", name=family_of(name).name))
    formula = Markup(listed[name].reference.mathml)  # noqa: S704  # made of our own registry's text, and escaped
    return render_template("measures/show.html", family=listed[name], formula=formula, names=list(listed))


docs = Blueprint("documents", __name__, url_prefix="/docs")


@docs.get("/")
def index_of_documents() -> ResponseReturnValue:
    text = request.args.get("q", "")
    words = text.casefold().split()
    headings = [
        (document, heading)
        for document in documents().values()
        for heading in document.headings
        if words and all(word in f"{document.title} {heading.text}".casefold() for word in words)
    ]
    return render_template("docs/index.html", documents=documents(), headings=headings, text=text.strip())


@docs.get("/<path:name>")
def document(name: str) -> ResponseReturnValue:
    """One of them: how accounts work, how a campaign is imported, what is promised against whom, and so on."""
    if name not in documents() and name.rstrip("/") in documents():
        return redirect(url_for(".document", name=name.rstrip("/")), HTTPStatus.PERMANENT_REDIRECT)
    if name not in documents():
        raise NotFound
    return render_template("docs/document.html", document=documents()[name])


api_guide = Blueprint("api_guide", __name__)


@api_guide.get("/api")
def guide() -> ResponseReturnValue:
    subjects = [(subject, list(own)) for subject, own in groupby(ENDPOINTS, key=lambda endpoint: endpoint.subject)]
    return render_template("api/guide.html", subjects=subjects, prefix=PREFIX, document=documents()["api"])


about_site = Blueprint("site", __name__)


@about_site.get("/<any(about, contact, privacy):name>")
def text(name: str) -> ResponseReturnValue:
    if not (words := getattr(site(), name)):
        raise NotFound
    return render_template("site/text.html", title=name.capitalize(), words=words)


@about_site.get("/logo.png")
def logo() -> Response:
    if not site().logo:
        raise NotFound
    return Response(base64.b64decode(site().logo), mimetype="image/png")
