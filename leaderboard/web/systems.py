"""One system over its years, as a page and as a file."""

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from leaderboard.reads import systems
from leaderboard.web import charts, exports
from leaderboard.web.context import actor, now, reading
from leaderboard.web.progress import table

blueprint = Blueprint("systems", __name__)

ADDRESS = "/teams/<team>/<system>"


@blueprint.get(ADDRESS)
def system(team: str, system: str) -> ResponseReturnValue:
    page = _read(team, system)
    drawn = [charts.progress_chart(years.page, only=page.id) for years in page.years]
    return render_template("systems/system.html", page=page, drawn=drawn)


@blueprint.get(f"{ADDRESS}.<any(csv, json):kind>")
def system_file(team: str, system: str, kind: str) -> ResponseReturnValue:
    page = _read(team, system)
    tables = [(years.page, table(years.page, only=page.id)) for years in page.years]
    rows = [
        {"campaign": shown.campaign.slug, "condition": shown.condition, "measure": shown.column.name, **row}
        for shown, one in tables
        for row in one.rows
    ]
    columns = ("campaign", "condition", "measure", "period", "evaluation", "rank", "mean", "low", "high", "submission")
    return exports.answer(exports.Table(f"{team}-{system}", rows, columns), kind)


def _read(team: str, system: str) -> systems.SystemPage:
    with reading() as session:
        return systems.system(session, actor(), team, system, now())
