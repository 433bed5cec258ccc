"""The scored runs of sets as arrays: whose they are, without a row for each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.metrics.ranking import Bools, Ints
from leaderboard.models import Scoring, Submission, System
from leaderboard.rules.standings import SystemKind
from leaderboard.rules.states import State

__all__ = ["Runs", "load_runs"]


@dataclass(frozen=True, slots=True)
class Runs:
    """own: whether a run is of a team of the reader's."""

    submissions: Ints
    scorings: Ints
    systems: Ints
    late: Bools
    baseline: Bools
    own: Bools

    @property
    def has_several(self) -> bool:
        """Whether a system has more than one of them."""
        return len(np.unique(self.systems)) < len(self.systems)


def load_runs(session: Session, actor: Actor, sets: Iterable[int], which: sa.ColumnElement[bool]) -> dict[int, Runs]:
    """Id of a set -> its runs by a condition on Scoring and Submission; in no order, in one statement.

    A row for each system, in which the ids of its runs stand as text: a row for each run takes twice as long.
    """
    is_baseline = Submission.system_id.in_(sa.select(System.id).where(System.kind == SystemKind.BASELINE))
    both = sa.cast(Submission.id, sa.String) + "," + sa.cast(Scoring.id, sa.String)
    of_each = Scoring.scoring_set_id, Submission.system_id, Submission.team_id, Submission.late
    found: dict[int, list[Any]] = {one: [] for one in sets}
    for set_id, *row in session.execute(
        sa.select(*of_each, is_baseline, sa.func.count(), sa.func.aggregate_strings(both, ","))
        .join(Scoring, Scoring.submission_id == Submission.id)
        .where(Scoring.scoring_set_id.in_(found), Scoring.state == State.SCORED, which)
        .group_by(*of_each)
    ):
        found[set_id].append(row)
    return {set_id: _runs(rows, actor) for set_id, rows in found.items()}


def _runs(rows: Sequence[Any], actor: Actor) -> Runs:
    texts = ",".join(row[-1] for row in rows)
    ids = np.fromstring(texts, dtype=np.int64, sep=",") if texts else np.zeros(0, dtype=np.int64)
    groups = [(system, team in actor.teams, late, baseline, count) for system, team, late, baseline, count, _ in rows]
    numbers = np.array(groups, dtype=np.int64).reshape(-1, 5)
    systems, own, late, baseline, _ = np.repeat(numbers, numbers[:, 4], axis=0).T
    return Runs(ids[::2], ids[1::2], systems, late.astype(bool), baseline.astype(bool), own.astype(bool))
