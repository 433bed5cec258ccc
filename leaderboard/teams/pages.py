"""Teams: making one, its page, inviting by a link, joining, leaving; and a system over its years, as page and file."""

from functools import partial
from typing import Any, NamedTuple

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from leaderboard.access import require
from leaderboard.accounts import reads as accounts
from leaderboard.boards.reads.entries import Column, Figure
from leaderboard.declared.inputs import checked
from leaderboard.errors import Conflict, InvalidFields, LeaderboardError, NotFound
from leaderboard.progress.reads.progress import PeriodPoint, ProgressPage
from leaderboard.teams import api, inputs, reads, writes as teams
from leaderboard.web.charts.drawing import Chart
from leaderboard.web.charts.files import charted
from leaderboard.web.charts.progress import progress_chart
from leaderboard.web.context import actor, now, page_number, read, reading
from leaderboard.web.exports import Table, columns, exported, table, terms_facts
from leaderboard.web.forms import Declared, answered, declared, done, form_page, sent_on
from leaderboard.web.sessions import signed_in

blueprint = Blueprint("teams", __name__)
system_blueprint = Blueprint("systems", __name__)

NewForm, SystemForm = declared(inputs.NewTeam, "slug"), declared(inputs.SystemChanges, "kind")
ONLY_OWNERS = "Only an owner of the team may do this."
SettingsForm, AskForm = declared(inputs.TeamChanges), declared(inputs.Asking)


@blueprint.route("/account/teams/new", methods=["GET", "POST"])
@signed_in
def new() -> ResponseReturnValue:
    form = NewForm()

    def found_team() -> ResponseReturnValue:
        team = api.make_team(form.checked())
        return sent_on(f"{team.name} is there. Invite the others, or submit a run.", "teams.show", team=team.slug)

    return answered(form, "teams/new.html", found_team)


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
    settings = api.team_settings(team)
    form = SettingsForm(obj=settings)

    def save() -> ResponseReturnValue:
        api.change_team(team, form.checked())
        return sent_on(f"{settings.name} is changed.", "teams.show", team=team)

    return answered(form, "teams/change.html", save, settings=settings)


@blueprint.post("/teams/<team>/requests")
@signed_in
def ask(team: str) -> ResponseReturnValue:
    form = AskForm()
    try:
        api.ask_to_join(team, form.checked())
    except (Conflict, InvalidFields) as error:
        return _page(team, form, error)
    return sent_on("The owners of the team are asked.", "teams.show", team=team)


@blueprint.post("/teams/<team>/requests/back")
@signed_in
def take_back(team: str) -> ResponseReturnValue:
    api.take_request_back(team)
    return sent_on("Your request is taken back.", "teams.find")  # the team may be there no more for who asked


@blueprint.post("/teams/<team>/requests/<int:asked>/<any(accept, refuse):answer>")
@signed_in
def answer(team: str, asked: int, answer: str) -> ResponseReturnValue:
    (api.accept_request if answer == "accept" else api.refuse_request)(team, asked)
    return sent_on("The request is answered.", "teams.show", team=team)


@blueprint.get("/teams/<team>")
def show(team: str) -> ResponseReturnValue:
    return _page(team, AskForm(formdata=None))


def _page(team: str, form: Declared, error: LeaderboardError | None = None) -> ResponseReturnValue:
    with reading() as session:
        page = reads.team_page(session, actor(), team, now())
        knows = actor().user_id is not None  # a visitor is in no team, and can't ask to be
        invitations = accounts.open_invitations(session, actor(), page.slug, now()) if knows else ()
        requests = reads.JoinRequests(None, ())
        if knows:
            requests = reads.join_requests(session, actor(), reads.find_team(session, team))
    if page.slug != team:  # it was renamed, or became a part of another one
        return redirect(url_for("teams.show", team=page.slug))
    return form_page("teams/show.html", form, error, page=page, invitations=invitations, requests=requests)


@blueprint.post("/teams/<team>/invitations")
@signed_in
def invite(team: str) -> ResponseReturnValue:
    flash(api.invite(team, inputs.Inviting()).address, "invitation")
    return redirect(url_for("teams.show", team=team))


@blueprint.post("/teams/<team>/invitations/<int:invitation>/revoke")
@signed_in
def revoke(team: str, invitation: int) -> ResponseReturnValue:
    address = url_for("teams.show", team=team)
    return done(partial(api.revoke_invitation, team, invitation), "The invitation no longer works.", address, address)


