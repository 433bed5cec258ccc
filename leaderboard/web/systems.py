"""One system over its years, as a page and as a file."""

from collections.abc import Callable
from typing import Any

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from leaderboard.reads import systems
from leaderboard.reads.progress import Point, ProgressPage
from leaderboard.web import charts, progress
from leaderboard.web.context import read
from leaderboard.web.exports import Cell, Table, exported, table, terms_facts

blueprint = Blueprint("systems", __name__)

ADDRESS = "/teams/<team>/<system>"

COLUMNS: dict[str, Callable[[tuple[ProgressPage, Point]], Cell]] = {
    "campaign": lambda row: row[0].campaign.slug,
    "condition": lambda row: row[0].condition,
    "measure": lambda row: row[0].column.name,
    **{
        name: lambda row, cell=progress.COLUMNS[name]: cell(row[1])  # type: ignore[misc]  # mypy infers no default
        for name in ("period", "evaluation", "rank", "mean", "low", "high", "submission")
    },
}


@blueprint.get(ADDRESS)
def system(team: str, system: str) -> ResponseReturnValue:
    page = read(systems.system, team, system)
    drawn = [charts.progress_chart(years.page, only=page.id) for years in page.years]
    return render_template("systems/system.html", page=page, drawn=drawn)


@exported(blueprint, ADDRESS)
def system_file(team: str, system: str) -> Table:
    page = read(systems.system, team, system)
    rows = [(years.page, point) for years in page.years for point in years.line.points]
    terms: dict[str, dict[str, Any]] = {}  # by campaign, then by evaluation
    for years, point in rows:
        terms.setdefault(years.campaign.slug, {})[point.period.slug] = terms_facts(point.period.terms)
    return table(f"{team}-{system}", COLUMNS, rows, {"terms": terms})
