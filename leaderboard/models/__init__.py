"""All tables, one family a module."""

from leaderboard.models.campaigns import Campaign, CampaignOrganiser, CampaignTeam
from leaderboard.models.evaluations import (
    Evaluation,
    Judgment,
    JudgmentRevision,
    KnownDocument,
    Query,
    SubtopicJudgment,
)
from leaderboard.models.events import Chain, Event
from leaderboard.models.people import ApiToken, Attempt, BrowserSession, Invitation, Membership, Team, User
from leaderboard.models.scores import IN_QUEUE, Board, Score, Scoring, ScoringSet
from leaderboard.models.submissions import (
    Arrival,
    FormerAddress,
    Participation,
    PersonalUse,
    Submission,
    System,
)

__all__ = [
    "IN_QUEUE",
    "ApiToken",
    "Arrival",
    "Attempt",
    "Board",
    "BrowserSession",
    "Campaign",
    "CampaignOrganiser",
    "CampaignTeam",
    "Chain",
    "Evaluation",
    "Event",
    "FormerAddress",
    "Invitation",
    "Judgment",
    "JudgmentRevision",
    "KnownDocument",
    "Membership",
    "Participation",
    "PersonalUse",
    "Query",
    "Score",
    "Scoring",
    "ScoringSet",
    "Submission",
    "SubtopicJudgment",
    "System",
    "Team",
    "User",
]
