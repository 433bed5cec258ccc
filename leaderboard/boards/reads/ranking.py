"""Which run stands for a system, and which rank it takes; what the worker has of a board: rank sets, the best, what the
queries can tell, as its reader may know it; how many runs are queued, and which could not be scored; and boards as
arrays, for pages that compare them: what each lists and ranks, and how two order the systems that both rank."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar

import numpy as np
import sqlalchemy as sa
from pydantic import TypeAdapter
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Content
from leaderboard.boards.models import Board, Standing
from leaderboard.boards.reads import entries as table
from leaderboard.errors import BadInput
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Subset
from leaderboard.frozen import frozen
from leaderboard.metrics import Ints
from leaderboard.metrics.families.agreement import pairs, tau_ap_of, tau_b
from leaderboard.statistics import Detectable, SwapRate
from leaderboard.submissions import rules
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.run_arrays import RunFigures, Runs, Wanted, load_figures, load_runs
from leaderboard.submissions.reads.selection import IS_WANTED, has_its_place, on_boards, scored_runs, select_scored_runs
from leaderboard.worker.models import IN_QUEUE, Scoring, ScoringSet
from leaderboard.worker.reads import has_several_sources

Row = TypeVar("Row")

NAMED = 20_000  # runs that a statement may name, below the number of values that databases take


class Show(StrEnum):
    """Which runs a board lists: one of each system, by the campaign's rule or another, or all."""

    PRIMARY = "primary"
    BEST = "best"
    LATEST = "latest"
    ALL = "all"


def show_of(asked: str | None, rule: rules.RunChoice) -> Show:
    """What the reader asks for, or the campaign's own choice. Raises BadInput that lists the choices."""
    try:
        return Show(asked or rule)
    except ValueError:
        raise BadInput(f"show={asked}: this page shows one of {', '.join(Show)}") from None


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
    rows: Sequence[Row], sort: str, orders: Mapping[str, tuple[table.Column, Callable[[Row], float | None]]]
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
    now: datetime,
    by: Mapping[int, Collection[str]],
    show: Show | None = None,
    more: Collection[str] = (),
) -> list[table.Entry]:
    """The scored runs of current sets that `choose` has to choose from, with their figures under the measures of `by`.

    Which run stands is kept (`models.Standing`), the best one by its set's primary measure. By another measure those
    that may be the best are found first, by the means that boards keep of all runs (`run_arrays`); only these are read
    in full. Where they are more than NAMED, and for a board of every run, all are read.

    show  None for each campaign's own rule
    by    evaluation -> the measures that `choose` is to choose the best run by
    more  measures of which figures are read too
    """
    stored: dict[rules.StoredChoice, list[table.Disclosure]] = {}
    others: dict[Show, list[table.Disclosure]] = {}
    for each in table.disclosures(session, actor, evaluations, now):
        shown, primary = show or Show(each.evaluation.campaign.run_choice), each.scoring_set.settings.measures[0]
        if shown is Show.ALL or (shown is Show.BEST and set(by[each.evaluation.id]) != {primary}):
            others.setdefault(shown, []).append(each)
        else:
            stored.setdefault(_stored_choice(each, shown), []).append(each)
    wanted, entries = set(more).union(*by.values()), list[table.Entry]()
    if stored:
        own_rows = (
            sa.and_(ScoringSet.evaluation_id.in_([each.evaluation.id for each in own]), stands_by(way))
            for way, own in stored.items()
        )
        chosen = [each for own in stored.values() for each in own]
        entries += table.load_entries(session, chosen, wanted, standing=sa.or_(*own_rows))
    for shown, own in others.items():
        runs = _may_be_best(session, actor, own, by) if shown is Show.BEST else None
        entries += table.load_entries(session, own, wanted, runs=runs)
    counts = _counts(session, others.get(Show.BEST, ()))
    return [replace(entry, chosen_of=counts[_group(entry)]) if _group(entry) in counts else entry for entry in entries]


