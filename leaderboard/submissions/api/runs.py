"""A team's own run: its file as it was received, and what a decision on it would change."""

from flask import Response

from leaderboard.access import require
from leaderboard.accounts.rules import Scope
from leaderboard.errors import Conflict
from leaderboard.submissions.pages.run_files import run_download
from leaderboard.submissions.reads import effects as standing_effects
from leaderboard.submissions.reads.effects import Act
from leaderboard.submissions.reads.status import SubmissionStatus, status
from leaderboard.web.context import read
from leaderboard.web.endpoints import get


@get("/submissions/<int:submission>/file", Scope.READ, file="application/octet-stream")
def run_bytes(submission: int) -> Response:
    """Your team's run as it was received."""
    run = _own(submission)
    return run_download(run.id, run.receipt, run.filename)


@get("/submissions/<int:submission>/effect", Scope.READ)
def effect(submission: int, *, act: Act = Act.WITHDRAW) -> standing_effects.Effect:
    """What a decision on your team's run would change: which run stands, and the ranks. act: withdraw, stand or
    primary; empty and fill are what organisers do when they take it off. `seen`, sent along with the decision, refuses
    it (409) where it would change something else by then.
    """
    _own(submission)
    return read(standing_effects.effect, submission, act=act)


def require_seen(submission: int, act: Act, seen: str) -> None:
    """Raises Conflict where `seen` was given, and what `act` would change is something else by now."""
    if seen and seen != read(standing_effects.effect, submission, act=act).seen:
        raise Conflict("What this would change is no longer what you were shown; ask for its effect again.")


def _own(submission: int) -> SubmissionStatus:
    run = read(status, submission)
    require(run.may_act, "Only members of the team and organisers do this.")
    return run
