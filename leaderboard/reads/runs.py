"""The scored runs of a set as arrays: whose they are, without a row for each."""

from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.metrics.ranking import Bools, Ints
from leaderboard.models import Scoring, ScoringSet, Submission, System
from leaderboard.rules.standings import SystemKind
from leaderboard.rules.states import State

__all__ = ["Runs", "load_runs"]


@dataclass(frozen=True, slots=True)
class Runs:
    """own: whether a run is of a team of the reader's. several: whether a system has more than one."""

    submissions: Ints
    scorings: Ints
    systems: Ints
    late: Bools
    baseline: Bools
    own: Bools
    several: bool


def load_runs(session: Session, actor: Actor, scoring_set: ScoringSet, which: sa.ColumnElement[bool]) -> Runs:
    """Those scored in that set, by a condition on Scoring and Submission; in no order, in one statement.

    A row for each system, in which the ids of its runs stand as text: a row for each run takes twice as long.
    """
    is_baseline = Submission.system_id.in_(sa.select(System.id).where(System.kind == SystemKind.BASELINE))
    both = sa.cast(Submission.id, sa.String) + "," + sa.cast(Scoring.id, sa.String)
    of_each = Submission.system_id, Submission.team_id, Submission.late
    rows = session.execute(
        sa.select(*of_each, is_baseline, sa.func.count(), sa.func.aggregate_strings(both, ","))
        .join(Scoring, Scoring.submission_id == Submission.id)
        .where(Scoring.scoring_set_id == scoring_set.id, Scoring.state == State.SCORED, which)
        .group_by(*of_each)
    ).all()
    texts = ",".join(str(row[-1]) for row in rows)
    ids = np.array(texts.split(",") if texts else [], dtype=np.int64).reshape(-1, 2)
    groups = [(system, team in actor.teams, late, baseline, count) for system, team, late, baseline, count, _ in rows]
    numbers = np.array(groups, dtype=np.int64).reshape(-1, 5)
    systems, own, late, baseline, _ = np.repeat(numbers, numbers[:, 4], axis=0).T
    several = len(np.unique(systems)) < len(systems)
    return Runs(ids[:, 0], ids[:, 1], systems, late.astype(bool), baseline.astype(bool), own.astype(bool), several)
