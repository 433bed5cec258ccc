"""The page that says what would become of a run and keeps nothing, and the same look at a file before it is queued."""

import threading
from collections.abc import Collection
from dataclasses import replace

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue
from wtforms import FileField

from leaderboard.errors import FileRejected
from leaderboard.formats import RUN_FORMATS, beginning
from leaderboard.reads.checking import Checking, checking, completed
from leaderboard.rules.run_checks import CHECKED_BYTES, Checked, Expected, check_run
from leaderboard.store import Received
from leaderboard.web import uploads
from leaderboard.web.context import actor, now, read, reading, store
from leaderboard.web.forms import Form, NumberField, form_page
from leaderboard.web.security import csrf
from leaderboard.web.sessions import signed_in

__all__ = ["check_stored"]

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
    found = Checked(looked.filename, True, expected=page.expected)
    if looked.refused is not None:
        found = replace(found, problems=looked.refused.problems, problem_count=looked.refused.count)
    else:
        threshold = form.threshold.data if form.threshold is not None else None
        found = _checked(
            looked.text, page.expected, page.evaluation.id, looked.filename, looked.whole, threshold,
            looked.text_sha256, actor().teams,
        )  # fmt: skip
    return render_template("submit/check.html", form=form, page=page, found=found)


csrf.exempt(check)  # uploads.look checks the token itself, before it reads a byte of the file


def check_stored(
    expected: Expected, evaluation_id: int, upload: Received, threshold: float | None, teams: Collection[int]
) -> Checked:
    """What would become of a run that the store has."""
    with store().run_file(upload.sha256) as path:
        try:
            text, whole = beginning(path, CHECKED_BYTES, upload.filename)
        except FileRejected as refused:
            found = Checked(upload.filename, True, expected=expected)
            return replace(found, problems=refused.problems, problem_count=refused.count)
    return _checked(text, expected, evaluation_id, upload.filename, whole, threshold, upload.text_sha256, teams)


def _checked(
    text: bytes,
    expected: Expected,
    evaluation_id: int,
    name: str,
    whole: bool,
    threshold: float | None,
    text_sha256: str,
    teams: Collection[int],
) -> Checked:
    with AT_ONCE:
        found, run = check_run(text, expected, name=name, whole=whole, threshold=threshold)
        with reading() as session:
            return completed(session, actor(), evaluation_id, found, run, text_sha256, teams, now())


def _form(page: Checking, given: object = None) -> CheckForm:
    form = CheckForm(formdata=given)
    if not page.expected.returned_by:
        del form.threshold
    return form
