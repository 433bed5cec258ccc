"""A team's own run: its file as it was received, and what a decision on it would change."""

from flask import Response

from leaderboard.access import require
from leaderboard.reads import standing_effects
from leaderboard.reads.standing_effects import Act
from leaderboard.reads.submissions import SubmissionStatus, status
from leaderboard.rules.scopes import Scope
from leaderboard.web.api.endpoints import get
from leaderboard.web.context import read
from leaderboard.web.run_files import run_download


@get("/submissions/<int:submission>/file", Scope.READ, file="application/octet-stream")
def run_bytes(submission: int) -> Response:
    """Your team's run as it was received."""
    run = _own(submission)
    return run_download(run.id, run.receipt, run.filename)


@get("/submissions/<int:submission>/effect", Scope.READ)
def effect(submission: int, *, act: Act = Act.WITHDRAW) -> standing_effects.Effect:
    """What a decision on your team's run would change: which run stands, and the ranks. act: withdraw, stand or
    primary; empty and fill are what organisers do when they take it off.
    """
    _own(submission)
    return read(standing_effects.effect, submission, act=act)


def _own(submission: int) -> SubmissionStatus:
    run = read(status, submission)
    require(run.may_act, "Only members of the team and organisers do this.")
    return run
