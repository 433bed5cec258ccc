"""Who stands on a board: which of a set's scored runs are ranked against each other, and which others there are."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.metrics.measure import Direction
from leaderboard.models import (
    Campaign,
    Evaluation,
    Score,
    Scoring,
    ScoringSet,
)
from leaderboard.rules.settings import ScoringSettings, Subset
from leaderboard.rules.standings import RunChoice, ScoredRun, best_first, is_ranked, standing_runs
from leaderboard.rules.states import SetState

__all__ = ["CurrentSet", "Lineup", "best_means", "lineups_of", "terms_of_current_sets"]

Means = dict[tuple[str, Subset], dict[int, float]]  # (measure, subset) -> scoring -> mean, where there is one


@dataclass(frozen=True, slots=True)
class Lineup:
    """Scorings: those that are ranked against each other, and the others that have an interval."""

    ranked: tuple[int, ...]
    others: tuple[int, ...]

    @property
    def digest(self) -> str:
        return hashlib.sha256(repr((self.ranked, self.others)).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class CurrentSet:
    """What the statistics of a current scoring set depend on."""

    rule: RunChoice
    settings: ScoringSettings


def terms_of_current_sets(session: Session, only: int | None = None) -> dict[int, CurrentSet]:
    """Current set -> its terms."""
    statement = (
        sa.select(ScoringSet.id, Campaign.run_choice, ScoringSet.settings)
        .join(Evaluation, Evaluation.id == ScoringSet.evaluation_id)
        .join(Campaign, Campaign.id == Evaluation.campaign_id)
        .where(ScoringSet.state == SetState.CURRENT)
    )
    if only is not None:
        statement = statement.where(ScoringSet.id == only)
    return {set_id: CurrentSet(rule, settings) for set_id, rule, settings in session.execute(statement)}


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


def lineups_of(runs: Sequence[ScoredRun], terms: CurrentSet, means: Means) -> dict[tuple[str, Subset], Lineup]:
    """(measure, subset) -> who stands there. Under `best` each may have its own; `means` decide then."""
    if terms.rule is not RunChoice.BEST:
        one = _lineup(runs, terms.rule, {}, "none")
        return {(measure, subset): one for measure in terms.settings.measures for subset in terms.settings.subsets}
    return {
        (measure, subset): _lineup(runs, terms.rule, means.get((measure, subset), {}), metrics.parse(measure).direction)
        for measure in terms.settings.measures
        for subset in terms.settings.subsets
    }


def _lineup(runs: Sequence[ScoredRun], rule: RunChoice, means: Mapping[int, float], direction: Direction) -> Lineup:
    standing = standing_runs(runs, rule, lambda run: best_first(means.get(run.scoring_id), direction))
    ranked = {run.scoring_id for run in standing if is_ranked(run)}
    return Lineup(tuple(sorted(ranked)), tuple(run.scoring_id for run in runs if run.scoring_id not in ranked))