Group = tuple[int, int, bool]


def _group(entry: table.Entry) -> Group:
    """Among which runs one stands: of an evaluation, of a system, late or not."""
    return entry.evaluation_id, entry.system_id, entry.late


def _counts(session: Session, shown: Sequence[table.Disclosure]) -> dict[Group, int]:
    """How many scored runs there are to choose from."""
    if not shown:
        return {}
    group = Submission.evaluation_id, Submission.system_id, Submission.late
    runs = select_scored_runs(of_sets=ScoringSet.id.in_([each.scoring_set.id for each in shown]))
    counted = runs.with_only_columns(*group, sa.func.count(), maintain_column_froms=True).group_by(*group)
    return {(evaluation, system, late): count for evaluation, system, late, count in session.execute(counted)}


def load_standing(
    session: Session,
    actor: Actor,
    evaluation: Evaluation,
    now: datetime,
    by: table.Column,
    show: Show | None = None,
    more: Collection[str] = (),
) -> list[table.Entry]:
    """The runs that stand on an evaluation's board by this measure, with its figures, and those of `more`. show: None
    for the campaign's own rule"""
    show = show or Show(evaluation.campaign.run_choice)
    candidates = load_candidates(session, actor, [evaluation], now, {evaluation.id: [by.name]}, show, more)
    return choose(candidates, show, by)


def stands_by(way: rules.StoredChoice) -> sa.ColumnElement[bool]:
    """A condition on Standing: the rows of this way of choosing."""
    run_choice, subset, rounded = way
    return sa.and_(Standing.run_choice == run_choice, Standing.subset == subset, Standing.rounded.is_(rounded))


def _stored_choice(disclosure: table.Disclosure, show: Show) -> rules.StoredChoice:
    """The way of choosing whose rows say what stands for this reader, by the means as they see them."""
    if show is not Show.BEST:
        return rules.StoredChoice(rules.RunChoice(show))
    is_its_own = disclosure.subset in disclosure.scoring_set.settings.subsets  # else one is of both
    subset = disclosure.subset if is_its_own else Subset.ALL
    return rules.StoredChoice(rules.RunChoice.BEST, subset, disclosure.is_rounded)


def _may_be_best(
    session: Session, actor: Actor, shown: Sequence[table.Disclosure], by: Mapping[int, Collection[str]]
) -> list[int] | None:
    """The runs whose mean by one of these measures, as `actor` sees it, is their system's best one or ties with it;
    None where they are too many to be named."""
    runs = load_runs(session, actor, [each.scoring_set.id for each in shown], has_its_place())
    wanted = [Wanted(each, list(by[each.evaluation.id]), runs[each.scoring_set.id]) for each in shown]
    named: list[int] = []
    for each, figures in zip(wanted, load_figures(session, wanted), strict=True):
        may_be = np.zeros(len(each.runs.submissions), dtype=bool)
        for name, of_measure in figures.items():
            may_be |= rules.tied_for_best(each.runs.groups, of_measure.means, table.column(name).direction)
        named += each.runs.submissions[may_be].tolist()
    return named if len(named) <= NAMED else None


def choose(entries: Iterable[table.Entry], show: Show, column: table.Column) -> list[table.Entry]:
    """The runs that stand for their systems in each evaluation, or all of them; `column` says which run is best."""
    if show is Show.ALL:
        return [entry for entry in entries if not entry.off_board]
    entries = list(entries)
    chosen = rules.selected_runs(
        entries, rules.RunChoice(show), lambda run: run.figure(column.name).mean, column.direction
    )
    if show is not Show.BEST:
        return chosen
    counts = Counter(map(_group, entries))
    return [replace(entry, chosen_of=max(entry.chosen_of, counts[_group(entry)])) for entry in chosen]


