"""Two runs of an evaluation beside each other, as a page and as a file."""

from collections.abc import Callable, Mapping
from http import HTTPStatus

from flask import Blueprint, g, render_template
from flask.typing import ResponseReturnValue

from leaderboard.boards.pages import board_query
from leaderboard.boards.reads.entries import Entry
from leaderboard.errors import InvalidFields
from leaderboard.results.reads.compare import ComparedQuery, compare
from leaderboard.web import charts
from leaderboard.web.context import page_number, read
from leaderboard.web.endpoints import plain
from leaderboard.web.exports import Cell, Table, column_facts, evaluation_facts, exported, table
from leaderboard.web.sentences import comparison_finding

blueprint = Blueprint("comparing", __name__)

ADDRESS = "/campaigns/<campaign>/<evaluation>/compare"
RUNS, VIEW = ("a", "b"), ("measure", "sort")

COLUMNS: dict[str, Callable[[ComparedQuery], Cell]] = {
    "query": lambda row: row.external_id,
    "counted": lambda row: row.counted,
    "a": lambda row: row.first,
    "b": lambda row: row.second,
    "difference": lambda row: row.difference,
}


@blueprint.get(ADDRESS)
def runs(campaign: str, evaluation: str) -> ResponseReturnValue:
    wrong: Mapping[str, list[str]] = {}
    try:
        page = read(compare, campaign, evaluation, asked=RUNS, view=board_query(VIEW, page=page_number()))
    except InvalidFields as error:
        g.refused, wrong = True, error.fields
        page = read(compare, campaign, evaluation, asked=[name for name in RUNS if name not in wrong])
    found = page.compared
    chart = charts.comparison_chart(found) if found else None
    finding = comparison_finding(found) if found else None
    content = render_template("comparing/runs.html", page=page, found=found, chart=chart, finding=finding, wrong=wrong)
    return content, HTTPStatus.BAD_REQUEST if wrong else HTTPStatus.OK


@exported(blueprint, ADDRESS)
def runs_file(campaign: str, evaluation: str) -> Table:
    """Query by query by the measure that is asked for; the means by all measures, interval and test are facts."""
    page = read(compare, campaign, evaluation, asked=RUNS, view=board_query(VIEW))
    facts: dict[str, object] = {"evaluation": evaluation_facts(page.evaluation)}
    name = f"{page.evaluation.campaign.slug}-{page.evaluation.slug}-compared"
    found = page.compared
    if found is None:
        return table(name, COLUMNS, (), facts)
    facts |= {
        "a": _run(found.first),
        "b": _run(found.second),
        "measure": column_facts(found.column),
        "interval": plain(found.interval),
        "test": plain(found.test),
        "effects": plain(found.effects),
        "means": [
            {"measure": one.column.name, "a": one.first.mean, "b": one.second.mean, "difference": one.difference}
            for one in found.measures
        ],
    }
    return table(f"{name}-{found.first.submission_id}-{found.second.submission_id}", COLUMNS, found.queries, facts)


def _run(entry: Entry) -> dict[str, object]:
    return {"submission": entry.submission_id, "system": entry.system.name, "team": entry.system.team}
