"""Commands whose effects nobody may want unawares: made, and undone again until somebody confirms."""

from collections.abc import Callable
from typing import TypeVar

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.audit.writes import present
from leaderboard.campaigns.models import Campaign
from leaderboard.cli.database import reading, writing
from leaderboard.cli.options import require_yes
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.readiness import effects

Changed = TypeVar("Changed")

AGREED = click.option("--confirm", "yes", is_flag=True, help="Don't ask first.")


def changed_after_yes(
    yes: bool, campaign: str | sa.ColumnElement[bool], change: Callable[[Session], Changed]
) -> Changed:
    """Makes a change in one transaction, and asks first where it has effects.

    campaign  its slug, or the condition of the evaluations that the change may be about
    """
    if isinstance(campaign, str):
        campaign = Evaluation.campaign_id == sa.select(Campaign.id).where(Campaign.slug == campaign).scalar_subquery()
    with writing() as session:
        changed = change(session)
        with reading() as committed:
            found = () if yes else effects(session, committed, CONSOLE, campaign, present())
        if not found:
            return changed
        session.rollback()
    click.echo("\n".join(found), err=True)
    require_yes(yes, "Go on?")
    with writing() as session:
        return change(session)
