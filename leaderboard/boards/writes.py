"""What a board shows beyond means (intervals, rank sets, what the queries can tell), computed anew after every change.

This may take seconds, so `refresh` reads, then computes outside of any transaction, and writes last. What is kept names
the runs that it was computed over, and `due` compares these with the runs that stand now where a change was noted
(`BoardGeneration`), so no other service has to remember which boards its change makes outdated. One worker at a time is
at the boards of a set, under a lease. Old boards that an import brought in are worked out once, when all of their runs
are scored.

Rank sets are computed among the runs that the board ranks (one a system by the campaign's rule, received in time), so
that a rank and its set are of the same runs; baselines that stand are compared with them and push no rank. All other
scored runs have an interval only.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics, statistics
from leaderboard.audit.rules import short
from leaderboard.boards.models import Board, Standing
from leaderboard.boards.reads.ranking import stands_by
from leaderboard.campaigns.models import Campaign
from leaderboard.db import Database, clock
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import ScoringSettings, Subset
from leaderboard.frozen import frozen
from leaderboard.generations.models import BoardGeneration
from leaderboard.judgments.models import Query
from leaderboard.metrics.aggregation import GEOMETRIC_MEAN
from leaderboard.metrics.families.detection import measures_beside
from leaderboard.results.reads.run import columns_over, load_vectors
from leaderboard.submissions import rules
from leaderboard.submissions.reads.selection import scored_runs
from leaderboard.worker.models import OF_THE_PAST, Score, Scoring, ScoringSet

FIGURES_VERSION = 8  # of how a board's figures are computed and kept; those of another version are computed anew

DRAWN = 20_000_000  # queries drawn for one measure at most, about a second: many queries get fewer resamples
PAIRS_UP_TO = 1_000_000  # pairs × queries: a larger board has its pairs compared under the primary measure only
EQUAL = 1e-12
STANDS = ScoringSet.state.in_(rules.STANDING)
OLD = sa.and_(  # brought in as superseded
    ScoringSet.state == rules.SetState.SUPERSEDED,
    sa.exists().where(Scoring.scoring_set_id == ScoringSet.id, sa.text(OF_THE_PAST)),
)
NAMED_QUERIES = 5  # that the lead rests on: of more only the number is kept
LEASE_SECONDS = 120.0  # a worker that died keeps the others from a set's boards no longer
WRITTEN_AT_ONCE = 500  # intervals in one transaction, since SQLite has one writer at a time

Ends = Mapping[int, tuple[float, float]]  # scoring -> the ends of its interval
KeptEnds = tuple[float | None, float | None]
KeptFigure = tuple[float | None, int, float | None, float | None]  # mean, count and the ends of the interval
NO_ENDS: KeptEnds = (None, None)
Means = dict[tuple[str, Subset], dict[int, float | None]]  # (measure, subset) -> scoring -> mean


class Due(NamedTuple):
    """A measure of a standing scoring set whose board figures have to be computed (again)."""

    scoring_set_id: int
    measure: str


class Lineup(NamedTuple):
    """The scorings on a board: those ranked against each other, the baselines that they are compared with, and the
    others, which have an interval only."""

    ranked: tuple[int, ...]
    baselines: tuple[int, ...]
    others: tuple[int, ...]

    @property
    def all(self) -> tuple[int, ...]:
        return (*self.ranked, *self.baselines, *self.others)

    @property
    def digest(self) -> str:
        return short([*self])


class StandingSet(NamedTuple):
    """What the statistics of a scoring set depend on that stands for its source of judgments, or that is old."""

    rule: rules.RunChoice
    settings: ScoringSettings
    is_old: bool = False
    generation: int = 0


@frozen
class _Work:
    """What is computed from: one measure over one subset of the queries.

    subsets        whose figures they are: with no hidden queries those of both
    queries        ids of the queries, in the order of the values
    columns        scoring -> the measure's columns, for every run of the lineup that has values
    figures        scoring -> what is kept now
    compare_pairs  whether to look for rank sets too, and to count how often sets of queries disagree
    generation     of the evaluation's boards, as it was before the runs were read
    """

    measure: metrics.Measure
    settings: ScoringSettings
    subsets: tuple[Subset, ...]
    lineup: Lineup
    queries: list[str]
    columns: dict[int, metrics.Columns]
    figures: dict[int, KeptFigure]
    compare_pairs: bool
    generation: int

    def columns_of(self, runs: Iterable[int]) -> dict[str, metrics.Columns]:
        """Of those that have values."""
        return {str(run): self.columns[run] for run in runs if run in self.columns}


def due(session: Session, older_than: float = 0.0, looked: dict[int, Any] | None = None) -> list[Due]:
    """The measures whose board figures were computed over other runs than stand now, primary measures first; last those
    of old boards that have none yet. Runs are read only of sets where something changed since.

    older_than  seconds: leaves out figures that were computed more recently than that, to save time while runs wait
    looked      what a caller keeps from one call to the next: sets in which all was right in spite of a change
    """
    terms, looked = _terms(session, STANDS), {} if looked is None else looked
    ends = (of(column) for column in (Board.version, Board.generation) for of in (sa.func.min, sa.func.max))
    of_sets = sa.select(Board.scoring_set_id, sa.func.count(), *ends).where(Board.scoring_set_id.in_(terms))
    kept = {row[0]: tuple(row[1:]) for row in session.execute(of_sets.group_by(Board.scoring_set_id))}
    states = {set_id: (own.generation, kept.get(set_id)) for set_id, own in terms.items()}
    terms = {
        set_id: own
        for set_id, own in terms.items()
        if kept.get(set_id) != (len(own.settings.measures) * len(Subset), *[FIGURES_VERSION] * 2, *[own.generation] * 2)
        and looked.get(set_id) != states[set_id]
    }
    if not terms:
        return _due_of_old(session)
    due_now = set()
    runs = scored_runs(session, of_sets=ScoringSet.id.in_(terms))
    means = best_means(session, terms)
    columns = Board.version, Board.figures["over"].as_string(), Board.refreshed_at <= clock(-older_than)
    of_boards = sa.select(Board.scoring_set_id, Board.measure, Board.subset, *columns)
    rows = session.execute(of_boards.where(Board.scoring_set_id.in_(terms)))
    stored = {tuple(row[:3]): tuple(row[3:]) for row in rows}
    for set_id, own in terms.items():
        looked[set_id] = states[set_id]
        for board, lineup in lineups_of(runs.get(set_id, []), own, means.get(set_id, {})).items():
            version, digest, is_old = stored.get((set_id, *board), (None, None, True))
            if set_id in runs if version is None else (version, digest) != (FIGURES_VERSION, lineup.digest):
                looked.pop(set_id, None)
                if is_old:
                    due_now.add((own.settings.measures.index(board[0]), Due(set_id, board[0])))
    return [*(board for _, board in sorted(due_now)), *_due_of_old(session)]


def _due_of_old(session: Session) -> list[Due]:
    """Of old boards whose runs are all scored."""
    terms = _terms(session, OLD)
    rows = session.execute(sa.select(Board.scoring_set_id, Board.measure).where(Board.scoring_set_id.in_(terms)))
    stored = set(map(tuple, rows))
    every = (Due(set_id, name) for set_id, own in sorted(terms.items()) for name in own.settings.measures)
    lacking = [board for board in every if board not in stored]
    waiting, scored = (
        sa.exists().where(Scoring.scoring_set_id == ScoringSet.id, Scoring.state.in_(states))
        for states in (rules.UNFINISHED, (rules.State.SCORED,))
    )
    of_sets = ScoringSet.id.in_({board.scoring_set_id for board in lacking}), ~waiting, scored
    ready = set(session.scalars(sa.select(ScoringSet.id).where(*of_sets))) if lacking else ()
    return [board for board in lacking if board.scoring_set_id in ready]


def refresh(database: Database, wanted: Due) -> bool:
    """Computes the figures of one measure and keeps them. False when nothing was kept, because they are not due (any
    more), or another worker is at the set's boards."""
    unseen = {"synchronize_session": False}
    of_set = sa.update(ScoringSet).where(ScoringSet.id == wanted.scoring_set_id).execution_options(**unseen)
    until = ScoringSet.refreshing_until  # far ahead where a clock that was wrong set it: that holds nothing up
    free = sa.or_(until.is_(None), until < clock(), until > clock(2 * LEASE_SECONDS))
    with database.write() as session:
        lease = of_set.where(free).values(refreshing_until=clock(LEASE_SECONDS)).returning(ScoringSet.id)
        if session.scalar(lease) is None:
            return False
    try:
        return _refresh(database, wanted)
    finally:
        with database.write() as session:
            session.execute(of_set.values(refreshing_until=None))


