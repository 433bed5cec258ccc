"""A submission's page: its state until it is scored, its receipt and results, and what its team does with it.

What changes which run stands is asked for on a page that says what would change.
"""

from collections.abc import Callable
from functools import partial

from flask import Blueprint, flash, jsonify, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session
from wtforms import StringField, TextAreaField

from leaderboard.access import Actor, require
from leaderboard.boards.reads.entries import NO_FIGURE
from leaderboard.errors import Conflict, InvalidFields
from leaderboard.results.reads.run import ThresholdCost, receipt, results
from leaderboard.submissions.models import Submission
from leaderboard.submissions.pages.run_files import run_download
from leaderboard.submissions.reads.effects import Act, effect
from leaderboard.submissions.reads.status import SubmissionStatus, status
from leaderboard.submissions.rules import State
from leaderboard.submissions.writes import submissions
from leaderboard.web import charts
from leaderboard.web.context import actor, clock, page_number, read, reading, writing
from leaderboard.web.endpoints import plain
from leaderboard.web.exports import Cell, Table, column_facts, evaluation_facts, exported, terms_facts
from leaderboard.web.forms import Form, form_page
from leaderboard.web.sessions import signed_in

blueprint = Blueprint("submissions", __name__)


class DescribeForm(Form):
    label = StringField("Label", description="A short name that tells your runs apart; boards show it.")
    notes = TextAreaField(
        "Notes (optional)", description="Only your team and the organisers see them.", render_kw={"rows": 5}
    )


@blueprint.get("/submissions/<int:submission>")
def show(submission: int) -> ResponseReturnValue:
    with reading() as session:
        run = read(status, submission, within=session)
        shown = own = None
        if run.state == State.SCORED and run.results_open:
            shown = read(results, submission, asked=("measure", "sort"), page=page_number(), within=session)
            own = read(receipt, submission, within=session)
    chart = charts.differences_chart(shown) if shown else None
    return render_template("submissions/show.html", run=run, results=shown, chart=chart, receipt=own)


@blueprint.get("/submissions/<int:submission>/receipt.json")
def score_receipt(submission: int) -> ResponseReturnValue:
    return jsonify(plain(read(receipt, submission)))


@blueprint.get("/submissions/<int:submission>/file")
@signed_in
def fetch(submission: int) -> ResponseReturnValue:
    """The run's file as it was received, for its team and the organisers."""
    run = _own(submission)
    return run_download(run.id, run.receipt, run.filename)


@exported(blueprint, "/submissions/<int:submission>")
def show_file(submission: int) -> Table:
    """Its means, and its per-query values where they may be seen."""
    found = read(results, submission, asked=("sort",))
    names = [column.name for column in found.columns]
    means: dict[str, Cell] = dict(zip(names, (figure.mean for figure in found.figures), strict=True))
    rows: list[dict[str, Cell]] = [{"query": "all", "missing": None, **means}]
    for row in found.queries:
        values = dict(zip((column.name for column in found.value_columns), row.values, strict=True))
        rows.append({"query": row.external_id, "missing": row.missing, **values})
    facts = {
        "submission": found.id,
        "system": found.system.name,
        "team": found.system.team,
        "evaluation": evaluation_facts(found.evaluation),
        "terms": terms_facts(found.terms),
        "measures": [column_facts(column) for column in found.columns],
        "threshold_costs": [_cost(cost) for cost in found.threshold_costs],
    }
    return Table(f"submission-{found.id}", ["query", "missing", *names], rows, facts)


def _cost(cost: ThresholdCost) -> dict[str, Cell]:
    figure = cost.figure or NO_FIGURE
    return {
        "figure": cost.name,
        "one_threshold": cost.figure is not None,
        "mean": figure.mean,
        "low": figure.low,
        "high": figure.high,
    }


@blueprint.get("/submissions/<int:submission>/status")
def progress(submission: int) -> ResponseReturnValue:
    """What the page still waits for; its script asks for this."""
    run = read(status, submission)
    return render_template("submissions/progress.html", run=run)


@blueprint.get("/submissions/<int:submission>/withdraw")
@signed_in
def ask_withdraw(submission: int) -> ResponseReturnValue:
    return _ask(submission, Act.WITHDRAW)


@blueprint.post("/submissions/<int:submission>/withdraw")
@signed_in
def withdraw(submission: int) -> ResponseReturnValue:
    do = partial(submissions.withdraw, because=request.form.get("because", ""), now=clock())
    return _decide(submission, Act.WITHDRAW, do, "The run is withdrawn: it is on no board and stays on record.")


@blueprint.get("/submissions/<int:submission>/stand")
@signed_in
def ask_stand(submission: int) -> ResponseReturnValue:
    return _ask(submission, Act.STAND)


@blueprint.post("/submissions/<int:submission>/stand")
@signed_in
def stand(submission: int) -> ResponseReturnValue:
    do = partial(submissions.select_run, now=clock())
    return _decide(submission, Act.STAND, do, "You chose this run to stand for its system on the board.")


@blueprint.get("/submissions/<int:submission>/primary")
@signed_in
def ask_primary(submission: int) -> ResponseReturnValue:
    return _ask(submission, Act.PRIMARY)


@blueprint.post("/submissions/<int:submission>/primary")
@signed_in
def primary(submission: int) -> ResponseReturnValue:
    do = partial(submissions.make_primary, now=clock())
    return _decide(submission, Act.PRIMARY, do, "This is the team's primary run now.")


@blueprint.get("/submissions/<int:submission>/describe")
@signed_in
def describe(submission: int) -> ResponseReturnValue:
    run = _own(submission)
    return form_page("submissions/describe.html", DescribeForm(label=run.title, notes=run.notes), run=run)


@blueprint.post("/submissions/<int:submission>/describe")
@signed_in
def save_description(submission: int) -> ResponseReturnValue:
    run, form = _own(submission), DescribeForm()
    try:
        with writing() as session:
            found = session.get_one(Submission, submission)
            submissions.describe(session, actor(), found, label=form.text("label"), notes=form.text("notes"))
    except InvalidFields as error:
        return form_page("submissions/describe.html", form, error, run=run)
    flash("Label and notes are changed.")
    return redirect(url_for("submissions.show", submission=submission))


def _own(submission: int) -> SubmissionStatus:
    """A run that the reader may do something to. Raises NotFound, and NotAllowed for a run of others."""
    run = read(status, submission)
    require(run.may_act, "Only members of the team and organisers do this.")
    return run


def _ask(submission: int, act: Act, status_code: int = 200) -> ResponseReturnValue:
    """The page that says what would change, and asks."""
    run = _own(submission)
    changes = read(effect, submission, act=act)
    changed = status_code != 200
    return render_template(
        "submissions/decide.html", run=run, act=act.value, effect=changes, changed=changed
    ), status_code


def _decide(
    submission: int, act: Act, do: Callable[[Session, Actor, Submission], None], done: str
) -> ResponseReturnValue:
    """Does it, if what it changes is what the reader was shown; else the page asks again."""
    _own(submission)
    if request.form.get("seen") != read(effect, submission, act=act).seen:
        return _ask(submission, act, 409)
    try:
        with writing() as session:
            do(session, actor(), session.get_one(Submission, submission))
    except Conflict as refused:
        flash(refused.message, "warning")
    else:
        flash(done)
    return redirect(url_for("submissions.show", submission=submission))
