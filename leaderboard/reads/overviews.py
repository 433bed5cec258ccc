"""The front page and a campaign's page: their campaigns together with the progress of one, whose runs both go by."""

import datetime as dt
from dataclasses import dataclass

from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.lookup import find_campaign
from leaderboard.reads.campaigns import (
    CampaignPage,
    CampaignSummary,
    campaign_page,
    campaign_summaries,
    evaluations_of,
    known_to,
    primary_candidates,
)
from leaderboard.reads.progress import ProgressPage, progress_of

__all__ = ["CampaignOverview", "FrontPage", "campaign_overview", "front"]


@dataclass(frozen=True, slots=True)
class FrontPage:
    """campaigns: as `reads.campaigns.campaigns` lists them; longest: of those that are not archived the one with the
    most periods, the first of several; years: its progress. Both None where there is none."""

    campaigns: tuple[CampaignSummary, ...]
    longest: CampaignSummary | None
    years: ProgressPage | None


@dataclass(frozen=True, slots=True)
class CampaignOverview:
    """A campaign with its evaluations, and its progress under its primary measure."""

    page: CampaignPage
    years: ProgressPage


def front(session: Session, actor: Actor, now: dt.datetime) -> FrontPage:
    """Everything that the front page shows."""
    known = known_to(session, actor)
    candidates = primary_candidates(session, actor, [one for own in known.values() for one in own], now)
    found = campaign_summaries(session, actor, known, candidates, now)
    current = [one for one in found if not one.campaign.archived]
    longest = max(current, key=lambda one: len(one.periods), default=None)
    if longest is None:
        return FrontPage(found, None, None)
    campaign = next(one for one in known if one.slug == longest.campaign.slug)
    years = progress_of(session, actor, campaign, known[campaign], now, candidates=candidates)
    return FrontPage(found, longest, years)


def campaign_overview(session: Session, actor: Actor, slug: str, now: dt.datetime) -> CampaignOverview:
    """Everything that a campaign's page shows. Raises NotFound."""
    found = find_campaign(session, actor, slug)
    evaluations = evaluations_of(session, actor, found.id)
    candidates = primary_candidates(session, actor, evaluations, now)
    return CampaignOverview(
        campaign_page(session, actor, found, evaluations, candidates, now),
        progress_of(session, actor, found, evaluations, now, candidates=candidates),
    )
