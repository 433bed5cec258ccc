"""The queue: rows of `scoring`, which workers claim under a lease, and what becomes of each claimed job.

A job is recorded, rejected, failed, handed back, or lost: its lease ran out and another worker has it. Leases run by
the database's clock.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.access import Actor
from leaderboard.audit.rules import SHORT, ScoreLine, scoring_digest
from leaderboard.audit.writes import present, record
from leaderboard.campaigns.models import Campaign
from leaderboard.db import PackedFloats, clock
from leaderboard.errors import Problem
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import ScoringSettings, Subset
from leaderboard.mail.rules import MailKind
from leaderboard.mail.writes import put_wanted
from leaderboard.metrics import Floats
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import IS_WANTED
from leaderboard.submissions.rules import UNFINISHED, Designation, SetState, State
from leaderboard.submissions.writes.submissions import LONGEST_LABEL, locked_run, return_quota, settle_primary
from leaderboard.worker.models import IN_QUEUE, Score, Scoring, ScoringSet

WORKER = Actor(name="worker")

MOST_ERRORS = 3
MOST_LOST_LEASES = 10
RETRY_SECONDS = 10.0  # before the second attempt; twice as long before the third
LONGEST_WAIT_SECONDS = 300.0  # of a job for a database or a store that does not answer
SETTLING_SECONDS = 5.0  # before a job whose settings changed meanwhile is looked at again
SWEPT_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Claim:
    """A job in a worker's hands. `attempt` tells it from an earlier claim of the same row."""

    scoring_id: int
    submission_id: int
    scoring_set_id: int
    attempt: int
    worker: str


@dataclass(frozen=True)
class MeasureScore:
    """One measure over one subset of the queries; the columns of Score.

    low, high  of an interval that takes the run itself (MQWV); all others are worked out with the board
    lost_low, lost_high  of MQWV − AQWV, with MQWV where the set has both
    """

    measure: str
    subset: Subset
    mean: float | None
    count: int
    values: Floats
    low: float | None = None
    high: float | None = None
    lost_low: float | None = None
    lost_high: float | None = None

    @property
    def line(self) -> ScoreLine:
        """The row that is stored, for its digest."""
        values = self.values.astype(PackedFloats.VALUE).tobytes()
        return ScoreLine(self.measure, self.subset.value, self.mean, self.count, values)


class RunScores(msgspec.Struct, frozen=True, tag=True):
    """What scoring a run gave.

    missing   the evaluation's queries that the run lacks, judged or not, by external id; excluded ones are left out
    unjudged  queries left out because the pooled judgments say nothing about them
    facts     lines, queries and tag of the run, theta of the measures that have one, and for how many queries the run
              and the judgments name more documents than the collection has (`crowded`); for organisers only. And
              whether a single θ gives the run's decisions (`one_threshold`), which everybody is told
    seconds   how long reading and scoring took
    """

    measures: tuple[MeasureScore, ...]
    missing: tuple[str, ...]
    unjudged: tuple[str, ...]
    seconds: float
    facts: dict[str, Any] = {}


class Recorded(Enum):
    DONE = auto()
    LOST = auto()  # the claim had passed into other hands: nothing was written
    SENT_BACK = auto()  # the campaign's prior is not the one used: the job waits again