def _refresh(database: Database, wanted: Due) -> bool:
    with database.read() as session:
        as_of = session.scalars(sa.select(clock())).one()
        works = _read(session, wanted)
        own = Board.scoring_set_id == wanted.scoring_set_id, Board.measure == wanted.measure
        columns = Board.subset, Board.version, Board.figures["over"].as_string()
        stored = {
            subset: (version, digest) for subset, version, digest in session.execute(sa.select(*columns).where(*own))
        }
        right = ((subset, (FIGURES_VERSION, work.lineup.digest)) for work in works for subset in work.subsets)
        if all(stored.get(subset) == over for subset, over in right):
            return False
    for work in works:
        ends, figures = _derive(work)
        changed = {run: pair for run, pair in ends.items() if differs(pair, work.figures[run][2:])}
        packed = packed_figures({run: (*own[:2], *changed.get(run, own[2:])) for run, own in work.figures.items()})
        rows = [
            {"scoring_id": run, "measure": wanted.measure, "subset": subset, "low": low, "high": high}
            for run, (low, high) in changed.items()
            for subset in work.subsets
        ]
        for start in range(0, len(rows), WRITTEN_AT_ONCE):
            with database.write() as session:
                session.execute(sa.update(Score), rows[start : start + WRITTEN_AT_ONCE])
        with database.write() as session:
            for subset in work.subsets:
                key = {**wanted._asdict(), "subset": subset}
                kept = {"version": FIGURES_VERSION, "generation": work.generation, "refreshed_at": as_of}
                session.merge(Board(**key, **packed, figures=figures, **kept))
    return bool(works)


