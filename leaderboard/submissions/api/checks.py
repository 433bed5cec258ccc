"""What would become of a run, said before it is submitted; nothing is kept."""

import msgspec

from leaderboard.accounts.rules import Scope
from leaderboard.boards.api import EVALUATION
from leaderboard.errors import InvalidFields
from leaderboard.formats import ByteSource, Limits
from leaderboard.submissions.api.submit import threshold_of
from leaderboard.submissions.pages.checks import check_looked
from leaderboard.submissions.reads.form import checking
from leaderboard.submissions.rules.checks import CHECKED_BYTES, Checked, Looked, look_at
from leaderboard.web import uploads
from leaderboard.web.context import actor, read, store
from leaderboard.web.endpoints import post


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
