"""Who organises a campaign, which teams know of a private one, and who may make campaigns."""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from leaderboard.accounts.models import User
from leaderboard.accounts.writes import accounts
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.inputs import AccountName, TeamAddress
from leaderboard.campaigns.reads import settings as reads
from leaderboard.campaigns.reads.organised import organised_campaign
from leaderboard.declared.inputs import checked
from leaderboard.errors import Conflict, InvalidFields, LeaderboardError, NotFound, TooManyAttempts
from leaderboard.teams.models import Team
from leaderboard.teams.pages import counting
from leaderboard.teams.reads.find import find_team, find_team_let_in
from leaderboard.web.context import actor, read, writing
from leaderboard.web.forms import Declared, declared, form_page, saved
from leaderboard.web.organise import organised, unconfirmed
from leaderboard.web.sessions import signed_in

blueprint = Blueprint("organise_people", __name__, url_prefix="/organise")

NOBODY = "there is no account of this name"
NO_TEAM = "there is no team of this address; its members can tell it, or look the team up on a board or under /teams"


AccountForm, TeamForm = declared(AccountName), declared(TeamAddress)


def account_named(session: Session, name: str) -> User:
    """Raises InvalidFields (name), without the nearest names: accounts are nobody's to search."""
    try:
        return accounts.find_user(session, name)
    except NotFound:
        raise InvalidFields({"name": [NOBODY]}) from None


def team_named(session: Session, slug: str) -> Team:
    """Raises InvalidFields (team), without those that the reader is in: it is another one that is meant."""
    try:
        return find_team(session, slug.strip(), actor())
    except NotFound:
        raise InvalidFields({"team": [NO_TEAM]}) from None


@blueprint.get("/<campaign>/organisers")
@organised
def show(campaign: str) -> ResponseReturnValue:
    return _page(campaign)


@blueprint.post("/<campaign>/organisers")
@organised
def add(campaign: str) -> ResponseReturnValue:
    form = AccountForm()

    def change(session: Session) -> tuple[str, str]:
        user = account_named(session, checked(AccountName, form.sent()).name)
        campaigns.add_organiser(session, actor(), organised_campaign(session, actor(), campaign), user)
        return f"{user.name} organises the campaign, too.", url_for("organise_people.show", campaign=campaign)

    return saved(change, lambda error: _page(campaign, error, organiser=form))


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
    try:
        slug = checked(TeamAddress, form.sent()).team
        with counting() as session:
            team = team_named(session, slug)
            campaigns.let_team_in(session, actor(), organised_campaign(session, actor(), campaign), team)
    except (InvalidFields, TooManyAttempts) as error:
        return _page(campaign, error, team=form)
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
    form = AccountForm()

    def change(session: Session) -> tuple[str, str]:
        user = account_named(session, checked(AccountName, form.sent()).name)
        may_found = request.form.get("revoke") != "yes"
        accounts.set_founder(session, actor(), user, may_found=may_found)
        return f"{user.name} may {'make' if may_found else 'no longer make'} campaigns.", request.path

    def shown(error: LeaderboardError | None = None) -> ResponseReturnValue:
        return form_page("organise/founders.html", form, error, founders=page)

    return saved(change, shown) if form.is_submitted() else shown()


def _page(
    campaign: str,
    error: LeaderboardError | None = None,
    *,
    organiser: Declared | None = None,
    team: Declared | None = None,
) -> ResponseReturnValue:
    forms = {
        "organiser_form": organiser or AccountForm(formdata=None),
        "team_form": team or TeamForm(formdata=None),
    }
    form = team or forms["organiser_form"]
    return form_page("organise/people.html", form, error, page=read(reads.people, campaign), **forms)
