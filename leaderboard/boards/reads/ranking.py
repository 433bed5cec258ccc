"""Which run stands for a system, and which rank it takes; what the worker has of a board: rank sets, the best, what the
queries can tell, as its reader may know it; how many runs are queued, and which could not be scored; and boards as
arrays, for pages that compare them: what each lists and ranks, and how two order the systems that both rank."""

import datetime as dt
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeVar

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Content, rounding_seen, subset_seen
from leaderboard.boards.models import Board, Standing
from leaderboard.boards.reads.entries import (
    NO_FIGURE,
    Column,
    Disclosure,
    Entry,
    Figure,
    column,
    load_entries,
    scorings_of,
)
from leaderboard.errors import BadInput
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Subset
from leaderboard.metrics import Floats
from leaderboard.metrics.families.agreement import pairs, tau_ap_of, tau_b
from leaderboard.metrics.segments import Ints
from leaderboard.statistics import Detectable, SwapRate
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.run_arrays import RunFigures, Runs, Wanted, load_figures, load_runs
from leaderboard.submissions.reads.selection import IS_WANTED, has_its_place, lost_in, on_boards, scored_runs
from leaderboard.submissions.rules import (
    RunChoice,
    SetState,
    State,
    StoredChoice,
    arrival,
    best_runs,
    is_ranked,
    places_of,
    selected_runs,
    tied_for_best,
)
from leaderboard.worker.models import IN_QUEUE, Scoring, ScoringSet
from leaderboard.worker.reads import current_sets

Row = TypeVar("Row")

NAMED = 20_000  # runs that a statement may name, below the number of values that databases take


class Show(StrEnum):
    """Which runs a board lists: one of each system, by the campaign's rule or another, or all."""

    PRIMARY = "primary"
    BEST = "best"
    LATEST = "latest"
    ALL = "all"


def show_of(asked: str | None, rule: RunChoice) -> Show:
    """What the reader asks for, or the campaign's own choice. Raises BadInput that lists the choices."""
    if not asked:
        return Show(rule.value)
    if asked not in set(Show):
        raise BadInput(f"show={asked}: this page shows one of {', '.join(Show)}")
    return Show(asked)


def known_order(asked: str, keys: Iterable[str]) -> tuple[str, bool]:
    """The key to sort a page by, and whether backwards ("-" before it); "" is the page's own order.

    Raises BadInput that lists the keys when it is none of them.
    """
    wanted = asked.removeprefix("-")
    known = tuple(keys)
    if asked and wanted not in known:
        raise BadInput(f"sort={asked}: this page sorts by one of {', '.join(known)}")
    return wanted, asked.startswith("-")


def sorted_rows(
    rows: Sequence[Row], sort: str, orders: Mapping[str, tuple[Column, Callable[[Row], float | None]]]
) -> tuple[Row, ...]:
    """By position, as they come, or by one of `orders`: by its value under its column, "-" the other way round.

    Raises BadInput for anything else.
    """
    wanted, backwards = known_order(sort, ("position", *orders))
    if wanted not in orders:
        return tuple(rows)
    column, value = orders[wanted]
    return tuple(column.sort(rows, value, backwards))


def load_candidates(
    session: Session,
    actor: Actor,
    evaluations: Sequence[Evaluation],
    now: dt.datetime,
    measures: Iterable[str],
    *,
    show: Show | None = None,
    by: Mapping[int, Collection[str]] | None = None,
) -> list[Entry]:
    """The scored runs of current sets that `choose` has to choose from, with their figures under these measures.

    Which run stands is kept (`models.Standing`), the best one by its set's primary measure. By another measure those
    that may be the best are found first, by the means that boards keep of all runs (`reads.runs`); only these are read
    in full. Where they are more than NAMED, and for a board of every run, all are read.

    show  None for each campaign's own rule
    by    evaluation -> the measures that `choose` is to choose the best run by; None: each set's primary measure
    """
    sets = current_sets(session, [evaluation.id for evaluation in evaluations])
    stored: dict[StoredChoice, list[int]] = {}
    others: dict[Show, list[Evaluation]] = {}
    for evaluation in evaluations:
        shown, current = show or Show(evaluation.campaign.run_choice.value), sets.get(evaluation.id)
        if current is None:
            continue
        primary = current.settings.measures[0]
        if shown is Show.ALL or (shown is Show.BEST and by and set(by[evaluation.id]) != {primary}):
            others.setdefault(shown, []).append(evaluation)
        else:
            stored.setdefault(_stored_choice(actor, evaluation, current, now, shown), []).append(evaluation.id)
    wanted = list(measures)
    entries: list[Entry] = []
    if stored:
        own_rows = (sa.and_(ScoringSet.evaluation_id.in_(own), stands_by(way)) for way, own in stored.items())
        ids = {each for own in stored.values() for each in own}
        chosen = [evaluation for evaluation in evaluations if evaluation.id in ids]
        entries += load_entries(session, actor, chosen, now, wanted, standing=sa.or_(*own_rows))
    for shown, own in others.items():
        runs: list[int] | None = None
        if by and shown is Show.BEST:
            with_sets = [(evaluation, sets[evaluation.id], by[evaluation.id]) for evaluation in own]
            runs = _may_be_best(session, actor, with_sets, now)
        entries += load_entries(session, actor, own, now, wanted, runs=runs)
    return entries


