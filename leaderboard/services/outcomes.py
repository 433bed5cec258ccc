"""What becomes of a claimed job: its figures are recorded, or its file is rejected, in one transaction each."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.db import clock
from leaderboard.errors import Problem
from leaderboard.models import Campaign, Designation, Evaluation, Participation, Score, Scoring, ScoringSet, Submission
from leaderboard.rules.settings import ScoringSettings, Subset
from leaderboard.rules.states import State
from leaderboard.services.events import present, record
from leaderboard.services.queue import WORKER, Claim, give_up, held
from leaderboard.services.quotas import give_back
from leaderboard.services.rows import locked
from leaderboard.services.submissions import LONGEST_LABEL

__all__ = ["MeasureScore", "Recorded", "RunScores", "record_scores", "reject"]

SETTLING_SECONDS = 5.0  # before a job whose settings changed meanwhile is looked at again


@dataclass(frozen=True, slots=True)
class MeasureScore:
    """One measure over one subset of the queries. mean is None when undefined; values are packed as in Score."""

    measure: str
    subset: Subset
    mean: float | None
    count: int
    values: bytes


@dataclass(frozen=True, slots=True)
class RunScores:
    """What scoring a run gave.

    missing   queries that count and that the run lacks, by external id
    unjudged  queries left out because the pooled judgments say nothing about them
    facts     lines, queries and tag of the run, theta of the measures that have one
    seconds   how long reading and scoring took
    """

    measures: tuple[MeasureScore, ...]
    missing: tuple[str, ...]
    unjudged: tuple[str, ...]
    seconds: float
    facts: dict[str, Any] = field(default_factory=dict)


class Recorded(Enum):
    DONE = auto()
    LOST = auto()  # the claim had passed into other hands: nothing was written
    SENT_BACK = auto()  # the campaign's prior is not the one used: the job waits again


def record_scores(session: Session, claim: Claim, result: RunScores) -> Recorded:
    """Writes the figures, the state, the primary mark and the campaign's lock."""
    scoring = held(session, claim)
    if scoring is None:
        return Recorded.LOST
    settings = session.get_one(ScoringSet, scoring.scoring_set_id).settings
    submission = locked(session, Submission, scoring.submission_id)
    if not _lock_prior(session, submission, settings):
        give_up(session, scoring, SETTLING_SECONDS)
        return Recorded.SENT_BACK
    session.execute(
        sa.insert(Score),
        [
            {
                "scoring_id": scoring.id,
                "measure": each.measure,
                "subset": each.subset,
                "mean": each.mean,
                "count": each.count,
                "values": each.values,
            }
            for each in result.measures
        ],
    )
    scoring.beta = settings.beta
    scoring.missing = list(result.missing)
    scoring.unjudged = list(result.unjudged)
    scoring.facts = result.facts
    scoring.seconds = result.seconds
    scoring.failure = ""
    _finish(scoring, State.SCORED)
    submission.label = submission.label or (result.facts.get("tag") or submission.filename)[:LONGEST_LABEL]
    submission.problems, submission.problem_count = [], 0
    submission.scored_at = submission.scored_at or present()
    _mark_primary(session, submission)
    record(session, WORKER, "score", submission, scoring=scoring.id, attempt=scoring.attempt, worker=claim.worker)
    return Recorded.DONE


def reject(session: Session, claim: Claim, problems: Sequence[Problem], count: int) -> Recorded:
    """Notes what is wrong with the file, for its team to read; the run costs no quota."""
    scoring = held(session, claim)
    if scoring is None:
        return Recorded.LOST
    submission = locked(session, Submission, scoring.submission_id)
    submission.problems = [[problem.line, problem.message] for problem in problems]
    submission.problem_count = count
    _finish(scoring, State.REJECTED)
    give_back(session, submission, rejected=True)
    record(session, WORKER, "reject", submission, scoring=scoring.id, problems=count)
    return Recorded.DONE


def _lock_prior(session: Session, submission: Submission, settings: ScoringSettings) -> bool:
    """Locks the campaign's prior, which must be the one used; False when it is another by now."""
    campaign_id = sa.select(Evaluation.campaign_id).where(Evaluation.id == submission.evaluation_id).scalar_subquery()
    row = session.execute(
        sa.update(Campaign)
        .where(
            Campaign.id == campaign_id,
            Campaign.beta.is_not_distinct_from(settings.beta),
            Campaign.no_relevant == settings.no_relevant,
        )
        .values(locked_at=sa.func.coalesce(Campaign.locked_at, clock()))
        .returning(Campaign.id),
        execution_options={"synchronize_session": False},
    ).one_or_none()
    return row is not None


def _finish(scoring: Scoring, state: State) -> None:
    scoring.state = state
    scoring.finished_at = present()
    scoring.lease_until = None


def _mark_primary(session: Session, submission: Submission) -> None:
    """A primary run that has been scored stands for its team, unless a newer one does already."""
    if submission.designation is not Designation.PRIMARY or submission.late or submission.withdrawn_at is not None:
        return
    participation = locked(session, Participation, (submission.team_id, submission.evaluation_id))
    if (participation.primary_submission_id or 0) < submission.id:
        participation.primary_submission_id = submission.id
