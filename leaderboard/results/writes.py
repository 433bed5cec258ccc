"""Which teams of closed evaluations have to be left out one by one (again), and what came of it."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.boards.writes import standing_lineup
from leaderboard.db import clock
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Phase, phase_of
from leaderboard.generations.models import BoardGeneration
from leaderboard.results.models import TeamFinds
from leaderboard.scoring.team_finds import TeamRun
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import select_scored_runs
from leaderboard.submissions.rules import UNFINISHED, ScoredRun, State
from leaderboard.worker.messages import LeaveTeamsOut
from leaderboard.worker.models import Scoring, ScoringSet
from leaderboard.worker.reads import IS_CURRENT


class DueTeams(NamedTuple):
    """generation: of the evaluation's boards, by which it is worked out."""

    job: LeaveTeamsOut
    generation: int


def due_team_finds(session: Session) -> Iterator[DueTeams]:
    """Current sets of closed evaluations whose runs are all scored, and that have no finds by the runs of now."""
    number = sa.func.coalesce(BoardGeneration.number, 0)
    of_set = Scoring.scoring_set_id == ScoringSet.id
    waiting, scored = (sa.exists().where(of_set, Scoring.state.in_(states)) for states in (UNFINISHED, (State.SCORED,)))
    is_kept = sa.and_(
        TeamFinds.scoring_set_id == ScoringSet.id,
        TeamFinds.measure == ScoringSet.primary_measure,
        TeamFinds.generation == number,
    )
    rows = session.execute(
        sa.select(ScoringSet, Evaluation, number, clock())
        .join(Evaluation, Evaluation.id == ScoringSet.evaluation_id)
        .outerjoin(BoardGeneration, BoardGeneration.evaluation_id == Evaluation.id)
        .outerjoin(TeamFinds, is_kept)
        .where(IS_CURRENT, Evaluation.closes_at <= clock(), TeamFinds.scoring_set_id.is_(None), ~waiting, scored)
        .order_by(ScoringSet.id)
    )
    for made, evaluation, generation, now in rows.all():
        if phase_of(evaluation, now) is Phase.CLOSED:
            level, runs = made.settings.relevance_level, _runs(session, made)
            yield DueTeams(LeaveTeamsOut(made.id, made.primary_measure, level, runs), generation)


def _runs(session: Session, made: ScoringSet) -> tuple[TeamRun, ...]:
    """All scored runs in time that are on boards."""
    standing = standing_lineup(session, made)
    columns = Submission.team_id, Submission.threshold
    rows = session.execute(select_scored_runs(*columns, of_sets=ScoringSet.id == made.id).order_by(Scoring.id))
    runs = ((ScoredRun(*run), team, threshold) for *run, team, threshold in rows)
    return tuple(
        TeamRun(
            0 if run.is_baseline else team, run.submission_id, run.scoring_id, threshold, run.scoring_id in standing
        )
        for run, team, threshold in runs
        if not (run.late or run.off_board)
    )


def keep_team_finds(session: Session, due: DueTeams, finds: dict[str, Any] | None) -> None:
    """None: not all of it is known yet."""
    if finds is not None:
        own = {"scoring_set_id": due.job.scoring_set_id, "measure": due.job.measure, "generation": due.generation}
        session.merge(TeamFinds(**own, finds=finds))
