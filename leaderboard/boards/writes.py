"""What a board shows beyond means (intervals, rank sets, what the queries can tell), computed anew after every change.

This may take seconds, so `refresh` reads, then computes outside of any transaction, and writes last. What is kept names
the runs that it was computed over, and `due` compares these with the runs that stand now, so no other service has to
remember which boards its change makes outdated. One worker at a time is at the boards of a set, under a lease.
Old boards that an import brought in are worked out once, when all of their runs are scored.

Rank sets are computed among the runs that the board ranks (one a system by the campaign's rule, received in time), so
that a rank and its set are of the same runs; baselines that stand are compared with them and push no rank. All other
scored runs have an interval only.
"""

import datetime as dt
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics, statistics
from leaderboard.audit.rules import short
from leaderboard.boards.models import Board, Standing
from leaderboard.campaigns.models import Campaign
from leaderboard.db import Database, clock, insert_unless_there, locked
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import ScoringSettings, Subset
from leaderboard.judgments.models import Query
from leaderboard.metrics import Columns, Floats, Measure
from leaderboard.metrics.aggregation import GEOMETRIC_MEAN
from leaderboard.metrics.families.detection import columns_from_values, measures_beside
from leaderboard.metrics.measure import Direction
from leaderboard.submissions import rules
from leaderboard.submissions.reads.selection import scored_runs
from leaderboard.teams.models import System
from leaderboard.worker.models import OF_THE_PAST, Score, Scoring, ScoringSet

FIGURES_VERSION = 5  # of how a board's figures are computed and kept; those of another version are computed anew

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
Means = dict[tuple[str, Subset], dict[int, float]]  # (measure, subset) -> scoring -> mean, where there is one


@dataclass(frozen=True, slots=True)
class Due:
    """A measure of a standing scoring set whose board figures have to be computed (again)."""

    scoring_set_id: int
    measure: str


@dataclass(frozen=True, slots=True)
class Lineup:
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
        return short([self.ranked, self.baselines, self.others])


@dataclass(frozen=True, slots=True)
class StandingSet:
    """What the statistics of a scoring set depend on that stands for its source of judgments, or that is old."""

    rule: rules.RunChoice
    settings: ScoringSettings


@dataclass(frozen=True, slots=True)
class _Work:
    """What is computed from: one measure over one subset of the queries.

    subsets        whose figures they are: with no hidden queries those of both
    queries        ids of the queries, in the order of the values
    columns        scoring -> the measure's columns, for every run of the lineup that has values
    ends           scoring -> the ends of the interval that is kept now
    figures        scoring -> its mean, None where it is undefined, and over how many queries it is
    compare_pairs  whether to look for rank sets too, and to count how often sets of queries disagree
    """

    measure: Measure
    settings: ScoringSettings
    subsets: tuple[Subset, ...]
    lineup: Lineup
    queries: list[str]
    columns: dict[int, Columns]
    ends: dict[int, KeptEnds]
    figures: dict[int, tuple[float | None, int]]
    compare_pairs: bool

    @property
    def limits(self) -> tuple[float, float]:
        """The lowest and the highest figure possible."""
        return statistics.NO_LIMITS if self.measure.is_count else self.measure.range(self.settings.metric)

    def columns_of(self, runs: Iterable[int]) -> dict[str, Columns]:
        """Of those that have values."""
        return {str(run): self.columns[run] for run in runs if run in self.columns}


def due(session: Session, older_than: float = 0.0, only: int | None = None) -> list[Due]:
    """The measures whose board figures were computed over other runs than stand now, primary measures first; last those
    of old boards that have none yet.

    older_than  seconds: leaves out figures that were computed more recently than that, to save time while runs wait
    only        this set's
    """
    terms = terms_of_standing_sets(session, only)
    runs = scored_runs(session, of_sets=STANDS if only is None else ScoringSet.id == only)
    means = best_means(session, terms)
    columns = Board.version, Board.figures["over"].as_string(), Board.refreshed_at <= clock(-older_than)
    rows = session.execute(
        sa.select(Board.scoring_set_id, Board.measure, Board.subset, *columns).where(Board.scoring_set_id.in_(terms))
    )
    stored = {tuple(row[:3]): tuple(row[3:]) for row in rows}
    due_now = set()
    for set_id, own in terms.items():
        for board, lineup in lineups_of(runs.get(set_id, []), own, means.get(set_id, {})).items():
            version, digest, is_old = stored.get((set_id, *board), (None, None, True))
            is_stale = set_id in runs if version is None else (version, digest) != (FIGURES_VERSION, lineup.digest)
            if is_stale and is_old:
                due_now.add((own.settings.measures.index(board[0]), set_id, board[0]))
    return [*(Due(set_id, name) for _, set_id, name in sorted(due_now)), *_due_of_old(session, only)]


