"""Teams: making one, its page, inviting by a link, joining, leaving."""

from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from leaderboard.access import require
from leaderboard.accounts import reads as accounts
from leaderboard.accounts.models import User
from leaderboard.errors import BadInput, LeaderboardError, NotFound, TooManyAttempts
from leaderboard.teams.inputs import Asking, NewTeam, TeamSettings
from leaderboard.teams.models import Invitation, Team
from leaderboard.teams.pages.team_names import naming
from leaderboard.teams.reads import team as pages
from leaderboard.teams.reads.find import find_known_team
from leaderboard.teams.rules import Role
from leaderboard.teams.writes import teams
from leaderboard.web.context import actor, now, page_number, read, reading, writing
from leaderboard.web.forms import Declared, declared, filled, form_page, saved
from leaderboard.web.sessions import signed_in

blueprint = Blueprint("teams", __name__)


NewForm, SettingsForm, AskForm = declared(NewTeam, "slug"), declared(TeamSettings), declared(Asking)


@blueprint.route("/account/teams/new", methods=["GET", "POST"])
@signed_in
def new() -> ResponseReturnValue:
    form = NewForm()
    if not form.is_submitted():
        return form_page("teams/new.html", form)
    try:
        with naming(form.text("name")) as session:
            team = teams.create_team(session, actor(), **form.sent())
    except (BadInput, TooManyAttempts) as error:
        return form_page("teams/new.html", form, error)
    flash(f"{team.name} is there. Invite the others, or submit a run.")
    return redirect(url_for("teams.show", team=team.slug))


@blueprint.get("/teams")
@signed_in
def find() -> ResponseReturnValue:
    words = request.args.get("words", "")
    with reading() as session:
        found, paging = pages.find_teams(session, actor(), words=words, page=page_number())
    return render_template("teams/find.html", found=found, paging=paging, words=words)


@blueprint.route("/account/teams/<team>", methods=["GET", "POST"])
@signed_in
def change(team: str) -> ResponseReturnValue:
    with reading() as session:
        settings = pages.team_settings(session, actor(), team)
    form = filled(SettingsForm, {"description": settings.description, "is_listed": settings.is_listed})

    def save(session: Session) -> tuple[str, str]:
        teams.change_team(session, actor(), _known(session, team), **form.sent())
        return f"{settings.name} is changed.", url_for("teams.show", team=team)

    def shown(error: LeaderboardError | None = None) -> ResponseReturnValue:
        return form_page("teams/change.html", form, error, settings=settings)

    return saved(save, shown) if form.is_submitted() else shown()


@blueprint.post("/teams/<team>/requests")
@signed_in
def ask(team: str) -> ResponseReturnValue:
    form = AskForm()

    def send(session: Session) -> tuple[str, str]:
        asked = _known(session, team)
        teams.ask_to_join(session, actor(), asked, form["text"].data or "")
        return f"The owners of {asked.name} are asked.", url_for("teams.show", team=team)

    return saved(send, lambda error: _page(team, form, error))


@blueprint.post("/teams/<team>/requests/back")
@signed_in
def take_back(team: str) -> ResponseReturnValue:
    with writing() as session:
        teams.take_back(session, actor(), _known(session, team))
    flash("Your request is taken back.")
    return redirect(url_for("teams.find"))  # the team may be there no more for who asked


@blueprint.post("/teams/<team>/requests/<int:asked>/<any(accept, refuse):answer>")
@signed_in
def answer(team: str, asked: int, answer: str) -> ResponseReturnValue:
    with writing() as session:
        found = _known(session, team)
        answered = teams.answer_request(session, actor(), found, asked, accept=answer == "accept")
        name = answered.user.name
    flash(f"{name} is in {found.name} now." if answered.accepted else f"The request of {name} is refused.")
    return redirect(url_for("teams.show", team=team))


@blueprint.get("/teams/<team>")
def show(team: str) -> ResponseReturnValue:
    return _page(team, AskForm(formdata=None))


