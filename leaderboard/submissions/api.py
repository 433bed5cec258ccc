"""A team's own run: its file as it was received, and what a decision on it would change.

Submitting a run, following it, and what its team may still do with it.

What would become of a run, said before it is submitted; nothing is kept.

The runs of all teams: listed, looked at, taken off the boards and put back, scored again where that failed.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

import msgspec
from flask import Response, request
from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict

from leaderboard.access import Actor, submission_refusal
from leaderboard.accounts import rate_limits as attempts
from leaderboard.accounts.rules import Scope
from leaderboard.boards.api import EVALUATION
from leaderboard.declared.commands import Command, Find, Other, Table, moment
from leaderboard.declared.inputs import checked, checked_partly
from leaderboard.errors import Conflict, Gathered, InvalidFields, NotFound, TooLarge
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.evaluations import find_evaluation
from leaderboard.evaluations.writes import agreements_of
from leaderboard.frozen import frozen
from leaderboard.store import Received
from leaderboard.submissions import pages
from leaderboard.submissions.inputs import Choice, RunChanges, RunForm, RunSettings, TakenOff, Withdrawal
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads import status as reads
from leaderboard.submissions.reads.form import Submitting, checking, submitting
from leaderboard.submissions.reads.status import SubmissionStatus
from leaderboard.submissions.rules import Checked
from leaderboard.submissions.writes import submissions
from leaderboard.teams.models import System, Team
from leaderboard.teams.reads import find_own_team, find_system
from leaderboard.web import uploads
from leaderboard.web.context import actor, clock, database, now, read, reading, writing
from leaderboard.web.endpoints import answered, get, post
from leaderboard.web.organise import CAMPAIGN, EVALUATION as ORGANISED_EVALUATION, evaluation_here
from leaderboard.web.security import require_text
from leaderboard.worker.queue import unfinished
from leaderboard.worker.writes import make_set


@get("/submissions/<int:submission>/file", Scope.READ, file="application/octet-stream")
def run_bytes(submission: int) -> Response:
    """Your team's run as it was received."""
    return pages.own_file(submission)


KEY = re.compile(r"[\x21-\x7e]{1,200}")
ANSWER, AGREEMENT = "answer-", "agreement-"
MAKE_ONE = "to make one, name it as new_system (--new-system) in place of system: it is made with its run"


def _run_form() -> type[msgspec.Struct]:
    """The form with its files, as the document tells it."""
    own = [
        (name, field.annotation, *(() if field.is_required() else (field.default,)))
        for name, field in RunForm.model_fields.items()
    ]
    further = {  # patterns of names that an evaluation makes
        f"^{ANSWER}[a-z]": {"type": "string"},
        f"^{AGREEMENT}[a-z]": {"type": "string", "pattern": "^[0-9]+$"},
    }
    return msgspec.defstruct(
        "Run", [("run", bytes), *own, ("beside", bytes, b"")], kw_only=True,
        namespace={"__doc__": RunForm.__doc__, "further": further},
    )  # fmt: skip


Run = _run_form()
KNOWN = frozenset(RunForm.model_fields)


@post("/campaigns/<campaign>/evaluations/<evaluation>/submissions", Scope.SUBMIT, form=Run, status=HTTPStatus.CREATED)
def submit_run(campaign: str, evaluation: str) -> SubmissionStatus:
    """Submits a run. Name the team, and one of its systems (system) or one to make (new_system); the file, `run`, comes
    last. With a header `Idempotency-Key` a second try answers with the first one's submission and takes no second run;
    another file, evaluation, team, system or θ under the same key is refused (409).
    A file that would be rejected is refused with its problems (`fields.run`), and a run that is most likely a slip with
    warnings (`fields.confirm`), unless `confirm` is yes: nothing of it is kept.
    """
    with reading() as session:
        asked = find_evaluation(session, actor(), campaign, evaluation)
    key = _key()
    earlier = _sent(key)
    if earlier is not None:
        _require_same(earlier.id, asked)
        return answered(earlier)
    try:
        return read(reads.status, _taken(asked, key))
    except (Conflict, InvalidFields):
        if (earlier := _sent(key)) and earlier.evaluation.id == asked.id:  # two tries came at the same moment
            return answered(earlier)
        raise


