"""How systems are named on boards, without a run of each at hand."""

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.models import Evaluation, Pseudonym, Submission, System, Team
from leaderboard.reads.entries import SystemLabel, anonymous
from leaderboard.reads.runs import Runs
from leaderboard.reads.seen import names_seen

__all__ = ["load_labels"]


def load_labels(
    session: Session, actor: Actor, evaluation: Evaluation, boards: Sequence[tuple[dt.datetime, Runs]]
) -> dict[int, SystemLabel]:
    """System -> how the reader finds it named on the last of these boards of the evaluation that lists it, of each of
    which the runs are given with the moment by whose rules it is seen. In one statement, by the systems' ids."""
    named: dict[int, bool] = {}
    for moment, runs in boards:
        is_named = runs.baseline | names_seen(actor, evaluation, moment, runs.own)
        named.update(zip(runs.systems.tolist(), is_named.tolist(), strict=True))
    statement = (
        sa.select(System.id, System.name, System.kind, System.slug, Team.name, Team.slug)
        .join(Team, Team.id == System.team_id)
        .where(System.id.in_(sa.select(Submission.system_id).where(Submission.evaluation_id == evaluation.id)))
        .order_by(System.id)
    )
    if not all(named.values()):
        in_place = Pseudonym.system_id == System.id, Pseudonym.evaluation_id == evaluation.id
        statement = statement.outerjoin(Pseudonym, sa.and_(*in_place)).add_columns(Pseudonym.number)
    labels: dict[int, SystemLabel] = {}
    rows: Iterable[Any] = session.execute(statement)
    for system, name, kind, slug, team, team_slug, *number in rows:
        if system in named:
            label = SystemLabel(system, name, kind, slug, team, team_slug)
            labels[system] = label if named[system] else anonymous(system, kind, *number)
    return labels
