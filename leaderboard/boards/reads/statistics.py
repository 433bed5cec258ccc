"""What the worker has of a board: rank sets, the best, what the queries can tell, as its reader may know it; how many
runs are queued, and which could not be scored."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.boards.models import Board
from leaderboard.boards.reads.entries import Entry
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Subset
from leaderboard.statistics import Detectable, SwapRate
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import IS_WANTED, lost_in, on_boards
from leaderboard.submissions.rules import SetState, State
from leaderboard.worker.models import IN_QUEUE, Scoring, ScoringSet


@dataclass(frozen=True, slots=True)
class Lead:
    """How few queries the lead rests on (`statistics.Fragility`), with scorings for systems.

    removed  how many queries have to go; 0 where there is no such set, and `reason` says why
    named    ids of such queries, where they are few
    then     scorings that are first without them
    """

    leader: int | None
    removed: int
    named: tuple[str, ...]
    then: tuple[int, ...]
    queries: int
    reason: str | None


@dataclass(frozen=True, slots=True)
class ToldByQueries:
    """of_logarithms: whether differences are those of mean logarithms, so that e to their power is a ratio of two
    geometric means. swaps: by rising size; empty where they were not counted."""

    lead: Lead
    detectable: Detectable
    of_logarithms: bool
    swaps: tuple[SwapRate, ...]


def told_by_queries(kept: Mapping[str, Any] | None) -> ToldByQueries | None:
    """From what the worker keeps of a board; None where it kept nothing, since fewer than two runs are ranked."""
    if kept is None:
        return None
    lead = kept["lead"]
    return ToldByQueries(
        lead=Lead(**{**lead, "named": tuple(lead["named"]), "then": tuple(lead["then"])}),
        detectable=Detectable(**kept["detectable"]),
        of_logarithms=kept["of_logarithms"],
        swaps=tuple(SwapRate(**rate) for rate in kept["swaps"]),
    )


@dataclass(frozen=True, slots=True)
class BoardStatistics:
    """What the worker computed for a board besides means and intervals.

    ranks           scoring -> the ends of its rank set at `confidence`, all sets right at once; empty where nothing is
                    said of ranks
    above_baselines  scorings that are significantly better than every baseline
    resamples       that the intervals come from
    rank_resamples, rank_queries  that the rank sets come from; 0 where they were not looked for. While details are
                    closed the queries are those that the figures are said to be over, and the resamples None
    needed_queries  how many rank sets need, where that is why there are none
    told            what the queries can tell of the ranked runs; None while details are closed
    """

    ranks: Mapping[int, tuple[int, int]]
    above_baselines: frozenset[int]
    confidence: float
    resamples: int
    rank_resamples: int | None
    rank_queries: int
    needed_queries: int | None
    seed: int
    told: ToldByQueries | None


def statistics_of(figures: Mapping[str, Any], ranked: Collection[int]) -> BoardStatistics:
    """Of the figures that the worker has computed.

    Rank sets are given only if they were computed over exactly the scorings `ranked`: they say nothing of
    another set of runs, such as a reader's own choice, or one with a run that has just been scored.
    """
    ranks = {int(scoring): (low, high) for scoring, (low, high) in figures["ranks"].items()}
    fits = set(figures["ranked"]) == set(ranked)
    return BoardStatistics(
        ranks=ranks if fits else {},
        above_baselines=frozenset(figures["above_baselines"] if fits else ()),
        confidence=figures["confidence"],
        resamples=figures["resamples"],
        rank_resamples=figures["rank_resamples"],
        rank_queries=figures["rank_queries"],
        needed_queries=figures["needed_queries"],
        seed=figures["seed"],
        told=told_by_queries(figures["queries"]) if fits else None,
    )


def as_rounded(
    statistics: BoardStatistics, entries: Sequence[Entry], places: Mapping[int, int], queries: int, *, hide: bool
) -> BoardStatistics:
    """The statistics for a reader who sees rounded means: of systems that share a rank they tell none from another.

    A rank set takes in every place that the shared rank stands for, so whoever shares the first rank may be the best.
    What the queries can tell is left out: all of it is worked out from single queries' values. So is how many queries
    have a value, and how many resamples were drawn, which on a very large board follows from that.

    queries  that the rounded figures are said to be over
    hide     whether to leave out the rank sets: where nothing has an interval, because the queries are too few; and
             where the best run stands and two read alike, since that they are given for the one that stands would say
             that it is better
    """
    if hide:
        return replace(
            statistics,
            ranks={},
            above_baselines=frozenset(),
            rank_resamples=0,
            rank_queries=0,
            needed_queries=None,
            told=None,
        )
    shared = Counter(places.values())
    rank = {entry.scoring_id: places[entry.submission_id] for entry in entries if entry.submission_id in places}
    ranks = {
        scoring: (min(low, rank[scoring]), max(high, rank[scoring] + shared[rank[scoring]] - 1))
        for scoring, (low, high) in statistics.ranks.items()
    }
    return replace(
        statistics, ranks=ranks, above_baselines=frozenset(), rank_resamples=None, rank_queries=queries, told=None
    )


@dataclass(frozen=True, slots=True)
class ParkedRun:
    """A run that could not be scored for a reason of ours. holds_up: a re-scoring waits for it, so the board is old."""

    submission_id: int
    reason: str
    holds_up: bool


def parked_runs(session: Session, evaluation: Evaluation) -> tuple[ParkedRun, ...]:
    """Failed runs of the current set and of one that is being made, each once."""
    holds_up = lost_in().where(ScoringSet.state == SetState.BUILDING).with_only_columns(Scoring.id)
    rows = session.execute(
        sa.select(Scoring, Scoring.id.in_(holds_up.correlate(None)))
        .join(ScoringSet)
        .join(Submission)
        .where(_has_failed(evaluation), on_boards())
        .order_by(Scoring.submission_id, ScoringSet.id)
    ).all()
    return tuple(
        {
            scoring.submission_id: ParkedRun(scoring.submission_id, scoring.failure, holds) for scoring, holds in rows
        }.values()
    )


def _has_failed(evaluation: Evaluation) -> sa.ColumnElement[bool]:
    """A condition on ScoringSet and Scoring."""
    return sa.and_(ScoringSet.evaluation_id == evaluation.id, IS_WANTED, Scoring.state == State.FAILED)


def of_worker(
    session: Session, evaluation: Evaluation, scoring_set: ScoringSet, measure: str, subset: Subset, organised: bool
) -> tuple[dict[str, Any] | None, int, int, bool]:
    """The figures of a board that the worker has computed, None before that; how many runs are queued or being scored
    in the current set, and in one that is building; for organisers whether `parked_runs` may find any. In one
    statement."""
    unfinished = (
        sa.select(sa.func.count())
        .select_from(Scoring)
        .join(ScoringSet, ScoringSet.id == Scoring.scoring_set_id)
        .join(Scoring.submission)
        .where(
            ScoringSet.evaluation_id == evaluation.id,
            ScoringSet.source == evaluation.official_source,
            on_boards(),
            sa.text(IN_QUEUE),  # by the queue's index, which has no scored run
        )
    )
    failed = sa.select(Scoring.id).join(ScoringSet).where(_has_failed(evaluation))
    of_board = Board.scoring_set_id == scoring_set.id, Board.measure == measure, Board.subset == subset
    row = session.execute(
        sa.select(
            sa.select(Board.figures).where(*of_board).scalar_subquery(),
            *(
                unfinished.where(ScoringSet.state == state).scalar_subquery()
                for state in (SetState.CURRENT, SetState.BUILDING)
            ),
            failed.exists() if organised else sa.false(),
        )
    ).one()
    return row[0], row[1], row[2], row[3]


def received_runs(session: Session, evaluation: Evaluation) -> int:
    """How many runs of the evaluation boards may show, scored or not."""
    return session.scalar(sa.select(sa.func.count()).where(Submission.evaluation_id == evaluation.id, on_boards())) or 0
