"""Teams and systems: what participants do with their own, and organisers with those of a campaign."""

from collections.abc import Callable
from http import HTTPStatus
from typing import TypeVar

from sqlalchemy.orm import Session

from leaderboard import access, errors
from leaderboard.accounts import reads as accounts
from leaderboard.accounts.rules import Scope
from leaderboard.accounts.writes import find_user
from leaderboard.declared.commands import Command, Find, Other, Table, account_named, moment
from leaderboard.evaluations.reads.effects import entered_by
from leaderboard.evaluations.writes import remove_system as remove_unused
from leaderboard.frozen import frozen
from leaderboard.teams import inputs, reads as teams, writes
from leaderboard.teams.merging import merge_teams
from leaderboard.teams.models import System, Team
from leaderboard.teams.rules import COMMAND_LINE
from leaderboard.web.context import actor, config, now, read, reading, writing
from leaderboard.web.endpoints import counting, get, look_again, post, require_scope
from leaderboard.web.organise import CAMPAIGN, require_confirmed

Written = TypeVar("Written")

TEAM = "/teams/<team>"
SYSTEMS = f"{TEAM}/systems"
SYSTEM_THERE = f"{CAMPAIGN}/systems/<int:system_id>"
SYSTEM_LIST = Table(
    ("system", "name", "team", "kind"),
    lambda row: (f"{row['team_slug']}/{row['slug']}", row["name"], row["team"], row["kind"]),
    "no system has a run there yet",
)
REQUESTS = Table(
    ("request", "name", "since", "says"), lambda row: (row["id"], row["name"], row["created_at"][:10], row["text"]),
    "nobody asks", lambda answer: answer["waiting"],
)  # fmt: skip
TEAMS = Table(
    ("team", "name", "members"), lambda row: tuple(row.values()),
    "no team yet; make one: leaderboard team add",
)  # fmt: skip
INVITATIONS = Table(
    ("invitation", "made by", "works until"),
    lambda row: (row["id"], row["created_by"] or COMMAND_LINE, moment(row["expires_at"])),
    "no invitation waits to be used",
)


@frozen
class Invited:
    """An invitation for one person, told this once. address: of the page where it is accepted."""

    token: str
    address: str


@frozen
class Left:
    """The team that you are in no longer."""

    name: str
    slug: str


@get("/teams", Scope.READ)
def find_teams(*, words: str = "") -> tuple[teams.FoundTeam, ...]:
    """The teams that let themselves be found. words: those whose name or description holds them."""
    with reading() as session:
        return teams.find_teams(session, actor(), words=words, page=None)[0]


@post("/teams", Scope.MANAGE, status=HTTPStatus.CREATED, command=Command(
    "team add NAME", "made the team {name}; its slug is {slug}", "'Team Alder'"
))  # fmt: skip
def make_team(body: inputs.NewTeam) -> teams.TeamPage:
    """Makes a team that you own. Boards show its name over all years; only organisers can change it."""
    with counting() as session:
        made = writes.create_team(session, actor(), body.name, body.slug.strip(), body.description)
    return _page(made.slug)


@get("/organise/teams", Scope.ORGANISE, command=Command("team list", TEAMS))
def list_all_teams() -> tuple[teams.ListedTeam, ...]:
    """The teams of the site with their members, for admins."""
    return read(teams.listed_teams)


@post("/teams/join", Scope.MANAGE)
def join_team(body: inputs.Accepting) -> teams.TeamPage:
    """Joins the team that an invitation is to, and uses the invitation up."""
    with writing() as session:
        joined = writes.accept_invitation(session, actor(), body.token, now())
    return _page(joined.slug)


@get(f"{TEAM}/settings", Scope.READ)
def team_settings(team: str) -> teams.TeamSettings:
    """What its owners can change about a team, for its members."""
    return read(teams.team_settings, team)


