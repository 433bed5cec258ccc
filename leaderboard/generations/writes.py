"""Generations: numbers that rise with every change that a page can show, so that an unchanged page is known as such.

Events raise them as they are written, so that whatever is on the audit trail is seen, and so does any other row that is
changed, such as a refreshed board's. Claims, leases and sessions raise none.
"""

from collections.abc import Iterable

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.accounts.models import ApiToken, Attempt, BrowserSession, Identity, User
from leaderboard.audit.audited_tables import TABLES
from leaderboard.audit.models import Chain, Event
from leaderboard.boards.models import Board, Standing
from leaderboard.campaigns.models import Campaign
from leaderboard.db import Base
from leaderboard.evaluations.models import Evaluation
from leaderboard.generations.models import INSTALLATION, Generation
from leaderboard.mail.models import Mail, MailLink
from leaderboard.results.models import TeamFinds
from leaderboard.submissions.models import Arrival, PersonalUse
from leaderboard.worker.models import Score, Scoring, ScoringSet

# Tables that no kept page shows, and those whose new rows belong to something that has an event.
NOWHERE = (
    ApiToken, Arrival, Attempt, BrowserSession, Chain, Event, Generation, Identity, Mail, MailLink, PersonalUse,
)  # fmt: skip
WITH_AN_EVENT = (Score, Scoring, Standing, User)
LEFT_OUT = {audited.table: audited.left_out.keys() for audited in TABLES}  # columns that no page shows either

# What is done to an account and shows on no page that is kept: it belongs to no team yet, or its sessions end with it.
UNSEEN = (
    "register", "create", "set password", "end session", "end sessions", "give address", "confirm address",
    "set address", "remove address", "choose mail", "link identity", "unlink identity", "make token", "revoke token",
)  # fmt: skip

CAMPAIGNS = "the campaigns of evaluations"  # in what a session keeps
RAISE = "INSERT INTO {0} ({1}, number) VALUES (:of, :by) ON CONFLICT ({1}) DO UPDATE SET number = {0}.number + :by"
OF_PAGES = sa.text(RAISE.format("generation", "campaign_id"))
OF_BOARDS = sa.text(RAISE.format("board_generation", "evaluation_id"))


def campaign_of(session: Session, subject: Base, action: str = "") -> int | None:
    """Of which campaign the pages show what is done to this row: its id, INSTALLATION for all, None for no page."""
    if isinstance(subject, Campaign):
        return subject.id
    if isinstance(subject, User) and action in UNSEEN:
        return None
    campaign: int | None = getattr(subject, "campaign_id", None)
    evaluation: int | None = getattr(subject, "evaluation_id", None)
    if isinstance(subject, (Board, Scoring, TeamFinds)):
        evaluation = session.get_one(ScoringSet, subject.scoring_set_id).evaluation_id
    if campaign is None and evaluation is not None:
        campaign = _campaign_of_evaluation(session, evaluation)
    return INSTALLATION if campaign is None else campaign


def _campaign_of_evaluation(session: Session, evaluation_id: int) -> int | None:
    """Asked once in a session, which forgets rows that nobody holds; None where the evaluation is gone."""
    known: dict[int, int] = session.info.setdefault(CAMPAIGNS, {})
    if evaluation_id not in known and (evaluation := session.get(Evaluation, evaluation_id)) is not None:
        known[evaluation_id] = evaluation.campaign_id
    return known.get(evaluation_id)


def is_shown(row: Base) -> bool:
    """Whether a row that a session has just flushed is changed in what a page can show."""
    if isinstance(row, NOWHERE):
        return False
    state: sa.orm.InstanceState[Base] = sa.inspect(row)
    if not state.persistent:
        return not isinstance(row, WITH_AN_EVENT)
    columns = set(state.mapper.column_attrs.keys()) - set(LEFT_OUT.get(type(row), ()))
    return any(state.attrs[name].history.has_changes() for name in columns)


def raise_generations(session: Session, of: Iterable[int], numbers: sa.TextClause = OF_PAGES, by: int = 1) -> None:
    """Raises the numbers of these campaigns, or OF_BOARDS of these evaluations, in one order, so that two transactions
    can't wait for each other."""
    for each in sorted(set(of)):
        session.execute(numbers, {"of": each, "by": by})
