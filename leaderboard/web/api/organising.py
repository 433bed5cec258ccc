"""What organisers do, one module a subject, as `web/organise` has a page for each.

Every endpoint needs a token that may organise; whoever does not organise the campaign finds nothing here.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

from msgspec import UNSET
from sqlalchemy.orm import Session

from leaderboard.campaigns.models import Campaign
from leaderboard.campaigns.reads.organised import organised_campaign, organised_evaluation
from leaderboard.evaluations.models import Evaluation
from leaderboard.web.confirm import require_confirmed
from leaderboard.web.context import actor, writing

CAMPAIGN = "/organise/campaigns/<campaign>"
EVALUATION = f"{CAMPAIGN}/evaluations/<evaluation>"


def campaign_here(session: Session, campaign: str) -> Campaign:
    """The campaign, for whoever asks. Raises NotFound for those who do not organise it."""
    return organised_campaign(session, actor(), campaign)


def evaluation_here(session: Session, campaign: str, evaluation: str) -> Evaluation:
    """The evaluation, for whoever asks. Raises NotFound for those who do not organise its campaign."""
    return organised_evaluation(session, actor(), campaign, evaluation)


@contextmanager
def changing(campaign: str, *, confirm: bool) -> Iterator[Session]:
    """A transaction in which a campaign is changed, undone where it does what nobody confirmed."""
    with writing() as session:
        yield session
        require_confirmed(session, campaign, confirm)


def given(changes: Any) -> dict[str, Any]:
    """What a body of changes says, but for whether it is confirmed: what was left out of it is left out."""
    values = {field.name: getattr(changes, field.name) for field in fields(changes) if field.name != "confirm"}
    return {name: value for name, value in values.items() if value is not UNSET}