def recomputed(session: Session) -> Iterator[tuple[str, int, str, Any, Any]]:
    """(table, id of its row, which figure, what is kept, what computing it anew gives) of what differs by more than
    rounding in the boards of standing sets; leaves out those that are `due`, and keeps nothing."""
    waiting = set(due(session))
    names = sa.select(Board.scoring_set_id, Board.measure).join(ScoringSet).where(STANDS).distinct()
    for wanted in sorted({Due(*row) for row in session.execute(names)} - waiting):
        for work in _read(session, wanted):
            ends, figures = _derive(work)
            right = json.loads(json.dumps(figures))  # as a database gives them back
            for subset in work.subsets:
                for table, number, what, stored, computed in _compared(session, wanted, subset, work, ends, right):
                    yield table, number, f"{what}, {wanted.measure} over {subset.value} queries", stored, computed


def _compared(
    session: Session, wanted: Due, subset: Subset, work: _Work, ends: Ends, right: Mapping[str, Any]
) -> Iterator[tuple[str, int, str, Any, Any]]:
    """What `recomputed` gives, of one board. right: the figures that it should keep beside the intervals of its runs"""
    intervals: dict[int, KeptEnds] = {run: own[2:] for run, own in _figures(session, wanted, subset).items()}
    # Without intervals of its own, the measure's were worked out when the run was scored.
    for run in intervals.keys() & set(work.lineup.all) if work.measure.has_interval else ():
        stored, intervals[run] = intervals[run], ends.get(run, NO_ENDS)
        if differs(intervals[run], stored):
            yield "scoring", run, "interval", stored, intervals[run]
    columns = Board.figures, Board.scorings, Board.lows, Board.highs
    own = Board.scoring_set_id == wanted.scoring_set_id, Board.measure == wanted.measure, Board.subset == subset
    # One row, but where a table that is not ours inherits from it, which is told elsewhere.
    for figures, runs, *packed in session.execute(sa.select(*columns).where(*own)).all():
        pairs = {name: (figures.get(name), right.get(name)) for name in sorted(figures.keys() | right.keys())}
        expected = np.array([intervals.get(run, NO_ENDS) for run in runs.tolist()], float).reshape(-1, 2).T
        if wrong := (~np.isclose(packed, expected, rtol=1e-9, atol=EQUAL, equal_nan=True)).any(axis=0).sum():
            pairs["intervals of its runs"] = (f"{wrong} that differ", "none")
        for name, (stored, computed) in pairs.items():
            if differs(computed, stored):
                yield "scoring_set", wanted.scoring_set_id, name, stored, computed