def _due_of_old(session: Session, only: int | None) -> list[Due]:
    """Of old boards whose runs are all scored."""
    waiting, scored = (
        sa.exists().where(Scoring.scoring_set_id == ScoringSet.id, Scoring.state.in_(states))
        for states in (rules.UNFINISHED, (rules.State.SCORED,))
    )
    which = sa.and_(OLD, ~waiting, scored)
    terms = _terms(session, which if only is None else sa.and_(which, ScoringSet.id == only))
    if not terms:
        return []
    rows = session.execute(sa.select(Board.scoring_set_id, Board.measure).where(Board.scoring_set_id.in_(terms)))
    stored = {Due(set_id, measure) for set_id, measure in rows}
    every = (Due(set_id, name) for set_id, own in sorted(terms.items()) for name in own.settings.measures)
    return [each for each in every if each not in stored]


def refresh(database: Database, wanted: Due) -> bool:
    """Computes the figures of one measure and keeps them. False when nothing was kept, because they are not due (any
    more), another worker is at the set's boards, or newer figures are kept already."""
    if not _lease(database, wanted.scoring_set_id):
        return False
    try:
        return _refresh(database, wanted)
    finally:
        with database.write() as session:
            session.execute(_of_set(wanted.scoring_set_id).values(refreshing_until=None))


def _lease(database: Database, scoring_set_id: int) -> bool:
    """Keeps other workers from the boards of a set, unless one keeps us from them."""
    free = sa.or_(ScoringSet.refreshing_until.is_(None), ScoringSet.refreshing_until < clock())
    with database.write() as session:
        lease = _of_set(scoring_set_id).where(free).values(refreshing_until=clock(LEASE_SECONDS))
        return session.scalar(lease.returning(ScoringSet.id)) is not None


def _of_set(scoring_set_id: int) -> sa.Update:
    unseen = {"synchronize_session": False}
    return sa.update(ScoringSet).where(ScoringSet.id == scoring_set_id).execution_options(**unseen)


def _refresh(database: Database, wanted: Due) -> bool:
    with database.read() as session:
        if wanted not in due(session, only=wanted.scoring_set_id):
            return False
        as_of = session.scalars(sa.select(clock())).one()
        works = _read(session, wanted)
    is_written = False
    for work in works:
        ends, figures = _derive(work)
        changed = {run: pair for run, pair in ends.items() if differs(pair, work.ends[run])}
        packed = packed_figures({run: (*own, *changed.get(run, work.ends[run])) for run, own in work.figures.items()})
        left = iter(changed.items())
        while some := list(islice(left, WRITTEN_AT_ONCE)):
            with database.write() as session:
                _write_ends(session, work, some)
        with database.write() as session:
            for subset in work.subsets:
                is_written = _write_figures(session, _key(wanted, subset), figures, packed, as_of)
    return is_written


@dataclass(frozen=True, slots=True)
class Recomputed:
    """What is kept of one measure over one subset in a scoring set, and what computing it anew gives.

    intervals  scoring -> the ends that are kept, the ends computed; only those that differ by more than rounding
    figures    the names of those figures of the board that differ -> what is kept, what was computed
    """

    scoring_set_id: int
    measure: str
    subset: Subset
    intervals: dict[int, tuple[KeptEnds, KeptEnds]]
    figures: dict[str, tuple[Any, Any]]


