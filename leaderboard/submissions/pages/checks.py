"""The page that says what would become of a run and keeps nothing, and the same look at a file before it is queued."""

import threading
from collections.abc import Collection
from pathlib import Path

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue
from wtforms import FileField

from leaderboard.errors import FileRejected
from leaderboard.formats import RUN_FORMATS, beginning
from leaderboard.store import Received
from leaderboard.submissions.reads.form import Checking, checking, completed
from leaderboard.submissions.rules.checks import CHECKED_BYTES, Checked, Expected, Looked, check_run
from leaderboard.web import uploads
from leaderboard.web.context import actor, now, read, reading, store
from leaderboard.web.forms import Form, NumberField, form_page
from leaderboard.web.security import csrf
from leaderboard.web.sessions import signed_in

blueprint = Blueprint("run_checks", __name__)

# Each takes up to some hundred megabytes for a second: more at once would bound nobody's memory.
AT_ONCE = threading.BoundedSemaphore(2)


class CheckForm(Form):
    run = FileField("Run file", description=f"{RUN_FORMATS}.", render_kw={"aria-required": "true"})
    threshold = NumberField(
        "Threshold θ (optional)",
        description="As you would give it when you submit the run.",
        render_kw={"inputmode": "decimal", "autocomplete": "off"},
    )


@blueprint.get("/campaigns/<campaign>/<evaluation>/check")
@signed_in
def new(campaign: str, evaluation: str) -> ResponseReturnValue:
    page = read(checking, campaign, evaluation)
    return form_page("submit/check.html", _form(page), page=page, found=None)


@blueprint.post("/campaigns/<campaign>/<evaluation>/check")
@signed_in
def check(campaign: str, evaluation: str) -> ResponseReturnValue:
    page = read(checking, campaign, evaluation)
    fields, looked = uploads.look("run", CHECKED_BYTES)
    form = _form(page, fields)
    good = bool(form.validate())
    if looked is None:
        form.refuse({"run": ["choose the file of the run"]})
    if looked is None or not good:
        return form_page("submit/check.html", form, page=page, found=None)
    threshold = form.threshold.data if form.threshold is not None else None
    found = check_looked(looked, page.expected, page.evaluation.id, threshold, actor().teams)
    return render_template("submit/check.html", form=form, page=page, found=found)


csrf.exempt(check)  # uploads.look checks the token itself, before it reads a byte of the file


def check_stored(
    expected: Expected, evaluation_id: int, upload: Received, threshold: float | None, teams: Collection[int]
) -> Checked:
    """What would become of a run that the store has."""
    with store().run_file(upload.sha256) as path:
        return check_received(expected, evaluation_id, upload, path, threshold, teams)


def check_received(
    expected: Expected,
    evaluation_id: int,
    upload: Received,
    path: Path,
    threshold: float | None,
    teams: Collection[int],
) -> Checked:
    """What would become of a run that has come and lies at `path`."""
    try:
        text, whole = beginning(path, CHECKED_BYTES, upload.filename)
        looked = Looked(upload.filename, text, whole, upload.text_sha256)
    except FileRejected as refused:
        looked = Looked(upload.filename, b"", True, upload.text_sha256, refused)
    return check_looked(looked, expected, evaluation_id, threshold, teams)


def check_looked(
    looked: Looked, expected: Expected, evaluation_id: int, threshold: float | None, teams: Collection[int]
) -> Checked:
    """What would become of a run that was looked at."""
    with AT_ONCE:
        found, run = check_run(looked, expected, threshold=threshold)
        with reading() as session:
            return completed(session, actor(), evaluation_id, found, run, looked.text_sha256, teams, now())


def _form(page: Checking, given: object = None) -> CheckForm:
    form = CheckForm(formdata=given)
    if not page.expected.returned_by:
        del form.threshold
    return form