def _terms(session: Session, *of_sets: sa.ColumnElement[bool]) -> dict[int, StandingSet]:
    """Id of a set -> its campaign's rule, its settings and the generation of its boards."""
    number = sa.func.coalesce(BoardGeneration.number, 0)
    statement = sa.select(ScoringSet, Campaign.run_choice, number).select_from(ScoringSet).join(Evaluation)
    rows = session.execute(
        statement.join(Campaign)
        .outerjoin(BoardGeneration, BoardGeneration.evaluation_id == Evaluation.id)
        .where(*of_sets)
    )
    of_past = rules.SetState.SUPERSEDED
    return {own.id: StandingSet(rule, own.settings, own.state is of_past, number) for own, rule, number in rows}


def best_means(session: Session, terms: Mapping[int, StandingSet]) -> dict[int, Means]:
    """Id of a set -> its means, for sets of campaigns where the best run stands."""
    sets = [set_id for set_id, own in terms.items() if own.rule is rules.RunChoice.BEST]
    means: dict[int, Means] = {}
    if sets:
        columns = Scoring.scoring_set_id, Score.measure, Score.subset, Scoring.id, Score.mean
        rows = sa.select(*columns).join(Scoring).where(Scoring.scoring_set_id.in_(sets))
        for set_id, measure, subset, scoring_id, mean in session.execute(rows):
            means.setdefault(set_id, {}).setdefault((measure, subset), {})[scoring_id] = mean
    return means


def lineups_of(runs: Sequence[rules.ScoredRun], terms: StandingSet, means: Means) -> dict[tuple[str, Subset], Lineup]:
    """(measure, subset) -> the runs on that board. Where the best run stands, each board may have another one."""

    def lineup(board: tuple[str, Subset]) -> Lineup:
        own, direction = means.get(board, {}), metrics.parse(board[0]).direction
        return _lineup(runs, rules.selected_runs(runs, terms.rule, lambda run: own.get(run.scoring_id), direction))

    boards = [(measure, subset) for measure in terms.settings.measures for subset in terms.settings.subsets]
    if terms.rule is not rules.RunChoice.BEST:
        return dict.fromkeys(boards, lineup(boards[0]))
    return {board: lineup(board) for board in boards}


def _lineup(runs: Iterable[rules.ScoredRun], standing: Sequence[rules.ScoredRun]) -> Lineup:
    ranked = sorted(run.scoring_id for run in standing if rules.is_ranked(run))
    baselines = sorted(run.scoring_id for run in standing if run.is_baseline)
    placed = {*ranked, *baselines}
    others = (run.scoring_id for run in runs if run.scoring_id not in placed and not run.off_board)
    return Lineup(tuple(ranked), tuple(baselines), tuple(others))


