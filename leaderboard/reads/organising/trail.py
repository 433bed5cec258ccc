"""The audit trail of a campaign, in words: who did what to what, when, and what it changed."""

import datetime as dt
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.db import Base
from leaderboard.errors import Gathered, InvalidFields
from leaderboard.lookup import stored_events
from leaderboard.models import (
    Campaign,
    Evaluation,
    Event,
    Submission,
    System,
    Team,
    User,
)
from leaderboard.numbers import read_whole
from leaderboard.reads.organising.rooms import organised_campaign
from leaderboard.reads.organising.trail_names import names_of
from leaderboard.reads.organising.trail_words import SUBJECTS, TrailRow, told
from leaderboard.reads.paging import Paging, paging_of

__all__ = ["ROWS", "WORKER", "TrailFilters", "TrailPage", "trail"]

ROWS = 50  # on a page
WORKER = "worker"  # as a filter: what nobody with an account did
# Of a team the trail of a campaign tells what its boards show; who is in it is the team's own matter.
OF_TEAM = ("create", "change", "rename", "merge", "merge into")


@dataclass(frozen=True, slots=True)
class TrailFilters:
    """Which events are asked for; what is empty asks for all.

    subject  a key of SUBJECTS, and number the id of one of them
    person   the id of an account, or WORKER
    since, until  days in UTC, both included
    """

    subject: str = ""
    number: str = ""
    person: str = ""
    since: str = ""
    until: str = ""

    @property
    def given(self) -> bool:
        """Whether any is."""
        return any((self.subject, self.number, self.person, self.since, self.until))


@dataclass(frozen=True, slots=True)
class TrailPage:
    """rows: of one page, the newest first; people: who did something here, as (id, name)."""

    filters: TrailFilters
    rows: tuple[TrailRow, ...]
    paging: Paging
    people: tuple[tuple[int, str], ...]


def trail(
    session: Session,
    actor: Actor,
    campaign_slug: str,
    now: dt.datetime,  # noqa: ARG001  # every read of a page takes it
    *,
    filters: TrailFilters,
    page: int | None,
) -> TrailPage:
    """Raises NotFound, and InvalidFields by the filters that are none."""
    campaign = organised_campaign(session, actor, campaign_slug)
    within = _of_campaign(campaign)
    asked = [within, *_conditions(filters)]
    count = session.scalar(sa.select(sa.func.count(Event.id)).where(*asked)) or 0
    paging = paging_of(count, page, ROWS)
    numbers = sa.select(Event.id).where(*asked).order_by(Event.id.desc())
    if page is not None:
        numbers = numbers.limit(ROWS).offset(paging.before(ROWS))
    chosen = session.scalars(numbers).all()
    events = (
        list(stored_events(session, Event.id.in_(chosen), newest_first=True))
        if page is not None
        else list(stored_events(session, *asked, newest_first=True))
    )
    people = session.execute(
        sa.select(User.id, User.name)
        .where(User.id.in_(sa.select(Event.actor_id).where(within).distinct()))
        .order_by(User.name)
    )
    by_id = {row.id: row.name for row in people}
    names = names_of(session, [one.event for one in events if one.event is not None])
    rows = tuple(
        told(one.event, by_id, names)
        if one.event is not None
        else TrailRow(one.id, None, "", "", "", "", 0, (), (("problem", one.problem),), readable=False)
        for one in events
    )
    return TrailPage(filters, rows, paging, tuple(by_id.items()))


def _of_campaign(campaign: Campaign) -> sa.ColumnElement[bool]:
    """Condition on Event: about the campaign, or something that is part of it."""
    evaluations = sa.select(Evaluation.id).where(Evaluation.campaign_id == campaign.id)
    runs = Submission.evaluation_id.in_(evaluations)
    teams = sa.select(Submission.team_id).where(runs)
    merged = sa.select(Team.id).where(Team.merged_into_id.in_(teams))
    systems = sa.select(Submission.system_id).where(runs)
    united = sa.select(System.id).where(System.merged_into_id.in_(systems))
    about = [
        sa.and_(Event.subject == "campaign", Event.subject_id == campaign.id),
        sa.and_(Event.subject == "evaluation", Event.subject_id.in_(evaluations)),
        sa.and_(Event.subject == "system", sa.or_(Event.subject_id.in_(systems), Event.subject_id.in_(united))),
        sa.and_(
            Event.subject == "team",
            Event.action.in_(OF_TEAM),
            sa.or_(Event.subject_id.in_(teams), Event.subject_id.in_(merged)),
        ),
    ]
    for name, table in Base.metadata.tables.items():
        if "evaluation_id" in table.c and "id" in table.c:
            own = sa.select(table.c.id).where(table.c.evaluation_id.in_(evaluations))
            about.append(sa.and_(Event.subject == name, Event.subject_id.in_(own)))
    return sa.or_(*about)


def _conditions(filters: TrailFilters) -> list[sa.ColumnElement[bool]]:
    conditions: list[sa.ColumnElement[bool]] = []
    wrong = Gathered()
    if filters.subject:
        with wrong:
            if filters.subject not in SUBJECTS:
                raise InvalidFields({"subject": [f"this page filters by one of {', '.join(SUBJECTS)}"]})
            conditions.append(Event.subject == filters.subject)
    if filters.number:
        with wrong:
            conditions.append(Event.subject_id == _number("number", filters.number))
    if filters.person == WORKER:
        conditions.append(Event.actor_id.is_(None))
    elif filters.person:
        with wrong:
            conditions.append(Event.actor_id == _number("person", filters.person))
    if filters.since:
        with wrong:
            conditions.append(Event.at >= _day("since", filters.since))
    if filters.until:
        with wrong:
            conditions.append(Event.at < _day("until", filters.until) + dt.timedelta(days=1))
    wrong.raise_any()
    return conditions


def _number(name: str, text: str) -> int:
    try:
        number = read_whole(text)
    except ValueError:
        number = -1
    if not 0 <= number < 2**31:
        raise InvalidFields({name: [f"give a whole number from 0 to {2**31 - 1:,}"]})
    return number


def _day(name: str, text: str) -> dt.datetime:
    try:
        day = dt.date.fromisoformat(text)
    except ValueError:
        raise InvalidFields({name: ["give a day such as 2026-11-20"]}) from None
    if not 1900 <= day.year <= 9000:
        raise InvalidFields({name: ["give a day from 1900 to 9000"]})
    return dt.datetime.combine(day, dt.time(), dt.UTC)
