"""The API: what the site's pages show and do, for programs, at `/api/v1`; its document at `/api/v1/openapi.json`.

An endpoint is a function in one of `MODULES`, under `get` or `post` of `endpoints`; nothing else has to be written.
"""

from flask import Blueprint

from leaderboard.web.api import bearer, document, endpoints, reading, submitting
from leaderboard.web.api.organising import archives, campaigns, evaluations, forms, judgments, queries, runs
from leaderboard.web.security import csrf

__all__ = ["blueprint"]

# Imported: each adds its endpoints.
MODULES = (reading, submitting, campaigns, evaluations, forms, queries, judgments, runs, archives)

blueprint = Blueprint("api", __name__, url_prefix=endpoints.PREFIX)
blueprint.before_request(bearer.identify)
endpoints.register(blueprint)
blueprint.add_url_rule("/openapi.json", "openapi", document.serve)
csrf.exempt(blueprint)  # no cookie says who asks here, so no other site can ask in somebody's name
