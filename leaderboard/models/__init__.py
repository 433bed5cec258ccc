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
from leaderboard.models.forms import Acceptance, Agreement, CollectionList
from leaderboard.models.generations import INSTALLATION, Generation
from leaderboard.models.mail import UNSENT, Mail, MailLink
from leaderboard.models.people import (
    ApiToken,
    Attempt,
    BrowserSession,
    Identity,
    Invitation,
    JoinRequest,
    Membership,
    Team,
    TeamName,
    User,
)
from leaderboard.models.scores import IN_QUEUE, OF_THE_PAST, Board, Score, Scoring, ScoringSet, Standing
from leaderboard.models.submissions import (
    Arrival,
    FormerAddress,
    Participation,
    PersonalUse,
    Pseudonym,
    StagedRun,
    Submission,
    System,
)

__all__ = [
    "INSTALLATION",
    "IN_QUEUE",
    "OF_THE_PAST",
    "UNSENT",
    "Acceptance",
    "Agreement",
    "ApiToken",
    "Arrival",
    "Attempt",
    "Board",
    "BrowserSession",
    "Campaign",
    "CampaignOrganiser",
    "CampaignTeam",
    "Chain",
    "CollectionList",
    "Evaluation",
    "Event",
    "FormerAddress",
    "Generation",
    "Identity",
    "Invitation",
    "JoinRequest",
    "Judgment",
    "JudgmentRevision",
    "KnownDocument",
    "Mail",
    "MailLink",
    "Membership",
    "Participation",
    "PersonalUse",
    "Pseudonym",
    "Query",
    "Score",
    "Scoring",
    "ScoringSet",
    "StagedRun",
    "Standing",
    "Submission",
    "SubtopicJudgment",
    "System",
    "Team",
    "TeamName",
    "User",
]
