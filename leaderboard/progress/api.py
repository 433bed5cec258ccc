"""A campaign over its periods."""

from leaderboard.progress import reads
from leaderboard.web.context import read
from leaderboard.web.endpoints import get


@get("/campaigns/<campaign>/progress")
def campaign_progress(campaign: str, *, condition: str | None = None, measure: str | None = None) -> reads.ProgressPage:
    """A campaign over its periods: every system's mean in each, under one measure and condition."""
    return read(reads.progress, campaign, condition=condition, measure=measure)
