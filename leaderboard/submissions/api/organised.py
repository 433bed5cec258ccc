"""The runs of all teams: listed, looked at, taken off the boards and put back, scored again where that failed."""

from collections.abc import Callable
from dataclasses import dataclass

from flask import Response
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.accounts.rules import Scope
from leaderboard.errors import NotFound
from leaderboard.evaluations.models import Evaluation
from leaderboard.submissions.api.runs import require_seen
from leaderboard.submissions.models import Submission
from leaderboard.submissions.pages.run_files import run_download
from leaderboard.submissions.reads import organised as listed
from leaderboard.submissions.reads.effects import Act, Effect, effect
from leaderboard.submissions.rules import Ruling
from leaderboard.submissions.writes import submissions
from leaderboard.web.context import actor, read, writing
from leaderboard.web.endpoints import get, post
from leaderboard.web.organise import CAMPAIGN, EVALUATION, evaluation_here
from leaderboard.worker.queue import unfinished
from leaderboard.worker.writes import make_set


@dataclass(frozen=True, slots=True)
class TakenOff:
    """How and why a run is taken off. holds_place: whether no other run takes the place that it had; seen: of what you
    were shown that this would change: nothing is done where that is something else by now.
    """

    ruling: Ruling
    because: str
    holds_place: bool = True
    seen: str = ""


@dataclass(frozen=True, slots=True)
class OrganisedRun:
    """A run, and what taking it off would change: with its place left empty, and with another run in it."""

    run: listed.SubmissionRow
    empty: Effect
    filled: Effect


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many runs of the evaluation wait to be scored, or are being scored."""

    waiting: int


@get(f"{CAMPAIGN}/submissions", Scope.ORGANISE)
def list_campaign_submissions(
    campaign: str, *, state: str = "", team: str = "", kind: str = "", late: str = "", text: str = ""
) -> listed.SubmissionList:
    """Every submission to every evaluation of a campaign, with the same arguments as those of one evaluation."""
    filters = listed.Filters(state=state, team=team, kind=kind, late=late, text=text)
    return read(listed.submissions, campaign, None, filters=filters, page=None)


@get(f"{EVALUATION}/submissions", Scope.ORGANISE)
def list_submissions(
    campaign: str, evaluation: str, *, state: str = "", team: str = "", kind: str = "", late: str = "", text: str = ""
) -> listed.SubmissionList:
    """Every submission, those that are on no board too. state: queued, scoring, scored, rejected, failed …; late: yes
    or no; text: in the label, the names of file and system, or the beginning of the SHA-256.
    """
    filters = listed.Filters(state=state, team=team, kind=kind, late=late, text=text)
    return read(listed.submissions, campaign, evaluation, filters=filters, page=None)


@get(f"{EVALUATION}/submissions/<int:submission>", Scope.ORGANISE)
def organised_submission(campaign: str, evaluation: str, submission: int) -> OrganisedRun:
    """A submission as its organisers see it, and what taking it off the boards would change."""
    row = read(listed.submission_row, campaign, evaluation, submission)
    empty, filled = (read(effect, submission, act=act) for act in (Act.EMPTY, Act.FILL))
    return OrganisedRun(row, empty, filled)


@get(f"{EVALUATION}/submissions/<int:submission>/file", Scope.ORGANISE, file="application/octet-stream")
def fetch_run(campaign: str, evaluation: str, submission: int) -> Response:
    """A run's file as it was received."""
    row = read(listed.submission_row, campaign, evaluation, submission)
    return run_download(row.id, row.sha256, row.filename)


@post(f"{EVALUATION}/submissions/<int:submission>/take-off", Scope.ORGANISE)
def take_run_off(campaign: str, evaluation: str, submission: int, body: TakenOff) -> listed.SubmissionRow:
    """Takes a run off every board, hidden or disqualified; its team reads the reason."""

    act = Act.EMPTY if body.holds_place else Act.FILL

    def take_off(session: Session, run: Submission) -> None:
        require_seen(submission, act, body.seen)
        submissions.hide_run(session, actor(), run, body.ruling, body.because, holds_place=body.holds_place)

    return _of_run(campaign, evaluation, submission, take_off)


@post(f"{EVALUATION}/submissions/<int:submission>/restore", Scope.ORGANISE)
def restore_run(campaign: str, evaluation: str, submission: int) -> listed.SubmissionRow:
    """Puts a run that was taken off back on the boards."""
    return _of_run(campaign, evaluation, submission, lambda session, run: submissions.restore(session, actor(), run))


@post(f"{EVALUATION}/submissions/<int:submission>/retry", Scope.ORGANISE)
def retry_run(campaign: str, evaluation: str, submission: int) -> listed.SubmissionRow:
    """Puts a run whose scoring failed back into the queue."""
    return _of_run(campaign, evaluation, submission, lambda session, run: submissions.retry(session, actor(), run))


@post(f"{EVALUATION}/rescore", Scope.ORGANISE)
def rescore_runs(campaign: str, evaluation: str) -> Waiting:
    """Scores every run of an evaluation anew where something that figures depend on has changed since, such as the
    version of the measures. Boards show the present results until all new ones are there.
    """
    return _score_again(make_set, campaign, evaluation)


@post(f"{EVALUATION}/retry-failed", Scope.ORGANISE)
def retry_failed_runs(campaign: str, evaluation: str) -> Waiting:
    """Puts every run of an evaluation whose scoring failed back into the queue."""
    return _score_again(submissions.retry_failed, campaign, evaluation)


def _score_again(what: Callable[[Session, Actor, Evaluation], object], campaign: str, evaluation: str) -> Waiting:
    with writing() as session:
        found = evaluation_here(session, campaign, evaluation)
        what(session, actor(), found)
        return Waiting(unfinished(session, found.id))


def _of_run(
    campaign: str, evaluation: str, submission: int, do: Callable[[Session, Submission], None]
) -> listed.SubmissionRow:
    read(listed.submission_row, campaign, evaluation, submission)  # a run to another evaluation is not here
    with writing() as session:
        run = session.get(Submission, submission)
        if run is None:
            raise NotFound
        do(session, run)
    return read(listed.submission_row, campaign, evaluation, submission)