@get("/sendings/<key>", Scope.READ)
def sending(key: str) -> SubmissionStatus:
    """The submission that you sent under an idempotency key; 404 where none was taken."""
    earlier = _sent(key)
    if earlier is None:
        raise NotFound
    return earlier


@post("/submissions/<int:submission>/withdraw", Scope.SUBMIT, command=Command(
    "submission withdraw SUBMISSION", "submission {submission} is withdrawn", "17 --because 'the wrong file'"
))  # fmt: skip
def withdraw_run(submission: int, body: Withdrawal) -> SubmissionStatus:
    """Takes a run off every board for good. It stays on record."""
    change = partial(submissions.withdraw, because=body.because)
    return _changed_run(submission, change, body.confirm, ["The run leaves every board for good."])


@post("/submissions/<int:submission>/stand", Scope.SUBMIT, command=Command(
    "submission stand SUBMISSION", "submission {submission} stands for its system once it is scored", "17"
))  # fmt: skip
def let_run_stand(submission: int, body: Choice) -> SubmissionStatus:
    """Lets a contrastive run stand for its system on the board, in place of another one."""
    return _changed_run(submission, submissions.select_run, body.confirm)


@post("/submissions/<int:submission>/primary", Scope.SUBMIT, command=Command(
    "submission primary SUBMISSION", "submission {submission} is its team's primary run", "17"
))  # fmt: skip
def make_run_primary(submission: int, body: Choice) -> SubmissionStatus:
    """Makes a scored run its team's primary one in the evaluation; others submitted as primary become contrastive."""
    return _changed_run(submission, submissions.make_primary, body.confirm)


@post("/submissions/<int:submission>/describe", Scope.SUBMIT, command=Command(
    "submission describe SUBMISSION", "changed submission {submission}", "17 --label 'second try'"
))  # fmt: skip
def describe_run(submission: int, body: RunChanges) -> SubmissionStatus:
    """Gives a run another label, other notes, or both; the trail keeps what they were."""
    return _changed_run(submission, partial(submissions.describe, **body.given()))


def _changed_run(
    submission: int, change: Callable[..., object], confirm: bool = True, also: Sequence[str] = ()
) -> SubmissionStatus:
    """confirm: whether what it does to the board, and `also`, is confirmed."""
    pages.own_run(submission)
    with writing() as session:
        pages.change_confirmed(session, session.get_one(Submission, submission), change, confirm, also)
    return read(reads.status, submission)


def _sender(evaluation: Evaluation, session: Session, fields: MultiDict[str, str]) -> tuple[Team, System | str]:
    """The reader's team that the fields name, and its system, or the name of a new one. Raises InvalidFields."""
    for name, values in fields.lists():
        is_known = name in KNOWN or name.startswith((ANSWER, AGREEMENT))
        if not is_known or len(values) > 1:
            raise uploads.not_taken(name, is_known, [*sorted(KNOWN), f"{ANSWER}…", f"{AGREEMENT}…"])
    if not fields.get("team"):
        raise InvalidFields({"team": ["name the team, before the file"]})
    try:
        team = find_own_team(session, actor(), fields["team"], evaluation.campaign_id)
    except NotFound as error:
        raise InvalidFields({"team": [error.message]}) from None
    if bool(fields.get("system")) == bool(fields.get("new_system")):
        raise InvalidFields({"system": ["give either system, or new_system to make one, before the file"]})
    if new := fields.get("new_system"):
        return team, new
    try:
        return team, find_system(session, team.slug, fields["system"])
    except NotFound as error:
        raise InvalidFields({"system": [error.message, MAKE_ONE]}) from None


