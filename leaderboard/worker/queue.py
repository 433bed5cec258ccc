"""The queue: rows of `scoring`, which workers claim under a lease, and what becomes of each claimed job.

A job is recorded, rejected, failed, handed back, or lost: its lease ran out and another worker has it. Leases run by
the database's clock.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import cast

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import access, errors, metrics
from leaderboard.audit.models import Event
from leaderboard.audit.rules import SHORT, scoring_digest
from leaderboard.audit.writes import present, record
from leaderboard.campaigns.models import Campaign
from leaderboard.db import clock, exists, locked
from leaderboard.evaluations.models import Evaluation
from leaderboard.frozen import frozen
from leaderboard.mail.models import Mail
from leaderboard.mail.rules import MailKind
from leaderboard.mail.writes import IS_DUE, put_wanted
from leaderboard.submissions.inputs import LONGEST_LABEL
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import IS_WANTED
from leaderboard.submissions.rules import UNFINISHED, Designation, SetState, State
from leaderboard.submissions.writes.submissions import locked_run, return_quota, settle_primary
from leaderboard.worker.messages import Copied, Exceeded, Failed, Postponed, Rejected, Reply, RunScores, Unreadable
from leaderboard.worker.models import IN_QUEUE, Curve, Score, Scoring, ScoringSet

WORKER = access.Actor(name="worker")

MOST_ERRORS = 3
MOST_LOST_LEASES = 10
RETRY_SECONDS = 10.0  # before the second attempt; twice as long before the third
LONGEST_WAIT_SECONDS = 300.0  # of a job for a database or a store that does not answer
BEYOND_SECONDS = 3600.0  # a moment further ahead was set by a clock that was wrong, and holds nothing up
SETTLING_SECONDS = 5.0  # before a job whose settings changed meanwhile is looked at again
SWEPT_AT_ONCE = 100


@frozen
class Claim:
    """A job in a worker's hands. `attempt` tells it from an earlier claim of the same row."""

    scoring_id: int
    submission_id: int
    scoring_set_id: int
    attempt: int
    worker: str


class Recorded(StrEnum):
    DONE = "done"
    LOST = "lost"  # the claim had passed into other hands: nothing was written
    SENT_BACK = "sent back"  # the campaign's prior is not the one used: the job waits again


def _claimable() -> tuple[sa.ColumnElement[bool] | sa.TextClause, ...]:
    return (
        sa.text(IN_QUEUE),
        Scoring.state == State.QUEUED,
        IS_WANTED,
        ScoringSet.metric_version == metrics.MEASURES_VERSION,  # others' figures would differ
        sa.or_(Scoring.not_before.is_(None), Scoring.not_before <= clock(), Scoring.not_before > clock(BEYOND_SECONDS)),
    )


def _expired(lease_seconds: float) -> tuple[sa.ColumnElement[bool] | sa.TextClause, ...]:
    """Conditions on claimed jobs; a lease far beyond this worker's is none."""
    beyond = clock(max(2 * lease_seconds, BEYOND_SECONDS))
    has_ended = sa.or_(Scoring.lease_until < clock(), Scoring.lease_until > beyond)
    return sa.text(IN_QUEUE), Scoring.state == State.SCORING, has_ended


def has_work(lease_seconds: float, event: int | None, *, sends: bool) -> sa.ColumnElement[bool]:
    """Whether a worker finds something to do, one that has seen this event: for one cheap look. sends: mails too."""
    claimable = sa.select(Scoring.id).join(ScoringSet).where(*_claimable()).exists()
    expired = sa.select(Scoring.id).where(*_expired(lease_seconds)).exists()
    news = sa.exists().where(Event.id > (event or 0))
    return sa.or_(claimable, expired, news, *[sa.exists().where(*IS_DUE, Mail.expires_at > clock())] * sends)