def recomputed(session: Session) -> Iterator[Recomputed]:
    """Computes the figures of every standing set's boards anew and keeps nothing. Leaves out those that are `due`."""
    waiting = set(due(session))
    rows = session.execute(
        sa.select(Board.scoring_set_id, Board.measure, Board.subset, Board.figures)
        .join(ScoringSet, ScoringSet.id == Board.scoring_set_id)
        .where(STANDS)
        .order_by(Board.scoring_set_id, Board.measure, Board.subset)
    ).all()
    stored_figures = {(Due(row[0], row[1]), row[2]): row[3] for row in rows}
    for wanted in dict.fromkeys(wanted for wanted, _ in stored_figures if wanted not in waiting):
        for work in _read(session, wanted):
            ends, computed = _derive(work)
            figures = json.loads(json.dumps(computed))  # as a database gives them back
            for subset in work.subsets:
                stored = _ends(session, wanted, subset)
                intervals = {
                    run: (stored[run], ends.get(run, NO_ENDS))
                    for run in work.lineup.all
                    if work.measure.has_interval  # else it was worked out when the run was scored
                    and run in stored
                    and differs(ends.get(run, NO_ENDS), stored[run])
                }
                own = stored_figures.get((wanted, subset), figures)
                pairs = ((name, own.get(name), figures.get(name)) for name in sorted(own.keys() | figures.keys()))
                others = {name: (was, now) for name, was, now in pairs if was != now}
                right = stored | {run: computed_ends for run, (_, computed_ends) in intervals.items()}
                if wrong := _packed_wrong(session, wanted, subset, right):
                    others["intervals of its runs"] = (f"{wrong} that differ", "none")
                yield Recomputed(wanted.scoring_set_id, wanted.measure, subset, intervals, others)


def _ends(session: Session, wanted: Due, subset: Subset) -> dict[int, KeptEnds]:
    of_set = Scoring.scoring_set_id == wanted.scoring_set_id
    of_score = Score.measure == wanted.measure, Score.subset == subset
    rows = session.execute(
        sa.select(Score.scoring_id, Score.low, Score.high).join(Score.scoring).where(of_set, *of_score)
    )
    return {run: (low, high) for run, low, high in rows}


def _packed_wrong(session: Session, wanted: Due, subset: Subset, ends: Mapping[int, KeptEnds]) -> int:
    """How many of the intervals in the board's row are not these, its runs' own."""
    columns = Board.scorings, Board.lows, Board.highs
    of_it = Board.scoring_set_id == wanted.scoring_set_id, Board.measure == wanted.measure, Board.subset == subset
    wrong = 0
    # One row, but where a table that is not ours inherits from it, which is told elsewhere.
    for runs, *packed in session.execute(sa.select(*columns).where(*of_it)).all():
        lows, highs = ([None if math.isnan(end) else end for end in own.tolist()] for own in packed)
        each = zip(runs.tolist(), lows, highs, strict=True)
        wrong += sum(differs(own, ends.get(run, NO_ENDS)) for run, *own in each)
    return wrong


def terms_of_standing_sets(session: Session, only: int | None = None) -> dict[int, StandingSet]:
    """Id of a set that stands -> its campaign's rule and its settings."""
    return _terms(session, STANDS if only is None else sa.and_(STANDS, ScoringSet.id == only))


def _terms(session: Session, of_sets: sa.ColumnElement[bool]) -> dict[int, StandingSet]:
    statement = (
        sa.select(ScoringSet, Campaign.run_choice)
        .join(Evaluation, Evaluation.id == ScoringSet.evaluation_id)
        .join(Campaign, Campaign.id == Evaluation.campaign_id)
        .where(of_sets)
    )
    return {each.id: StandingSet(rule, each.settings) for each, rule in session.execute(statement)}


def best_means(session: Session, sets: Iterable[int]) -> dict[int, Means]:
    """Id of a set -> its means, for sets of campaigns where the best run stands."""
    rows = session.execute(
        sa.select(Scoring.scoring_set_id, Score.measure, Score.subset, Scoring.id, Score.mean)
        .join(Score, Score.scoring_id == Scoring.id)
        .join(ScoringSet, ScoringSet.id == Scoring.scoring_set_id)
        .join(Evaluation, Evaluation.id == ScoringSet.evaluation_id)
        .join(Campaign, Campaign.id == Evaluation.campaign_id)
        .where(Scoring.scoring_set_id.in_(list(sets)), Campaign.run_choice == rules.RunChoice.BEST)
    )
    means: dict[int, Means] = {}
    for set_id, measure, subset, scoring_id, mean in rows:
        if mean is not None:
            means.setdefault(set_id, {}).setdefault((measure, subset), {})[scoring_id] = mean
    return means


