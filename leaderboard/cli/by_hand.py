"""`leaderboard team`: what no endpoint does, because nobody but the console may, or it lists and answers in one.

`leaderboard form rules`: what is asked of a run's file, with the list of documents, which is a file.
"""

from pathlib import Path
from typing import Any

import click

from leaderboard.access import CONSOLE
from leaderboard.accounts import reads as accounts
from leaderboard.accounts import writes as people
from leaderboard.audit.writes import present
from leaderboard.campaigns import reads as listings
from leaderboard.cli.database import reading, writing
from leaderboard.cli.operations import option_of
from leaderboard.cli.options import FILE, PLACE, OneOf, Place, Whole, given_on_line, require_yes
from leaderboard.cli.output import print_table
from leaderboard.config import Config
from leaderboard.declared.commands import Command
from leaderboard.declared.inputs import checked
from leaderboard.errors import NotFound
from leaderboard.evaluations import writes as submission_forms
from leaderboard.evaluations.inputs import FileRuleChanges
from leaderboard.evaluations.reads.find import find_evaluation
from leaderboard.formats import document_list
from leaderboard.judgments.reads.files import listed_documents
from leaderboard.numbers import counted
from leaderboard.store import RunStore
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


@click.command()
@PLACE
@click.option("--documents", type=FILE, help="The collection's document ids, one a line, plain or gzipped.")
@click.option("--no-documents", is_flag=True, help="Drop the list of document ids.")
@click.option("--confirm", "yes", is_flag=True, help="Don't ask before a doubtful list is taken.")
@click.pass_context
def rules(
    context: click.Context, /, evaluation: Place, documents: Path | None, no_documents: bool, yes: bool, **_: Any
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
    values = given_on_line(context)
    if not values.keys() - {"yes"}:
        raise click.UsageError("nothing to change; give at least one option")
    of_rules = {name: value for name, value in values.items() if name in FileRuleChanges.model_fields}
    changes = checked(FileRuleChanges, of_rules).given()
    listed = document_list(documents) if documents is not None else None
    if listed is not None:
        with reading() as session:
            store, record = (
                RunStore(Config.from_environment().store_url),
                find_evaluation(session, CONSOLE, *evaluation),
            )
            doubts = listed_documents(session, store, record, listed).doubts
        if doubts:
            click.echo("\n".join(doubts), err=True)
            require_yes(yes, "Runs that name other documents are rejected from now on. Take this list?")
    with writing() as session:
        record = find_evaluation(session, CONSOLE, *evaluation)
        submission_forms.set_rules(session, CONSOLE, record, **changes)
        if listed is not None or no_documents:
            submission_forms.set_documents(session, CONSOLE, record, listed)
    count = f"; its collection has {counted(listed.count, 'document')}" if listed is not None else ""
    click.echo(f"changed the file rules of {evaluation}{count}")


RULES = Command("form rules CAMPAIGN/EVALUATION", "")
rules.params[1:1] = [option_of(name, field, RULES) for name, field in FileRuleChanges.model_fields.items()]
