"""`leaderboard worker`: scores what is submitted."""

import click

from leaderboard.cli.database import up_to_date
from leaderboard.cli.options import UNTIL_STDIN_CLOSES, flag
from leaderboard.config import Config
from leaderboard.operating import logs
from leaderboard.worker.loop import run


@click.command()
@flag("--once", "End when no run waits any more.")
@UNTIL_STDIN_CLOSES
def worker(once: bool) -> None:
    """Score submitted runs until SIGTERM or Ctrl-C; a run being scored then goes back into the queue.

    Start as many workers as you like.

    \b
    LEADERBOARD_DATABASE_URL=postgresql://localhost/leaderboard leaderboard worker
    """
    config = Config.from_environment()
    logs.set_up(config)
    with up_to_date(config):
        pass  # each of its processes opens the database for itself
    run(config, once=once)