def ranks(entries: Iterable[table.Entry], column: table.Column) -> dict[int, int]:
    """Scoring -> rank among the runs that are ranked.

    Without a rank are baselines, late runs and undefined means, and all runs under a measure without a better end.
    """
    if column.direction == "none":
        return {}
    means = {
        entry.scoring_id: mean
        for entry in entries
        if rules.is_ranked(entry) and (mean := entry.figure(column.name).mean) is not None
    }
    return dict(zip(means, column.places(list(means.values())), strict=True))


def primary_boards(
    session: Session, actor: Actor, evaluations: Iterable[Evaluation], now: datetime
) -> Iterator[tuple[Evaluation, table.Column, list[table.Entry], dict[int, int]]]:
    """Of each evaluation whose results this reader sees: its primary measure, the runs that are shown, and what `ranks`
    gives for them."""
    shown = table.disclosures(session, actor, evaluations, now)
    seen = [each for each in shown if each.sees(Content.RESULTS, own=False)]
    columns = {each.evaluation.id: table.column(each.scoring_set.settings.measures[0]) for each in seen}
    by = {evaluation: {column.name} for evaluation, column in columns.items()}
    entries = load_candidates(session, actor, [each.evaluation for each in seen], now, by)
    for evaluation in (each.evaluation for each in seen):
        column = columns[evaluation.id]
        own = [entry for entry in entries if entry.evaluation_id == evaluation.id]
        chosen = choose(own, Show(evaluation.campaign.run_choice.value), column)
        yield evaluation, column, chosen, ranks(chosen, column)


@frozen
class PrimaryResult:
    """A run under the primary measure of its evaluation. rank: and of how many; None where another run stands for its
    system, where it is not ranked, and where nobody asked."""

    column: table.Column
    mean: float | None
    rank: tuple[int, int] | None


def primary_results(
    session: Session,
    actor: Actor,
    evaluations: Collection[Evaluation],
    now: datetime,
    runs: Collection[int] | sa.SelectBase,
    *,
    ranked: bool = True,
) -> dict[int, PrimaryResult]:
    """Of these runs, by their ids, those that are scored and whose figures `actor` sees."""
    shown = table.disclosures(session, actor, evaluations, now)
    columns = {each.evaluation.id: table.column(each.scoring_set.settings.measures[0]) for each in shown}
    boards = primary_boards(session, actor, evaluations, now) if ranked else ()
    places = {scoring: (rank, len(taken)) for *_, taken in boards for scoring, rank in taken.items()}
    return {
        entry.submission_id: PrimaryResult(column, entry.figure(column.name).mean, places.get(entry.scoring_id))
        for entry in table.load_entries(session, shown, {column.name for column in columns.values()}, runs=runs)
        for column in [columns[entry.evaluation_id]]
    }


SORTS: Mapping[str, Callable[[table.Entry], Any]] = {
    "system": lambda entry: entry.system.name.casefold(),
    "kind": lambda entry: entry.system.kind.value,
    "date": lambda entry: entry.date,
}


def sort_entries(entries: Sequence[table.Entry], column: table.Column, sort: str, show: Show) -> list[table.Entry]:
    """Best first by `column`; or by `sort`: system, kind, date or the column, with "-" before it the other way round.

    Raises BadInput for anything else. Undefined means and late runs are last either way. Those that tie stand by the
    system's name, and where all runs are shown by arrival.
    """
    if show is not Show.ALL:
        entries = sorted(entries, key=lambda entry: entry.system.name.casefold())
    wanted, backwards = known_order(sort, (*SORTS, column.name))
    if wanted in SORTS:
        return sorted(entries, key=SORTS[wanted], reverse=backwards)
    ordered = column.sort(entries, lambda entry: entry.figure(column.name).mean, backwards)
    return ordered if wanted else sorted(ordered, key=lambda entry: entry.late)


@frozen
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


