"""The queue: rows of `scoring`, claimed by workers under a lease that the database's clock runs."""

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.access import Actor
from leaderboard.db import clock
from leaderboard.models import Scoring, ScoringSet, Submission
from leaderboard.rules.states import UNFINISHED, SetState, State
from leaderboard.services.events import present, record
from leaderboard.services.quotas import give_back
from leaderboard.services.rows import locked

__all__ = [
    "MOST_ERRORS",
    "MOST_LOST_LEASES",
    "WORKER",
    "Claim",
    "claim",
    "fail",
    "held",
    "release",
    "renew",
    "sweep",
    "unfinished",
]

WORKER = Actor(name="worker")

MOST_ERRORS = 3
MOST_LOST_LEASES = 10
RETRY_SECONDS = 10.0  # before the second attempt; twice as long before the third
SWEPT_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Claim:
    """A job in a worker's hands. `attempt` tells it from an earlier claim of the same row."""

    scoring_id: int
    submission_id: int
    scoring_set_id: int
    attempt: int
    worker: str


def claim(session: Session, worker: str, lease_seconds: float) -> Claim | None:
    """Takes the first waiting row by priority and age, in one statement; None when nothing waits."""
    first = (
        sa.select(Scoring.id)
        .join(ScoringSet)
        .where(
            Scoring.state == State.QUEUED,
            ScoringSet.state != SetState.SUPERSEDED,
            ScoringSet.metric_version == metrics.MEASURES_VERSION,  # another one's figures are not ours to work out
            sa.or_(Scoring.not_before.is_(None), Scoring.not_before <= clock()),
        )
        .order_by(Scoring.priority.desc(), Scoring.id)
        .limit(1)
        .with_for_update(skip_locked=True, of=Scoring)  # SQLite has one writer at a time, and no such clause
        .scalar_subquery()
    )
    row = session.execute(
        sa.update(Scoring)
        .where(Scoring.id == first)
        .values(
            state=State.SCORING,
            worker=worker,
            attempt=Scoring.attempt + 1,
            lease_until=clock(lease_seconds),
            started_at=clock(),
            not_before=None,
        )
        .returning(Scoring.id, Scoring.submission_id, Scoring.scoring_set_id, Scoring.attempt),
        execution_options={"synchronize_session": False},
    ).one_or_none()
    return None if row is None else Claim(row.id, row.submission_id, row.scoring_set_id, row.attempt, worker)


def renew(session: Session, claim: Claim, lease_seconds: float) -> bool:
    """Extends the lease; False when the job is in other hands by now."""
    row = session.execute(
        sa.update(Scoring).where(*_is_held(claim)).values(lease_until=clock(lease_seconds)).returning(Scoring.id),
        execution_options={"synchronize_session": False},
    ).one_or_none()
    return row is not None


def release(session: Session, claim: Claim) -> None:
    """Hands a job back unfinished, at no cost to its attempts."""
    scoring = held(session, claim)
    if scoring is not None:
        give_up(session, scoring)


def fail(session: Session, claim: Claim, reason: str) -> bool:
    """Notes an attempt that raised: another one later, or parked as failed. False when the claim was lost."""
    scoring = held(session, claim)
    if scoring is None:
        return False
    scoring.errors += 1
    scoring.failure = reason
    if scoring.errors >= MOST_ERRORS:
        _park(session, scoring, reason)
    else:
        give_up(session, scoring, RETRY_SECONDS * 2 ** (scoring.errors - 1))
    return True


def sweep(session: Session) -> int:
    """Gives rows whose lease ran out back to the queue; how many. One that lost too many leases is parked."""
    expired = session.scalars(
        sa.select(Scoring)
        .where(Scoring.state == State.SCORING, Scoring.lease_until < clock())
        .order_by(Scoring.id)
        .limit(SWEPT_AT_ONCE)
        .with_for_update(skip_locked=True, of=Scoring)
    ).all()
    for scoring in expired:
        scoring.lost_leases += 1
        if scoring.lost_leases >= MOST_LOST_LEASES:
            _park(
                session, scoring, f"{MOST_LOST_LEASES} workers vanished while scoring it, the last was {scoring.worker}"
            )
        else:
            give_up(session, scoring)
    return len(expired)


def held(session: Session, claim: Claim) -> Scoring | None:
    """The claimed row, locked, while the claim holds it; None when it is in other hands."""
    return session.scalars(
        sa.select(Scoring).where(*_is_held(claim)).with_for_update(of=Scoring).execution_options(populate_existing=True)
    ).one_or_none()


def give_up(session: Session, scoring: Scoring, wait_seconds: float = 0.0) -> None:
    """Puts a claimed row back into the queue; one of a superseded set has nothing to wait for and goes."""
    scoring_set = session.get_one(ScoringSet, scoring.scoring_set_id, populate_existing=True)
    if scoring_set.state is SetState.SUPERSEDED:
        session.delete(scoring)
        return
    session.flush()
    session.execute(
        sa.update(Scoring)
        .where(Scoring.id == scoring.id)
        .values(
            state=State.QUEUED,
            worker=None,
            lease_until=None,
            not_before=clock(wait_seconds) if wait_seconds else None,
        )
    )


def _park(session: Session, scoring: Scoring, reason: str) -> None:
    scoring.state = State.FAILED
    scoring.failure = reason
    scoring.finished_at = present()
    scoring.lease_until = None
    submission = locked(session, Submission, scoring.submission_id)
    give_back(session, submission, rejected=False)
    record(session, WORKER, "fail", submission, scoring=scoring.id, reason=reason)


def _is_held(claim: Claim) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        Scoring.id == claim.scoring_id,
        Scoring.state == State.SCORING,
        Scoring.worker == claim.worker,
        Scoring.attempt == claim.attempt,
    )


def unfinished(session: Session, evaluation_id: int | None = None) -> int:
    """How many runs wait to be scored or are being scored: of one evaluation, or of all."""
    count = (
        sa.select(sa.func.count(Scoring.id))
        .join(ScoringSet)
        .where(Scoring.state.in_(UNFINISHED), ScoringSet.state != SetState.SUPERSEDED)
    )
    if evaluation_id is not None:
        count = count.where(ScoringSet.evaluation_id == evaluation_id)
    return session.scalar(count) or 0