def claim(session: Session, worker: str, lease_seconds: float) -> Claim | None:
    """Takes the first waiting row by priority, turn and age, in one statement; None when nothing waits."""
    first = (
        sa.select(Scoring.id)
        .join(ScoringSet)
        .where(*_claimable())
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
    return row and Claim(*row, worker=worker)


def renew(session: Session, claim: Claim, lease_seconds: float) -> bool:
    """Extends the lease; False when the job is in other hands by now."""
    scoring = _held(session, claim)
    if scoring is not None:
        session.execute(sa.update(Scoring).where(Scoring.id == scoring.id).values(lease_until=clock(lease_seconds)))
    return scoring is not None


def release(session: Session, claim: Claim) -> None:
    """Hands a job back unfinished, at no cost to its attempts."""
    scoring = _held(session, claim)
    if scoring is not None:
        _put_back(session, scoring)


def settle(session: Session, claim: Claim, reply: Reply) -> Recorded:
    """Records what came of a job: its figures, what is wrong with its file, or why it waits for another attempt.

    What the database or the store did not answer costs no attempt, and waits longer each time. What raised counts as
    one, and MOST_ERRORS of them fail the job for good; what would end the same again does so at once (`Unreadable`).
    """
    # Before the scoring is: whoever changes a prior holds the campaign, and then scorings.
    campaign = _held_campaign(session, claim) if isinstance(reply, RunScores) else None
    scoring = _held(session, claim)
    if scoring is None:
        return Recorded.LOST
    match reply:
        case RunScores():
            return _record_scores(session, cast(Campaign, campaign), scoring, reply)
        case Rejected(problems, count):
            _reject(session, scoring, problems, count)
        case Exceeded(reason):
            _reject(session, scoring, [errors.Problem(None, reason)], 1)
        case Postponed(reason):
            scoring.failure = reason
            _put_back(session, scoring, min(LONGEST_WAIT_SECONDS, RETRY_SECONDS * 2 ** min(claim.attempt - 1, 10)))
        case Failed(reason) if scoring.errors + 1 < MOST_ERRORS:
            scoring.errors += 1
            scoring.failure = reason
            _put_back(session, scoring, RETRY_SECONDS * 2 ** (scoring.errors - 1))
        case Failed(reason) | Unreadable(reason):
            scoring.errors += 1
            damaged = isinstance(reply, Unreadable) and reply.damaged  # see `lost_in`
            _park(session, scoring, reason, damaged=damaged)
        case Copied():
            raise ValueError("a copy was made where a run was to be scored")
    return Recorded.DONE


def _record_scores(session: Session, campaign: Campaign, scoring: Scoring, result: RunScores) -> Recorded:
    """Records the figures and the state, makes a primary run its team's primary one, and locks the campaign's prior,
    unless the evaluation is a draft or of one."""
    scoring_set = session.get_one(ScoringSet, scoring.scoring_set_id)
    settings = scoring_set.settings
    if (campaign.beta, campaign.no_relevant) != (settings.beta, settings.no_relevant):
        _put_back(session, scoring, SETTLING_SECONDS)
        return Recorded.SENT_BACK
    lines = [score.line for score in result.measures]
    # Before the run is locked: workers with other runs of the same team wait for that lock.
    session.execute(sa.insert(Score), [{"scoring_id": scoring.id, **vars(score)} for score in result.measures])
    for subset, curves in result.curves.items():
        session.add_all(Curve(scoring_id=scoring.id, subset=subset, name=name, values=curves[name]) for name in curves)
    submission = locked_run(session, scoring.submission_id)
    if campaign.locked_at is None and exists(session, Evaluation.id == submission.evaluation_id, access.IS_PUBLISHED):
        campaign.locked_at = present()
    said = {"missing": result.missing, "unjudged": result.unjudged, "facts": result.facts}
    run = submission.id, submission.sha256, scoring_set.id, settings.beta
    scoring.digest = scoring_digest(*run, said, lines)
    scoring.beta, scoring.seconds, scoring.facts = settings.beta, result.seconds, result.facts
    scoring.missing, scoring.unjudged = list(result.missing), list(result.unjudged)
    _finish(scoring, State.SCORED)
    _note_scored(session, submission, result)
    figures = {f"{line.measure} {line.subset}": [line.mean, line.digest[:SHORT]] for line in lines}
    of_job = {"scoring": scoring.id, "attempt": scoring.attempt, "worker": scoring.worker}
    record(session, WORKER, "score", submission, about=[scoring], **of_job, figures=figures)
    return Recorded.DONE


def _note_scored(session: Session, submission: Submission, result: RunScores) -> None:
    """What follows for the run itself, locked by the caller."""
    submission.label = submission.label or (result.facts.get("tag") or submission.filename)[:LONGEST_LABEL]
    submission.problems, submission.problem_count = [], 0
    if submission.scored_at is None:
        # A run that was brought in from the past was scored in its own time: it counts from when it was received.
        submission.scored_at = submission.received_at if submission.imported_at else present()
        if submission.imported_at is None:
            _tell(session, submission, MailKind.SCORED)
    if submission.designation is Designation.PRIMARY:
        settle_primary(session, WORKER, submission)


def _reject(session: Session, scoring: Scoring, problems: Sequence[errors.Problem], count: int) -> None:
    """Records what is wrong with the file, for its team to read; the run costs no quota."""
    submission = locked_run(session, scoring.submission_id)
    is_news = submission.scored_at is None and submission.problem_count == 0  # not where it is judged anew
    submission.problems = [[problem.line, problem.message] for problem in problems]
    submission.problem_count = count
    _finish(scoring, State.REJECTED)
    return_quota(session, submission, rejected=True)
    was_scored = Scoring.submission_id == submission.id, Scoring.state == State.SCORED
    if submission.imported_at is not None and not exists(session, *was_scored):
        # It was brought in as one that had been scored elsewhere, and is not what was scored there.
        submission.scored_at = None
        settle_primary(session, WORKER, submission)
    record(session, WORKER, "reject", submission, about=[scoring], problems=count)
    if is_news:
        _tell(session, submission, MailKind.REJECTED)


def sweep(session: Session, lease_seconds: float) -> int:
    """Puts jobs whose lease ran out back into the queue, or fails them after MOST_LOST_LEASES; returns how many."""
    expired = session.scalars(
        sa.select(Scoring)
        .where(*_expired(lease_seconds))
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


def unfinished(session: Session, evaluation_id: int | None = None) -> int:
    """How many runs wait to be scored or are being scored: of one evaluation, or of all."""
    count = sa.select(sa.func.count(Scoring.id)).join(ScoringSet).where(Scoring.state.in_(UNFINISHED), IS_WANTED)
    if evaluation_id is not None:
        count = count.where(ScoringSet.evaluation_id == evaluation_id)
    return session.scalar(count) or 0


def _tell(session: Session, submission: Submission, kind: MailKind) -> None:
    """A mail to whoever submitted the run."""
    if submission.submitter_id is not None:
        put_wanted(session, kind, [submission.submitter_id], submission=submission.id)


def _held(session: Session, claim: Claim) -> Scoring | None:
    """The claimed row, locked, while the claim holds it; None when it is in other hands."""
    own = Scoring.id == claim.scoring_id, Scoring.worker == claim.worker, Scoring.attempt == claim.attempt
    return session.scalar(
        sa.select(Scoring)
        .where(*own, Scoring.state == State.SCORING)
        .with_for_update(of=Scoring)
        .execution_options(populate_existing=True)
    )


def _put_back(session: Session, scoring: Scoring, wait_seconds: float = 0.0) -> None:
    """Puts a claimed row back into the queue, or deletes it where its set was superseded: nobody needs its figures."""
    scoring_set = session.get_one(ScoringSet, scoring.scoring_set_id, populate_existing=True)
    if scoring_set.state is SetState.SUPERSEDED and not scoring.of_the_past:
        session.delete(scoring)
        return
    session.flush()
    waiting = {"state": State.QUEUED, "worker": None, "lease_until": None}
    not_before = clock(wait_seconds) if wait_seconds else None
    session.execute(sa.update(Scoring).where(Scoring.id == scoring.id).values(**waiting, not_before=not_before))


def _park(session: Session, scoring: Scoring, reason: str, *, damaged: bool = False) -> None:
    _finish(scoring, State.FAILED, reason, damaged=damaged)
    submission = locked_run(session, scoring.submission_id)
    return_quota(session, submission, rejected=False)
    record(session, WORKER, "fail", submission, about=[scoring], reason=reason)


def _held_campaign(session: Session, claim: Claim) -> Campaign:
    """The campaign of a claimed job, held until the transaction ends while its prior may change.

    Once that is locked the row is only looked at: workers that record for one campaign would wait for each other.
    """
    of_set = sa.select(Evaluation.campaign_id).join(ScoringSet, ScoringSet.evaluation_id == Evaluation.id)
    number = session.scalars(of_set.where(ScoringSet.id == claim.scoring_set_id)).one()
    campaign = session.get_one(Campaign, number, populate_existing=True)
    return campaign if campaign.locked_at else locked(session, Campaign, number)


def _finish(scoring: Scoring, state: State, failure: str = "", *, damaged: bool = False) -> None:
    scoring.state, scoring.failure, scoring.damaged = state, failure, damaged
    scoring.finished_at = present()
    scoring.lease_until = None
