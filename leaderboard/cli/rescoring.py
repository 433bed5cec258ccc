"""The yes of commands that have runs scored again."""

from collections.abc import Callable
from typing import TypeVar

import click
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.cli.database import writing
from leaderboard.cli.options import require_yes
from leaderboard.reads.organising.rescoring import in_words, scored_again
from leaderboard.services.events import present

__all__ = ["AGREED", "changed_after_yes"]

Changed = TypeVar("Changed")

AGREED = click.option("--yes", is_flag=True, help="Don't ask before runs are scored again.")


def changed_after_yes(yes: bool, campaign: str, change: Callable[[Session], Changed]) -> Changed:
    """Makes a change in one transaction, and asks first where it has runs of the campaign scored again.

    To know that, the change is made and undone: nothing is held while somebody reads the question.
    """
    agreed = ""
    while True:
        with writing() as session:
            before = scored_again(session, CONSOLE, campaign, present())
            changed = change(session)
            session.flush()
            words = in_words(before, scored_again(session, CONSOLE, campaign, present()))
            if yes or words == agreed:
                return changed
            session.rollback()
        click.echo(f"With this, {words} again. Boards show the figures of before until then.", err=True)
        require_yes(yes, "Go on?")
        agreed = words
