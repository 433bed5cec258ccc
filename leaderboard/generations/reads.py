"""What a kept page stands for: the generation of what it shows, who looks, and when the clock will change it."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.accounts.models import BrowserSession
from leaderboard.accounts.reads import OpenSession, session_in, sessions_open
from leaderboard.campaigns.models import Campaign
from leaderboard.db import UtcDateTime
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import closed_from
from leaderboard.frozen import frozen
from leaderboard.generations.models import INSTALLATION, Generation

# Columns of an evaluation that hold a moment at which its pages change by themselves; the end of the grace is another.
MOMENTS = tuple(
    column.name
    for column in Evaluation.__table__.columns
    if isinstance(column.type, UtcDateTime) and column.name != "created_at"
)

# Built once: building these statements would take longer than running them.
CAMPAIGN = sa.select(Campaign.id).where(Campaign.slug == sa.bindparam("campaign")).scalar_subquery()
ALL = sa.select(sa.func.coalesce(sa.func.sum(Generation.number), 0))
OF_ONE = ALL.where(sa.or_(Generation.campaign_id.in_([INSTALLATION, CAMPAIGN]), CAMPAIGN.is_(None)))
# By whether the address names a campaign: which one it is now, and the number.
NUMBERS = {False: (sa.null(), ALL.scalar_subquery()), True: (CAMPAIGN, OF_ONE.scalar_subquery())}
OF_VISITORS = {named: sa.select(*numbers) for named, numbers in NUMBERS.items()}
OPEN_SESSION = (
    sessions_open(sa.bindparam("now", type_=UtcDateTime()))
    .where(BrowserSession.token_hash == sa.bindparam("token_hash"))
    .subquery()
)
ALWAYS_A_ROW = sa.select(sa.literal(1)).subquery()
OF_READERS = {
    named: sa.select(*numbers, *OPEN_SESSION.c).select_from(ALWAYS_A_ROW.outerjoin(OPEN_SESSION, sa.true()))
    for named, numbers in NUMBERS.items()
}


@frozen
class Visit:
    """What one request is answered for.

    campaign_id  of the campaign that the address names; None where it names none, or there is none of that name
    generation   of the campaign and the installation together; of all campaigns for an address that names none. It
                 only rises for one id: a campaign that takes the name of another counts from the start
    reader       the session that the request belongs to; None for a visitor, and when it is over
    """

    campaign_id: int | None
    generation: int
    reader: OpenSession | None


def visit(session: Session | sa.Connection, campaign: str | None, reader: str | None, now: datetime) -> Visit:
    """In one statement. campaign: the slug in the address; reader: the hash of their session's token, None for a
    visitor."""
    values: dict[str, Any] = {} if campaign is None else {"campaign": campaign}
    if reader is None:
        campaign_id, number = session.execute(OF_VISITORS[campaign is not None], values).one()
        return Visit(campaign_id, int(number), None)
    asked = {**values, "now": now, "token_hash": reader}
    campaign_id, number, *reader_row = session.execute(OF_READERS[campaign is not None], asked).one()
    return Visit(campaign_id, int(number), None if reader_row[0] is None else session_in(reader_row))


def next_moment(session: Session, campaign: str | None, now: datetime) -> datetime | None:
    """When the clock next opens, closes or reveals something of the campaign, or of any; None when nothing is due."""
    statement = sa.select(Evaluation)
    if campaign is not None:
        statement = statement.join(Evaluation.campaign).where(Campaign.slug == campaign)
    moments = [
        moment
        for evaluation in session.scalars(statement)
        for moment in (*(getattr(evaluation, name) for name in MOMENTS), closed_from(evaluation))
        if moment is not None and moment > now
    ]
    return min(moments, default=None)
