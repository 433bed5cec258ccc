"""A participant's teams: making, finding and joining one, and who is in it."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated

from flask import url_for
from msgspec import UNSET, Meta, UnsetType
from sqlalchemy.orm import Session

from leaderboard.accounts import reads as accounts
from leaderboard.accounts.models import User
from leaderboard.accounts.rules import Scope
from leaderboard.errors import NotFound, Unconfirmed
from leaderboard.teams.models import Invitation, Team
from leaderboard.teams.pages.team_names import naming
from leaderboard.teams.reads import team as teams
from leaderboard.teams.reads.find import find_known_team
from leaderboard.teams.rules import Role
from leaderboard.teams.writes import teams as services
from leaderboard.web.api.bearer import look_again
from leaderboard.web.api.endpoints import get, post
from leaderboard.web.context import actor, now, read, reading, writing

TEAM = "/teams/<team>"


@dataclass(frozen=True, slots=True)
class NewTeam:
    """A team to make, with you as its owner."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class TeamChanges:
    """What is to change; what is left out stays. is_listed: whether others find the team and may ask to join."""

    description: str | UnsetType = UNSET
    is_listed: bool | UnsetType = UNSET


@dataclass(frozen=True, slots=True)
class Asking:
    """What the owners read beside your name."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class JoinRequests:
    """asked: whether a request of yours waits, None where you can't ask; waiting: for owners, those to be answered."""

    asked: bool | None
    waiting: tuple[teams.OpenRequest, ...]


@dataclass(frozen=True, slots=True)
class Inviting:
    """How long the invitation works."""

    days: Annotated[int, Meta(ge=1, le=90)] = 7


@dataclass(frozen=True, slots=True)
class Invited:
    """An invitation for one person, told this once. address: of the page where it is accepted."""

    token: str
    address: str


@dataclass(frozen=True, slots=True)
class Accepting:
    """token: the last part of the invitation's address."""

    token: str


@dataclass(frozen=True, slots=True)
class Leaving:
    """confirm: to what becomes of a team without its last member, which a refusal without it tells."""

    confirm: bool = False


@dataclass(frozen=True, slots=True)
class Left:
    """The team that you are in no longer."""

    name: str
    slug: str


@dataclass(frozen=True, slots=True)
class NewRole:
    """What a member becomes."""

    role: Role


@get("/teams", Scope.READ)
def find_teams(*, words: str = "") -> tuple[teams.FoundTeam, ...]:
    """The teams that let themselves be found. words: those whose name or description holds them."""
    with reading() as session:
        return teams.find_teams(session, actor(), words=words, page=None)[0]


@post("/teams", Scope.MANAGE, status=HTTPStatus.CREATED)
def make_team(body: NewTeam) -> teams.TeamPage:
    """Makes a team that you own. Boards show its name over all years; only organisers can change it."""
    with naming(body.name) as session:
        made = services.create_team(session, actor(), body.name, description=body.description)
    return _page(made.slug)


@post("/teams/join", Scope.MANAGE)
def join_team(body: Accepting) -> teams.TeamPage:
    """Joins the team that an invitation is to, and uses the invitation up."""
    with writing() as session:
        joined = services.accept_invitation(session, actor(), body.token, now())
    return _page(joined.slug)


@get(f"{TEAM}/settings", Scope.READ)
def team_settings(team: str) -> teams.TeamSettings:
    """What its owners can change about a team, for its members."""
    with reading() as session:
        return teams.team_settings(session, actor(), team)


@post(f"{TEAM}/settings", Scope.MANAGE)
def change_team(team: str, body: TeamChanges) -> teams.TeamSettings:
    """Changes what a team says about itself, and whether others find it."""
    with writing() as session:
        settings = teams.team_settings(session, actor(), team)
        description = settings.description if body.description is UNSET else body.description
        is_listed = None if body.is_listed is UNSET else body.is_listed
        services.change_team(session, actor(), _known(session, team), description, is_listed=is_listed)
    with reading() as session:
        return teams.team_settings(session, actor(), team)


@get(f"{TEAM}/requests", Scope.READ)
def list_requests(team: str) -> JoinRequests:
    """Who asks to join a team, for its owners, and whether you do; absent for others where you can't ask."""
    with reading() as session:
        found = _known(session, team)
        requests = _requests(session, found)
        if requests.asked is None and not _is_inside(found):
            raise NotFound
        return requests