def lineups_of(runs: Sequence[rules.ScoredRun], terms: StandingSet, means: Means) -> dict[tuple[str, Subset], Lineup]:
    """(measure, subset) -> the runs on that board. Where the best run stands, each board may have another one."""
    boards = [(measure, subset) for measure in terms.settings.measures for subset in terms.settings.subsets]
    if terms.rule is not rules.RunChoice.BEST:
        return dict.fromkeys(boards, _lineup(runs, terms.rule, {}, "none"))
    return {
        board: _lineup(runs, terms.rule, means.get(board, {}), metrics.parse(board[0]).direction) for board in boards
    }


def _lineup(
    runs: Sequence[rules.ScoredRun], rule: rules.RunChoice, means: Mapping[int, float], direction: Direction
) -> Lineup:
    standing = rules.selected_runs(runs, rule, lambda run: means.get(run.scoring_id), direction)
    ranked = {run.scoring_id for run in standing if rules.is_ranked(run)}
    baselines = {run.scoring_id for run in standing if run.is_baseline}
    placed = ranked | baselines
    others = [run.scoring_id for run in runs if run.scoring_id not in placed and not run.off_board]
    return Lineup(tuple(sorted(ranked)), tuple(sorted(baselines)), tuple(others))


def _lineup_as_it_stood(
    session: Session, set_id: int, way: rules.StoredChoice, runs: Sequence[rules.ScoredRun]
) -> Lineup:
    """The runs on that old board, as far as it is stored which of them stood."""
    own = Standing.run_choice == way.run_choice, Standing.subset == way.subset, Standing.rounded.is_(way.rounded)
    rows = session.execute(
        sa.select(Scoring.id, Standing.late, System.kind)
        .join(Scoring, Scoring.id == Standing.scoring_id)
        .join(System, System.id == Standing.system_id)
        .where(Standing.scoring_set_id == set_id, Scoring.state == rules.State.SCORED, *own)
        .order_by(Scoring.id)
    ).all()
    ranked = tuple(run for run, late, kind in rows if not late and kind is not rules.SystemKind.BASELINE)
    baselines = tuple(run for run, _, kind in rows if kind is rules.SystemKind.BASELINE)
    others = tuple(run.scoring_id for run in runs if run.scoring_id not in {*ranked, *baselines})
    return Lineup(ranked, baselines, others)


def _read(session: Session, wanted: Due) -> list[_Work]:
    """What to compute, one for each subset with figures of its own; empty when the set stands no longer."""
    its_own = ScoringSet.id == wanted.scoring_set_id
    terms = _terms(session, sa.and_(its_own, sa.or_(STANDS, OLD))).get(wanted.scoring_set_id)
    if terms is None or wanted.measure not in terms.settings.measures:
        return []
    runs = scored_runs(session, of_sets=ScoringSet.id == wanted.scoring_set_id).get(wanted.scoring_set_id, [])
    means = best_means(session, [wanted.scoring_set_id]).get(wanted.scoring_set_id, {})
    lineups = lineups_of(runs, terms, means)
    measure, settings, is_best = metrics.parse(wanted.measure), terms.settings, terms.rule is rules.RunChoice.BEST
    # The best run by another measure than the first is found among all.
    if session.get_one(ScoringSet, wanted.scoring_set_id).state is rules.SetState.SUPERSEDED and (
        not is_best or wanted.measure == settings.measures[0]
    ):
        for subset in settings.subsets:
            way = rules.StoredChoice(terms.rule, subset if is_best else Subset.ALL)
            lineups[wanted.measure, subset] = _lineup_as_it_stood(session, wanted.scoring_set_id, way, runs)
    names = [wanted.measure, *map(str, measures_beside(measure, settings.no_relevant.value))]
    positions = _positions(session, wanted.scoring_set_id)
    order = metrics.query_order(positions)
    columns_of = partial(columns_from_values, measure, no_relevant=settings.no_relevant.value, beta=settings.beta)
    works = []
    for subset in settings.subsets:
        lineup = lineups[wanted.measure, subset]
        vectors, ends, figures = _vectors(session, wanted, subset, names, [positions[query] for query in order])
        columns = ((run, columns_of(vectors.get(run, {}))) for run in lineup.all)
        with_values = {run: own for run, own in columns if own is not None}
        pairs = math.comb(len(lineup.ranked) + len(lineup.baselines), 2)
        compare = wanted.measure == settings.measures[0] or pairs * max(1, settings.queries) <= PAIRS_UP_TO
        subsets = (subset,) if len(settings.subsets) > 1 else tuple(Subset)
        works.append(_Work(measure, settings, subsets, lineup, order, with_values, ends, figures, compare))
    return works


