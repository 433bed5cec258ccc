"""The page that says how to use the API."""

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from leaderboard.rules.scopes import Scope
from leaderboard.web.api.endpoints import ENDPOINTS, PREFIX

blueprint = Blueprint("api_guide", __name__)


@blueprint.get("/api")
def guide() -> ResponseReturnValue:
    by_scope = sorted(ENDPOINTS, key=lambda one: list(Scope).index(one.scope or Scope.READ))
    return render_template("api/guide.html", endpoints=by_scope, prefix=PREFIX)