def load_standing(
    session: Session, actor: Actor, evaluation: Evaluation, now: dt.datetime, by: Column, show: Show | None = None
) -> list[Entry]:
    """The runs that stand on an evaluation's board by this measure. show: None for the campaign's own rule"""
    candidates = load_candidates(session, actor, [evaluation], now, [by.name], show=show, by={evaluation.id: [by.name]})
    return choose(candidates, show or Show(evaluation.campaign.run_choice.value), by)


def stands_by(way: StoredChoice) -> sa.ColumnElement[bool]:
    """A condition on Standing: the rows of this way of choosing."""
    own = Standing.run_choice == way.run_choice, Standing.subset == way.subset, Standing.rounded.is_(way.rounded)
    return sa.and_(*own)


def _stored_choice(
    actor: Actor, evaluation: Evaluation, current: ScoringSet, now: dt.datetime, show: Show
) -> StoredChoice:
    """The way of choosing whose rows say what stands for this reader, by the means as they see them."""
    if show is not Show.BEST:
        return StoredChoice(RunChoice(show.value))
    subset = subset_seen(actor, evaluation, now)
    own = subset if subset in current.settings.subsets else Subset.ALL  # without hidden queries one stands for both
    # Of an evaluation whose results are not open a reader sees runs of own teams only, and those of all teams alike.
    rounding = rounding_seen(actor, evaluation, current.settings, now, min(actor.teams, default=None))
    return StoredChoice(RunChoice.BEST, own, rounding is not None)


def _may_be_best(
    session: Session,
    actor: Actor,
    evaluations: Sequence[tuple[Evaluation, ScoringSet, Collection[str]]],
    now: dt.datetime,
) -> list[int] | None:
    """The runs whose mean by one of these measures, as `actor` sees it, is their system's best one or ties with it;
    None where they are too many to be named."""
    runs = load_runs(session, actor, [scoring_set.id for _, scoring_set, _ in evaluations], has_its_place())
    wanted = [
        Wanted(scoring_set.id, Disclosure(actor, evaluation, scoring_set, now), list(measures), runs[scoring_set.id])
        for evaluation, scoring_set, measures in evaluations
    ]
    named: list[int] = []
    for each, figures in zip(wanted, load_figures(session, wanted), strict=True):
        may_be = np.zeros(len(each.runs.submissions), dtype=bool)
        for name, of_measure in figures.items():
            may_be |= tied_for_best(each.runs.groups, of_measure.means, column(name).direction)
        named += each.runs.submissions[may_be].tolist()
    return named if len(named) <= NAMED else None


def choose(entries: Iterable[Entry], show: Show, column: Column) -> list[Entry]:
    """The runs that stand for their systems in each evaluation, or all of them; `column` says which run is best."""
    if show is Show.ALL:
        return [entry for entry in entries if not entry.off_board]
    return selected_runs(entries, RunChoice(show.value), lambda run: run.figure(column.name).mean, column.direction)


def ranks(entries: Iterable[Entry], column: Column) -> dict[int, int]:
    """Submission -> rank among the runs that are ranked.

    Without a rank are baselines, late runs and undefined means, and all runs under a measure without a better end.
    """
    if column.direction == "none":
        return {}
    means = {
        entry.submission_id: mean
        for entry in entries
        if is_ranked(entry) and (mean := entry.figure(column.name).mean) is not None
    }
    return dict(zip(means, column.places(list(means.values())), strict=True))


