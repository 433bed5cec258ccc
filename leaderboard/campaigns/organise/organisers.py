"""Who organises a campaign, which teams know of a private one, and who may make campaigns."""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import StringField

from leaderboard.accounts.models import User
from leaderboard.accounts.writes import accounts
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.reads import settings as reads
from leaderboard.campaigns.reads.organised import organised_campaign
from leaderboard.errors import Conflict, LeaderboardError, NotFound, TooManyAttempts
from leaderboard.teams.models import Team
from leaderboard.teams.pages.team_names import counting
from leaderboard.teams.reads.find import find_team, find_team_let_in
from leaderboard.web.confirm import unconfirmed
from leaderboard.web.context import actor, read, writing
from leaderboard.web.forms import Form, Given, form_page
from leaderboard.web.organise import organised
from leaderboard.web.sessions import signed_in

blueprint = Blueprint("organise_people", __name__, url_prefix="/organise")

NOBODY = "there is no account of this name"
NO_TEAM = "there is no team of this address; its members can tell it, or look the team up on a board or under /teams"


class OrganiserForm(Form):
    name = StringField(
        "Name of an account",
        [Given("give the name of an account")],
        description="As it stands on their account's page. They may then do everything here that you may.",
        render_kw={"autocomplete": "off"},
    )


class TeamForm(Form):
    team = StringField(
        "Address of a team",
        [Given("give the team's address")],
        description="The last part of the address of the team's page, like north-shore.",
        render_kw={"autocomplete": "off", "autocapitalize": "none"},
    )


class FounderForm(Form):
    name = StringField(
        "Name of an account",
        [Given("give the name of an account")],
        description="It may then make campaigns, and organises those that it makes.",
        render_kw={"autocomplete": "off"},
    )


@blueprint.get("/<campaign>/organisers")
@organised
def show(campaign: str) -> ResponseReturnValue:
    return _page(campaign, OrganiserForm(formdata=None), TeamForm(formdata=None))


@blueprint.post("/<campaign>/organisers")
@organised
def add(campaign: str) -> ResponseReturnValue:
    form = OrganiserForm()
    if not form.validate_on_submit():
        return _page(campaign, form, TeamForm(formdata=None))
    try:
        with writing() as session:
            user = accounts.find_user(session, form.text("name"))
            campaigns.add_organiser(session, actor(), organised_campaign(session, actor(), campaign), user)
    except NotFound:  # without the nearest names: accounts are nobody's to search
        form.refuse({"name": [NOBODY]})
        return _page(campaign, form, TeamForm(formdata=None))
    flash(f"{user.name} organises the campaign, too.")
    return redirect(url_for("organise_people.show", campaign=campaign))


@blueprint.route("/<campaign>/organisers/<int:member>/remove", methods=["GET", "POST"])
@organised
def remove(campaign: str, member: int) -> ResponseReturnValue:
    if request.method == "GET":
        one = next((one for one in read(reads.people, campaign).organisers if one.user_id == member), None)
        if one is None:
            raise NotFound
        return render_template("organise/remove_organiser.html", one=one)
    try:
        with writing() as session:
            found = organised_campaign(session, actor(), campaign)
            user = session.get(User, member)
            if user is None or member not in {one.user_id for one in found.organisers}:
                raise NotFound
            campaigns.remove_organiser(session, actor(), found, user)
    except Conflict as refused:
        flash(refused.message, "warning")
        return redirect(url_for("organise_people.show", campaign=campaign))
    flash(f"{user.name} no longer organises the campaign.")
    still = member != actor().user_id or actor().all_powerful
    return redirect(url_for("organise_people.show", campaign=campaign) if still else url_for("organise.index"))


@blueprint.post("/<campaign>/teams-let-in")
@organised
def let_in(campaign: str) -> ResponseReturnValue:
    form = TeamForm()
    if not form.validate_on_submit():
        return _page(campaign, OrganiserForm(formdata=None), form)
    try:
        with counting() as session:
            team = find_team(session, form.text("team").strip(), actor())
            campaigns.let_team_in(session, actor(), organised_campaign(session, actor(), campaign), team)
    except NotFound:  # without those that the reader is in: it is another one that is meant
        form.refuse({"team": [NO_TEAM]})
        return _page(campaign, OrganiserForm(formdata=None), form)
    except TooManyAttempts as error:
        return _page(campaign, OrganiserForm(formdata=None), form, error)
    flash(f"{team.name} is let in.")
    return redirect(url_for("organise_people.show", campaign=campaign))


@blueprint.post("/<campaign>/teams-let-in/<team>/remove")
@organised
def let_out(campaign: str, team: str) -> ResponseReturnValue:
    with writing() as session:
        own = organised_campaign(session, actor(), campaign)
        found: Team = find_team_let_in(session, actor(), own, team)
        name = found.name
        campaigns.let_team_out(session, actor(), own, found)
        asked = unconfirmed(session, campaign)
    if asked:
        return render_template("organise/let_team_out.html", name=name, asked=asked)
    flash(f"{name} is no longer let in.")
    return redirect(url_for("organise_people.show", campaign=campaign))


@blueprint.route("/founders", methods=["GET", "POST"])
@signed_in
def founders() -> ResponseReturnValue:
    page = read(reads.founders)
    form = FounderForm()
    if not form.validate_on_submit():
        return form_page("organise/founders.html", form, founders=page)
    revoke = request.form.get("revoke") == "yes"
    try:
        with writing() as session:
            user = accounts.find_user(session, form.text("name"))
            accounts.set_founder(session, actor(), user, may_found=not revoke)
    except NotFound:
        form.refuse({"name": [NOBODY]})
        return form_page("organise/founders.html", form, founders=page)
    except LeaderboardError as error:
        return form_page("organise/founders.html", form, error, founders=page)
    flash(f"{user.name} may {'no longer make' if revoke else 'make'} campaigns.")
    return redirect(url_for("organise_people.founders"))


def _page(
    campaign: str, form: OrganiserForm, team_form: TeamForm, error: TooManyAttempts | None = None
) -> ResponseReturnValue:
    page = read(reads.people, campaign)
    refused = team_form if team_form.errors or error else form
    if refused.errors or error:
        return form_page("organise/people.html", refused, error, page=page, organiser_form=form, team_form=team_form)
    return render_template("organise/people.html", form=form, page=page, organiser_form=form, team_form=team_form)
