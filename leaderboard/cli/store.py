"""`leaderboard store`: the folder or bucket of the run files."""

import click

from leaderboard.config import Config
from leaderboard.numbers import counted
from leaderboard.store import RunStore
from leaderboard.store.copying import copy_store


@click.group()
def store() -> None:
    """The folder or bucket that keeps the run files."""


@store.command()
@click.argument("target", metavar="URL")
def copy(target: str) -> None:
    """Copy this installation's run store to URL, a folder or s3://bucket/prefix. Copies only what is not there yet.

    \b
    leaderboard store copy s3://leaderboard/runs

    The database knows the copy by its id. Start again after an interruption, and once more after the site and the
    workers have stopped; then set LEADERBOARD_STORE_URL to URL and start them. The old store stays as it is.
    """
    own = RunStore(Config.from_environment().store_url, must_exist=True)
    sizes = copy_store(own, RunStore(target, must_exist=True))
    click.echo(f"copied {counted(len(sizes), 'file')}, {sum(sizes):,} bytes; everything else was there already")
    click.echo(f"The copy is whole. To use it: LEADERBOARD_STORE_URL={target}")
