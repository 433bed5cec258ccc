"""`leaderboard team`: what no endpoint does, because nobody but the console may, or it lists and answers in one."""

import click

from leaderboard.access import CONSOLE
from leaderboard.accounts import reads as accounts
from leaderboard.accounts import writes as people
from leaderboard.audit.writes import present
from leaderboard.campaigns import reads as listings
from leaderboard.cli.database import reading, writing
from leaderboard.cli.options import OneOf, Whole, require_yes
from leaderboard.cli.output import print_table
from leaderboard.errors import NotFound
from leaderboard.teams import writes as teams
from leaderboard.teams.merging import merge_teams
from leaderboard.teams.models import Invitation
from leaderboard.teams.reads import teams as pages
from leaderboard.teams.reads.find import find_system, find_team
from leaderboard.teams.rules import COMMAND_LINE, Role


@click.command()
@click.argument("team")
@click.option("--accept", type=Whole(1), help="Let the person of this request in.")
@click.option("--refuse", type=Whole(1), help="Refuse this request.")
def requests(team: str, accept: int | None, refuse: int | None) -> None:
    """List who asks to join a team, or answer one request by its number.

    \b
    leaderboard team requests team-alder --accept 7
    """
    number = accept or refuse
    if number is None:
        with reading() as session:
            waiting = pages.open_requests(session, CONSOLE, find_team(session, team).slug)
        rows = [(str(row.id), row.name, f"{row.created_at:%Y-%m-%d}", row.text) for row in waiting]
        print_table(("request", "name", "since", "says"), rows, "nobody asks")
        return
    with writing() as session:
        record = find_team(session, team)
        request = teams.answer_request(session, CONSOLE, record, number, accept=accept is not None)
        name = request.user.name
    click.echo(f"{name} is in {record.name} now" if request.accepted else f"the request of {name} is refused")


@click.command()
@click.argument("team")
@click.option("--revoke", type=Whole(1), help="Let this invitation work no longer.")
def invitations(team: str, revoke: int | None) -> None:
    """List the invitations of a team that still work, or take one back by its number.

    \b
    leaderboard team invitations team-alder --revoke 7
    """
    with reading() as session:
        record = find_team(session, team)
        waiting = accounts.open_invitations(session, CONSOLE, record.slug, present())
    if revoke is None:
        rows = [(str(row.id), row.created_by or COMMAND_LINE, f"{row.expires_at:%Y-%m-%d %H:%M}") for row in waiting]
        print_table(("invitation", "made by", "works until"), rows, "no invitation waits to be used")
        return
    if revoke not in {row.id for row in waiting}:
        raise NotFound(f"{record.name} has no open invitation {revoke}")
    with writing() as session:
        teams.revoke_invitation(session, CONSOLE, session.get_one(Invitation, revoke))
    click.echo(f"invitation {revoke} no longer works")


@click.command("add")
@click.argument("team")
@click.argument("user")
@click.option("--role", type=OneOf(Role), default=Role.MEMBER.value, show_default=True, help="Owners invite others.")
def add_member(team: str, user: str, role: Role) -> None:
    """Put an account into a team, or give a member another role.

    \b
    leaderboard team member add team-alder ada --role owner
    """
    with writing() as session:
        record, account = find_team(session, team), people.find_user(session, user)
        teams.add_member(session, CONSOLE, record, account, role)
    click.echo(f"{account.name} is {'an' if role is Role.OWNER else 'a'} {role} of {record.name}")


@click.command("list")
def list_teams() -> None:
    """List the teams with their members.

    \b
    leaderboard team list
    """
    with reading() as session:
        rows = [(team.slug, team.name, ", ".join(members) or "–") for team, members in listings.list_teams(session)]
    print_table(("team", "name", "members"), rows, "no team yet; make one: leaderboard team add")


@click.command()
@click.argument("team")
@click.argument("name")
@click.option("--slug", help="Its part of an address (default: made from the name).")
def rename(team: str, name: str, slug: str | None) -> None:
    """Give a team another name; its old address leads to the new one.

    \b
    leaderboard team rename team-alder 'Alder Group'
    """
    with writing() as session:
        record = find_team(session, team)
        teams.rename_team(session, CONSOLE, record, name, slug)
    click.echo(f"the team is called {record.name} now; its slug is {record.slug}")


@click.command()
@click.argument("team")
@click.argument("into")
@click.option("--unite", multiple=True, help="A system of TEAM that becomes one with INTO's of the same name.")
@click.option("--confirm", "confirmed", is_flag=True, help="Do it without a question.")
def merge(team: str, into: str, unite: tuple[str, ...], confirmed: bool) -> None:
    """Make TEAM a part of INTO: systems, runs, people and quotas. It can't be taken back.

    Systems whose names both have are kept apart, unless they are named with --unite.

    \b
    leaderboard team merge alder-group team-alder --unite heron
    """
    with reading() as session:
        source, target = find_team(session, team), find_team(session, into)
        systems = [find_system(session, source.slug, slug).id for slug in unite]
    require_yes(confirmed, f"Make {source.name} a part of {target.name} for good?")
    with writing() as session:
        merge_teams(session, CONSOLE, find_team(session, team), find_team(session, into), unite=systems)
    click.echo(f"{source.name} is a part of {target.name} now")
