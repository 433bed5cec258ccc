"""All tables, one family a module."""

from leaderboard.models.campaigns import Campaign, CampaignOrganiser, NoRelevant, RunChoice
from leaderboard.models.evaluations import (
    Evaluation,
    Judging,
    Judgment,
    JudgmentRevision,
    KnownDocument,
    Opening,
    Query,
    Split,
    SubtopicJudgment,
)
from leaderboard.models.events import Event
from leaderboard.models.people import ApiToken, Invitation, LoginFailure, Membership, Role, Team, User
from leaderboard.models.quotas import REJECTED_A_DAY, Quota, quota_of
from leaderboard.models.run_choice import ArrivedRun, arrival, chosen_run
from leaderboard.models.scores import Board, Score, Scoring, ScoringSet, SetState, State, Subset
from leaderboard.models.submissions import Participation, Standing, Submission, System, SystemKind

__all__ = [
    "REJECTED_A_DAY",
    "ApiToken",
    "ArrivedRun",
    "Board",
    "Campaign",
    "CampaignOrganiser",
    "Evaluation",
    "Event",
    "Invitation",
    "Judging",
    "Judgment",
    "JudgmentRevision",
    "KnownDocument",
    "LoginFailure",
    "Membership",
    "NoRelevant",
    "Opening",
    "Participation",
    "Query",
    "Quota",
    "Role",
    "RunChoice",
    "Score",
    "Scoring",
    "ScoringSet",
    "SetState",
    "Split",
    "Standing",
    "State",
    "Submission",
    "Subset",
    "SubtopicJudgment",
    "System",
    "SystemKind",
    "Team",
    "User",
    "arrival",
    "chosen_run",
    "quota_of",
]
