"""Which teams of closed evaluations have to be left out one by one (again), and what came of it."""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.db import clock
from leaderboard.evaluations.models import Evaluation
from leaderboard.generations.models import BoardGeneration
from leaderboard.results.models import TeamFinds
from leaderboard.scoring.team_finds import TeamRun
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import select_scored_runs
from leaderboard.submissions.rules import UNFINISHED, ScoredRun, State
from leaderboard.worker.messages import LeaveTeamsOut
from leaderboard.worker.models import Scoring, ScoringSet
from leaderboard.worker.reads import IS_CURRENT


def due_team_finds(session: Session) -> Iterator[LeaveTeamsOut]:
    """Current sets of evaluations past their closing whose runs are all scored, and that have no finds by the runs of
    now: a run that comes in the grace makes them due again."""
    number = sa.func.coalesce(BoardGeneration.number, 0)
    of_set = Scoring.scoring_set_id == ScoringSet.id
    waiting, scored = (sa.exists().where(of_set, Scoring.state.in_(states)) for states in (UNFINISHED, (State.SCORED,)))
    is_kept = sa.exists().where(TeamFinds.scoring_set_id == ScoringSet.id, TeamFinds.generation == number)
    rows = session.execute(
        sa.select(ScoringSet, number)
        .join(Evaluation, Evaluation.id == ScoringSet.evaluation_id)
        .outerjoin(BoardGeneration, BoardGeneration.evaluation_id == Evaluation.id)
        .where(IS_CURRENT, Evaluation.closes_at <= clock(), ~is_kept, ~waiting, scored)
    )
    for made, generation in rows.all():
        yield LeaveTeamsOut(made.id, made.primary_measure, generation, _runs(session, made))


def _runs(session: Session, made: ScoringSet) -> tuple[TeamRun, ...]:
    """All scored runs in time that are on boards."""
    columns = Submission.team_id, Submission.threshold, Scoring.facts
    rows = session.execute(select_scored_runs(*columns, of_sets=ScoringSet.id == made.id).order_by(Scoring.id))
    runs = ((ScoredRun(*run), team, threshold, facts["lines"]) for *run, team, threshold, facts in rows)
    return tuple(
        TeamRun(0 if run.is_baseline else team, run.submission_id, run.scoring_id, threshold, lines)
        for run, team, threshold, lines in runs
        if not (run.late or run.off_board)
    )


def keep_team_finds(session: Session, job: LeaveTeamsOut, finds: dict[str, Any]) -> None:
    """Unless the set is gone. Of two workers with the same one waits for the other."""
    if session.get(ScoringSet, job.scoring_set_id, with_for_update={"key_share": True}) is not None:
        session.merge(TeamFinds(scoring_set_id=job.scoring_set_id, generation=job.generation, finds=finds))
