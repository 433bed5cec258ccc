"""Teams: making one, its page, inviting by a link, joining, leaving; and a system over its years, as page and file."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from leaderboard.access import require
from leaderboard.accounts import reads as accounts
from leaderboard.accounts.models import User
from leaderboard.accounts.rate_limits import TEAM_NAME, count
from leaderboard.accounts.rate_limits import take_back as uncount
from leaderboard.boards.reads.entries import Column, Figure
from leaderboard.declared.inputs import checked
from leaderboard.errors import InvalidFields, LeaderboardError, NotFound
from leaderboard.evaluations.writes import remove_system
from leaderboard.names import checked_name
from leaderboard.progress.reads import Point, ProgressPage
from leaderboard.teams import writes as teams
from leaderboard.teams.inputs import Asking, NewTeam, SystemSettings, TeamSettings
from leaderboard.teams.models import System, Team
from leaderboard.teams.reads import teams as reads
from leaderboard.teams.reads.find import find_invitation_of, find_known_team
from leaderboard.teams.rules import Role
from leaderboard.teams.writes import change_system
from leaderboard.web import charts
from leaderboard.web.context import actor, client_address, database, now, page_number, read, reading, writing
from leaderboard.web.exports import Cell, Table, exported, table, terms_facts
from leaderboard.web.forms import Declared, answered, declared, filled, form_page, saved
from leaderboard.web.sessions import signed_in


@contextmanager
def counting() -> Iterator[Session]:
    """A transaction in which one name or address of a team is looked up; it counts unless the transaction succeeds.

    Raises TooManyAttempts before anything is looked up.
    """
    user_id = actor().user_id
    asked = [] if user_id is None else count(database(), TEAM_NAME, now(), client_address(), user=user_id)
    with writing() as session:
        yield session
        uncount(session, asked)


@contextmanager
def naming(name: str, slug: str = "") -> Iterator[Session]:
    """The same for a name, or an address, that somebody gives a team. One that can't be a name costs nothing: it is not
    looked up, and the write within refuses it with all else.
    """
    with counting() if slug.strip() or _can_be_one(name) else writing() as session:
        yield session


def _can_be_one(name: str) -> bool:
    try:
        checked_name(name)
    except InvalidFields:
        return False
    return True


blueprint = Blueprint("teams", __name__)
system_blueprint = Blueprint("systems", __name__)

NewForm, SettingsForm, AskForm = declared(NewTeam, "slug"), declared(TeamSettings), declared(Asking)


def _done(words: str, endpoint: str = "teams.show", **where: Any) -> ResponseReturnValue:
    flash(words)
    return redirect(url_for(endpoint, **where))


@blueprint.route("/account/teams/new", methods=["GET", "POST"])
@signed_in
def new() -> ResponseReturnValue:
    form = NewForm()

    def found_team() -> ResponseReturnValue:
        with naming(form.text("name")) as session:
            team = teams.create_team(session, actor(), **form.sent())
        return _done(f"{team.name} is there. Invite the others, or submit a run.", team=team.slug)

    return answered(form, "teams/new.html", found_team, checks=True)


@blueprint.get("/teams")
@signed_in
def find() -> ResponseReturnValue:
    words = request.args.get("words", "")
    with reading() as session:
        rows, paging = reads.find_teams(session, actor(), words=words, page=page_number())
    return render_template("teams/find.html", found=rows, paging=paging, words=words)


@blueprint.route("/account/teams/<team>", methods=["GET", "POST"])
@signed_in
def change(team: str) -> ResponseReturnValue:
    with reading() as session:
        settings = reads.team_settings(session, actor(), team)
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
        teams.ask_to_join(session, actor(), asked, checked(Asking, form.sent()).text)
        return f"The owners of {asked.name} are asked.", url_for("teams.show", team=team)

    return saved(send, lambda error: _page(team, form, error))


@blueprint.post("/teams/<team>/requests/back")
@signed_in
def take_back(team: str) -> ResponseReturnValue:
    with writing() as session:
        teams.take_back(session, actor(), _known(session, team))
    return _done("Your request is taken back.", "teams.find")  # the team may be there no more for who asked


@blueprint.post("/teams/<team>/requests/<int:asked>/<any(accept, refuse):answer>")
@signed_in
def answer(team: str, asked: int, answer: str) -> ResponseReturnValue:
    with writing() as session:
        record = _known(session, team)
        answered = teams.answer_request(session, actor(), record, asked, accept=answer == "accept")
        name = answered.user.name
    return _done(f"{name} is in {record.name} now." if answered.accepted else f"{name} is refused.", team=team)


@blueprint.get("/teams/<team>")
def show(team: str) -> ResponseReturnValue:
    return _page(team, AskForm(formdata=None))


def _page(team: str, form: Declared, error: LeaderboardError | None = None) -> ResponseReturnValue:
    more: dict[str, Any] = {"invitations": (), "requests": (), "asked": None}
    with reading() as session:
        page = reads.team_page(session, actor(), team, now())
        if actor().user_id is not None:  # a visitor owns no team and asks to join none
            more = {
                "invitations": accounts.open_invitations(session, actor(), team, now()),
                "requests": reads.open_requests(session, actor(), team),
                "asked": reads.has_asked(session, actor(), _known(session, team)),
            }
    if page.slug != team:  # it was renamed, or became a part of another one
        return redirect(url_for("teams.show", team=page.slug))
    return form_page("teams/show.html", form, error, page=page, **more)


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
        record = find_invitation_of(session, _known(session, team), invitation)
        teams.revoke_invitation(session, actor(), record)
    return _done("The invitation no longer works.", team=team)


@blueprint.route("/teams/<team>/leave", methods=["GET", "POST"], endpoint="leave")
@blueprint.route("/teams/<team>/members/<int:member>/remove", methods=["GET", "POST"], endpoint="remove")
@signed_in
def remove_member(team: str, member: int | None = None) -> ResponseReturnValue:
    """Takes a member out of the team, or whoever asks, where none is named."""
    user_id = member or actor().user_id
    if request.method == "GET":
        page = read(reads.team_page, team)
        require(member is None or page.is_owner, f"Only an owner of {page.name} may do this.")
        leaving = next((row for row in page.members if row.user_id == user_id), None)
        if leaving is None:
            raise NotFound
        return render_template("teams/remove.html" if member else "teams/leave.html", page=page, member=leaving)
    with writing() as session:
        record = _known(session, team)
        is_empty = teams.remove_member(session, actor(), record, user_id)
        if is_empty and not request.form.get("confirm"):  # emptied by somebody who was not told that it would be
            session.rollback()
            flash("Nothing is changed yet: by now nobody else is in the team.", "warning")
            return redirect(request.path)
        name = session.get_one(User, user_id).name
    if user_id == actor().user_id:
        return _done(f"You have left {record.name}. Its runs and systems stay.", "account.show")
    return _done(f"{name} is no longer in the team.", team=team)


@blueprint.post("/teams/<team>/members/<int:member>/role")
@signed_in
def change_role(team: str, member: int) -> ResponseReturnValue:
    role = request.form.get("role", "")
    with writing() as session:
        teams.change_role(session, actor(), _known(session, team), member, role)
        name = session.get_one(User, member).name
    return _done(f"{name} is {'an' if role == Role.OWNER else 'a'} {role} now.", team=team)


@blueprint.get("/join/<token>")
def invitation(token: str) -> ResponseReturnValue:
    with reading() as session:
        joined = teams.joined_by(session, actor(), token)
        team = joined or teams.find_invitation(session, token, now()).team
    if joined is not None:
        return _done(f"You are in {joined.name}.", team=joined.slug)
    return render_template("teams/join.html", team=team, token=token)


@blueprint.post("/join/<token>")
@signed_in
def join(token: str) -> ResponseReturnValue:
    with writing() as session:
        team = teams.accept_invitation(session, actor(), token, now())
    return _done(f"You are in {team.name} now.", team=team.slug)


def _known(session: Session, team: str) -> Team:
    """The team of an address, if there is one for whoever asks."""
    return find_known_team(session, actor(), team, now())


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


@system_blueprint.get(ADDRESS)
def system(team: str, system: str) -> ResponseReturnValue:
    page = read(reads.system, team, system)
    if (page.team_slug, page.slug) != (team, system):  # its team was renamed, or became a part of another one
        return redirect(_address(page))
    drawn = [charts.progress_chart(years.page, only=page.id) for years in page.years]
    return render_template("systems/system.html", page=page, drawn=drawn)


@exported(system_blueprint, ADDRESS)
def system_file(team: str, system: str) -> Table:
    page = read(reads.system, team, system)
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


@system_blueprint.route(f"{ADDRESS}/edit", methods=["GET", "POST"])
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


@system_blueprint.post(f"{ADDRESS}/remove", endpoint="remove")
@signed_in
def remove_unused(team: str, system: str) -> ResponseReturnValue:
    page = _own(team, system)
    with writing() as session:
        remove_system(session, actor(), session.get_one(System, page.id))
    return _done(f"{page.name} is removed.", team=page.team_slug)


def _own(team: str, system: str) -> reads.SystemPage:
    """A system of a team of the reader's. Raises NotFound and NotAllowed."""
    page = read(reads.system, team, system)
    require(page.may_edit, "Only members of the team and organisers describe a system.")
    return page


def _address(page: reads.SystemPage) -> str:
    return url_for("systems.system", team=page.team_slug, system=page.slug)