def _read(session: Session, wanted: Due) -> list[_Work]:
    """What to compute, one for each subset with figures of its own; empty when the set stands no longer."""
    set_id, of_set = wanted.scoring_set_id, ScoringSet.id == wanted.scoring_set_id
    terms = _terms(session, of_set, sa.or_(STANDS, OLD)).get(set_id)
    if terms is None or wanted.measure not in terms.settings.measures:
        return []
    runs = scored_runs(session, of_sets=of_set).get(set_id, [])
    lineups = lineups_of(runs, terms, best_means(session, {set_id: terms}).get(set_id, {}))
    measure, settings, is_best = metrics.parse(wanted.measure), terms.settings, terms.rule is rules.RunChoice.BEST
    is_primary = wanted.measure == settings.measures[0]
    if terms.is_old and (is_primary or not is_best):  # the best run by another measure is found among all
        for subset in settings.subsets:
            way = rules.StoredChoice(terms.rule, subset if is_best else Subset.ALL)
            stood = sa.select(Standing.scoring_id).where(Standing.scoring_set_id == set_id, stands_by(way))
            ids = set(session.scalars(stood))
            lineups[wanted.measure, subset] = _lineup(runs, [run for run in runs if run.scoring_id in ids])
    names = [wanted.measure, *map(str, measures_beside(measure, settings.no_relevant.value))]
    positions: dict[str, int] = dict(
        session.execute(
            sa.select(Query.external_id, Query.position)
            .join(ScoringSet, ScoringSet.evaluation_id == Query.evaluation_id)
            .where(of_set, Query.position < settings.queries)
        ).all()
    )
    queries = metrics.query_order(positions)
    order, scorings = [positions[query] for query in queries], sa.select(Scoring.id).join(ScoringSet).where(of_set)
    works = []
    for subset in settings.subsets:
        lineup, vectors = lineups[wanted.measure, subset], load_vectors(session, scorings, names, subset)
        columns_of = ((run, columns_over(measure, vectors.get(run, {}), order, settings)) for run in lineup.all)
        columns = {run: own for run, own in columns_of if own is not None}
        pairs = math.comb(len(lineup.ranked) + len(lineup.baselines), 2)
        compare = is_primary or pairs * max(1, settings.queries) <= PAIRS_UP_TO
        subsets = (subset,) if len(settings.subsets) > 1 else tuple(Subset)
        figures = _figures(session, wanted, subset)
        own = measure, settings, subsets, lineup, queries, columns, figures, compare, terms.generation
        works.append(_Work(*own))
    return works


def _figures(session: Session, wanted: Due, subset: Subset) -> dict[int, KeptFigure]:
    """Scoring -> the figure that is kept of it."""
    of_set = Scoring.scoring_set_id == wanted.scoring_set_id
    of_score = Score.measure == wanted.measure, Score.subset == subset
    figure = Score.mean, Score.count, Score.low, Score.high
    rows = session.execute(sa.select(Score.scoring_id, *figure).join(Scoring).where(of_set, *of_score))
    return {run: (mean, count, low, high) for run, mean, count, low, high in rows}


