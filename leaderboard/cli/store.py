"""`leaderboard store`: the folder or bucket of the run files."""

import click
import sqlalchemy as sa

from leaderboard.cli.database import reading
from leaderboard.config import Config
from leaderboard.numbers import counted
from leaderboard.store import RunStore
from leaderboard.store.copying import copy_store
from leaderboard.submissions.models import Submission


@click.group()
def store() -> None:
    """The folder or bucket that keeps the run files."""


@store.command()
@click.argument("target", metavar="URL")
def copy(target: str) -> int:
    """Copy this installation's run store to URL, a folder or s3://bucket/prefix. Copies only what is not there yet.

    \b
    leaderboard store copy s3://leaderboard/runs

    The database knows the copy by its id. Start again after an interruption, and once more after the site and the
    workers have stopped; then set LEADERBOARD_STORE_URL to URL and start them. The old store stays as it is. The exit
    status is 1 where it lacks files of submissions, and 2 where some are damaged: all others are copied then.
    """
    own = RunStore(Config.from_environment().store_url, must_exist=True)
    with reading() as session:
        runs = {*session.scalars(sa.select(Submission.sha256))}
    sizes, missing = copy_store(own, RunStore(target, must_exist=True), runs)
    click.echo(f"copied {counted(len(sizes), 'file')}, {sum(sizes):,} bytes; everything else was there already")
    if missing:
        click.echo("\n".join(["missing in the store, and in the copy:", *missing]), err=True)
    click.echo(f"{'' if missing else 'Every run file is there. '}To use it: LEADERBOARD_STORE_URL={target}")
    return int(bool(missing))