def _taken(evaluation: Evaluation, key: str | None) -> int:
    """The submission that is made of this request's form and file. Raises what is wrong, and keeps nothing then."""
    intake = pages.Intake(evaluation, lambda *form: _sender(evaluation, *form)[0], key)
    number: int | None = None

    def settle(posted: uploads.Posted, upload: Received, path: Path) -> None:
        nonlocal number
        wrong = Gathered()
        with reading() as session:
            sent = _sent_run(session, evaluation, posted, upload, wrong)
        number = intake.submit(sent, wrong.fields, posted, now(), path)

    try:
        posted = pages.receive_run(intake.hold, require_text, settle)
    finally:
        if number is None:
            intake.give_up()
    if posted.refusal is not None:
        raise posted.refusal
    if posted.refused is not None:
        raise TooLarge(posted.refused, "run")
    if number is None:
        raise InvalidFields({"run": ["send the run's file, as the last part of the form"]})
    return number


def _sent_run(
    session: Session, evaluation: Evaluation, posted: uploads.Posted, upload: Received, wrong: Gathered
) -> pages.SentRun:
    """What this request's form says of its run. wrong: gathers what of that can't be read."""
    fields = posted.fields
    beside = pages.said_beside(posted)
    if beside.problem:
        wrong.fields["beside"] = [beside.problem]
    team, system = _sender(evaluation, session, fields)
    own = {name: value for name, value in fields.items() if name in RunSettings.model_fields}
    settings, problems = checked_partly(RunSettings, own)
    wrong.fields |= problems
    accepted = list[int]()
    with wrong:
        accepted = agreements_of(session, evaluation, _named(fields, AGREEMENT))
    details = {**settings.given(), "answers": _named(fields, ANSWER), "accepted": accepted, "said": beside.entries}
    return pages.SentRun(team.id, system.id if isinstance(system, System) else system, upload, details)


def _require_same(earlier: int, evaluation: Evaluation) -> None:
    """Raises Conflict where this request's form is not the one that made the submission, as far as nobody may change it
    later: its file, evaluation, team, system and θ.
    """

    def compare(posted: uploads.Posted, upload: Received, _: Path) -> None:
        theta = checked(RunSettings, {"threshold": posted.fields.get("threshold", "")}).threshold
        with reading() as session:
            run = session.get_one(Submission, earlier)
            sent = _sent_run(session, evaluation, posted, upload, Gathered())
            own = (upload.sha256, evaluation.id, sent.team_id, theta)
            is_same = own == (run.sha256, run.evaluation_id, run.team_id, run.threshold)
            if not is_same or (isinstance(sent.system, int) and sent.system != run.system_id):
                raise Conflict(
                    f"This key was used for submission {earlier}, which has another file, evaluation, team, system or "
                    "θ. Take another key for another run."
                )

    def admit(_: MultiDict[str, str]) -> None:
        if refused := submission_refusal(evaluation, now(), clock()):
            raise Conflict(f"{refused} Under this key you sent submission {earlier}.")
        attempts.count(database(), attempts.FORM_FILE, clock(), "", user=actor().user_id)

    posted = pages.receive_run(admit, require_text, compare)
    if posted.refusal is not None:
        raise posted.refusal


def _named(fields: MultiDict[str, str], beginning: str) -> dict[str, str]:
    """The fields whose names begin so, by the rest of their names."""
    return {name.removeprefix(beginning): fields[name] for name in fields if name.startswith(beginning)}


def _key() -> str | None:
    """The idempotency key of this request. Raises InvalidFields for one that can't be kept."""
    key = request.headers.get("Idempotency-Key")
    if key is not None and not KEY.fullmatch(key):
        raise InvalidFields({"Idempotency-Key": ["give up to 200 characters of ASCII, without blanks"]})
    return key