def _derive(work: _Work) -> tuple[Ends, dict[str, Any]]:
    """(scoring -> the ends of its interval, what the board keeps)."""
    measure, setting, lineup = work.measure, work.settings.metric, work.lineup
    aggregation, least = measure.family.aggregation, statistics.least_queries(measure, setting)
    limits = statistics.NO_LIMITS if measure.is_count else measure.range(setting)
    resamples = statistics.affordable_resamples(work.settings.queries, DRAWN)
    computed = statistics.board_statistics(
        work.columns_of((*lineup.ranked, *lineup.baselines)),
        aggregation,
        direction=measure.direction,
        baselines=set(map(str, lineup.baselines)),
        limits=limits,
        least=least,
        resamples=resamples,
        compare_pairs=work.compare_pairs,
    )
    others = work.columns_of(lineup.others)
    alone = statistics.intervals(
        list(others.values()), aggregation, limits=limits, least=least.for_interval, resamples=resamples
    )
    intervals = {**computed.intervals, **dict(zip(others, alone, strict=True))}
    ends = {
        int(run): (interval.low, interval.high)
        for run, interval in intervals.items()
        if interval.low is not None and interval.high is not None
    }
    ranks = computed.ranks
    return ends, {
        "over": lineup.digest,
        "runs": len(lineup.all),
        "confidence": statistics.CONFIDENCE,
        "resamples": resamples,
        "seed": statistics.SEED,
        "ranked": [run for run in lineup.ranked if run in work.columns and work.figures[run][0] is not None],
        "ranks": {run: [own.low, own.high] for run, own in computed.rank_sets.items() if own.rank is not None},
        "rank_resamples": ranks.resamples if ranks else 0,
        "rank_queries": ranks.queries if ranks else 0,
        "needed_queries": None if ranks is None or ranks.reason is None else least.for_ranks,
        "above_baselines": [int(run) for run in computed.above],
        "may_be_best": [int(run) for run in computed.best],
        "queries": _power_and_fragility(work, (ranks.critical, ranks.deviation) if ranks else (0.0, 0.0)),
    }


def _power_and_fragility(work: _Work, of_ranks: tuple[float, float]) -> dict[str, Any] | None:
    """What the queries can tell of the ranked runs, and how few of them the lead rests on; None without two runs, and
    below LEAST_QUERIES queries. of_ranks: critical value and deviation of the rank sets, 0 where nothing is compared"""
    aggregation, direction = work.measure.family.aggregation, work.measure.direction
    columns = work.columns_of(work.lineup.ranked)
    if direction == "none" or len(columns) < 2:
        return None
    lead = statistics.fragility(columns, aggregation, direction=direction)
    means = np.array([aggregation.combine(own, None) for own in columns.values()])
    best_first = np.argsort(statistics.competition_ranks(means, direction), kind="stable")
    contributions = [statistics.contributions(own, aggregation) for own in columns.values()]
    values = np.stack(contributions, axis=1)[:, best_first]
    detectable = statistics.detectable_by_pairs(values, *of_ranks)
    if detectable.queries < statistics.LEAST_QUERIES:
        return None
    counts = work.compare_pairs and detectable.deviation
    return {
        "lead": {
            **lead._asdict(),
            "leader": lead.leader and int(lead.leader),
            "removed": len(lead.removed),
            "named": [work.queries[index] for index in lead.removed] if len(lead.removed) <= NAMED_QUERIES else [],
            "then": [int(run) for run in lead.then],
        },
        "of_logarithms": aggregation is GEOMETRIC_MEAN,
        "swaps": [asdict(rate) for rate in statistics.swap_rates(values, counts)] if counts else [],
        "detectable": asdict(detectable),
    }


def differs(new: Any, old: Any) -> bool:
    """Whether figures, or what holds them, differ by more than rounding: sums run in another order when there are more
    or fewer runs, and on another processor."""
    match new, old:
        case float(), float():
            return not math.isclose(new, old, abs_tol=EQUAL)
        case dict(), dict():
            return new.keys() != old.keys() or any(differs(new[name], old[name]) for name in new)
        case ((list() | tuple()), (list() | tuple())):
            return len(new) != len(old) or any(map(differs, new, old))
    return bool(new != old)


def packed_figures(figures: Mapping[int, KeptFigure]) -> dict[str, Any]:
    """The columns of `Board` that hold these, given by their scorings."""
    scorings = sorted(figures)
    numbers = np.array([figures[scoring] for scoring in scorings], dtype=np.float64).reshape(-1, 4)
    packed = dict(zip(("means", "counts", "lows", "highs"), map(np.ascontiguousarray, numbers.T), strict=True))
    return {"scorings": np.array(scorings, dtype=np.int64), **packed}