@frozen
class PowerAndFragility:
    """of_logarithms: whether differences are those of mean logarithms, so that e to their power is a ratio of two
    geometric means. swaps: by rising size; empty where they were not counted."""

    lead: Lead
    detectable: Detectable
    of_logarithms: bool
    swaps: tuple[SwapRate, ...]


@frozen
class BoardStatistics:
    """What the worker computed for a board besides means and intervals.

    ranks           scoring -> the ends of its rank set at `confidence`, all sets right at once; empty where nothing is
                    said of ranks
    above_baselines  scorings that are significantly better than every baseline
    may_be_best     scorings among which the best is at `confidence`: never one whose rank set lacks 1
    resamples       that the intervals come from
    rank_resamples, rank_queries  that the rank sets come from; 0 where they were not looked for. While details are
                    closed the queries are those that the figures are said to be over, and the resamples None
    needed_queries  how many rank sets need, where that is why there are none
    told            what the queries can tell of the ranked runs; None while details are closed
    """

    ranks: Mapping[int, tuple[int, int]]
    above_baselines: frozenset[int]
    may_be_best: frozenset[int]
    confidence: float
    resamples: int
    rank_resamples: int | None
    rank_queries: int
    needed_queries: int | None
    seed: int
    told: PowerAndFragility | None


STATISTICS = TypeAdapter(BoardStatistics)


def silent(statistics: BoardStatistics) -> BoardStatistics:
    """The same without a word on ranks, and on what the queries can tell."""
    of_pairs: dict[str, Any] = {"rank_resamples": 0, "rank_queries": 0, "needed_queries": None}
    return replace(statistics, ranks={}, above_baselines=frozenset(), may_be_best=frozenset(), told=None, **of_pairs)


def statistics_of(figures: Mapping[str, Any], ranked: Collection[int]) -> BoardStatistics:
    """Of the figures that the worker has computed.

    Rank sets are given only if they were computed over exactly the scorings `ranked`: they say nothing of
    another set of runs, such as a reader's own choice, or one with a run that has just been scored.
    """
    statistics = STATISTICS.validate_python({**figures, "told": figures["queries"]})
    return statistics if set(figures["ranked"]) == set(ranked) else silent(statistics)


@frozen
class ParkedRun:
    """A run that could not be scored for a reason of ours."""

    submission_id: int
    reason: str


def parked_runs(session: Session, evaluation: Evaluation) -> tuple[ParkedRun, ...]:
    """Failed runs of the current set and of one that is being made, each once."""
    failed = ScoringSet.evaluation_id == evaluation.id, IS_WANTED, Scoring.state == rules.State.FAILED, on_boards()
    runs = sa.select(Scoring).join(ScoringSet).join(Submission).where(*failed)
    ordered = session.scalars(runs.order_by(Scoring.submission_id, ScoringSet.id))
    return tuple({run.submission_id: ParkedRun(run.submission_id, run.failure) for run in ordered}.values())


def of_worker(
    session: Session, evaluation: Evaluation, scoring_set: ScoringSet, measure: str, subset: Subset
) -> tuple[dict[str, Any] | None, int, int, bool]:
    """The figures of a board that the worker has computed, None before that; how many runs are queued or being scored
    in the current set, and in one that is building; `has_several_sources`. In one statement."""
    unfinished = (
        sa.select(sa.func.count(Scoring.id))
        .join(ScoringSet)
        .join(Scoring.submission)
        .where(
            ScoringSet.evaluation_id == evaluation.id,
            ScoringSet.source == evaluation.official_source,
            on_boards(),
            sa.text(IN_QUEUE),  # by the queue's index, which has no scored run
        )
    )
    waiting, rescoring = (
        unfinished.where(ScoringSet.state == state).scalar_subquery()
        for state in (rules.SetState.CURRENT, rules.SetState.BUILDING)
    )
    of_board = Board.scoring_set_id == scoring_set.id, Board.measure == measure, Board.subset == subset
    figures = sa.select(Board.figures).where(*of_board).scalar_subquery()
    return session.execute(sa.select(figures, waiting, rescoring, has_several_sources(evaluation))).one()


