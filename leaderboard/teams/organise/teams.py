"""The teams of a campaign: renamed, or two of them made one."""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import StringField

from leaderboard.errors import Conflict, InvalidFields, NotFound, TooManyAttempts
from leaderboard.numbers import read_whole
from leaderboard.teams.models import Team
from leaderboard.teams.pages.team_names import naming
from leaderboard.teams.reads.organised import Merging, merging, organised_team, organised_teams, part_of
from leaderboard.teams.writes import teams
from leaderboard.teams.writes.merge import merge_teams
from leaderboard.web.context import actor, read, writing
from leaderboard.web.forms import Form, Given, form_page
from leaderboard.web.organise import organised

blueprint = Blueprint("organise_teams", __name__, url_prefix="/organise")

ADDRESS = "/<campaign>/teams"
ONE = f"{ADDRESS}/<int:team_id>"
UNITE, APART = "one", "apart"


class NameForm(Form):
    name = StringField("Name", [Given("give the team a name")], description="Boards of all years show it.")
    slug = StringField(
        "Part of its address (optional)",
        description="Left empty, it is made from the name. The old address leads to the new one.",
    )


@blueprint.get(ADDRESS)
@organised
def index(campaign: str) -> ResponseReturnValue:
    return render_template("organise/teams/list.html", teams=read(organised_teams, campaign))


@blueprint.get(ONE)
@organised
def show(campaign: str, team_id: int) -> ResponseReturnValue:
    found = read(organised_team, campaign, team_id)
    return _show(campaign, team_id, NameForm(name=found.name))


@blueprint.post(ONE)
@organised
def rename(campaign: str, team_id: int) -> ResponseReturnValue:
    found, form = read(organised_team, campaign, team_id), NameForm()
    try:
        with naming(form.text("name")) as session, form.checked_with():
            own = session.get_one(Team, found.id)
            teams.rename_team(session, actor(), own, form.text("name"), form.text("slug").strip() or None)
    except (Conflict, InvalidFields, TooManyAttempts) as error:
        return _show(campaign, team_id, form, error)
    flash(f"The team is called {form.text('name').strip()} now; its old address leads to the new one.")
    return redirect(url_for(".index", campaign=campaign))


@blueprint.get(f"{ONE}/merge")
@organised
def ask_merge(campaign: str, team_id: int) -> ResponseReturnValue:
    if (merged := _merged(campaign, team_id)) is not None:
        return merged
    return render_template("organise/teams/merge.html", merging=_merging(campaign, team_id), changed=False)


@blueprint.post(f"{ONE}/merge")
@organised
def merge(campaign: str, team_id: int) -> ResponseReturnValue:
    if (merged := _merged(campaign, team_id)) is not None:
        return merged  # a second press of the same button
    found = _merging(campaign, team_id)
    chosen = {twin.id: request.form.get(f"twin-{twin.id}") for twin in found.twins}
    if request.form.get("seen") != found.seen or not set(chosen.values()) <= {UNITE, APART}:
        return render_template("organise/teams/merge.html", merging=found, changed=True), 409
    try:
        with writing() as session:
            source, target = session.get_one(Team, found.source.id), session.get_one(Team, found.target.id)
            unite = [system for system, choice in chosen.items() if choice == UNITE]
            merge_teams(session, actor(), source, target, unite=unite)
    except (Conflict, InvalidFields) as error:
        flash(error.message, "warning")
        return redirect(url_for(".ask_merge", campaign=campaign, team_id=team_id, into=found.target.id))
    flash(f"{found.source.name} is a part of {found.target.name} now.")
    return redirect(url_for(".index", campaign=campaign))


def _merged(campaign: str, team_id: int) -> ResponseReturnValue | None:
    """The way to the team that this one is a part of already; None where it is a team of its own."""
    whole = read(part_of, campaign, team_id)
    return None if whole is None else redirect(url_for(".show", campaign=campaign, team_id=whole))


def _show(
    campaign: str, team_id: int, form: NameForm, error: Conflict | InvalidFields | TooManyAttempts | None = None
) -> ResponseReturnValue:
    found = read(organised_team, campaign, team_id)
    others = [one for one in read(organised_teams, campaign) if one.id != team_id]
    return form_page("organise/teams/show.html", form, error, team=found, others=others)


def _merging(campaign: str, team_id: int) -> Merging:
    """What the address asks for: `team_id` made a part of the one that `into` names. Raises NotFound."""
    into = request.args.get("into", None, type=read_whole)
    if into is None or not 0 < into < 2**31:
        raise NotFound("choose the team that it becomes a part of")
    return read(merging, campaign, team_id, into)
