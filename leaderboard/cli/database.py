"""`leaderboard db`: the database's tables."""

import click

from leaderboard import migrate
from leaderboard.cli.opening import connected, shown
from leaderboard.config import Config

__all__ = ["db"]


@click.group()
def db() -> None:
    """Brings the database's tables up to date."""


@db.command()
def upgrade() -> None:
    """Make the tables, or bring them to what this version needs. Does nothing when they are.

    \b
    LEADERBOARD_DATABASE_URL=postgresql://localhost/leaderboard leaderboard db upgrade
    """
    with connected(Config.from_environment()) as database:
        migrate.upgrade(database)
        click.echo(f"{shown(database)} is at revision {migrate.current(database)}")