def received_runs(session: Session, evaluation: Evaluation) -> int:
    """How many runs of the evaluation boards may show, scored or not."""
    return session.scalar(sa.select(sa.func.count()).where(Submission.evaluation_id == evaluation.id, on_boards())) or 0


@frozen
class ComparedBoard:
    """What a set's board lists, as one reader sees it.

    by       the measure that is looked at
    runs     those that stand; where the best ones do those from which they are chosen, in the order of their arrival
    figures  of these runs by every measure that is compared
    """

    disclosure: table.Disclosure
    by: table.Column
    runs: Runs
    figures: Mapping[str, RunFigures]

    @property
    def results_open(self) -> bool:
        return self.disclosure.sees(Content.RESULTS, own=False)

    def standing(self, by: table.Column) -> Ints:
        """Where those that stand are in `runs`; of equal means the latest stands."""
        if not stands_best(self.disclosure):
            return np.arange(len(self.runs.systems))
        stand = rules.best_runs(self.runs.groups, self.figures[by.name].means, by.direction)
        return stand[~self.runs.off_board[stand]]

    def ranked(self, by: table.Column) -> tuple[Ints, Ints, Ints]:
        """(the systems that are ranked, which rise; their runs; their ranks). None where the results are not open."""
        standing, means = self.standing(by), self.figures[by.name].means
        if not self.results_open or by.direction == "none":
            standing = standing[:0]
        standing = standing[~(self.runs.late | self.runs.baseline | np.isnan(means))[standing]]
        return (
            self.runs.systems[standing],
            self.runs.submissions[standing],
            rules.places_of(means[standing], by.direction),
        )

    @property
    def ranks(self) -> dict[int, int]:
        """System -> its rank."""
        systems, _, ranks = self.ranked(self.by)
        return dict(zip(systems.tolist(), ranks.tolist(), strict=True))

    @property
    def lines(self) -> dict[int, tuple[int, table.Figure]]:
        """System -> the run that stands for it and its figure; of one in time and one late that in time."""
        standing = self.standing(self.by)
        standing = standing[np.argsort(~self.runs.late[standing], kind="stable")]
        stand = self.runs.at(standing)
        lines = zip(stand.submissions.tolist(), self.figures[self.by.name].at(standing), strict=True)
        return dict(zip(stand.systems.tolist(), lines, strict=True))


def load_boards(
    session: Session, asked: Iterable[tuple[table.Disclosure, table.Column, Iterable[table.Column]]]
) -> tuple[ComparedBoard, ...]:
    """Boards of a campaign, each by a set, with the measure that is looked at, and those that are compared; of current
    sets in as many statements as of one."""
    asked = list(asked)
    columns, wanted = [], []
    loaded = _load_runs(session, [disclosure for disclosure, *_ in asked])
    for (disclosure, by, compared), runs in zip(asked, loaded, strict=True):
        visible = runs.at(disclosure.sees_each(Content.RESULTS, runs.own))
        columns.append(by)
        wanted.append(Wanted(disclosure, list({by.name, *(each.name for each in compared)}), visible, [by.name]))
    boards = zip(wanted, columns, load_figures(session, wanted), strict=True)
    return tuple(ComparedBoard(each.disclosure, by, each.runs, figures) for each, by, figures in boards)


def stands_best(disclosure: table.Disclosure) -> bool:
    """Whether in this campaign a system's best run stands for it."""
    return disclosure.evaluation.campaign.run_choice is rules.RunChoice.BEST


