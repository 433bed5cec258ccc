"""The scoring sets and judgments that count: current, standing, newest."""

from collections.abc import Iterable, Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.db import read_so_far
from leaderboard.errors import NotFound
from leaderboard.evaluations.models import Evaluation
from leaderboard.judgments.models import JudgmentRevision
from leaderboard.submissions.rules.states import STANDING, SetState
from leaderboard.worker.models import ScoringSet

IS_CURRENT = ScoringSet.state == SetState.CURRENT


CURRENT_SETS = "current sets"  # evaluation id -> its current set or None, as far as a session of reads knows it


def current_set(session: Session, evaluation_id: int) -> ScoringSet | None:
    """The set that the evaluation's board reads, with its judgment revision; None before the first judgments."""
    return current_sets(session, [evaluation_id]).get(evaluation_id)


def standing_set(session: Session, evaluation_id: int, source: str) -> ScoringSet | None:
    """The set that stands for one source of judgments; None before its first judgments."""
    return session.scalar(
        sa.select(ScoringSet).where(
            ScoringSet.evaluation_id == evaluation_id, ScoringSet.source == source, ScoringSet.state.in_(STANDING)
        )
    )


def find_sets(session: Session, evaluation: Evaluation, ids: Sequence[int]) -> list[ScoringSet]:
    """The evaluation's sets with these ids, with their judgment revisions. Raises NotFound, and tells of no others."""
    rows = session.scalars(
        sa.select(ScoringSet)
        .join(ScoringSet.revision)
        .options(sa.orm.contains_eager(ScoringSet.revision))
        .where(ScoringSet.id.in_(ids), ScoringSet.evaluation_id == evaluation.id)
    )
    by_id = {row.id: row for row in rows}
    if by_id.keys() != {*ids}:
        raise NotFound
    return [by_id[set_id] for set_id in ids]


def newest_revision(session: Session, evaluation: Evaluation, source: str) -> JudgmentRevision | None:
    """The newest revision of a source, one that is set aside too; None before its first."""
    return session.scalar(
        sa.select(JudgmentRevision)
        .where(JudgmentRevision.evaluation_id == evaluation.id, JudgmentRevision.source == source)
        .order_by(JudgmentRevision.number.desc())
        .limit(1)
    )


def note_current_set(session: Session, evaluation_id: int, current: ScoringSet | None) -> None:
    """Has `current_sets` ask no more for a set that a statement has read beside something else, with its revision."""
    read_so_far(session, CURRENT_SETS)[evaluation_id] = current


def current_sets(session: Session, evaluation_ids: Iterable[int]) -> dict[int, ScoringSet]:
    """Evaluation id -> its current set, as `current_set` gives it; at most one statement for all."""
    wanted = list(evaluation_ids)
    known: dict[int, ScoringSet | None] = read_so_far(session, CURRENT_SETS)
    if unread := [key for key in wanted if key not in known]:
        known.update(dict.fromkeys(unread))
        sets = session.scalars(
            sa.select(ScoringSet)
            .join(ScoringSet.revision)
            .options(sa.orm.contains_eager(ScoringSet.revision))
            .where(ScoringSet.evaluation_id.in_(unread), IS_CURRENT)
        )
        known.update((scoring_set.evaluation_id, scoring_set) for scoring_set in sets)
    return {key: number for key in wanted if (number := known[key]) is not None}
