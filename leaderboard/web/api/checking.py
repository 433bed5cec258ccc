"""What would become of a run, said before it is submitted; nothing is kept."""

import msgspec

from leaderboard.errors import InvalidFields
from leaderboard.formats import ByteSource, Limits
from leaderboard.reads.checking import checking
from leaderboard.rules.run_checks import CHECKED_BYTES, Checked, Looked, look_at
from leaderboard.rules.scopes import Scope
from leaderboard.web import uploads
from leaderboard.web.api.endpoints import post
from leaderboard.web.api.reading import EVALUATION
from leaderboard.web.api.submitting import threshold_of
from leaderboard.web.context import actor, read, store
from leaderboard.web.run_checks import check_looked


class CheckedRun(msgspec.Struct):
    """A run as it would be sent: θ first, then the file."""

    run: bytes
    threshold: str = ""


@post(f"{EVALUATION}/check", Scope.READ, form=CheckedRun)
def check(campaign: str, evaluation: str) -> Checked:
    """Says what would become of a run: the problems it would be rejected for, warnings that ask for a yes, and how much
    of the queries it covers. Nothing is kept.
    """
    page = read(checking, campaign, evaluation)
    fields, files = uploads.read_files({"run": _look}, ("threshold",))
    threshold = threshold_of(fields)
    if "run" not in files:
        raise InvalidFields({"run": ["send the run's file"]})
    return check_looked(files["run"], page.expected, page.evaluation.id, threshold, actor().teams)


def _look(file: ByteSource, *, name: str, limits: Limits) -> Looked:  # noqa: ARG001  # a run has limits of its own
    return look_at(file, name, CHECKED_BYTES, store().caps.text_bytes)
