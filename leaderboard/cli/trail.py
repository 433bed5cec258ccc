"""`leaderboard trail`: who did what in a campaign."""

import datetime as dt

import click

from leaderboard.access import CONSOLE
from leaderboard.cli.database import reading
from leaderboard.cli.options import ANY_WHOLE
from leaderboard.reads.organising.trail import TrailFilters
from leaderboard.reads.organising.trail import trail as read_trail
from leaderboard.reads.organising.trail_words import SUBJECTS, TrailRow

__all__ = ["trail"]


@click.command()
@click.argument("campaign")
@click.option("--subject", type=click.Choice(list(SUBJECTS)), help="Only what was done to such things.")
@click.option("--number", type=ANY_WHOLE, help="Only what was done to the thing with this number.")
@click.option("--since", default="", help="From this day on, in UTC.")
@click.option("--until", default="", help="Up to this day.")
def trail(campaign: str, subject: str | None, number: int | None, since: str, until: str) -> None:
    """Print a campaign's audit trail, the newest event first.

    \b
    leaderboard trail harbour --subject submission --number 17
    """
    filters = TrailFilters(subject or "", "" if number is None else str(number), "", since, until)
    with reading() as session:
        found = read_trail(session, CONSOLE, campaign, dt.datetime.now(dt.UTC), filters=filters, page=None)
    for row in found.rows:
        click.echo(_line(row))
        for change in row.changes:
            told = (
                f": {change.before or 'nothing'} → {change.after or 'nothing'}" if change.before or change.after else ""
            )
            click.echo(f"    {change.what}{told}")
        for name, value in row.facts:
            click.echo(f"    {name}: {value}")
    if not found.rows:
        click.echo("no event is like that", err=True)


def _line(row: TrailRow) -> str:
    if row.at is None:
        return f"{row.number}  can't be read; see leaderboard verify"
    return f"{row.number}  {row.at:%Y-%m-%d %H:%M:%S}  {row.who} {row.did} {row.thing}"