def _load_runs(session: Session, disclosures: Sequence[table.Disclosure]) -> list[Runs]:
    """The runs of `ComparedBoard`, of each of these."""
    together = defaultdict[object, list[table.Disclosure]](list)
    for each in disclosures:  # those that `scorings_of` says the same of
        together[each.scoring_set.shown_until, each.scoring_set.state, each.moment].append(each)
    loaded = dict[int, Runs]()
    for own in together.values():
        rule = own[0].evaluation.campaign.run_choice is rules.RunChoice.PRIMARY
        own_rows = stands_by(rules.StoredChoice(rules.RunChoice.PRIMARY)) if rule else None
        which, standing = table.scorings_of(own[0].scoring_set, own[0].moment, own_rows)
        where = sa.and_(has_its_place(), *which)
        sets = [each.scoring_set.id for each in own]
        loaded |= load_runs(session, own[0].actor, sets, where, standing=standing, by_arrival=not rule)
    return [_standing_runs(session, each, loaded[each.scoring_set.id]) for each in disclosures]


def _standing_runs(session: Session, disclosure: table.Disclosure, runs: Runs) -> Runs:
    """Of these those that stand; where the best ones do all."""
    if stands_best(disclosure):
        return runs
    by_rule = disclosure.evaluation.campaign.run_choice is rules.RunChoice.PRIMARY
    if by_rule and len(np.unique(runs.groups)) < len(runs.groups):
        runs = _by_rule(session, disclosure.scoring_set.id, runs)
    stand = rules.best_runs(runs.groups, np.zeros(len(runs.systems)), "higher")
    return runs.at(stand[~runs.off_board[stand]])


def _by_rule(session: Session, set_id: int, runs: Runs) -> Runs:
    """Those that stand by the rule of primary runs, which no array says, where a system has several: what stands is not
    kept, or systems were united since."""
    ids = set(runs.submissions.tolist())
    read = scored_runs(session, of_sets=ScoringSet.id == set_id).get(set_id, [])
    candidates = (run for run in read if run.submission_id in ids)
    chosen = rules.selected_runs(candidates, rules.RunChoice.PRIMARY, lambda _: None, "higher")
    return runs.at(np.isin(runs.submissions, [run.submission_id for run in chosen]))


@frozen
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

    column: table.Column
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


Shared = tuple[Ints, Ints, Ints]


def shared(former: ComparedBoard, by_before: table.Column, board: ComparedBoard, by: table.Column) -> Shared:
    """(the systems that two boards rank by the same run, by whichever run where the best ones stand; their places
    before among themselves; and after). by_before, by: a measure that each board has its own name of."""
    (systems, runs, ranks), (later, runs_later, ranks_later) = former.ranked(by_before), board.ranked(by)
    both, here, there = np.intersect1d(systems, later, assume_unique=True, return_indices=True)
    if not stands_best(board.disclosure):
        same = runs[here] == runs_later[there]
        both, here, there = both[same], here[same], there[same]
    before, after = (np.searchsorted(np.sort(own), own) + 1 for own in (ranks[here], ranks_later[there]))
    return both, before, after


def orders(column: table.Column, compared: Shared, names: Mapping[int, str]) -> Orders:
    """By this measure. compared: as `shared` gives them; names: of these systems and others, in their order."""
    number = {system: number for number, system in enumerate(names)}
    at = np.argsort([number[system] for system in compared[0].tolist()])
    systems, before, after = (own[at] for own in compared)
    counts = pairs(before, after)
    tau = _defined(tau_b(counts))
    reference = np.argsort(np.argsort(before, kind="stable"))
    in_order = reference[np.argsort(after, kind="stable")]
    leaders = (tuple(sorted(names[each] for each in systems[own == 1].tolist())) for own in (before, after))
    return Orders(
        column=column,
        systems=len(at),
        swapped=counts.discordant,
        parted=counts.tied_first + counts.tied_second - 2 * counts.tied_both,
        tau=tau,
        tau_ap=None if tau is None else _defined(tau_ap_of(in_order)),
        leaders=(next(leaders), next(leaders)),
        largest=int(np.abs(before - after).max(initial=0)),
    )


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value
