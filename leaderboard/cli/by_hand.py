"""`leaderboard team`: what nobody but the console may, and `leaderboard form rules`, which asks several endpoints."""

from pathlib import Path

import click

from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as people
from leaderboard.campaigns import reads as listings
from leaderboard.cli import options
from leaderboard.cli.database import reading, writing
from leaderboard.cli.operations import SERVER, after_asking, client_of, settings_of
from leaderboard.cli.options import flag, option
from leaderboard.cli.output import print_table
from leaderboard.declared.inputs import checked
from leaderboard.evaluations.inputs import FileRuleChanges
from leaderboard.numbers import counted
from leaderboard.teams import writes as teams
from leaderboard.teams.merging import merge_teams
from leaderboard.teams.reads.find import find_system, find_team
from leaderboard.teams.rules import Role


@click.command()
@click.argument("team")
@click.argument("user")
@option("--role", "Owners invite others.", options.OneOf(Role), default="member")
def add_member(team: str, user: str, role: Role) -> None:
    """Put an account into a team, or give a member another role.

    \b
    leaderboard team member add team-alder ada --role owner
    """
    with writing() as session:
        record, account = find_team(session, team), people.find_user(session, user)
        teams.add_member(session, CONSOLE, record, account, role)
    click.echo(f"{account.name} is {'an' if role is Role.OWNER else 'a'} {role} of {record.name}")


@click.command()
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
@option("--slug", "Its part of an address (default: made from the name).")
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
@option("--unite", "A system of TEAM that becomes one with INTO's of the same name.", multiple=True)
@flag("--confirm confirmed", "Do it without a question.")
def merge(team: str, into: str, unite: tuple[str, ...], confirmed: bool) -> None:
    """Make TEAM a part of INTO: systems, runs, people and quotas. It can't be taken back.

    Systems whose names both have are kept apart, unless they are named with --unite.

    \b
    leaderboard team merge alder-group team-alder --unite heron
    """
    with reading() as session:
        source, target = find_team(session, team), find_team(session, into)
        systems = [find_system(session, source.slug, slug).id for slug in unite]
    if not confirmed:
        options.ask(f"Make {source.name} a part of {target.name} for good?")
    with writing() as session:
        merge_teams(session, CONSOLE, find_team(session, team), find_team(session, into), unite=systems)
    click.echo(f"{source.name} is a part of {target.name} now")


@click.command(params=[*settings_of(FileRuleChanges), *SERVER])
@options.PLACE
@option("--documents", "The collection's document ids, one a line, plain or gzipped.", options.FILE)
@flag("--no-documents", "Drop the list of document ids.")
@flag("--confirm", "Don't ask before a doubtful list is taken.")
@click.pass_context
def rules(
    context: click.Context, /, evaluation: str, documents: Path | None, no_documents: bool, confirm: bool, **_: object
) -> None:
    """Change the rules for run files that are given; the others stay. They hold for runs that come from now on.

    Asks before it takes a list that is not as long as the collection, or lacks documents that are judged or that scored
    runs name.

    \b
    leaderboard form rules harbour/2026-text --most 1000 --every-query --document-pattern 'doc-[0-9]{1,6}'
    leaderboard form rules harbour/2026-text --documents ids.txt.gz
    """
    if documents is not None and no_documents:
        raise click.UsageError("give --documents or --no-documents")
    own = options.given_on_line(context)
    changes = {name: value for name, value in own.items() if name in FileRuleChanges.model_fields}
    if not changes and documents is None and not no_documents:
        raise click.UsageError("nothing to change; give at least one option")
    body = checked(FileRuleChanges, changes).model_dump(mode="json", exclude_unset=True)
    client = client_of("form", own.get("server"), own.get("token_file"))
    address = "/organise/campaigns/{}/evaluations/{}/form".format(*evaluation.split("/"))
    count = ""
    if no_documents:
        client.post(f"{address}/documents/remove")
    if documents is not None:
        listed = documents

        def send(confirmed: bool) -> int:
            answer = client.send(f"{address}/documents", listed, confirm=str(confirmed).lower())
            return int(answer["rules"]["documents"])

        count = f"; its collection has {counted(send(True) if confirm else after_asking(send), 'document')}"
    if changes:
        client.post(f"{address}/rules", body)
    click.echo(f"changed the file rules of {evaluation}{count}")
