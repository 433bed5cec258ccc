"""The API: what the site's pages show and do, for programs, at `/api/v1`; its document at `/api/v1/openapi.json`.

An endpoint is a function in one of `MODULES`, under `get` or `post` of `endpoints`; nothing else has to be written.
"""

from flask import Blueprint

from leaderboard.web.api import (
    bearer,
    checking,
    document,
    endpoints,
    published,
    reading,
    runs,
    stood,
    submitting,
    systems,
    teams,
)
from leaderboard.web.api.organising import archives, campaigns, evaluations, forms, judgments, people, queries, trail
from leaderboard.web.api.organising import runs as all_runs
from leaderboard.web.api.organising import systems as all_systems
from leaderboard.web.api.organising import teams as all_teams
from leaderboard.web.packing import offer
from leaderboard.web.security import csrf

__all__ = ["blueprint"]

# Imported: each adds its endpoints; in the order in which its page lists them.
MODULES = (
    reading, stood, published, checking, submitting, runs, teams, systems,
    campaigns, evaluations, forms, queries, judgments, all_runs, all_systems, all_teams, people, trail, archives,
)  # fmt: skip

blueprint = Blueprint("api", __name__, url_prefix=endpoints.PREFIX)
blueprint.before_request(bearer.identify)
blueprint.after_request(offer)
endpoints.register(blueprint, [module.__name__ for module in MODULES])
blueprint.add_url_rule("/openapi.json", "openapi", document.serve)
csrf.exempt(blueprint)  # no cookie says who asks here, so no other site can ask in somebody's name
