"""The page that says how to use the API."""

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from leaderboard.web.api.endpoints import ENDPOINTS, PREFIX

blueprint = Blueprint("api_guide", __name__)


@blueprint.get("/api")
def guide() -> ResponseReturnValue:
    return render_template("api/guide.html", endpoints=ENDPOINTS, prefix=PREFIX)