def sort_entries(entries: Iterable[Entry], column: Column, columns: Sequence[Column], sort: str = "") -> list[Entry]:
    """Best first by `column`; or by `sort`: system, team, kind, date or one of the columns, with "-" the other way.

    Raises BadInput for anything else. Undefined means and late runs are last either way. Those that tie, and so share
    a rank, are sorted by name, then by arrival.
    """
    by_name: dict[str, Column] = {other.name: other for other in columns}
    keys: dict[str, Callable[[Entry], Any]] = {
        "system": lambda entry: entry.system.name.casefold(),
        "team": lambda entry: entry.system.team.casefold(),
        "kind": lambda entry: entry.system.kind.value,
        "date": lambda entry: entry.date,
    }
    wanted, backwards = known_order(sort, (*keys, *by_name))
    ordered = sorted(entries, key=lambda entry: (entry.system.name.casefold(), *arrival(entry)))
    if wanted in keys:
        ordered.sort(key=keys[wanted], reverse=backwards)
        return ordered
    by = by_name.get(wanted, column)
    ordered = by.sort(ordered, lambda entry: entry.figure(by.name).mean, backwards)
    if wanted not in by_name:
        ordered.sort(key=lambda entry: entry.late)
    return ordered


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
class PowerAndFragility:
    """of_logarithms: whether differences are those of mean logarithms, so that e to their power is a ratio of two
    geometric means. swaps: by rising size; empty where they were not counted."""

    lead: Lead
    detectable: Detectable
    of_logarithms: bool
    swaps: tuple[SwapRate, ...]


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
    told: PowerAndFragility | None


