"""`leaderboard system`: what teams work on over the years."""

import datetime as dt

import click

from leaderboard.access import CONSOLE
from leaderboard.cli.database import reading, writing
from leaderboard.cli.options import OneOf, require_yes
from leaderboard.cli.tables import print_table
from leaderboard.evaluations.reads.find import removal_refusal
from leaderboard.evaluations.writes import delete as removing
from leaderboard.submissions.rules.selection import SystemKind
from leaderboard.teams.reads.find import find_system
from leaderboard.teams.reads.organised import organised_systems
from leaderboard.teams.writes import systems
from leaderboard.teams.writes.systems import NewSystem


@click.group()
def system() -> None:
    """Systems: mark baselines and manual ones, describe them."""


@system.command("list")
@click.argument("campaign")
def list_systems(campaign: str) -> None:
    """List the systems that have runs in a campaign.

    \b
    leaderboard system list harbour
    """
    with reading() as session:
        found = organised_systems(session, CONSOLE, campaign, dt.datetime.now(dt.UTC))
    rows = [(f"{one.team_slug}/{one.slug}", one.name, one.team, one.kind.value, one.runs) for one in found]
    print_table(("system", "name", "team", "kind", "runs"), rows, "no system has a run there yet")


@system.command()
@click.argument("system", metavar="TEAM/SYSTEM")
@click.option("--kind", type=OneOf(SystemKind), help="A baseline is shown on boards and never ranked.")
@click.option("--description", help="What it is.")
@click.option("--code", "code_url", help="The address of its code.")
@click.option("--paper", "paper_url", help="The address of its paper.")
@click.option("--confirm", "yes", is_flag=True, help="Don't ask before ranks on boards change.")
def change(
    system: str,
    kind: SystemKind | None,
    description: str | None,
    code_url: str | None,
    paper_url: str | None,
    yes: bool,
) -> None:
    """Change what is given; the rest stays. Asks first where ranks on boards depend on it.

    \b
    leaderboard system change team-alder/bm25 --kind baseline --paper https://example.org/bm25
    """
    team, slug = _parts(system)
    with writing() as session:
        own = find_system(session, team, slug)
        new = NewSystem(
            own.name,
            own.kind if kind is None else kind,
            own.description if description is None else description,
            own.code_url if code_url is None else code_url,
            own.paper_url if paper_url is None else paper_url,
        )
        systems.change_system(session, CONSOLE, own, new)
        told = f"changed {own.name} of {own.team.name}"
    click.echo(told)


@system.command()
@click.argument("system", metavar="TEAM/SYSTEM")
@click.option("--confirm", "yes", is_flag=True, help="Don't ask first.")
def remove(system: str, yes: bool) -> None:
    """Remove a system that no run was ever sent for, such as one that a mistaken import made; asks first.

    \b
    leaderboard system remove team-alder/bm52
    """
    team, slug = _parts(system)
    with reading() as session:
        found = find_system(session, team, slug)
        name, refused = f"{found.name} of {found.team.name}", removal_refusal(session, found)
    if refused is None:  # else it is refused, whatever the answer
        require_yes(yes, f"Remove {name} for good?")
    with writing() as session:
        removing.remove_system(session, CONSOLE, find_system(session, team, slug))
    click.echo(f"removed {name}")


def _parts(system: str) -> tuple[str, str]:
    team, found, slug = system.partition("/")
    if not found:
        raise click.UsageError("give the system as TEAM/SYSTEM")
    return team, slug
