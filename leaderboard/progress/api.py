"""A campaign over its periods."""

from typing import Any

from leaderboard.progress.reads import progress as reads
from leaderboard.web.context import read
from leaderboard.web.endpoints import get


@get("/campaigns/<campaign>/progress", asks=("condition", "measure"))
def campaign_progress(campaign: str, **asked: Any) -> reads.ProgressPage:
    """A campaign over its periods: every system's mean in each, under one measure and condition."""
    return read(reads.progress, campaign, **asked)