def _sent(key: str | None) -> SubmissionStatus | None:
    """What the token's account sent under this key."""
    number = read(reads.sent_under, key)
    return None if number is None else read(reads.status, number)


class CheckedRun(msgspec.Struct):
    """A run as it would be sent: θ first, then the file."""

    run: bytes
    threshold: str = ""


@post(f"{EVALUATION}/check", Scope.READ, form=CheckedRun)
def check(campaign: str, evaluation: str) -> Checked:
    """Says what would become of a run: the problems it would be rejected for, warnings that ask for a yes, and how much
    of the queries it covers. Nothing is kept.
    """
    expected = read(checking, campaign, evaluation).expected
    _, found, wrong = pages.check_sent(expected, partial(uploads.require_known, ("threshold",), ("run",)))
    if found is None:
        raise InvalidFields(wrong)
    return found


IN_EVALUATION = {  # an organiser's address has the evaluation in it: it is the run's own
    name: Find("/submissions/<submission>", of, "there is no submission {submission}")
    for name, of in (
        ("campaign", lambda run, _: run["evaluation"]["campaign"]["slug"]),
        ("evaluation", lambda run, _: run["evaluation"]["slug"]),
    )
}
DISQUALIFY = Command(
    "submission disqualify SUBMISSION", "submission {submission} is disqualified",
    "17 --because 'trained on the judgments'", sends={"ruling": "disqualified"}, without=("ruling",),
    finds=IN_EVALUATION,
)  # fmt: skip
HIDE = Command(
    "submission hide SUBMISSION", "submission {submission} is hidden", "17 --because 'the team asked for it'",
    sends={"ruling": "hidden"}, without=("ruling",), finds=IN_EVALUATION, also=(DISQUALIFY,),
)  # fmt: skip


@frozen
class Waiting:
    """How many runs of the evaluation wait to be scored, or are being scored."""

    waiting: int


SUBMISSIONS = Table(
    ("number", "evaluation", "team", "system", "kind", "label", "state", "received"),
    lambda row: (
        row["id"], row["evaluation"], row["team"], row["system"], row["kind"],
        f"{row['title']}{' (primary)' * row['is_primary']}{' (late)' * row['late']}", row["state"],
        f"{moment(row['received_at'])}{' (assumed)' * row['received_assumed']}",
    ),
    "no such submission", lambda answer: answer["rows"],
)  # fmt: skip


@get(f"{CAMPAIGN}/submissions", Scope.ORGANISE, command=Command(
    "submission list CAMPAIGN [EVALUATION]", SUBMISSIONS, "harbour 2026-text --state failed"
))  # fmt: skip
def list_submissions(
    campaign: str, *, evaluation: str = "", state: str = "", team: str = "", kind: str = "", late: str = "",
    text: str = "",
) -> reads.SubmissionList:  # fmt: skip
    """Every submission to a campaign, or to one of its evaluations, those that are on no board too; the newest first.
    state: queued, scoring, scored, rejected, failed …; team: by its slug; late: yes or no; text: in the label, the
    names of file and system, or the beginning of the SHA-256.
    """
    asked: dict[str, Any] = {"state": state, "team": team, "kind": kind, "late": late, "text": text}
    return read(reads.submissions, campaign, evaluation or None, page=None, **asked)


@get(f"{ORGANISED_EVALUATION}/submissions/<int:submission>", Scope.ORGANISE)
def organised_submission(campaign: str, evaluation: str, submission: int) -> reads.SubmissionRow:
    """A submission as its organisers see it."""
    return read(reads.submission_row, campaign, evaluation, submission)


@get(f"{ORGANISED_EVALUATION}/submissions/<int:submission>/file", Scope.ORGANISE, file="application/octet-stream")
def fetch_run(campaign: str, evaluation: str, submission: int) -> Response:
    """A run's file as it was received."""
    row = read(reads.submission_row, campaign, evaluation, submission)
    return pages.run_download(row.id, row.sha256, row.filename)


