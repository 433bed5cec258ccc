"""Quotas: a file that arrives holds a place, a run takes it, and gets it back when it is rejected or failed.

All is counted on locked rows, the team's before the person's, so that no two submissions wait for each other.
"""

import datetime as dt
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.errors import QuotaSpent
from leaderboard.evaluations.models import Evaluation
from leaderboard.locking import insert_unless_there, locked
from leaderboard.submissions.models import Arrival, Participation, PersonalUse, Submission
from leaderboard.submissions.reads.quotas import personal_quota, team_quotas
from leaderboard.submissions.rules.quotas import Quota, day_of, retry_seconds, start_of
from leaderboard.teams.models import Team


def check(session: Session, evaluation: Evaluation, team_id: int, user_id: int | None, now: dt.datetime) -> None:
    """Raises QuotaSpent, with when it resets, where the team or the person has nothing left. Counts nothing."""
    _require_some_left(_quotas(session, evaluation, team_id, user_id, now), now)


def hold(
    session: Session, evaluation: Evaluation, team_id: int, user_id: int, now: dt.datetime, expires_at: dt.datetime
) -> int:
    """A place, by its id, for a file that is about to be read; `take`, `count_unused_file` or `give_up` ends it.

    Raises QuotaSpent, with when it resets, where the team or the person has no place left.

    expires_at  when the file must have come, or never will
    """
    locked(session, Team, team_id)  # a team has no row of its counts before its first submission
    _locked_person(session, evaluation.id, user_id, now)
    own = Arrival.evaluation_id == evaluation.id, Arrival.user_id == user_id
    session.execute(sa.delete(Arrival).where(*own, Arrival.expires_at <= now))
    _require_some_left(_quotas(session, evaluation, team_id, user_id, now), now)
    arrival = Arrival(user_id=user_id, team_id=team_id, evaluation_id=evaluation.id, expires_at=expires_at)
    session.add(arrival)
    session.flush()
    return arrival.id


def give_up(session: Session, place: int | None) -> None:
    """Ends it that a file holds a place, where it still does."""
    if place is not None:
        session.execute(sa.delete(Arrival).where(Arrival.id == place))


def take(
    session: Session,
    evaluation: Evaluation,
    team_id: int,
    user_id: int | None,
    now: dt.datetime,
    place: int | None = None,
    unused_at: dt.datetime | None = None,
) -> None:
    """Counts one submission; raises QuotaSpent, with when it resets, where the team or the person has none left.

    user_id  who submits; None for the command line, which is no person: nobody's own quota is bounded there, and files
             that arrive or are not checked yet are not held against the team, so that many can be loaded at once
    place    what the file held while it came, and holds no longer
    unused_at  when `count_unused_file` counted it, which it does no longer

    The rows stay locked until the transaction ends: others who submit for the team, or this person for another team,
    wait, and then count again.
    """
    rows = _locked_rows(session, evaluation.id, team_id, user_id, now)
    give_up(session, place)
    for row in rows:
        if unused_at is not None and isinstance(row, PersonalUse) and row.day == day_of(unused_at):
            row.rejected_today = max(0, row.rejected_today - 1)
    session.flush()
    # A request that began before midnight and comes after one from after it counts for the new day.
    now = max(now, *(start_of(row.day) for row in rows))
    _require_some_left(_quotas(session, evaluation, team_id, user_id, now), now)
    for row in rows:
        _turn_to(row, day_of(now))
        row.used_today += 1
        row.used += 1


def enter(session: Session, evaluation: Evaluation, team_id: int, now: dt.datetime) -> None:
    """Notes that a team takes part, with nothing used, unless that is noted already."""
    insert_unless_there(session, Participation, team_id=team_id, evaluation_id=evaluation.id, **_nothing(now))


def give_back(session: Session, submission: Submission, *, rejected: bool) -> None:
    """Returns what a run cost, once, because its file was rejected or its scoring failed for good."""
    if not submission.charged:
        return
    submission.charged = False
    rows: list[Participation | PersonalUse] = [
        locked(session, Participation, (submission.team_id, submission.evaluation_id))
    ]
    if submission.submitter_id is not None:
        rows.append(locked(session, PersonalUse, (submission.submitter_id, submission.evaluation_id)))
    for row in rows:
        row.used -= 1
        if row.day == day_of(submission.received_at):
            row.used_today -= 1
            row.rejected_today += rejected


def count_unused_file(
    session: Session, evaluation: Evaluation, user_id: int, now: dt.datetime, place: int | None
) -> None:
    """Counts a file that was taken in with a form that can't be used among the person's rejected ones of the day.

    Else such forms would fill the store for nothing. `place` is what it held while it came.
    """
    row = _locked_person(session, evaluation.id, user_id, now)
    give_up(session, place)
    _turn_to(row, max(row.day, day_of(now)))
    row.rejected_today += 1


def _quotas(
    session: Session, evaluation: Evaluation, team_id: int, user_id: int | None, now: dt.datetime
) -> tuple[Quota, ...]:
    team = team_quotas(session, evaluation, [team_id], now, count_pending=user_id is not None)[team_id]
    return (team,) if user_id is None else (team, personal_quota(session, evaluation, user_id, now))


def _require_some_left(quotas: Sequence[Quota], now: dt.datetime) -> None:
    for quota in quotas:
        if quota.spent is not None:
            raise QuotaSpent(quota.spent, retry_seconds(quotas, now))


def _locked_rows(
    session: Session, evaluation_id: int, team_id: int, user_id: int | None, now: dt.datetime
) -> list[Participation | PersonalUse]:
    insert_unless_there(session, Participation, team_id=team_id, evaluation_id=evaluation_id, **_nothing(now))
    rows: list[Participation | PersonalUse] = [locked(session, Participation, (team_id, evaluation_id))]
    if user_id is not None:
        rows.append(_locked_person(session, evaluation_id, user_id, now))
    return rows


def _locked_person(session: Session, evaluation_id: int, user_id: int, now: dt.datetime) -> PersonalUse:
    insert_unless_there(session, PersonalUse, user_id=user_id, evaluation_id=evaluation_id, **_nothing(now))
    return locked(session, PersonalUse, (user_id, evaluation_id))


def _nothing(now: dt.datetime) -> dict[str, dt.date | int]:
    return {"day": day_of(now), "used_today": 0, "rejected_today": 0, "used": 0}


def _turn_to(row: Participation | PersonalUse, day: dt.date) -> None:
    """The counts of a day begin at 0."""
    if row.day != day:
        row.day, row.used_today, row.rejected_today = day, 0, 0
