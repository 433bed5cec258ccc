"""Which runs stand, as the rule says and as it is kept."""

from collections import Counter
from collections.abc import Callable

import sqlalchemy as sa

from leaderboard import metrics
from leaderboard.boards.models import Standing
from leaderboard.boards.rules import Rounding
from leaderboard.db import Database
from leaderboard.evaluations.rules import ScoringSettings, Subset
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import scored_runs
from leaderboard.submissions.rules import RunChoice, ScoredRun, SetState, State, selected_runs
from leaderboard.worker.models import Score, Scoring, ScoringSet

Stands = tuple[int, str, int, bool, int, int]  # set, way of choosing, system, late, scoring, from how many runs
Mean = Callable[[ScoredRun], float | None]


def standing_by_the_rule(database: Database) -> set[Stands]:
    """The runs of every set that stand by each way of choosing that is kept, all runs read.

    Of sets whose boards are of the past, what is kept, as far as it is of a run of that system scored in that set.
    """
    past = sa.or_(ScoringSet.state == SetState.SUPERSEDED, ScoringSet.shown_until.is_not(None))
    of_past = (
        sa.select(*_KEPT)
        .join(ScoringSet, ScoringSet.id == Standing.scoring_set_id)
        .join(Scoring, sa.and_(Scoring.id == Standing.scoring_id, Scoring.scoring_set_id == ScoringSet.id))
        .join(Submission, Submission.id == Scoring.submission_id)
        .where(past, Scoring.state == State.SCORED)
        .where(Submission.system_id == Standing.system_id, Submission.late == Standing.late)
    )
    with database.read() as session:
        found = {_stands(*row) for row in session.execute(of_past)}
        means = {
            (row[0], row[1], row[2]): row[3]
            for row in session.execute(sa.select(Score.scoring_id, Score.measure, Score.subset, Score.mean))
        }
        for set_id, runs in scored_runs(session, of_sets=~past).items():
            settings = session.get_one(ScoringSet, set_id).settings
            direction = metrics.parse(settings.measures[0]).direction
            counts = Counter((run.system_id, run.late) for run in runs)
            found |= {
                (set_id, way, *(place := (run.system_id, run.late)), run.scoring_id, counts[place] if by_mean else 1)
                for way, choice, mean in _ways(settings, means)
                for by_mean in [choice is RunChoice.BEST]
                for run in selected_runs(runs, choice, mean, direction)
            }
        return found


def standing_kept(database: Database) -> set[Stands]:
    """The same, as the rows that boards read say it."""
    with database.read() as session:
        return {_stands(*row) for row in session.execute(sa.select(*_KEPT))}


_KEPT = (
    Standing.scoring_set_id, Standing.run_choice, Standing.subset, Standing.rounded, Standing.system_id, Standing.late,
    Standing.scoring_id, Standing.chosen_of,
)  # fmt: skip


def _stands(
    scoring_set: int, choice: RunChoice, subset: Subset, rounded: bool, *chosen: *tuple[int, bool, int, int]
) -> Stands:
    return scoring_set, _way(choice, subset, rounded), *chosen


def _way(choice: RunChoice, subset: Subset = Subset.ALL, rounded: bool = False) -> str:
    return f"{choice} {subset}{' rounded' if rounded else ''}"


def _ways(
    settings: ScoringSettings, means: dict[tuple[int, str, Subset], float | None]
) -> list[tuple[str, RunChoice, Mean]]:
    """The ways of choosing, each with a run's mean as it goes by it."""
    measure, family = settings.measures[0], metrics.parse(settings.measures[0]).family
    found: list[tuple[str, RunChoice, Mean]] = [
        (_way(choice), choice, lambda _: None) for choice in (RunChoice.PRIMARY, RunChoice.LATEST)
    ]
    for own in (Subset.SHOWN, Subset.ALL) if settings.hidden else (Subset.ALL,):

        def exact(run: ScoredRun, subset: Subset = own) -> float | None:
            return means.get((run.scoring_id, measure, subset))

        def rounded(run: ScoredRun, subset: Subset = own) -> float | None:
            told = None if family.of_judgments else means.get((run.scoring_id, measure, subset))
            return Rounding(settings.size(subset)).mean(told, family.unit)

        found.append((_way(RunChoice.BEST, own), RunChoice.BEST, exact))
        found.append((_way(RunChoice.BEST, own, rounded=True), RunChoice.BEST, rounded))
    return found
