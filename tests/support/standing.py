"""Which runs stand, as the rule says and as it is kept."""

import sqlalchemy as sa

from leaderboard.db import Database
from leaderboard.lookup import scored_runs
from leaderboard.models import Scoring, ScoringSet, Standing, Submission
from leaderboard.rules.standings import RunChoice, standing_runs
from leaderboard.rules.states import SetState, State

__all__ = ["standing_by_the_rule", "standing_kept"]


def standing_by_the_rule(database: Database) -> set[tuple[int, int, bool, int]]:
    """(set, system, late, scoring) of the runs of every set that stand by the order of their runs, all runs read.

    Of sets whose boards are of the past, what is kept, as far as it is of a run of that system scored in that set.
    """
    past = sa.or_(ScoringSet.state == SetState.SUPERSEDED, ScoringSet.shown_until.is_not(None))
    stood = (
        sa.select(ScoringSet.id, Submission.system_id, Submission.late, Scoring.id)
        .join(Scoring, Scoring.scoring_set_id == ScoringSet.id)
        .join(Submission, Submission.id == Scoring.submission_id)
        .join(Standing, Standing.scoring_id == Scoring.id)
        .where(past, Scoring.state == State.SCORED)
    )
    with database.read() as session:
        return {(row[0], row[1], row[2], row[3]) for row in session.execute(stood)} | {
            (scoring_set, run.system_id, run.late, run.scoring_id)
            for scoring_set, runs in scored_runs(session, of_sets=~past).items()
            for run in standing_runs(runs, RunChoice.PRIMARY, lambda _: None, "none")
        }


def standing_kept(database: Database) -> set[tuple[int, int, bool, int]]:
    """The same, as the rows that boards read say it."""
    columns = Standing.scoring_set_id, Standing.system_id, Standing.late, Standing.scoring_id
    with database.read() as session:
        return {(row[0], row[1], row[2], row[3]) for row in session.execute(sa.select(*columns))}
