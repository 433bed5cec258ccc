"""The API: what the site's pages show and do, for programs, at `/api/v1`; its document at `/api/v1/openapi.json`.

An endpoint is a function in one of `MODULES`, under `get` or `post` of `endpoints`; nothing else has to be written. The
modules are imported when they are needed: a command needs those of its own subject only.
"""

from collections.abc import Sequence
from importlib import import_module

from flask import Blueprint, Flask

# In the order in which their page lists them.
MODULES = (
    "boards.api", "history.api", "judgments.api.published", "submissions.api.checks", "submissions.api.submit",
    "submissions.api.runs", "teams.api", "campaigns.api.campaigns", "evaluations.api.evaluations",
    "evaluations.api.form_fields", "judgments.api.queries", "judgments.api.judgments", "submissions.api.organised",
    "campaigns.api.organisers", "audit.api", "transfer.api",
)  # fmt: skip


def init_app(app: Flask) -> None:
    from leaderboard.web.api import document
    from leaderboard.web.compression import offer
    from leaderboard.web.security import csrf

    made = make_blueprint()
    made.after_request(offer)
    made.add_url_rule("/openapi.json", "openapi", document.serve)
    csrf.exempt(made)  # no cookie says who asks here, so no other site can ask in somebody's name
    app.register_blueprint(made)


def make_blueprint(modules: Sequence[str] = MODULES) -> Blueprint:
    """The blueprint with the endpoints of these modules."""
    from leaderboard.web.api import bearer, endpoints

    names = [import_module(f"leaderboard.{module}").__name__ for module in modules]
    made = Blueprint("api", __name__, url_prefix=endpoints.PREFIX)
    made.before_request(bearer.identify)
    endpoints.register(made, names)
    return made
