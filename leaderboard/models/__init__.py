"""All tables, one family a module."""

from leaderboard.models.campaigns import Campaign, CampaignOrganiser
from leaderboard.models.evaluations import (
    Evaluation,
    Judgment,
    JudgmentRevision,
    KnownDocument,
    Query,
    Split,
    SubtopicJudgment,
)
from leaderboard.models.events import Event
from leaderboard.models.people import ApiToken, Invitation, LoginFailure, Membership, Role, Team, User
from leaderboard.models.scores import Board, Score, Scoring, ScoringSet
from leaderboard.models.submissions import Designation, Participation, Submission, System, SystemKind

__all__ = [
    "ApiToken",
    "Board",
    "Campaign",
    "CampaignOrganiser",
    "Designation",
    "Evaluation",
    "Event",
    "Invitation",
    "Judgment",
    "JudgmentRevision",
    "KnownDocument",
    "LoginFailure",
    "Membership",
    "Participation",
    "Query",
    "Role",
    "Score",
    "Scoring",
    "ScoringSet",
    "Split",
    "Submission",
    "SubtopicJudgment",
    "System",
    "SystemKind",
    "Team",
    "User",
]
