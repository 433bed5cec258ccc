"""A campaign over its periods."""

from typing import Any

from leaderboard.progress.reads import across, linked, progress as reads
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


@get("/campaigns/<campaign>/progress/years", asks=("condition", "measure", "first", "last"))
def campaign_years(campaign: str, **asked: Any) -> linked.YearsPage:
    """A change between two periods, split by versions that ran unchanged in several: how much is a better system, how
    much an easier year.

    `first` and `last` are numbers of runs of two periods: the best of the first and of the last period, unless given.
    """
    return read(linked.years, campaign, **asked)
