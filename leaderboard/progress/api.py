"""A campaign over its periods."""

from typing import Any

from leaderboard.progress.reads import across, progress as reads
from leaderboard.web.context import read
from leaderboard.web.endpoints import get


@get("/campaigns/<campaign>/progress", asks=("condition", "measure"))
def campaign_progress(campaign: str, **asked: Any) -> reads.ProgressPage:
    """A campaign over its periods: every system's mean in each, under one measure and condition."""
    return read(reads.progress, campaign, **asked)


@get("/campaigns/<campaign>/across", asks=("period", "measure"))
def campaign_across(campaign: str, **asked: Any) -> across.AcrossPage:
    """A campaign's systems over all conditions of one period, by one measure: their figures and ranks, the mean and the
    mean rank. period: without it, the newest with two conditions to see.
    """
    return read(across.across, campaign, **asked)
