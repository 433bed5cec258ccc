"""The yes of commands whose effects nobody may want unawares: runs scored again, what opens, another order."""

from collections.abc import Callable
from typing import TypeVar

import click
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.cli.database import writing
from leaderboard.cli.options import require_yes
from leaderboard.reads.organising.effects import effects, noted
from leaderboard.services.events import present

__all__ = ["AGREED", "changed_after_yes"]

Changed = TypeVar("Changed")

AGREED = click.option(
    "--yes",
    is_flag=True,
    help="Don't ask before runs are scored again, something opens or closes at once, teams are shut out, or answers "
    "are shown to more readers.",
)


def changed_after_yes(yes: bool, campaign: str, change: Callable[[Session], Changed]) -> Changed:
    """Makes a change in one transaction, and asks first where it has effects (`reads.organising.effects`).

    To know that, the change is made and undone: nothing is held while somebody reads the question.
    """
    agreed: tuple[str, ...] = ()
    while True:
        with writing() as session:
            before = noted(session, CONSOLE, campaign, present())
            changed = change(session)
            found = effects(session, CONSOLE, campaign, before, present())
            if yes or found == agreed:
                return changed
            session.rollback()
        click.echo("\n".join(found), err=True)
        require_yes(yes, "Go on?")
        agreed = found
