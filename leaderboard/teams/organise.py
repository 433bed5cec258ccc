"""The teams and systems of a campaign: teams renamed, or two of them made one; what kind each system is."""

from flask import Blueprint, render_template, request, url_for
from flask.typing import ResponseReturnValue

from leaderboard import errors, numbers
from leaderboard.teams import api, reads
from leaderboard.teams.inputs import Merge, SystemChanges, TeamName
from leaderboard.web.context import read
from leaderboard.web.forms import answered, declared, done, filled, sent_on
from leaderboard.web.organise import organised

blueprint = Blueprint("organise_teams", __name__, url_prefix="/organise/<campaign>/teams")
of_systems = Blueprint("organise_systems", __name__, url_prefix="/organise/<campaign>/systems")

SystemForm, NameForm = declared(SystemChanges), declared(TeamName)


@of_systems.get("", endpoint="index")
@organised
def list_systems(campaign: str) -> ResponseReturnValue:
    return render_template("organise/systems/list.html", systems=read(reads.organised_systems, campaign))


@of_systems.route("/<int:system_id>", methods=["GET", "POST"], endpoint="show")
@organised
def system(campaign: str, system_id: int) -> ResponseReturnValue:
    page = api.organised_system(campaign, system_id)
    form = SystemForm(obj=page)

    def change() -> ResponseReturnValue:
        api.change_organised_system(campaign, system_id, form.checked(confirm=form.confirmed))
        return sent_on(f"{page.name} is changed.", ".index", campaign=campaign)

    return answered(form, "organise/systems/form.html", change, system=page)


@blueprint.get("")
@organised
def index(campaign: str) -> ResponseReturnValue:
    return render_template("organise/teams/list.html", teams=read(reads.organised_teams, campaign))


@blueprint.get("/<int:team_id>")
@blueprint.post("/<int:team_id>", endpoint="rename")
@organised
def show(campaign: str, team_id: int) -> ResponseReturnValue:
    team = read(reads.organised_team, campaign, team_id)
    others = [other for other in read(reads.organised_teams, campaign) if other.id != team_id]
    form = filled(NameForm, {"name": team.name})

    def rename() -> ResponseReturnValue:
        renamed = api.rename_team(team.slug, form.checked())
        said = f"The team is called {renamed.name} now; its old address leads to the new one."
        return sent_on(said, ".index", campaign=campaign)

    return answered(form, "organise/teams/show.html", rename, team=team, others=others)


@blueprint.get("/<int:team_id>/merge")
@organised
def ask_merge(campaign: str, team_id: int) -> ResponseReturnValue:
    return render_template("organise/teams/merge.html", merging=_merging(campaign, team_id))


@blueprint.post("/<int:team_id>/merge")
@organised
def merge(campaign: str, team_id: int) -> ResponseReturnValue:
    if not request.form.get("confirm"):
        return ask_merge(campaign, team_id)  # not looked at
    page = _merging(campaign, team_id)
    unite = [twin.slug for twin in page.twins if request.form.get(f"twin-{twin.slug}") == "one"]
    return done(
        lambda: api.merge_team(page.source.slug, page.target.slug, Merge(unite=unite, confirm=True)),
        f"{page.source.name} is a part of {page.target.name} now.",
        url_for(".index", campaign=campaign),
        url_for(".ask_merge", campaign=campaign, team_id=team_id, into=page.target.id),
    )


def _merging(campaign: str, team_id: int) -> reads.Merging:
    """What the address asks for: `team_id` made a part of the one that `into` names. Raises NotFound."""
    into = request.args.get("into", 0, type=numbers.read_whole)
    if not 0 < into < 2**31:
        raise errors.NotFound("choose the team that it becomes a part of")
    return read(reads.merging, campaign, team_id, into)
