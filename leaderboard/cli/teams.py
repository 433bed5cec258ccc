"""`leaderboard team`: teams and who is in them."""

import click

from leaderboard.access import CONSOLE
from leaderboard.accounts import reads as accounts
from leaderboard.accounts.writes import accounts as people
from leaderboard.audit.writes import present
from leaderboard.campaigns.reads import listings
from leaderboard.cli.database import reading, writing
from leaderboard.cli.options import OneOf, Whole, require_yes
from leaderboard.cli.tables import print_table
from leaderboard.config import Config
from leaderboard.errors import NotFound
from leaderboard.teams.models import Invitation
from leaderboard.teams.reads import team as pages
from leaderboard.teams.reads.find import find_system, find_team
from leaderboard.teams.rules import COMMAND_LINE, Role
from leaderboard.teams.writes import teams
from leaderboard.teams.writes.merge import merge_teams


@click.group()
def team() -> None:
    """Teams and who is in them."""


@team.command()
@click.argument("name")
@click.option("--slug", help="Its part of an address (default: made from the name).")
@click.option("--description", default="", help="What the team says about itself.")
def add(name: str, slug: str | None, description: str) -> None:
    """Make a team; nobody is in it yet.

    \b
    leaderboard team add 'Team Alder'
    """
    with writing() as session:
        made = teams.create_team(session, CONSOLE, name, slug, description)
    click.echo(f"made the team {made.name}; its slug is {made.slug}")


@team.command()
@click.argument("team")
@click.option("--description", help="What the team says about itself.")
@click.option("--listed/--unlisted", default=None, help="Whether others find it and may ask to join.")
def change(team: str, description: str | None, listed: bool | None) -> None:
    """Change what a team says about itself, and whether others find it.

    \b
    leaderboard team change team-alder --listed
    """
    with writing() as session:
        found = find_team(session, team)
        text = found.description if description is None else description
        teams.change_team(session, CONSOLE, found, text, is_listed=listed)
    click.echo(f"{found.name} is changed")


@team.command()
@click.argument("team")
@click.option("--accept", type=Whole(1), help="Let the person of this request in.")
@click.option("--refuse", type=Whole(1), help="Refuse this request.")
def requests(team: str, accept: int | None, refuse: int | None) -> None:
    """List who asks to join a team, or answer one request by its number.

    \b
    leaderboard team requests team-alder
    leaderboard team requests team-alder --accept 7
    """
    number = accept or refuse
    if number is None:
        with reading() as session:
            waiting = pages.open_requests(session, CONSOLE, find_team(session, team).slug)
        rows = [(str(one.id), one.name, f"{one.created_at:%Y-%m-%d}", one.text) for one in waiting]
        print_table(("request", "name", "since", "says"), rows, "nobody asks")
        return
    with writing() as session:
        found = find_team(session, team)
        answered = teams.answer_request(session, CONSOLE, found, number, accept=accept is not None)
        name = answered.user.name
    click.echo(f"{name} is in {found.name} now" if answered.accepted else f"the request of {name} is refused")


@team.command()
@click.argument("team")
@click.option("--days", type=Whole(1), default=7, show_default=True, help="How long the link works.")
def invite(team: str, days: int) -> None:
    """Print a link that lets one person into a team. It works once, and is not shown again.

    \b
    leaderboard team invite team-alder --days 30
    """
    site = Config.from_environment().site_url
    with writing() as session:
        token = teams.invite(session, CONSOLE, find_team(session, team), days)
    click.echo(f"{site}/join/{token}")


@team.command()
@click.argument("team")
@click.option("--revoke", type=Whole(1), help="Let this invitation work no longer.")
def invitations(team: str, revoke: int | None) -> None:
    """List the invitations of a team that still work, or take one back by its number.

    \b
    leaderboard team invitations team-alder
    leaderboard team invitations team-alder --revoke 7
    """
    if revoke is None:
        with reading() as session:
            slug = find_team(session, team).slug
            rows = [
                (str(one.id), one.created_by or COMMAND_LINE, f"{one.expires_at:%Y-%m-%d %H:%M}")
                for one in accounts.open_invitations(session, CONSOLE, slug, present())
            ]
        print_table(("invitation", "made by", "works until"), rows, "no invitation waits to be used")
        return
    with writing() as session:
        found = find_team(session, team)
        if revoke not in {one.id for one in accounts.open_invitations(session, CONSOLE, found.slug, present())}:
            raise NotFound(f"{found.name} has no open invitation {revoke}")
        teams.revoke_invitation(session, CONSOLE, session.get_one(Invitation, revoke))
    click.echo(f"invitation {revoke} no longer works")


@team.group()
def member() -> None:
    """Who is in a team."""


@member.command("add")
@click.argument("team")
@click.argument("user")
@click.option("--role", type=OneOf(Role), default=Role.MEMBER.value, show_default=True, help="Owners invite others.")
def add_member(team: str, user: str, role: Role) -> None:
    """Put an account into a team, or give a member another role.

    \b
    leaderboard team member add team-alder ada --role owner
    """
    with writing() as session:
        found_team, found_user = find_team(session, team), people.find_user(session, user)
        teams.add_member(session, CONSOLE, found_team, found_user, role)
    click.echo(f"{found_user.name} is {'an' if role is Role.OWNER else 'a'} {role} of {found_team.name}")


@team.command("list")
def list_teams() -> None:
    """List the teams with their members.

    \b
    leaderboard team list
    """
    with reading() as session:
        rows = [(one.slug, one.name, ", ".join(members) or "–") for one, members in listings.list_teams(session)]
    print_table(("team", "name", "members"), rows, "no team yet; make one: leaderboard team add")


@team.command()
@click.argument("team")
@click.argument("name")
@click.option("--slug", help="Its part of an address (default: made from the name).")
def rename(team: str, name: str, slug: str | None) -> None:
    """Give a team another name; its old address leads to the new one.

    \b
    leaderboard team rename team-alder 'Alder Group'
    """
    with writing() as session:
        found = find_team(session, team)
        teams.rename_team(session, CONSOLE, found, name, slug)
    click.echo(f"the team is called {found.name} now; its slug is {found.slug}")


@team.command()
@click.argument("team")
@click.argument("into")
@click.option("--unite", multiple=True, help="A system of TEAM that becomes one with INTO's of the same name.")
@click.option("--confirm", "yes", is_flag=True, help="Do it without a question.")
def merge(team: str, into: str, unite: tuple[str, ...], yes: bool) -> None:
    """Make TEAM a part of INTO: systems, runs, people and quotas. It can't be taken back.

    Systems whose names both have are kept apart, unless they are named with --unite.

    \b
    leaderboard team merge alder-group team-alder --unite heron
    """
    with reading() as session:
        source, target = find_team(session, team), find_team(session, into)
        systems = [find_system(session, source.slug, slug).id for slug in unite]
    require_yes(yes, f"Make {source.name} a part of {target.name} for good?")
    with writing() as session:
        merge_teams(session, CONSOLE, find_team(session, team), find_team(session, into), unite=systems)
    click.echo(f"{source.name} is a part of {target.name} now")


@member.command("remove")
@click.argument("team")
@click.argument("user")
def remove_member(team: str, user: str) -> None:
    """Take an account out of a team; its runs and systems stay.

    \b
    leaderboard team member remove team-alder ada
    """
    with writing() as session:
        found_team, found_user = find_team(session, team), people.find_user(session, user)
        teams.remove_member(session, CONSOLE, found_team, found_user)
    click.echo(f"{found_user.name} is no longer in {found_team.name}")
