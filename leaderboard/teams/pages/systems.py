"""One system over its years, as a page and as a file."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from leaderboard.access import require
from leaderboard.boards.reads.columns import Column
from leaderboard.boards.reads.entries import Figure
from leaderboard.errors import LeaderboardError
from leaderboard.evaluations.writes.delete import remove_system
from leaderboard.progress.reads import Point, ProgressPage
from leaderboard.teams.inputs import SystemSettings
from leaderboard.teams.models import System
from leaderboard.teams.reads import system as systems
from leaderboard.teams.writes.systems import change_system
from leaderboard.web import charts
from leaderboard.web.context import actor, read, writing
from leaderboard.web.exports import Cell, Table, exported, table, terms_facts
from leaderboard.web.forms import declared, filled, form_page, saved
from leaderboard.web.sessions import signed_in

blueprint = Blueprint("systems", __name__)

ADDRESS = "/teams/<team>/<system>"


@dataclass(frozen=True, slots=True)
class Row:
    """What the system has in one evaluation under one measure; rank: under the measure that ranks the board."""

    page: ProgressPage
    point: Point
    column: Column

    @property
    def figure(self) -> Figure:
        return self.point.under(self.column)


COLUMNS: dict[str, Callable[[Row], Cell]] = {
    "campaign": lambda row: row.page.campaign.slug,
    "condition": lambda row: row.page.condition,
    "measure": lambda row: row.column.name,
    "period": lambda row: row.point.period.label,
    "evaluation": lambda row: row.point.period.slug,
    "rank": lambda row: row.point.rank if row.column.name == row.page.column.name else None,
    "mean": lambda row: row.figure.mean,
    "low": lambda row: row.figure.low,
    "high": lambda row: row.figure.high,
    "submission": lambda row: row.point.entry.submission_id,
}


@blueprint.get(ADDRESS)
def system(team: str, system: str) -> ResponseReturnValue:
    page = read(systems.system, team, system)
    if (page.team_slug, page.slug) != (team, system):  # its team was renamed, or became a part of another one
        return redirect(_address(page))
    drawn = [charts.progress_chart(years.page, only=page.id) for years in page.years]
    return render_template("systems/system.html", page=page, drawn=drawn)


@exported(blueprint, ADDRESS)
def system_file(team: str, system: str) -> Table:
    page = read(systems.system, team, system)
    rows = [
        Row(years.page, point, column)
        for years in page.years
        for point in years.line.points
        for column in years.page.columns
    ]
    terms: dict[str, dict[str, Any]] = {}  # by campaign, then by evaluation
    for years in page.years:
        own = terms.setdefault(years.page.campaign.slug, {})
        own |= {point.period.slug: terms_facts(point.period.terms) for point in years.line.points}
    return table(f"{team}-{system}", COLUMNS, rows, {"terms": terms})


SystemForm = declared(SystemSettings, "kind")


@blueprint.route(f"{ADDRESS}/edit", methods=["GET", "POST"])
@signed_in
def edit(team: str, system: str) -> ResponseReturnValue:
    page = _own(team, system)
    form = filled(SystemForm, {name: getattr(page, name) for name in ("description", "code_url", "paper_url")})

    def change(session: Session) -> tuple[str, str]:
        change_system(session, actor(), session.get_one(System, page.id), **form.sent())
        return "What is said about the system is changed.", _address(page)

    def shown(error: LeaderboardError | None = None) -> ResponseReturnValue:
        return form_page("systems/edit.html", form, error, page=page)

    return saved(change, shown) if form.is_submitted() else shown()


@blueprint.post(f"{ADDRESS}/remove")
@signed_in
def remove(team: str, system: str) -> ResponseReturnValue:
    page = _own(team, system)
    with writing() as session:
        remove_system(session, actor(), session.get_one(System, page.id))
    flash(f"{page.name} is removed.")
    return redirect(url_for("teams.show", team=page.team_slug))


def _own(team: str, system: str) -> systems.SystemPage:
    """A system of a team of the reader's. Raises NotFound and NotAllowed."""
    page = read(systems.system, team, system)
    require(page.may_edit, "Only members of the team and organisers describe a system.")
    return page


def _address(page: systems.SystemPage) -> str:
    return url_for("systems.system", team=page.team_slug, system=page.slug)