@post(f"{TEAM}/settings", Scope.MANAGE, command=Command("team change TEAM", "{name} is changed", "team-alder --listed"))
def change_team(team: str, body: inputs.TeamChanges) -> teams.TeamSettings:
    """Changes what a team says about itself, and whether others find it."""
    team_settings(team)  # absent for others
    _write(writes.change_team, team, **body.given())
    return team_settings(team)


@get(f"{TEAM}/requests", Scope.READ, command=Command(
    "team requests TEAM", REQUESTS, "team-alder --accept 7", instead={
        "accept": Other(
            f"{TEAM}/requests/<accept>/accept", "request {accept} is accepted", "Let the person of this request in."
        ),
        "refuse": Other(f"{TEAM}/requests/<refuse>/refuse", "request {refuse} is refused", "Refuse this request."),
    },
))  # fmt: skip
def list_requests(team: str) -> teams.JoinRequests:
    """Who asks to join a team, for its owners, and whether you do.

    \fAbsent for others where you can't ask.
    """
    with reading() as session:
        record = _known(session, team)
        requests = teams.join_requests(session, actor(), record)
        if requests.asked is None:
            _require_inside(record)
        return requests


@post(f"{TEAM}/requests", Scope.MANAGE)
def ask_to_join(team: str, body: inputs.Asking) -> teams.JoinRequests:
    """Asks the owners of a team to let you in."""
    _write(writes.ask_to_join, team, body.text)
    return list_requests(team)


@post(f"{TEAM}/requests/back", Scope.MANAGE)
def take_request_back(team: str) -> teams.JoinRequests:
    """Takes your own request back."""
    with writing() as session:
        record = _known(session, team)
        writes.take_back(session, actor(), record)
        session.flush()
        return teams.join_requests(session, actor(), record)


@post(f"{TEAM}/requests/<int:asked>/accept", Scope.MANAGE)
def accept_request(team: str, asked: int) -> teams.JoinRequests:
    """Lets somebody who asked into the team."""
    _write(writes.answer_request, team, asked, accept=True)
    return list_requests(team)


@post(f"{TEAM}/requests/<int:asked>/refuse", Scope.MANAGE)
def refuse_request(team: str, asked: int) -> teams.JoinRequests:
    """Refuses somebody who asked to join the team."""
    _write(writes.answer_request, team, asked, accept=False)
    return list_requests(team)


@get(f"{TEAM}/invitations", Scope.READ, command=Command(
    "team invitations TEAM", INVITATIONS, "team-alder --revoke 7", instead={
        "revoke": Other(
            f"{TEAM}/invitations/<revoke>/revoke", "invitation {revoke} no longer works",
            "Let this invitation work no longer.",
        ),
    },
))  # fmt: skip
def list_invitations(team: str) -> tuple[accounts.OpenInvitation, ...]:
    """A team's invitations that still work, for its owners; their links are not kept.

    \fOther members find none; for everybody else it is absent.
    """
    with reading() as session:
        record = _known(session, team)
        _require_inside(record)
        return accounts.open_invitations(session, actor(), record.slug, now())


@post(f"{TEAM}/invitations", Scope.MANAGE, status=HTTPStatus.CREATED, command=Command(
    "team invite TEAM", "{address}", "team-alder --days 30"
))  # fmt: skip
def invite(team: str, body: inputs.Inviting) -> Invited:
    """Makes an invitation that lets one person into the team."""
    token = _write(writes.invite, team, body.days)
    return Invited(token, f"{config().site_url}/join/{token}")


@post(f"{TEAM}/invitations/<int:invitation>/revoke", Scope.MANAGE)
def revoke_invitation(team: str, invitation: int) -> tuple[accounts.OpenInvitation, ...]:
    """Takes an invitation back that nobody has used."""
    _write(writes.revoke_invitation, team, invitation)
    return list_invitations(team)


@post(f"{TEAM}/leave", Scope.MANAGE)
def leave_team(team: str, body: inputs.Leaving) -> Left:
    """Leaves a team; its runs and systems stay. It may be absent for you from then on. As its last member
    that has to be confirmed.
    """
    with writing() as session:
        record = _known(session, team)
        writes.remove_member(session, actor(), record, actor().user_id, confirm=body.confirm)
        return Left(record.name, record.slug)