def _page(team: str, form: Declared, error: LeaderboardError | None = None) -> ResponseReturnValue:
    told: dict[str, Any] = {"invitations": (), "requests": (), "asked": None}
    with reading() as session:
        page = pages.team_page(session, actor(), team, now())
        if actor().user_id is not None:  # a visitor owns no team and asks to join none
            told = {
                "invitations": accounts.open_invitations(session, actor(), team, now()),
                "requests": pages.open_requests(session, actor(), team),
                "asked": pages.has_asked(session, actor(), _known(session, team)),
            }
    if page.slug != team:  # it was renamed, or became a part of another one
        return redirect(url_for("teams.show", team=page.slug))
    return form_page("teams/show.html", form, error, page=page, **told)


@blueprint.post("/teams/<team>/invitations")
@signed_in
def invite(team: str) -> ResponseReturnValue:
    with writing() as session:
        token = teams.invite(session, actor(), _known(session, team))
    flash(url_for("teams.invitation", token=token, _external=True), "invitation")
    return redirect(url_for("teams.show", team=team))


@blueprint.post("/teams/<team>/invitations/<int:invitation>/revoke")
@signed_in
def revoke(team: str, invitation: int) -> ResponseReturnValue:
    with writing() as session:
        found = session.get(Invitation, invitation)
        if found is None or found.team_id != _known(session, team).id:
            raise NotFound
        teams.revoke_invitation(session, actor(), found)
    flash("The invitation no longer works.")
    return redirect(url_for("teams.show", team=team))


@blueprint.route("/teams/<team>/leave", methods=["GET", "POST"])
@signed_in
def leave(team: str) -> ResponseReturnValue:
    if request.method == "GET":
        page = read(pages.team_page, team)
        if not page.is_member:
            raise NotFound
        return render_template("teams/leave.html", page=page)
    with writing() as session:
        found = _known(session, team)
        if _must_ask(session, is_empty=teams.leave_team(session, actor(), found)):
            return redirect(url_for("teams.leave", team=team))
    flash(f"You have left {found.name}. Its runs and systems stay.")
    return redirect(url_for("account.show"))


@blueprint.route("/teams/<team>/members/<int:member>/remove", methods=["GET", "POST"])
@signed_in
def remove(team: str, member: int) -> ResponseReturnValue:
    if request.method == "GET":
        page = read(pages.team_page, team)
        require(page.is_owner, f"Only an owner of {page.name} may do this.")
        found = next((one for one in page.members if one.user_id == member), None)
        if found is None:
            raise NotFound
        return render_template("teams/remove.html", page=page, member=found)
    with writing() as session:
        user = session.get(User, member)
        if user is None:
            raise NotFound
        if _must_ask(session, is_empty=teams.remove_member(session, actor(), _known(session, team), user)):
            return redirect(url_for("teams.remove", team=team, member=member))
    flash(f"{user.name} is no longer in the team.")
    if member == actor().user_id:
        return redirect(url_for("account.show"))
    return redirect(url_for("teams.show", team=team))


@blueprint.post("/teams/<team>/members/<int:member>/role")
@signed_in
def change_role(team: str, member: int) -> ResponseReturnValue:
    role = request.form.get("role", "")
    with writing() as session:
        user = session.get(User, member)
        if user is None:
            raise NotFound
        teams.change_role(session, actor(), _known(session, team), user, role)
    flash(f"{user.name} is {'an' if role == Role.OWNER else 'a'} {role} now.")
    return redirect(url_for("teams.show", team=team))


@blueprint.get("/join/<token>")
def invitation(token: str) -> ResponseReturnValue:
    with reading() as session:
        joined = teams.joined_by(session, actor(), token)
        team = joined or teams.find_invitation(session, token, now()).team
    if joined is not None:
        flash(f"You are in {joined.name}.")
        return redirect(url_for("teams.show", team=joined.slug))
    return render_template("teams/join.html", team=team, token=token)


@blueprint.post("/join/<token>")
@signed_in
def join(token: str) -> ResponseReturnValue:
    with writing() as session:
        team = teams.accept_invitation(session, actor(), token, now())
    flash(f"You are in {team.name} now.")
    return redirect(url_for("teams.show", team=team.slug))


def _must_ask(session: Session, *, is_empty: bool) -> bool:
    """Whether the team was emptied by somebody who was not told that it would be: then that is undone."""
    if not is_empty or request.form.get("confirm"):
        return False
    session.rollback()
    flash("Nothing is changed yet: by now nobody else is in the team.", "warning")
    return True


def _known(session: Session, team: str) -> Team:
    """The team of an address, if there is one for whoever asks."""
    return find_known_team(session, actor(), team, now())