def _positions(session: Session, scoring_set_id: int) -> dict[str, int]:
    """Id of a query -> its position, for the queries of the set."""
    made = session.get_one(ScoringSet, scoring_set_id)
    of_set = (Query.evaluation_id == made.evaluation_id, Query.position < made.settings.queries)
    return dict(session.execute(sa.select(Query.external_id, Query.position).where(*of_set)).all())


def _vectors(
    session: Session, wanted: Due, subset: Subset, names: Sequence[str], order: Sequence[int]
) -> tuple[dict[int, dict[str, Floats]], dict[int, KeptEnds], dict[int, tuple[float | None, int]]]:
    """(scoring -> measure -> float64[Q] in this order of positions, scoring -> the interval that stands, scoring -> its
    mean and over how many queries it is)."""
    rows = session.execute(
        sa.select(Score.scoring_id, Score.measure, Score.values, Score.low, Score.high, Score.mean, Score.count)
        .join(Scoring, Scoring.id == Score.scoring_id)
        .where(Scoring.scoring_set_id == wanted.scoring_set_id, Score.measure.in_(names), Score.subset == subset)
    )
    vectors: dict[int, dict[str, Floats]] = {}
    ends: dict[int, KeptEnds] = {}
    figures: dict[int, tuple[float | None, int]] = {}
    for scoring_id, measure, values, low, high, mean, count in rows:
        vectors.setdefault(scoring_id, {})[measure] = values[order]
        if measure == wanted.measure:
            ends[scoring_id], figures[scoring_id] = (low, high), (mean, count)
    return vectors, ends, figures


def _derive(work: _Work) -> tuple[Ends, dict[str, Any]]:
    """(scoring -> the ends of its interval, what the board keeps)."""
    aggregation, setting = work.measure.family.aggregation, work.settings.metric
    least = statistics.least_queries(work.measure, setting)
    resamples = statistics.affordable_resamples(work.settings.queries, DRAWN)
    computed = statistics.board_statistics(
        work.columns_of((*work.lineup.ranked, *work.lineup.baselines)),
        aggregation,
        direction=work.measure.direction,
        baselines=set(map(str, work.lineup.baselines)),
        limits=work.limits,
        least=least,
        resamples=resamples,
        compare_pairs=work.compare_pairs,
    )
    others = work.columns_of(work.lineup.others)
    alone = statistics.intervals(
        list(others.values()), aggregation, limits=work.limits, least=least.for_interval, resamples=resamples
    )
    intervals = {**computed.intervals, **dict(zip(others, alone, strict=True))}
    ends = {
        int(run): (interval.low, interval.high)
        for run, interval in intervals.items()
        if interval.low is not None and interval.high is not None
    }
    ranks = computed.ranks
    return ends, {
        "over": work.lineup.digest,
        "confidence": statistics.CONFIDENCE,
        "resamples": resamples,
        "seed": statistics.SEED,
        "ranked": [run for run in work.lineup.ranked if run in work.columns and _has_figure(work, run)],
        "ranks": {run: [own.low, own.high] for run, own in computed.rank_sets.items() if own.rank is not None},
        "rank_resamples": ranks.resamples if ranks else 0,
        "rank_queries": ranks.queries if ranks else 0,
        "needed_queries": None if ranks is None or ranks.reason is None else least.for_ranks,
        "above_baselines": [int(run) for run in computed.above],
        "queries": _power_and_fragility(work),
    }