@post(f"{TEAM}/members", Scope.ORGANISE, command=Command(
    "team member add TEAM USER", "{user} is in {name} now", "team-alder ada --role owner"
))  # fmt: skip
def add_member(team: str, body: inputs.NewMember) -> teams.TeamPage:
    """Puts an account into a team, or gives a member another role, for admins; others invite people."""
    if not actor().all_powerful:
        raise errors.NotFound
    with writing() as session:
        writes.add_member(
            session, actor(), teams.find_team(session, team), find_user(session, body.user), body.given().get("role")
        )
    return read(teams.team_page, team)


@post(f"{TEAM}/rename", Scope.ORGANISE, command=Command(
    "team rename TEAM NAME", "the team is called {name} now; its slug is {slug}", "team-alder 'Alder Group'"
))  # fmt: skip
def rename_team(team: str, body: inputs.TeamName) -> teams.TeamPage:
    """Gives a team another name; its old address leads to the new one."""
    with counting() as session:
        record = _known(session, team)
        writes.rename_team(session, actor(), record, body.name, body.slug.strip())
    return read(teams.team_page, record.slug)


@post(f"{TEAM}/into/<into>", Scope.ORGANISE, command=Command(
    "team merge TEAM INTO", "{team} is a part of {name} now", "alder-group team-alder --unite heron"
))  # fmt: skip
def merge_team(team: str, into: str, body: inputs.Merge) -> teams.TeamPage:
    """Makes one team a part of another, with its systems, runs, people and quotas. This can't be undone, and has to be
    confirmed. Systems whose names both have are kept apart, unless they are named.
    """
    with writing() as session:
        source, target = _known(session, team), _known(session, into)
        refused = access.merging_refusal(session, actor(), source, target)
        access.require(not refused, refused)  # before a mistyped slug is said to be like another
        systems = [teams.find_system(session, source.slug, slug).id for slug in body.unite]
        merge_teams(session, actor(), source, target, unite=systems)
        if not body.confirm:
            raise errors.Unconfirmed([f"{source.name} becomes a part of {target.name} for good"])
    return read(teams.team_page, into)


@post(f"{TEAM}/members/<int:member>/remove", Scope.MANAGE, command=Command(
    "team member remove TEAM USER", "{user} is no longer in {name}", "team-alder ada",
    finds={"member": Find(
        TEAM, lambda page, given: account_named(page["members"], given["user"]), "{user} is not in {team}"
    )},
))  # fmt: skip
def remove_member(team: str, member: int, body: inputs.Leaving) -> teams.TeamPage:
    """Takes somebody out of the team; its last member only once that is confirmed."""
    _write(writes.remove_member, team, member, confirm=body.confirm)
    return read(teams.team_page, team)


@post(f"{TEAM}/members/<int:member>/role", Scope.MANAGE)
def change_role(team: str, member: int, body: inputs.NewRole) -> teams.TeamPage:
    """Makes a member an owner, or an owner a member."""
    _write(writes.change_role, team, member, body.role)
    return read(teams.team_page, team)


@post(SYSTEMS, Scope.SUBMIT, status=HTTPStatus.CREATED)
def make_system(team: str, body: inputs.NewSystem) -> teams.SystemPage:
    """Makes a system of your team, as its first run does otherwise. Its name stays: boards of all years show it."""
    access.require(read(teams.team_page, team).is_member, "Only members of the team make its systems.")
    with writing() as session:
        made = writes.create_system(
            session, actor(), teams.find_team(session, team), writes.NewSystem(**body.model_dump())
        )
    return read(teams.system, team, made.slug)


