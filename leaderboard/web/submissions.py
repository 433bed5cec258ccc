"""A submission's page: its state until it is scored, its receipt and results, withdrawing it, letting it stand."""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from leaderboard.errors import Conflict
from leaderboard.models import Submission
from leaderboard.reads.entries import NO_FIGURE
from leaderboard.reads.results import ThresholdCost, results
from leaderboard.reads.submissions import status
from leaderboard.rules.states import State
from leaderboard.services import submissions
from leaderboard.web import charts
from leaderboard.web.context import actor, clock, page_number, read, writing
from leaderboard.web.exports import Cell, Table, column_facts, evaluation_facts, exported, terms_facts
from leaderboard.web.sessions import signed_in

blueprint = Blueprint("submissions", __name__)


@blueprint.get("/submissions/<int:submission>")
def show(submission: int) -> ResponseReturnValue:
    run = read(status, submission)
    shown = None
    if run.state == State.SCORED and run.results_open:
        shown = read(results, submission, asked=("measure", "sort"), page=page_number())
    chart = charts.differences_chart(shown) if shown else None
    return render_template("submissions/show.html", run=run, results=shown, chart=chart)


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


@blueprint.post("/submissions/<int:submission>/withdraw")
@signed_in
def withdraw(submission: int) -> ResponseReturnValue:
    read(status, submission)  # what may not be seen can't be withdrawn either
    with writing() as session:
        run = session.get_one(Submission, submission)
        submissions.withdraw(session, actor(), run, because=request.form.get("because", ""), now=clock())
    flash("The run is withdrawn: it is on no board any more and stays on record.")
    return redirect(url_for("submissions.show", submission=submission))


@blueprint.post("/submissions/<int:submission>/stand")
@signed_in
def stand(submission: int) -> ResponseReturnValue:
    found = read(status, submission)  # what may not be seen can't be chosen either
    try:
        with writing() as session:
            submissions.let_stand(session, actor(), session.get_one(Submission, submission), now=clock())
    except Conflict as refused:
        flash(refused.message, "warning")
    else:
        flash(f"You chose this run to stand for {found.system.name} on the board.")
    return redirect(url_for("submissions.show", submission=submission))