@post(f"{ORGANISED_EVALUATION}/submissions/<int:submission>/take-off", Scope.ORGANISE, command=HIDE)
def take_run_off(campaign: str, evaluation: str, submission: int, body: TakenOff) -> reads.SubmissionRow:
    """Takes a run off every board, hidden or disqualified; its team reads the reason."""
    take_off = partial(submissions.hide_run, ruling=body.ruling, because=body.because, holds_place=body.holds_place)
    return _of_run(campaign, evaluation, submission, take_off, body.confirm)


@post(f"{ORGANISED_EVALUATION}/submissions/<int:submission>/restore", Scope.ORGANISE, command=Command(
    "submission restore SUBMISSION", "submission {submission} is back where it was", "17", finds=IN_EVALUATION
))  # fmt: skip
def restore_run(campaign: str, evaluation: str, submission: int) -> reads.SubmissionRow:
    """Puts a run that was taken off back on the boards."""
    return _of_run(campaign, evaluation, submission, submissions.restore)


@post(f"{ORGANISED_EVALUATION}/submissions/<int:submission>/retry", Scope.ORGANISE, command=Command(
    "submission retry SUBMISSION", "submission {submission} is in the queue again", "17", finds=IN_EVALUATION
))  # fmt: skip
def retry_run(campaign: str, evaluation: str, submission: int) -> reads.SubmissionRow:
    """Puts a run whose scoring failed back into the queue."""
    return _of_run(campaign, evaluation, submission, submissions.retry)


WAITING = "{campaign}/{evaluation}: runs that wait to be scored: {waiting}"


@post(f"{ORGANISED_EVALUATION}/rescore", Scope.ORGANISE, command=Command(
    "rescore CAMPAIGN/EVALUATION", WAITING, "harbour/2026-text",
    instead={"failed": Other(f"{ORGANISED_EVALUATION}/retry-failed", WAITING, "Only queue the failed runs again.")},
))  # fmt: skip
def rescore_runs(campaign: str, evaluation: str) -> Waiting:
    """Scores every run of an evaluation anew where something that figures depend on has changed since, such as the
    version of the measures. Boards show the present results until all new ones are there.
    """
    return _score_again(make_set, campaign, evaluation)


@post(f"{ORGANISED_EVALUATION}/retry-failed", Scope.ORGANISE)
def retry_failed_runs(campaign: str, evaluation: str) -> Waiting:
    """Puts every run of an evaluation whose scoring failed back into the queue."""
    return _score_again(submissions.retry_failed, campaign, evaluation)


def _score_again(what: Callable[[Session, Actor, Evaluation], object], campaign: str, evaluation: str) -> Waiting:
    with writing() as session:
        scored = evaluation_here(session, campaign, evaluation)
        what(session, actor(), scored)
        return Waiting(unfinished(session, scored.id))


def _of_run(
    campaign: str,
    evaluation: str,
    submission: int,
    change: Callable[[Session, Actor, Submission], object],
    confirm: bool = True,
) -> reads.SubmissionRow:
    read(reads.submission_row, campaign, evaluation, submission)  # a run to another evaluation is not here
    _changed_run(submission, change, confirm)
    return read(reads.submission_row, campaign, evaluation, submission)


@get(f"{EVALUATION}/submitting", Scope.READ)
def may_submit(campaign: str, evaluation: str) -> Submitting:
    """What an evaluation asks of a run (fields, agreements, rules of the file), and what your teams may still submit to
    it: their systems and what is left of the quotas.
    """
    return read(submitting, campaign, evaluation)


@get("/submissions/<int:submission>")
def submission(submission: int) -> SubmissionStatus:
    """A submission: its state, its receipt, and for its team what is wrong with a rejected file. Ask again
    until `state` is neither queued nor scoring.
    """
    return read(reads.status, submission)
