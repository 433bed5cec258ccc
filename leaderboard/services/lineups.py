"""Who stands on a board: which of a set's scored runs are ranked against each other, and which others there are."""

import datetime as dt
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.models import (
    Campaign,
    Evaluation,
    Participation,
    Score,
    Scoring,
    ScoringSet,
    Submission,
    System,
    SystemKind,
)
from leaderboard.rules.settings import Subset
from leaderboard.rules.standings import RunChoice, chosen_run
from leaderboard.rules.states import SetState, State

__all__ = ["Lineup", "StandingRun", "Terms", "best_means", "lineups_of", "standing_runs", "terms_of_current_sets"]

Means = dict[tuple[str, Subset], dict[int, float]]  # (measure, subset) -> scoring -> mean, where there is one


@dataclass(frozen=True, slots=True)
class StandingRun:
    scoring_id: int
    submission_id: int
    system_id: int
    received_at: dt.datetime
    is_primary: bool
    is_ranked: bool  # if it is the one that stands for its system


@dataclass(frozen=True, slots=True)
class Lineup:
    """Scorings: those that are ranked against each other, and the others that have an interval."""

    ranked: tuple[int, ...]
    others: tuple[int, ...]

    @property
    def digest(self) -> str:
        return hashlib.sha256(repr((self.ranked, self.others)).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Terms:
    """What of a set the figures depend on."""

    rule: RunChoice
    settings: dict[str, Any]

    @property
    def measures(self) -> list[str]:
        return list(self.settings["measures"])

    @property
    def subsets(self) -> tuple[Subset, ...]:
        """Those that differ: without hidden queries there is one, and both names stand for it."""
        return (Subset.SHOWN, Subset.ALL) if self.settings["hidden"] else (Subset.ALL,)


def terms_of_current_sets(session: Session, only: int | None = None) -> dict[int, Terms]:
    """Current set -> its terms."""
    statement = (
        sa.select(ScoringSet.id, Campaign.run_choice, ScoringSet.settings)
        .join(Evaluation, Evaluation.id == ScoringSet.evaluation_id)
        .join(Campaign, Campaign.id == Evaluation.campaign_id)
        .where(ScoringSet.state == SetState.CURRENT)
    )
    if only is not None:
        statement = statement.where(ScoringSet.id == only)
    return {set_id: Terms(rule, settings) for set_id, rule, settings in session.execute(statement)}


def standing_runs(session: Session, sets: Iterable[int]) -> dict[int, list[StandingRun]]:
    """Set -> its scored runs that are not withdrawn."""
    rows = session.execute(
        sa.select(
            Scoring.scoring_set_id, Scoring.id, Submission.id, Submission.system_id, Submission.received_at,
            sa.func.coalesce(Participation.primary_submission_id == Submission.id, sa.false()),
            sa.and_(~Submission.late, System.kind != SystemKind.BASELINE),
        )
        .join(Submission, Submission.id == Scoring.submission_id)
        .join(System, System.id == Submission.system_id)
        .outerjoin(
            Participation,
            sa.and_(
                Participation.team_id == Submission.team_id, Participation.evaluation_id == Submission.evaluation_id
            ),
        )
        .where(
            Scoring.scoring_set_id.in_(list(sets)), Scoring.state == State.SCORED, Submission.withdrawn_at.is_(None)
        )
        .order_by(Scoring.id)
    )  # fmt: skip
    runs: dict[int, list[StandingRun]] = {}
    for row in rows:
        runs.setdefault(row[0], []).append(StandingRun(*row[1:]))
    return runs


def best_means(session: Session, sets: Iterable[int]) -> dict[int, Means]:
    """Set -> its means, of the sets whose rule is the best run."""
    rows = session.execute(
        sa.select(Scoring.scoring_set_id, Score.measure, Score.subset, Scoring.id, Score.mean)
        .join(Score, Score.scoring_id == Scoring.id)
        .join(ScoringSet, ScoringSet.id == Scoring.scoring_set_id)
        .join(Evaluation, Evaluation.id == ScoringSet.evaluation_id)
        .join(Campaign, Campaign.id == Evaluation.campaign_id)
        .where(Scoring.scoring_set_id.in_(list(sets)), Campaign.run_choice == RunChoice.BEST)
    )
    means: dict[int, Means] = {}
    for set_id, measure, subset, scoring_id, mean in rows:
        if mean is not None:
            means.setdefault(set_id, {}).setdefault((measure, subset), {})[scoring_id] = mean
    return means


def lineups_of(runs: Sequence[StandingRun], terms: Terms, means: Means) -> dict[tuple[str, Subset], Lineup]:
    """(measure, subset) -> who stands there. Under `best` each may have its own; `means` decide then."""
    if terms.rule is not RunChoice.BEST:
        one = _lineup(runs, terms.rule, {}, 0.0)
        return {(measure, subset): one for measure in terms.measures for subset in terms.subsets}
    return {
        (measure, subset): _lineup(
            runs,
            terms.rule,
            means.get((measure, subset), {}),
            1.0 if metrics.parse(measure).direction == "lower" else -1.0,
        )
        for measure in terms.measures
        for subset in terms.subsets
    }


def _lineup(runs: Sequence[StandingRun], rule: RunChoice, means: Mapping[int, float], sign: float) -> Lineup:
    def merit(run: StandingRun) -> tuple[bool, float]:
        return run.scoring_id not in means, sign * means.get(run.scoring_id, 0.0)

    of_system: dict[int, list[StandingRun]] = {}
    for run in runs:
        if run.is_ranked:
            of_system.setdefault(run.system_id, []).append(run)
    ranked = {chosen_run(own, rule, merit).scoring_id for own in of_system.values()}
    return Lineup(tuple(sorted(ranked)), tuple(run.scoring_id for run in runs if run.scoring_id not in ranked))
