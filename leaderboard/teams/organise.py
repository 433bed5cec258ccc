"""The teams and systems of a campaign: teams renamed, or two of them made one; what kind each system is."""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from leaderboard.errors import Conflict, InvalidFields, LeaderboardError, NotFound, TooManyAttempts
from leaderboard.evaluations.reads.readiness import entered_by
from leaderboard.numbers import read_whole
from leaderboard.teams import writes as teams
from leaderboard.teams.inputs import SystemSettings, TeamName
from leaderboard.teams.merging import merge_teams
from leaderboard.teams.models import System, Team
from leaderboard.teams.pages import naming
from leaderboard.teams.reads import teams as reads
from leaderboard.web.context import actor, read, writing
from leaderboard.web.forms import Declared, declared, filled, form_page, saved
from leaderboard.web.organise import organised, require_confirmed

blueprint = Blueprint("organise_teams", __name__, url_prefix="/organise/<campaign>/teams")
of_systems = Blueprint("organise_systems", __name__, url_prefix="/organise/<campaign>/systems")

SystemForm, NameForm = declared(SystemSettings), declared(TeamName)


@of_systems.get("", endpoint="index")
@organised
def list_systems(campaign: str) -> ResponseReturnValue:
    return render_template("organise/systems/list.html", systems=read(reads.organised_systems, campaign))


@of_systems.route("/<int:system_id>", methods=["GET", "POST"], endpoint="show")
@organised
def system(campaign: str, system_id: int) -> ResponseReturnValue:
    page = read(reads.organised_system, campaign, system_id)
    form = filled(SystemForm, {name: getattr(page, name) for name in SystemSettings.model_fields})

    def change(session: Session) -> tuple[str, str]:
        teams.change_system(session, actor(), session.get_one(System, system_id), **form.sent())
        require_confirmed(session, campaign, form.confirmed, entered_by(system_id))
        return f"{page.name} is changed.", url_for(".index", campaign=campaign)

    def shown(error: LeaderboardError | None = None) -> ResponseReturnValue:
        return form_page("organise/systems/form.html", form, error, system=page)

    return saved(change, shown) if form.is_submitted() else shown()


@blueprint.get("")
@organised
def index(campaign: str) -> ResponseReturnValue:
    return render_template("organise/teams/list.html", teams=read(reads.organised_teams, campaign))


@blueprint.get("/<int:team_id>")
@organised
def show(campaign: str, team_id: int) -> ResponseReturnValue:
    return _show(campaign, team_id, filled(NameForm, {"name": read(reads.organised_team, campaign, team_id).name}))


@blueprint.post("/<int:team_id>")
@organised
def rename(campaign: str, team_id: int) -> ResponseReturnValue:
    read(reads.organised_team, campaign, team_id)
    form = NameForm()
    name, slug = form.text("name"), form.text("slug").strip() or None
    try:
        with naming(name, slug or "") as session:
            teams.rename_team(session, actor(), session.get_one(Team, team_id), name, slug)
    except (Conflict, InvalidFields, TooManyAttempts) as error:
        return _show(campaign, team_id, form, error)
    flash(f"The team is called {name.strip()} now; its old address leads to the new one.")
    return redirect(url_for(".index", campaign=campaign))


@blueprint.get("/<int:team_id>/merge")
@organised
def ask_merge(campaign: str, team_id: int) -> ResponseReturnValue:
    if (whole := read(reads.part_of, campaign, team_id)) is not None:
        return redirect(url_for(".show", campaign=campaign, team_id=whole))
    return render_template("organise/teams/merge.html", merging=_merging(campaign, team_id))


@blueprint.post("/<int:team_id>/merge")
@organised
def merge(campaign: str, team_id: int) -> ResponseReturnValue:
    if not request.form.get("confirm") or read(reads.part_of, campaign, team_id) is not None:
        return ask_merge(campaign, team_id)  # not looked at, or a second press of the same button
    page = _merging(campaign, team_id)
    unite = [twin.id for twin in page.twins if request.form.get(f"twin-{twin.id}") == "one"]
    try:
        with writing() as session:
            source, target = session.get_one(Team, page.source.id), session.get_one(Team, page.target.id)
            merge_teams(session, actor(), source, target, unite=unite)
    except (Conflict, InvalidFields) as error:
        flash(error.message, "warning")
        return redirect(url_for(".ask_merge", campaign=campaign, team_id=team_id, into=page.target.id))
    flash(f"{page.source.name} is a part of {page.target.name} now.")
    return redirect(url_for(".index", campaign=campaign))


def _show(campaign: str, team_id: int, form: Declared, error: LeaderboardError | None = None) -> ResponseReturnValue:
    team = read(reads.organised_team, campaign, team_id)
    others = [other for other in read(reads.organised_teams, campaign) if other.id != team_id]
    return form_page("organise/teams/show.html", form, error, team=team, others=others)


def _merging(campaign: str, team_id: int) -> reads.Merging:
    """What the address asks for: `team_id` made a part of the one that `into` names. Raises NotFound."""
    into = request.args.get("into", None, type=read_whole)
    if into is None or not 0 < into < 2**31:
        raise NotFound("choose the team that it becomes a part of")
    return read(reads.merging, campaign, team_id, into)
