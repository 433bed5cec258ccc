"""One system over its years, as a page and as a file."""

from collections.abc import Callable
from typing import Any

from flask import Blueprint, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from wtforms import StringField, TextAreaField

from leaderboard.access import require
from leaderboard.errors import InvalidFields
from leaderboard.models import System
from leaderboard.reads import systems
from leaderboard.reads.progress import Point, ProgressPage
from leaderboard.services.systems import NewSystem, change_system
from leaderboard.web import charts, progress
from leaderboard.web.context import actor, read, writing
from leaderboard.web.exports import Cell, Table, exported, table, terms_facts
from leaderboard.web.forms import Form, form_page
from leaderboard.web.sessions import signed_in

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
    if (page.team_slug, page.slug) != (team, system):  # its team was renamed, or became a part of another one
        return redirect(url_for("systems.system", team=page.team_slug, system=page.slug))
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


class SystemForm(Form):
    description = TextAreaField("Description (optional)", render_kw={"rows": 4})
    code_url = StringField("Address of its code (optional)", description="Such as https://example.org/code")
    paper_url = StringField("Address of its paper (optional)", description="Such as https://example.org/paper.pdf")


@blueprint.get(f"{ADDRESS}/edit")
@signed_in
def edit(team: str, system: str) -> ResponseReturnValue:
    page = _own(team, system)
    known = {name: getattr(page, name) for name in ("description", "code_url", "paper_url")}
    return form_page("systems/edit.html", SystemForm(**known), page=page)


@blueprint.post(f"{ADDRESS}/edit")
@signed_in
def save(team: str, system: str) -> ResponseReturnValue:
    page, form = _own(team, system), SystemForm()
    texts = {name: form.text(name) for name in ("description", "code_url", "paper_url")}
    try:
        with writing() as session:
            change_system(session, actor(), session.get_one(System, page.id), NewSystem(page.name, page.kind, **texts))
    except InvalidFields as error:
        return form_page("systems/edit.html", form, error, page=page)
    flash("What is said about the system is changed.")
    return redirect(url_for("systems.system", team=page.team_slug, system=page.slug))


def _own(team: str, system: str) -> systems.SystemPage:
    """A system of a team of the reader's. Raises NotFound and NotAllowed."""
    page = read(systems.system, team, system)
    require(page.may_edit, "Only members of the team and organisers describe a system.")
    return page