def _has_figure(work: _Work, run: int) -> bool:
    return not math.isnan(work.measure.family.aggregation.combine(work.columns[run], None))


def _power_and_fragility(work: _Work) -> dict[str, Any] | None:
    """What the queries can tell of the ranked runs, and how few of them the lead rests on; None without two runs, and
    below LEAST_QUERIES queries."""
    aggregation, direction = work.measure.family.aggregation, work.measure.direction
    columns = work.columns_of(work.lineup.ranked)
    if direction == "none" or len(columns) < 2:
        return None
    lead = statistics.fragility(columns, aggregation, direction=direction)
    means = np.array([aggregation.combine(own, None) for own in columns.values()])
    best_first = np.argsort(statistics.competition_ranks(means, direction), kind="stable")
    contributions = [statistics.contributions(own, aggregation) for own in columns.values()]
    values = np.stack(contributions, axis=1)[:, best_first]
    detectable = statistics.detectable_by_pairs(values)
    if detectable.queries < statistics.LEAST_QUERIES:
        return None
    counts = work.compare_pairs and detectable.deviation
    return {
        "lead": {
            "leader": None if lead.leader is None else int(lead.leader),
            "removed": len(lead.removed),
            "named": [work.queries[index] for index in lead.removed] if len(lead.removed) <= NAMED_QUERIES else [],
            "then": [int(run) for run in lead.then],
            "queries": lead.queries,
            "reason": lead.reason,
        },
        "of_logarithms": aggregation is GEOMETRIC_MEAN,
        "swaps": [asdict(rate) for rate in statistics.swap_rates(values, counts)] if counts else [],
        "detectable": asdict(detectable),
    }


def differs(new: Sequence[float | None], old: Sequence[float | None]) -> bool:
    """Whether an end moved by more than rounding: sums run in another order when there are more or fewer runs."""
    pairs = zip(new, old, strict=True)
    return any(
        now is not was and (now is None or was is None or not math.isclose(now, was, abs_tol=EQUAL))
        for now, was in pairs
    )


def packed_figures(figures: Mapping[int, KeptFigure]) -> dict[str, Any]:
    """The columns of `Board` that hold these, given by their scorings."""
    scorings = sorted(figures)
    numbers = np.array([figures[scoring] for scoring in scorings], dtype=np.float64).reshape(-1, 4)
    packed = dict(zip(("means", "counts", "lows", "highs"), map(np.ascontiguousarray, numbers.T), strict=True))
    return {"scorings": np.array(scorings, dtype=np.int64), **packed}


def _write_ends(session: Session, work: _Work, some: Sequence[tuple[int, tuple[float, float]]]) -> None:
    of_run = Score.scoring_id == sa.bindparam("run"), Score.measure == str(work.measure)
    of_subset = Score.subset == sa.bindparam("of", type_=Score.subset.type)
    ends: dict[Any, Any] = {"low": sa.bindparam("from"), "high": sa.bindparam("to")}
    rows = [{"run": run, "of": subset, "from": low, "to": high} for run, (low, high) in some for subset in work.subsets]
    session.connection().execute(sa.update(Score).where(*of_run, of_subset).values(ends), rows)


def _key(wanted: Due, subset: Subset) -> dict[str, Any]:
    return {"scoring_set_id": wanted.scoring_set_id, "measure": wanted.measure, "subset": subset}


def _write_figures(
    session: Session, key: dict[str, Any], figures: dict[str, Any], packed: Mapping[str, Any], as_of: dt.datetime
) -> bool:
    """Keeps the figures and those of each run, packed, unless later ones are kept already; whether it did."""
    insert_unless_there(session, Board, **key, version=0, figures={}, refreshed_at=as_of, **packed_figures({}))
    row = locked(session, Board, key)
    if row.refreshed_at > as_of:
        return False
    for name, own in {**packed, "version": FIGURES_VERSION, "figures": figures, "refreshed_at": as_of}.items():
        setattr(row, name, own)
    return True
