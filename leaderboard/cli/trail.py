"""`leaderboard trail`: who did what in a campaign."""

import datetime as dt

import click

from leaderboard.access import CONSOLE
from leaderboard.audit.reads import SUBJECTS, TrailFilters
from leaderboard.audit.reads import trail as read_trail
from leaderboard.cli.database import reading
from leaderboard.cli.options import ANY_WHOLE


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
        page = read_trail(session, CONSOLE, campaign, dt.datetime.now(dt.UTC), filters=filters, page=None)
    for row in page.rows:
        when = f"{row.at:%Y-%m-%d %H:%M:%S}  {row.who}: {row.did} {row.thing}" if row.at else "can't be read"
        click.echo(f"{row.number}  {when}")
        changes = (
            f"{change.what}: {change.before or 'nothing'} → {change.after or 'nothing'}" for change in row.changes
        )
        for line in (*changes, *(f"{name}: {value}" for name, value in row.facts)):
            click.echo(f"    {line}")
    if not page.rows:
        click.echo("no event is like that", err=True)
