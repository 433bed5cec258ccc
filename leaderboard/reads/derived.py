"""What the worker derived for a board: rank ranges and the leader's group, and the draws that they come from."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.models import Board
from leaderboard.rules.settings import Subset

__all__ = ["Derived", "derived_figures"]


@dataclass(frozen=True, slots=True)
class Derived:
    """ranks: scoring -> the lowest and the highest rank that it takes in resamples of the queries; leaders: scorings
    that can't be told apart from the first at `level`, itself included. permutations: those of the test that says so; 0
    where it was not made."""

    ranks: Mapping[int, tuple[int, int]]
    leaders: frozenset[int]
    level: float
    resamples: int
    permutations: int
    seed: int


def derived_figures(
    session: Session, scoring_set_id: int, measure: str, subset: Subset, ranked: Collection[int]
) -> Derived | None:
    """None before the worker came to it.

    Ranks and leaders are given only for exactly the scorings `ranked`: among other runs (a reader's own choice, or one
    that has just been scored) they would be others.
    """
    figures = session.scalar(
        sa.select(Board.figures).where(
            Board.scoring_set_id == scoring_set_id, Board.measure == measure, Board.subset == subset
        )
    )
    if figures is None:
        return None
    ranks = {int(scoring): (low, high) for scoring, (low, high) in figures["ranks"].items()}
    fits = ranks.keys() == set(ranked)
    return Derived(
        ranks=ranks if fits else {},
        leaders=frozenset(figures["leaders"] if fits else ()),
        level=figures["level"],
        resamples=figures["resamples"],
        permutations=figures["tukey"]["resamples"] if fits and figures["tukey"] else 0,
        seed=figures["seed"],
    )
