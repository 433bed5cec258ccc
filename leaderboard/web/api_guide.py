"""The page that says how to use the API."""

from itertools import groupby

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from leaderboard.web.api.endpoints import ENDPOINTS, PREFIX

blueprint = Blueprint("api_guide", __name__)


@blueprint.get("/api")
def guide() -> ResponseReturnValue:
    subjects = [(subject, list(own)) for subject, own in groupby(ENDPOINTS, key=lambda one: one.subject)]
    return render_template("api/guide.html", subjects=subjects, prefix=PREFIX)