def claim(session: Session, worker: str, lease_seconds: float, submission_id: int | None = None) -> Claim | None:
    """Takes the first waiting row by priority, turn and age, in one statement; None when nothing waits.

    submission_id  of this run only
    """
    of_run = [] if submission_id is None else [Scoring.submission_id == submission_id]
    first = (
        sa.select(Scoring.id)
        .join(ScoringSet)
        .where(
            sa.text(IN_QUEUE),
            Scoring.state == State.QUEUED,
            IS_WANTED,
            ScoringSet.metric_version == metrics.MEASURES_VERSION,  # others' figures would differ
            sa.or_(Scoring.not_before.is_(None), Scoring.not_before <= clock()),
            *of_run,
        )
        .order_by(Scoring.priority, Scoring.turn, Scoring.id)
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
    later = sa.update(Scoring).where(*_is_held(claim)).values(lease_until=clock(lease_seconds)).returning(Scoring.id)
    return session.scalar(later, execution_options={"synchronize_session": False}) is not None


def release(session: Session, claim: Claim) -> None:
    """Hands a job back unfinished, at no cost to its attempts."""
    scoring = _held(session, claim)
    if scoring is not None:
        _put_back(session, scoring)


def fail(session: Session, claim: Claim, reason: str) -> Recorded:
    """Counts an attempt that raised. The job waits for another one, or fails for good after MOST_ERRORS."""
    scoring = _held(session, claim)
    if scoring is None:
        return Recorded.LOST
    scoring.errors += 1
    scoring.failure = reason
    if scoring.errors >= MOST_ERRORS:
        _park(session, scoring, reason)
    else:
        _put_back(session, scoring, RETRY_SECONDS * 2 ** (scoring.errors - 1))
    return Recorded.DONE


def postpone(session: Session, claim: Claim, reason: str) -> Recorded:
    """Has a job wait, at no cost to its attempts, longer each time: what it needs does not answer at the moment."""
    scoring = _held(session, claim)
    if scoring is None:
        return Recorded.LOST
    scoring.failure = reason
    _put_back(session, scoring, min(LONGEST_WAIT_SECONDS, RETRY_SECONDS * 2 ** min(claim.attempt - 1, 10)))
    return Recorded.DONE


def park(session: Session, claim: Claim, reason: str, *, damaged: bool = False) -> Recorded:
    """Fails a job for good at once: another attempt would end the same.

    damaged: because the run's stored file is, not merely missing; see `lost_in`.
    """
    scoring = _held(session, claim)
    if scoring is None:
        return Recorded.LOST
    scoring.errors += 1
    scoring.damaged = damaged
    _park(session, scoring, reason)
    return Recorded.DONE


def record_scores(session: Session, claim: Claim, result: RunScores) -> Recorded:
    """Records the figures and the state, makes a primary run its team's primary one, and locks the campaign's prior."""
    scoring = _held(session, claim)
    if scoring is None:
        return Recorded.LOST
    scoring_set = session.get_one(ScoringSet, scoring.scoring_set_id)
    settings = scoring_set.settings
    lines = [each.line for each in result.measures]
    evaluation = session.get_one(Evaluation, scoring_set.evaluation_id)  # held, so that the event has it at hand
    # Before the run is locked: workers with other runs of the same team wait for that lock.
    session.execute(sa.insert(Score), [{"scoring_id": scoring.id, **vars(each)} for each in result.measures])
    submission = locked_run(session, scoring.submission_id)
    if not _lock_prior(session, evaluation.campaign_id, settings):
        session.execute(sa.delete(Score).where(Score.scoring_id == scoring.id))
        _put_back(session, scoring, SETTLING_SECONDS)
        return Recorded.SENT_BACK
    said = {"missing": result.missing, "unjudged": result.unjudged, "facts": result.facts}
    scoring.digest = scoring_digest(
        submission.id, submission.sha256, scoring_set.id, settings.beta, said, lines
    )  # fmt: skip
    scoring.beta = settings.beta
    scoring.missing = list(result.missing)
    scoring.unjudged = list(result.unjudged)
    scoring.facts = result.facts
    scoring.seconds = result.seconds
    scoring.failure = ""
    scoring.damaged = False
    _finish(scoring, State.SCORED)
    _note_scored(session, submission, result)
    figures = {f"{line.measure} {line.subset}": [line.mean, line.digest[:SHORT]] for line in lines}
    of_job = {"scoring": scoring.id, "attempt": scoring.attempt, "worker": claim.worker}
    record(session, WORKER, "score", submission, about=[scoring], **of_job, figures=figures)
    return Recorded.DONE


def _note_scored(session: Session, submission: Submission, result: RunScores) -> None:
    """What follows for the run itself, locked by the caller."""
    submission.label = submission.label or (result.facts.get("tag") or submission.filename)[:LONGEST_LABEL]
    submission.problems, submission.problem_count = [], 0
    if submission.scored_at is None and submission.imported_at is not None:
        # A run that was brought in from the past was scored in its own time: it counts from when it was received.
        submission.scored_at = submission.received_at
    elif submission.scored_at is None:
        submission.scored_at = present()
        _tell(session, submission, MailKind.SCORED)
    if submission.designation is Designation.PRIMARY:
        settle_primary(session, WORKER, submission.team_id, submission.evaluation_id)


def reject(session: Session, claim: Claim, problems: Sequence[Problem], count: int) -> Recorded:
    """Records what is wrong with the file, for its team to read; the run costs no quota."""
    scoring = _held(session, claim)
    if scoring is None:
        return Recorded.LOST
    submission = locked_run(session, scoring.submission_id)
    is_news = submission.scored_at is None and submission.problem_count == 0  # not where it is judged anew
    submission.problems = [[problem.line, problem.message] for problem in problems]
    submission.problem_count = count
    scoring.failure, scoring.damaged = "", False
    _finish(scoring, State.REJECTED)
    return_quota(session, submission, rejected=True)
    if submission.imported_at is not None and not _was_scored(session, submission):
        # It was brought in as one that had been scored elsewhere, and is not what was scored there.
        submission.scored_at = None
        settle_primary(session, WORKER, submission.team_id, submission.evaluation_id)
    record(session, WORKER, "reject", submission, about=[scoring], problems=count)
    if is_news:
        _tell(session, submission, MailKind.REJECTED)
    return Recorded.DONE


def sweep(session: Session) -> int:
    """Puts jobs whose lease ran out back into the queue, or fails them after MOST_LOST_LEASES; returns how many."""
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
            vanished = f"{MOST_LOST_LEASES} workers vanished while scoring it, the last was {scoring.worker}"
            _park(session, scoring, vanished)
        else:
            _put_back(session, scoring)
    return len(expired)


def unfinished(session: Session, evaluation_id: int | None = None, submission_id: int | None = None) -> int:
    """How many runs wait to be scored or are being scored: of one evaluation, or of all; or how often one run does."""
    count = sa.select(sa.func.count(Scoring.id)).join(ScoringSet).where(Scoring.state.in_(UNFINISHED), IS_WANTED)
    if evaluation_id is not None:
        count = count.where(ScoringSet.evaluation_id == evaluation_id)
    if submission_id is not None:
        count = count.where(Scoring.submission_id == submission_id)
    return session.scalar(count) or 0


def _tell(session: Session, submission: Submission, kind: MailKind) -> None:
    """A mail to whoever submitted the run."""
    if submission.submitter_id is not None:
        put_wanted(session, kind, [submission.submitter_id], submission=submission.id)


def _held(session: Session, claim: Claim) -> Scoring | None:
    """The claimed row, locked, while the claim holds it; None when it is in other hands."""
    return session.scalars(
        sa.select(Scoring).where(*_is_held(claim)).with_for_update(of=Scoring).execution_options(populate_existing=True)
    ).one_or_none()


def _put_back(session: Session, scoring: Scoring, wait_seconds: float = 0.0) -> None:
    """Puts a claimed row back into the queue, or deletes it where its set was superseded: nobody needs its figures."""
    scoring_set = session.get_one(ScoringSet, scoring.scoring_set_id, populate_existing=True)
    if scoring_set.state is SetState.SUPERSEDED and not scoring.of_the_past:
        session.delete(scoring)
        return
    session.flush()
    not_before = clock(wait_seconds) if wait_seconds else None
    session.execute(
        sa.update(Scoring)
        .where(Scoring.id == scoring.id)
        .values(state=State.QUEUED, worker=None, lease_until=None, not_before=not_before)
    )


def _park(session: Session, scoring: Scoring, reason: str) -> None:
    scoring.failure = reason
    _finish(scoring, State.FAILED)
    submission = locked_run(session, scoring.submission_id)
    return_quota(session, submission, rejected=False)
    record(session, WORKER, "fail", submission, about=[scoring], reason=reason)


def _was_scored(session: Session, submission: Submission) -> bool:
    """Whether it has been scored here, in any set."""
    scored = Scoring.submission_id == submission.id, Scoring.state == State.SCORED
    return bool(session.scalar(sa.select(sa.exists().where(*scored))))


def _is_held(claim: Claim) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        Scoring.id == claim.scoring_id,
        Scoring.state == State.SCORING,
        Scoring.worker == claim.worker,
        Scoring.attempt == claim.attempt,
    )


def _lock_prior(session: Session, campaign_id: int, settings: ScoringSettings) -> bool:
    """Locks the campaign's prior, which must be the one used; False when it is another by now.

    Once it is locked nothing can change it, and the row is only looked at: workers that record for one campaign would
    wait for each other.
    """
    own = (
        Campaign.id == campaign_id,
        Campaign.beta.is_not_distinct_from(settings.beta),
        Campaign.no_relevant == settings.no_relevant,
    )
    if session.scalar(sa.select(Campaign.id).where(*own, Campaign.locked_at.is_not(None))) is not None:
        return True
    row = session.execute(
        sa.update(Campaign)
        .where(*own)
        .values(locked_at=sa.func.coalesce(Campaign.locked_at, clock()))
        .returning(Campaign.id),
        execution_options={"synchronize_session": False},
    ).one_or_none()
    return row is not None


def _finish(scoring: Scoring, state: State) -> None:
    scoring.state = state
    scoring.finished_at = present()
    scoring.lease_until = None
