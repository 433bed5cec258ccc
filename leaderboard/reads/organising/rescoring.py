"""What is scored again since a setting changed: the boards show the figures of before until all of it is."""

import datetime as dt
from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.models import Evaluation, Scoring, ScoringSet
from leaderboard.numbers import counted
from leaderboard.reads.organising.rooms import organised_campaign
from leaderboard.rules.states import SetState

__all__ = ["in_words", "scored_again"]


def scored_again(session: Session, actor: Actor, campaign_slug: str, _: dt.datetime) -> dict[int, int]:
    """Each set that is being built for a board of the campaign -> how many runs it scores. Raises NotFound."""
    campaign = organised_campaign(session, actor, campaign_slug)
    rows = session.execute(
        sa.select(ScoringSet.id, sa.func.count(Scoring.id))
        .join(Evaluation, Evaluation.id == ScoringSet.evaluation_id)
        .join(Scoring, Scoring.scoring_set_id == ScoringSet.id)
        .where(
            Evaluation.campaign_id == campaign.id,
            ScoringSet.state == SetState.BUILDING,
            ScoringSet.source == Evaluation.official_source,
        )
        .group_by(ScoringSet.id)
    )
    return dict(rows.all())


def in_words(before: Mapping[int, int], after: Mapping[int, int]) -> str:
    """`2 runs of 1 evaluation are scored`: those that wait in sets which `before` did not have; "" for none."""
    made = [runs for scoring_set, runs in after.items() if scoring_set not in before]
    if not made:
        return ""
    verb = "is" if sum(made) == 1 else "are"
    return f"{counted(sum(made), 'run')} of {counted(len(made), 'evaluation')} {verb} scored"