@post(f"{TEAM}/requests", Scope.MANAGE)
def ask_to_join(team: str, body: Asking) -> JoinRequests:
    """Asks the owners of a team to let you in."""
    with writing() as session:
        services.ask_to_join(session, actor(), _known(session, team), body.text)
    return list_requests(team)


@post(f"{TEAM}/requests/back", Scope.MANAGE)
def take_request_back(team: str) -> JoinRequests:
    """Takes your own request back."""
    with writing() as session:
        found = _known(session, team)
        services.take_back(session, actor(), found)
        session.flush()
        return _requests(session, found)


@post(f"{TEAM}/requests/<int:asked>/accept", Scope.MANAGE)
def accept_request(team: str, asked: int) -> JoinRequests:
    """Lets somebody who asked into the team."""
    return _answer(team, asked, accept=True)


@post(f"{TEAM}/requests/<int:asked>/refuse", Scope.MANAGE)
def refuse_request(team: str, asked: int) -> JoinRequests:
    """Refuses somebody who asked to join the team."""
    return _answer(team, asked, accept=False)


@get(f"{TEAM}/invitations", Scope.READ)
def list_invitations(team: str) -> tuple[accounts.OpenInvitation, ...]:
    """A team's invitations that still work, for its owners; their links are not kept. For others it is absent."""
    with reading() as session:
        found = _known(session, team)
        if not _is_inside(found):
            raise NotFound
        return accounts.open_invitations(session, actor(), found.slug, now())


@post(f"{TEAM}/invitations", Scope.MANAGE, status=HTTPStatus.CREATED)
def invite(team: str, body: Inviting) -> Invited:
    """Makes an invitation that lets one person into the team."""
    with writing() as session:
        token = services.invite(session, actor(), _known(session, team), body.days)
    return Invited(token, url_for("teams.invitation", token=token, _external=True))


@post(f"{TEAM}/invitations/<int:invitation>/revoke", Scope.MANAGE)
def revoke_invitation(team: str, invitation: int) -> tuple[accounts.OpenInvitation, ...]:
    """Takes an invitation back that nobody has used."""
    with writing() as session:
        found = session.get(Invitation, invitation)
        if found is None or found.team_id != _known(session, team).id:
            raise NotFound
        services.revoke_invitation(session, actor(), found)
    return list_invitations(team)


@post(f"{TEAM}/leave", Scope.MANAGE)
def leave_team(team: str, body: Leaving) -> Left:
    """Leaves a team; its runs and systems stay. It may be absent for you from then on. As its last member
    that has to be confirmed.
    """
    with writing() as session:
        found = _known(session, team)
        is_empty = services.leave_team(session, actor(), found)
        if is_empty and not body.confirm:
            raise Unconfirmed([teams.EMPTIED])
        return Left(found.name, found.slug)


@post(f"{TEAM}/members/<int:member>/remove", Scope.MANAGE)
def remove_member(team: str, member: int, body: Leaving) -> teams.TeamPage:
    """Takes somebody out of the team; its last member only once that is confirmed."""
    with writing() as session:
        user = session.get(User, member)
        if user is None:
            raise NotFound
        is_empty = services.remove_member(session, actor(), _known(session, team), user)
        if is_empty and not body.confirm:
            raise Unconfirmed([teams.EMPTIED])
    return read(teams.team_page, team)


@post(f"{TEAM}/members/<int:member>/role", Scope.MANAGE)
def change_role(team: str, member: int, body: NewRole) -> teams.TeamPage:
    """Makes a member an owner, or an owner a member."""
    with writing() as session:
        user = session.get(User, member)
        if user is None:
            raise NotFound
        services.change_role(session, actor(), _known(session, team), user, body.role)
    return read(teams.team_page, team)


def _page(team: str) -> teams.TeamPage:
    """The team as whoever asks sees it from now on: they are in it now."""
    look_again()
    return read(teams.team_page, team)


def _answer(team: str, asked: int, *, accept: bool) -> JoinRequests:
    with writing() as session:
        services.answer_request(session, actor(), _known(session, team), asked, accept=accept)
    return list_requests(team)


def _known(session: Session, team: str) -> Team:
    """The team of an address, if there is one for whoever asks."""
    return find_known_team(session, actor(), team, now())


def _is_inside(team: Team) -> bool:
    return actor().is_in(team.id) or actor().all_powerful


def _requests(session: Session, team: Team) -> JoinRequests:
    waiting = teams.open_requests(session, actor(), team.slug)
    return JoinRequests(teams.has_asked(session, actor(), team), waiting)