@post(f"{SYSTEMS}/<system>", Scope.SUBMIT, command=Command(
    "system change TEAM/SYSTEM", "changed {name} of {team}", "team-alder/bm25 --kind baseline"
))  # fmt: skip
def describe_system(team: str, system: str, body: inputs.SystemChanges) -> teams.SystemPage:
    """Says what a system does, where its code and paper are, and for organisers of its campaigns of what kind it is.
    Where ranks on boards depend on that, it has to be confirmed.
    """
    read(teams.system, team, system)  # absent for others
    changes = body.given()
    if "kind" in changes:
        require_scope(Scope.ORGANISE)
    with writing() as session:
        record = teams.find_system(session, team, system)
        writes.change_system(session, actor(), record, **changes)
        require_confirmed(session, body.confirm or "kind" not in changes, entered_by(record.id))
    return read(teams.system, team, system)


@post(f"{SYSTEMS}/<system>/remove", Scope.SUBMIT, command=Command(
    "system remove TEAM/SYSTEM", "removed {system} of {team}", "team-alder/bm52",
    asks="Remove {name} of {team} for good?"
))  # fmt: skip
def remove_system(team: str, system: str) -> teams.TeamPage:
    """Removes a system that no run was ever sent for, such as one that was made by mistake."""
    read(teams.system, team, system)  # absent for others
    with writing() as session:
        remove_unused(session, actor(), teams.find_system(session, team, system))
    return read(teams.team_page, team)


@get(f"{CAMPAIGN}/systems", Scope.ORGANISE, command=Command("system list CAMPAIGN", SYSTEM_LIST, "harbour"))
def list_systems(campaign: str) -> tuple[teams.OrganisedSystem, ...]:
    """The systems that have runs in a campaign, baselines first."""
    return read(teams.organised_systems, campaign)


@get(SYSTEM_THERE, Scope.ORGANISE)
def organised_system(campaign: str, system_id: int) -> teams.OrganisedSystem:
    """One system of a campaign."""
    return read(teams.organised_system, campaign, system_id)


@post(SYSTEM_THERE, Scope.ORGANISE)
def change_organised_system(campaign: str, system_id: int, body: inputs.SystemChanges) -> teams.OrganisedSystem:
    """Says what a system is: automatic, manual or a baseline; what it does, and where its code and paper are. Where
    ranks on boards depend on it, it has to be confirmed.
    """
    read(teams.organised_system, campaign, system_id)  # one that has no run here is not here
    with writing() as session:
        writes.change_system(session, actor(), session.get_one(System, system_id), **body.given())
        require_confirmed(session, body.confirm, entered_by(system_id))
    return read(teams.organised_system, campaign, system_id)


@get(f"{CAMPAIGN}/teams", Scope.ORGANISE)
def list_teams(campaign: str) -> tuple[teams.OrganisedTeam, ...]:
    """The teams that have runs in a campaign."""
    return read(teams.organised_teams, campaign)


@get(f"{CAMPAIGN}/teams/<int:team_id>/into/<int:other_id>", Scope.ORGANISE)
def preview_merge(campaign: str, team_id: int, other_id: int) -> teams.Merging:
    """What making one team a part of another would do: the systems of one name, quotas and primary runs; or, as
    `refusal`, why you may not."""
    return read(teams.merging, campaign, team_id, other_id)


def _page(team: str) -> teams.TeamPage:
    """The team as whoever asks sees it from now on: they are in it now."""
    look_again()
    return read(teams.team_page, team)


def _write(write: Callable[..., Written], team: str, *values: object, **more: object) -> Written:
    """Does this to the team, if there is one for whoever asks."""
    with writing() as session:
        return write(session, actor(), _known(session, team), *values, **more)


def _known(session: Session, team: str) -> Team:
    """The team of an address, if there is one for whoever asks."""
    return teams.find_known_team(session, actor(), team, now())


def _require_inside(team: Team) -> None:
    if not (actor().is_in(team.id) or actor().all_powerful):
        raise errors.NotFound


@get(TEAM)
def team(team: str) -> teams.TeamPage:
    """A team with its systems and their places; for its members its runs, too."""
    return read(teams.team_page, team)


@get(f"{SYSTEMS}/<system>")
def system(team: str, system: str) -> teams.SystemPage:
    """One system over its years."""
    return read(teams.system, team, system)
