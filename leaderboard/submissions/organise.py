"""The submissions of a campaign or an evaluation for its organisers: a list, and what they do with each of them."""

from collections.abc import Callable
from functools import partial
from typing import Any

from flask import Blueprint, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue

from leaderboard import errors, numbers
from leaderboard.submissions import api, pages
from leaderboard.submissions.inputs import TakenOff
from leaderboard.submissions.reads.status import FILTERS, status, submissions
from leaderboard.submissions.rules import SHOWN_STATES, SystemKind
from leaderboard.web.context import page_number, read
from leaderboard.web.exports import Table, columns, exported, table
from leaderboard.web.forms import Form, declared, done, form_page, sent_on
from leaderboard.web.organise import organised
from leaderboard.web.security import csrf

blueprint = Blueprint("organise_submissions", __name__, url_prefix="/organise")

ALL = "/<campaign>/submissions"
OF_EVALUATION = "/<campaign>/<evaluation>/submissions"
ONE = f"{OF_EVALUATION}/<int:submission>"

COLUMNS = columns(
    "submission=id", "evaluation", "team", "system", "kind", "label=title", "designation", "primary=is_primary",
    "state", "late", "measure", "mean", "rank", "submitter", "received_at", "received_assumed", "finished_at",
    "seconds", "bytes=size", "problems", "ruled_because", "sha256",
)  # fmt: skip


TakeOffForm = declared(TakenOff)


@blueprint.get(ALL, endpoint="of_campaign")
@blueprint.get(OF_EVALUATION)
@organised
def of_evaluation(campaign: str, evaluation: str | None = None) -> ResponseReturnValue:
    page = read(submissions, campaign, evaluation, asked=FILTERS, page=page_number())
    return render_template("organise/submissions/list.html", page=page, states=SHOWN_STATES, kinds=SystemKind)


@exported(blueprint, OF_EVALUATION)
def of_evaluation_file(campaign: str, evaluation: str | None) -> Table:
    page = read(submissions, campaign, evaluation, asked=FILTERS, page=None)
    name = f"{campaign}-{evaluation}-submissions" if evaluation else f"{campaign}-submissions"
    answers = {f"answer {key}": lambda row, key=key: row.answers.get(key) for key in page.fields}
    return table(name, {**COLUMNS, **answers}, page.rows, {"campaign": campaign, "evaluation": evaluation})


@exported(blueprint, ALL)
def of_campaign_file(campaign: str) -> Table:
    return of_evaluation_file(campaign, None)


@blueprint.get(f"{OF_EVALUATION}/baseline")
@organised
def baseline(campaign: str, evaluation: str) -> ResponseReturnValue:
    return pages.new(campaign, evaluation, baseline=True)


@blueprint.post(f"{OF_EVALUATION}/baseline")
@organised
def add_baseline(campaign: str, evaluation: str) -> ResponseReturnValue:
    return pages.send(campaign, evaluation, baseline=True)


csrf.exempt(add_baseline)  # uploads.receive checks the token itself, before it keeps a byte of the file


@blueprint.get(ONE)
@organised
def show(campaign: str, evaluation: str, submission: int) -> ResponseReturnValue:
    return _show(campaign, evaluation, submission, TakeOffForm())


@blueprint.post(f"{ONE}/take-off")
@organised
def take_off(campaign: str, evaluation: str, submission: int) -> ResponseReturnValue:
    form = TakeOffForm()
    try:
        body = form.checked(confirm=form.confirmed)
        api.take_run_off(campaign, evaluation, submission, body)
    except (errors.InvalidFields, errors.Conflict) as error:
        return _show(campaign, evaluation, submission, form, error)
    said = f"The run is {body.ruling.value}: it is on no board, and its team reads why."
    return sent_on(said, ".show", campaign=campaign, evaluation=evaluation, submission=submission)


blueprint.add_url_rule(f"{ONE}/file", "fetch", organised(api.fetch_run))


def _show(campaign: str, evaluation: str, submission: int, form: Form, error: Any = None) -> ResponseReturnValue:
    row = api.organised_submission(campaign, evaluation, submission)
    run = read(status, submission)
    return form_page("organise/submissions/show.html", form, error, row=row, run=run)


def _score_again(campaign: str, evaluation: str, *, again: Callable[[str, str], api.Waiting]) -> ResponseReturnValue:
    try:
        waiting = again(campaign, evaluation).waiting
    except errors.InvalidFields as refused:
        flash(refused.message, "warning")
    else:
        wait = numbers.counted(waiting, "run waits", "runs wait")
        flash(f"{wait} to be scored." if waiting else "No run has to be scored again: nothing has changed since.")
    return redirect(url_for(".of_evaluation", campaign=campaign, evaluation=evaluation))


def _do(*, change: Callable[..., object], said: str, **run: Any) -> ResponseReturnValue:
    address = url_for(".show", **run)
    return done(partial(change, **run), said, address, address)


for _address, _name, _view in (
    (f"{OF_EVALUATION}/rescore", "rescore", partial(_score_again, again=api.rescore_runs)),
    (f"{OF_EVALUATION}/retry-failed", "retry_failed", partial(_score_again, again=api.retry_failed_runs)),
    (f"{ONE}/restore", "restore", partial(_do, change=api.restore_run, said="The run is back where it was.")),
    (f"{ONE}/retry", "retry", partial(_do, change=api.retry_run, said="The run is in the queue again.")),
):
    blueprint.add_url_rule(_address, _name, organised(_view), methods=["POST"])