def statistics_of(figures: Mapping[str, Any], ranked: Collection[int]) -> BoardStatistics:
    """Of the figures that the worker has computed.

    Rank sets are given only if they were computed over exactly the scorings `ranked`: they say nothing of
    another set of runs, such as a reader's own choice, or one with a run that has just been scored.
    """
    ranks = {int(scoring): (low, high) for scoring, (low, high) in figures["ranks"].items()}
    fits = set(figures["ranked"]) == set(ranked)
    power, queries = None, figures["queries"]
    if fits and queries is not None:  # else fewer than two runs are ranked
        lead = queries["lead"]
        power = PowerAndFragility(
            lead=Lead(**{**lead, "named": tuple(lead["named"]), "then": tuple(lead["then"])}),
            detectable=Detectable(**queries["detectable"]),
            of_logarithms=queries["of_logarithms"],
            swaps=tuple(SwapRate(**rate) for rate in queries["swaps"]),
        )
    names = ("confidence", "resamples", "rank_resamples", "rank_queries", "needed_queries", "seed")
    return BoardStatistics(
        ranks=ranks if fits else {},
        above_baselines=frozenset(figures["above_baselines"] if fits else ()),
        told=power,
        **{name: figures[name] for name in names},
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
    nothing = replace(statistics, ranks={}, above_baselines=frozenset(), rank_resamples=None, told=None)
    if hide:
        return replace(nothing, rank_resamples=0, rank_queries=0, needed_queries=None)
    shared = Counter(places.values())
    rank = {entry.scoring_id: places[entry.submission_id] for entry in entries if entry.submission_id in places}
    ranks = {
        scoring: (min(low, rank[scoring]), max(high, rank[scoring] + shared[rank[scoring]] - 1))
        for scoring, (low, high) in statistics.ranks.items()
    }
    return replace(nothing, ranks=ranks, rank_queries=queries)


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
    waiting, rescoring = (
        unfinished.where(ScoringSet.state == state).scalar_subquery() for state in (SetState.CURRENT, SetState.BUILDING)
    )
    figures = sa.select(Board.figures).where(*of_board).scalar_subquery()
    some_failed = failed.exists() if organised else sa.false()
    row = session.execute(sa.select(figures, waiting, rescoring, some_failed)).one()
    return row[0], row[1], row[2], row[3]


def received_runs(session: Session, evaluation: Evaluation) -> int:
    """How many runs of the evaluation boards may show, scored or not."""
    return session.scalar(sa.select(sa.func.count()).where(Submission.evaluation_id == evaluation.id, on_boards())) or 0


@dataclass(frozen=True, slots=True)
class Line:
    """The run that stands for a system, and its figure by the measure that is looked at."""

    submission_id: int
    figure: Figure


@dataclass(frozen=True, slots=True)
class Ranked:
    """The systems that a board ranks by one measure, each by one run; systems rise."""

    systems: Ints
    runs: Ints
    ranks: Ints

    @property
    def of_system(self) -> dict[int, int]:
        """System -> its rank."""
        return dict(zip(self.systems.tolist(), self.ranks.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class ComparedBoard:
    """What a set's board lists, as one reader sees it.

    runs     from which those that stand are chosen, in the order of their arrival where that has a say
    figures  of these runs by every measure that is compared
    lines    system -> the run that stands for it by the measure that is looked at; of one in time and one late that in
             time
    """

    scoring_set: ScoringSet
    disclosure: Disclosure
    show: Show
    runs: Runs
    figures: Mapping[str, RunFigures]
    lines: dict[int, Line] = field(default_factory=dict)
    chosen: dict[str, Ints] = field(default_factory=dict)
    ranks: dict[str, Ranked] = field(default_factory=dict)

    @property
    def results_open(self) -> bool:
        return self.disclosure.sees(Content.RESULTS, own=False)

    def standing(self, by: Column) -> Ints:
        """Where those that stand are in `runs`, found once where the measure has no say in it."""
        key = by.name if self.show is Show.BEST else ""
        if key not in self.chosen:
            means = self._means(by) if self.show is Show.BEST else np.zeros(len(self.runs.systems))
            stand = best_runs(self.runs.groups, means, by.direction)  # of equal means the latest stands
            self.chosen[key] = stand[~self.runs.off_board[stand]]
        return self.chosen[key]

    def ranked(self, by: Column) -> Ranked:
        """Nothing where the results are not open. Found once for each measure."""
        if by.name not in self.ranks:
            standing, means = self.standing(by), self._means(by)
            if not self.results_open or by.direction == "none":
                standing = standing[:0]
            may_rank = ~(self.runs.late | self.runs.baseline | np.isnan(means))
            standing = standing[may_rank[standing]]
            ranks = places_of(means[standing], by.direction)
            self.ranks[by.name] = Ranked(self.runs.systems[standing], self.runs.submissions[standing], ranks)
        return self.ranks[by.name]

    def _means(self, by: Column) -> Floats:
        return self.figures[by.name].means if by.name in self.figures else np.full(len(self.runs.systems), np.nan)

    def note_lines(self, by: Column) -> None:
        """Fills in `lines`; `by` is the measure that is looked at."""
        standing = self.standing(by)
        standing = standing[np.argsort(~self.runs.late[standing], kind="stable")]
        stand = self.runs.at(standing)
        figures = self.figures[by.name].at(standing) if by.name in self.figures else [NO_FIGURE] * len(standing)
        for system, run, figure in zip(stand.systems.tolist(), stand.submissions.tolist(), figures, strict=True):
            self.lines[system] = Line(run, figure)


def load_boards(
    session: Session,
    actor: Actor,
    evaluation: Evaluation,
    asked: Sequence[tuple[ScoringSet, dt.datetime, Sequence[str]]],
    by: Sequence[Column],
) -> tuple[ComparedBoard, ...]:
    """The boards by these sets, each with the moment by whose rules it is seen, and by these measures.

    by  of each board the measure that is looked at
    """
    show = show_of(None, evaluation.campaign.run_choice)
    runs = _load_runs(session, actor, [(scoring_set, moment) for scoring_set, moment, _ in asked], show)
    wanted = []
    for (scoring_set, moment, names), own_runs, looked_at in zip(asked, runs, by, strict=True):
        disclosure = Disclosure(actor, evaluation, scoring_set, moment)
        visible = own_runs.at(disclosure.sees_each(Content.RESULTS, own_runs.own))
        wanted.append(Wanted(scoring_set.id, disclosure, names, visible, in_full=[looked_at.name]))
    boards = tuple(
        ComparedBoard(scoring_set, each.disclosure, show, each.runs, figures)
        for (scoring_set, _, _), each, figures in zip(asked, wanted, load_figures(session, wanted), strict=True)
    )
    for board, looked_at in zip(boards, by, strict=True):
        board.note_lines(looked_at)
    return boards


def _load_runs(
    session: Session, actor: Actor, sets: Sequence[tuple[ScoringSet, dt.datetime]], show: Show
) -> list[Runs]:
    """The runs that `standing` has to choose from, in the order of their arrival where it asks for that."""
    asked = stands_by(StoredChoice(RunChoice.PRIMARY)) if show is Show.PRIMARY else None
    listed = {scoring_set.id: scorings_of(scoring_set, moment, asked) for scoring_set, moment in sets}
    loaded: dict[int, Runs] = {}
    for by_rows in (True, False):
        own = {number: which for number, (which, standing) in listed.items() if (standing is not None) is by_rows}
        if own:
            of_each = (sa.and_(Scoring.scoring_set_id == number, *which) for number, which in own.items())
            which = sa.and_(has_its_place(), sa.or_(*of_each))
            standing = asked if by_rows else None
            loaded |= load_runs(session, actor, own, which, standing=standing, by_arrival=show is not Show.PRIMARY)
    if show is Show.PRIMARY:
        return [loaded[each.id].at(_by_rule(session, each, loaded[each.id])) for each, _ in sets]
    return [loaded[each.id] for each, _ in sets]


def _by_rule(session: Session, scoring_set: ScoringSet, runs: Runs) -> Ints:
    """Where the runs are that stand by the rule of primary runs, which no array says: of a system with several runs,
    because what stands is not kept or systems were united since, they are read."""
    _, group, size = np.unique(runs.groups, return_inverse=True, return_counts=True)
    several = size[group] > 1
    if not several.any():
        return np.arange(len(group))
    ids = {*runs.submissions[several].tolist()}
    of_systems = Submission.system_id.in_(np.unique(runs.systems[several]).tolist())
    read = scored_runs(session, of_systems, of_sets=ScoringSet.id == scoring_set.id)[scoring_set.id]
    candidates = [run for run in read if run.submission_id in ids]
    chosen = selected_runs(candidates, RunChoice.PRIMARY, lambda _: None, "higher")
    return np.flatnonzero(~several | np.isin(runs.submissions, [run.submission_id for run in chosen]))


@dataclass(frozen=True, slots=True)
class Orders:
    """How two boards order the systems that both rank by the same run, by one measure.

    Where the best runs stand, another run is the judgments' doing, so that systems that both rank are compared.

    systems   that are compared
    swapped   pairs of them in one order before and in the other after: Kendall's distance, in pairs
    parted    pairs that tie on one of the two boards only
    tau       Kendall's τ-b, which takes ties into account; None where it is undefined
    tau_ap    with the first board as the reference, those that tie in it in the order of their names; None likewise
    leaders   the names of the first ones, before and after
    largest   the most places that a system went up or down
    """

    column: Column
    systems: int
    swapped: int
    parted: int
    tau: float | None
    tau_ap: float | None
    leaders: tuple[tuple[str, ...], tuple[str, ...]]
    largest: int

    @property
    def pairs(self) -> int:
        return math.comb(self.systems, 2)

    @property
    def changed(self) -> bool:
        return bool(self.swapped or self.parted)


@dataclass(frozen=True, slots=True)
class Shared:
    """The systems that are compared on two boards, and their places before and after among themselves."""

    systems: Ints
    before: Ints
    after: Ints


def shared(boards: Sequence[ComparedBoard], by: tuple[Column, Column]) -> Shared:
    """The systems that two boards rank by the same run, by whichever run where the best ones stand; by a measure that
    each board has its own name of."""
    before, after = (board.ranked(own) for board, own in zip(boards, by, strict=True))
    there = _places_in(after.systems, before.systems)
    here = np.flatnonzero(there >= 0)
    there = there[here]
    if boards[1].show is not Show.BEST:
        same = before.runs[here] == after.runs[there]
        here, there = here[same], there[same]
    return Shared(before.systems[here], _among(before.ranks[here]), _among(after.ranks[there]))


def _places_in(rising: Ints, wanted: Ints) -> Ints:
    """Where each of these numbers stands among those that rise; -1 where it does not."""
    if not len(rising):
        return np.full(len(wanted), -1)
    at = np.minimum(np.searchsorted(rising, wanted), len(rising) - 1)
    return np.where(rising[at] == wanted, at, -1)


def _among(ranks: Ints) -> Ints:
    """The places among themselves of systems with these ranks."""
    return np.searchsorted(np.sort(ranks), ranks) + 1


def orders(column: Column, compared: Shared, names: Mapping[int, str]) -> Orders:
    """By this measure. names: of these systems and maybe of others, in the order of the names."""
    at = _places_in(compared.systems, np.fromiter(names, dtype=np.int64))
    at = at[at >= 0]
    systems, before, after = compared.systems[at], compared.before[at], compared.after[at]
    counts = pairs(before, after)
    tau = _defined(tau_b(counts))
    reference = np.empty(len(at), dtype=np.int64)
    reference[np.argsort(before, kind="stable")] = np.arange(len(at))
    in_order = reference[np.argsort(after, kind="stable")]

    def leaders(places: Ints) -> tuple[str, ...]:
        return tuple(sorted(names[system] for system in systems[places == 1].tolist()))

    return Orders(
        column=column,
        systems=len(at),
        swapped=counts.discordant,
        parted=counts.tied_first + counts.tied_second - 2 * counts.tied_both,
        tau=tau,
        tau_ap=None if tau is None else _defined(tau_ap_of(in_order)),
        leaders=(leaders(before), leaders(after)),
        largest=int(np.abs(before - after).max(initial=0)),
    )


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value
