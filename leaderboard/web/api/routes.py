"""The API: what the site's pages show and do, for programs, at `/api/v1`; its document at `/api/v1/openapi.json`.

An endpoint is a function in one of `MODULES`, under `get` or `post` of `endpoints`; nothing else has to be written.
"""

from flask import Blueprint

from leaderboard.audit import api as trail
from leaderboard.boards import api as reading
from leaderboard.campaigns.api import campaigns
from leaderboard.campaigns.api import organisers as people
from leaderboard.evaluations.api import evaluations
from leaderboard.evaluations.api import form_fields as forms
from leaderboard.history import api as stood
from leaderboard.judgments.api import judgments, published, queries
from leaderboard.submissions.api import checks as checking
from leaderboard.submissions.api import organised as all_runs
from leaderboard.submissions.api import runs
from leaderboard.submissions.api import submit as submitting
from leaderboard.teams import api as teams
from leaderboard.transfer import api as archives
from leaderboard.web.api import bearer, document, endpoints
from leaderboard.web.compression import offer
from leaderboard.web.security import csrf

# Imported: each adds its endpoints; in the order in which its page lists them.
MODULES = (
    reading, stood, published, checking, submitting, runs, teams,
    campaigns, evaluations, forms, queries, judgments, all_runs, people, trail, archives,
)  # fmt: skip

blueprint = Blueprint("api", __name__, url_prefix=endpoints.PREFIX)
blueprint.before_request(bearer.identify)
blueprint.after_request(offer)
endpoints.register(blueprint, [module.__name__ for module in MODULES])
blueprint.add_url_rule("/openapi.json", "openapi", document.serve)
csrf.exempt(blueprint)  # no cookie says who asks here, so no other site can ask in somebody's name