@blueprint.route("/teams/<team>/leave", methods=["GET", "POST"], endpoint="leave")
@blueprint.route("/teams/<team>/members/<int:member>/remove", methods=["GET", "POST"], endpoint="remove")
@signed_in
def remove_member(team: str, member: int | None = None) -> ResponseReturnValue:
    """Takes a member out of the team, or whoever asks, where none is named."""
    page = read(reads.team_page, team)
    user_id = member or actor().user_id or 0
    names = {row.user_id: row.name for row in page.members}
    if request.method == "GET":
        require(member is None or page.is_owner, ONLY_OWNERS)
        if user_id not in names:
            raise NotFound
        return render_template("teams/remove.html" if member else "teams/leave.html", page=page, name=names[user_id])
    confirmed = inputs.Leaving(confirm=bool(request.form.get("confirm")))  # its page says what becomes of it
    if user_id == actor().user_id:
        api.leave_team(team, confirmed)
        return sent_on(f"You have left {page.name}. Its runs and systems stay.", "account.show")
    api.remove_member(team, user_id, confirmed)
    return sent_on(f"{names[user_id]} is no longer in the team.", "teams.show", team=team)


@blueprint.post("/teams/<team>/members/<int:member>/role")
@signed_in
def change_role(team: str, member: int) -> ResponseReturnValue:
    require(read(reads.team_page, team).is_owner or actor().all_powerful, ONLY_OWNERS)
    api.change_role(team, member, checked(inputs.NewRole, {"role": request.form.get("role", "")}))
    return sent_on("The role is changed.", "teams.show", team=team)


@blueprint.get("/join/<token>")
def invitation(token: str) -> ResponseReturnValue:
    with reading() as session:
        if joined := teams.joined_by(session, actor(), token):
            return sent_on(f"You are in {joined.name}.", "teams.show", team=joined.slug)
        team = teams.find_invitation(session, token, now()).team
    return render_template("teams/join.html", team=team, token=token)


@blueprint.post("/join/<token>")
@signed_in
def join(token: str) -> ResponseReturnValue:
    team = api.join_team(inputs.Accepting(token=token))
    return sent_on(f"You are in {team.name} now.", "teams.show", team=team.slug)


ADDRESS = "/teams/<team>/<system>"


class Row(NamedTuple):
    """What the system has in one evaluation under one measure; rank: under the measure that ranks the board."""

    page: ProgressPage
    point: PeriodPoint
    column: Column
    figure: Figure


COLUMNS = columns(
    "campaign=page.campaign.slug", "condition=page.condition", "measure=column.name", "period=point.period.label",
    "evaluation=point.period.slug", "rank", "mean=figure.mean", "low=figure.low", "high=figure.high",
    "submission=point.entry.submission_id",
    rank=lambda row: row.point.rank if row.column.name == row.page.column.name else None,
)  # fmt: skip


@system_blueprint.get(ADDRESS)
def system(team: str, system: str) -> ResponseReturnValue:
    page = read(reads.system, team, system)
    if (page.team_slug, page.slug) != (team, system):  # its team was renamed, or became a part of another one
        return redirect(url_for(".system", team=page.team_slug, system=page.slug))
    return render_template("systems/system.html", page=page, drawn=_charts(page))


def _charts(page: reads.SystemPage) -> list[Chart | None]:
    return [progress_chart(years.page, only=page.id) for years in page.years]


@charted(system_blueprint, ADDRESS)
def system_charts(team: str, system: str) -> list[Chart | None]:
    return _charts(read(reads.system, team, system))


@exported(system_blueprint, ADDRESS)
def system_file(team: str, system: str) -> Table:
    page = read(reads.system, team, system)
    rows = [
        Row(years.page, point, column, point.under(column))
        for years in page.years
        for point in years.line.points
        for column in years.page.columns
    ]
    terms: dict[str, dict[str, Any]] = {}  # by campaign, then by evaluation
    for years in page.years:
        own = terms.setdefault(years.page.campaign.slug, {})
        own |= {point.period.slug: terms_facts(point.period.terms) for point in years.line.points}
    return table(f"{team}-{system}", COLUMNS, rows, {"terms": terms})


@system_blueprint.route(f"{ADDRESS}/edit", methods=["GET", "POST"])
@signed_in
def edit(team: str, system: str) -> ResponseReturnValue:
    page = read(reads.system, team, system)
    require(page.may_edit, "Only members of the team and organisers describe a system.")
    form = SystemForm(obj=page)

    def change() -> ResponseReturnValue:
        api.describe_system(team, system, form.checked())
        return sent_on("What is said about the system is changed.", ".system", team=page.team_slug, system=page.slug)

    return answered(form, "systems/edit.html", change, page=page)


@system_blueprint.post(f"{ADDRESS}/remove", endpoint="remove")
@signed_in
def remove_unused(team: str, system: str) -> ResponseReturnValue:
    page = read(reads.system, team, system)
    api.remove_system(team, system)
    return sent_on(f"{page.name} is removed.", "teams.show", team=page.team_slug)
