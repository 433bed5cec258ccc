"""The project's documents that pages point to, as the text that they are."""

from flask import Blueprint, Response

from leaderboard.config import folder

blueprint = Blueprint("documents", __name__)


@blueprint.get("/docs/statistics.md")
def statistics() -> Response:
    """How the figures on boards are worked out, what they assume and how often they were right in simulations."""
    text = (folder("docs") / "statistics.md").read_text(encoding="utf-8")
    return Response(text, mimetype="text/plain")  # with charset=utf-8
