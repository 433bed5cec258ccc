"""Two runs of an evaluation beside each other: their means, how sure their difference is, and every query."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from leaderboard import metrics, statistics
from leaderboard.access import Actor, Sight, may_see, require, subset_seen
from leaderboard.errors import BadInput, InvalidFields, NotFound
from leaderboard.lookup import find_evaluation_and_set
from leaderboard.metrics.aggregation import Columns
from leaderboard.metrics.ranking import Floats
from leaderboard.metrics.stored import columns_from_values
from leaderboard.models import Evaluation, ScoringSet
from leaderboard.numbers import read_whole
from leaderboard.reads.columns import Column, column, columns_of, per_query_columns, pick
from leaderboard.reads.entries import Entry, Figure, load_entries, told_apart
from leaderboard.reads.headings import EvaluationHeading, JudgedQuery, closed_details, evaluation_heading, queries_of
from leaderboard.reads.paging import Paging, paged
from leaderboard.reads.query_values import load_vectors, value_in
from leaderboard.reads.standings import choose, known_order, load_candidates, show_of
from leaderboard.rules.settings import Judging, ScoringSettings, Subset
from leaderboard.statistics import Effects, Interval, PairedTest

__all__ = ["ComparePage", "Compared", "ComparedQuery", "MeasureBeside", "RunToCompare", "compare"]

Pair = tuple[Columns, Columns]

PAGE = 500  # queries
DRAWN = 2_000_000  # queries drawn for an interval at most: it is worked out while the page is awaited


@dataclass(frozen=True, slots=True)
class RunToCompare:
    """A run that can be chosen: the one that stands for its system on the board."""

    submission_id: int
    name: str


@dataclass(frozen=True, slots=True)
class MeasureBeside:
    """Both means by a measure. difference: first − second; effects: on how many queries which of them is better, None
    for a measure that has no values on single queries."""

    column: Column
    first: Figure
    second: Figure
    difference: float | None
    effects: Effects | None


@dataclass(frozen=True, slots=True)
class ComparedQuery:
    """Both values on a query. difference: first − second; counted: False for a query that counts into neither mean: it
    is excluded, left out for want of judgments, or has no value by this measure."""

    external_id: str
    text: str
    tags: tuple[str, ...]
    position: int
    counted: bool
    first: float | None
    second: float | None
    difference: float | None


@dataclass(frozen=True, slots=True)
class Compared:
    """Two runs, by all measures and query by query by one of them.

    names       what sentences call the two, told apart
    column      the measure of the interval, the test and the queries
    interval    of the difference of the means, first − second, over the queries where both have a value; None for a
                measure that has no values on single queries, as are test and effects
    test        the randomisation test of the same; it is of this pair alone, and corrected for no other
    queries, shown  all of them as sorted, and those of this page
    """

    first: Entry
    second: Entry
    names: tuple[str, str]
    measures: tuple[MeasureBeside, ...]
    column: Column
    interval: Interval | None
    test: PairedTest | None
    effects: Effects | None
    sort: str
    queries: tuple[ComparedQuery, ...]
    shown: tuple[ComparedQuery, ...]
    paging: Paging


@dataclass(frozen=True, slots=True)
class ComparePage:
    """runs: those that can be chosen, by name; compared: None until two are. first: the one that is chosen already."""

    evaluation: EvaluationHeading
    runs: tuple[RunToCompare, ...]
    first: int | None
    compared: Compared | None


def compare(
    session: Session,
    actor: Actor,
    campaign_slug: str,
    slug: str,
    now: dt.datetime,
    *,
    a: str | None = None,
    b: str | None = None,
    measure: str | None = None,
    sort: str | None = None,
    page: int | None = None,
) -> ComparePage:
    """Two runs of a board, by their numbers; without both, what there is to choose from.

    Raises NotAllowed while single queries may not be seen, BadInput for what is no number of a run, InvalidFields
    for one run twice, NotFound for a run that is on no board of this evaluation.
    """
    evaluation, scoring_set = find_evaluation_and_set(session, actor, campaign_slug, slug)
    require(may_see(actor, evaluation, Sight.DETAILS, now), closed_details(evaluation))
    asked = [_number(name, text) for name, text in (("a", a), ("b", b))]
    wanted = [one for one in asked if one is not None]
    if len(wanted) > len(set(wanted)):
        raise InvalidFields({"b": ["the same run twice: choose another one"]})
    compared: Compared | None = None
    runs: tuple[RunToCompare, ...] = ()
    if scoring_set is None:
        if wanted:
            raise NotFound(f"submission {wanted[0]} is on no board of {evaluation.title}")
    else:
        names = scoring_set.settings.measures
        found = load_entries(session, actor, [evaluation], now, names, runs=wanted) if wanted else []
        own = {one.submission_id: one for one in found if not one.off_board}
        if lost := [one for one in wanted if one not in own]:
            raise NotFound(f"submission {lost[0]} is on no board of {evaluation.title}")
        entries = [own[one] for one in wanted]
        runs = _runs(session, actor, evaluation, scoring_set, now, entries)
        if len(entries) == 2:
            subset = subset_seen(actor, evaluation, now)
            texts = may_see(actor, evaluation, Sight.TEXTS, now)
            compared = _compared(session, scoring_set, subset, entries, texts, measure, sort or "", page)
    return ComparePage(evaluation_heading(evaluation, now), runs, wanted[0] if wanted else None, compared)


def _number(name: str, text: str | None) -> int | None:
    if not text:
        return None
    try:
        return read_whole(text)
    except ValueError:
        raise BadInput(f"{name}={text}: give the number of a run, as its page's address has it") from None


def _runs(
    session: Session,
    actor: Actor,
    evaluation: Evaluation,
    scoring_set: ScoringSet,
    now: dt.datetime,
    chosen: Sequence[Entry],
) -> tuple[RunToCompare, ...]:
    """The runs that stand, and those that the address names, by the names of their systems."""
    primary = column(scoring_set.primary_measure)
    candidates = load_candidates(session, actor, [evaluation], now, [primary.name])
    standing = choose(candidates, show_of(None, evaluation.campaign.run_choice), primary)
    entries = {one.submission_id: one for one in (*standing, *chosen)}
    called = told_apart(one.system for one in entries.values())
    stands = {one.system_id: one.submission_id for one in standing if not one.late}
    named = [
        RunToCompare(number, called[one.system.id] + ("" if stands.get(one.system_id) == number else f", {one.name}"))
        for number, one in entries.items()
    ]
    return tuple(sorted(named, key=lambda one: (one.name.casefold(), one.submission_id)))


def _compared(
    session: Session,
    scoring_set: ScoringSet,
    subset: Subset,
    entries: Sequence[Entry],
    texts: bool,
    measure: str | None,
    sort: str,
    page: int | None,
) -> Compared:
    settings = scoring_set.settings
    columns, chosen = columns_of(settings), pick(per_query_columns(scoring_set), measure)
    every = queries_of(session, [scoring_set])[scoring_set.id]
    vectors = load_vectors(session, [one.scoring_id for one in entries], [*settings.measures, *settings.kept], subset)
    positions = {one.external_id: one.position for one in every if one.position < settings.queries}
    order = [positions[query] for query in metrics.query_order(positions)]
    first, second = (
        {name: values for (scoring, name), values in vectors.items() if scoring == one.scoring_id} for one in entries
    )
    pairs = {one.name: _pair(one.name, settings, first, second, order) for one in columns}
    pair = pairs[chosen.name]
    known = [one for one in every if not subset.leaves_out(one.split)]
    rows = _queries(known, settings, first.get(chosen.name), second.get(chosen.name), texts)
    ordered = _sorted(rows, chosen, sort)
    shown, paging = paged(ordered, page, PAGE)
    called = told_apart(one.system for one in entries)
    same = entries[0].system_id == entries[1].system_id
    names = [one.name if same else called[one.system.id] for one in entries]
    return Compared(
        first=entries[0],
        second=entries[1],
        names=(names[0], names[1]),
        measures=tuple(_beside(one, entries, pairs[one.name]) for one in columns),
        column=chosen,
        interval=None if pair is None else _interval(chosen, settings, pair),
        test=None if pair is None else _test(chosen, pair),
        effects=_effects(chosen, pair),
        sort=sort,
        queries=ordered,
        shown=shown,
        paging=paging,
    )


def _pair(
    name: str,
    settings: ScoringSettings,
    first: Mapping[str, Floats],
    second: Mapping[str, Floats],
    order: Sequence[int],
) -> Pair | None:
    """What the measure is aggregated from, of both runs, in the order in which values are added up."""
    measure = metrics.parse(name)
    mine, theirs = (
        columns_from_values(measure, own, no_relevant=settings.no_relevant.value, beta=settings.beta)
        for own in (first, second)
    )
    if mine is None or theirs is None:
        return None
    return tuple(one[order] for one in mine), tuple(one[order] for one in theirs)


def _interval(by: Column, settings: ScoringSettings, pair: Pair) -> Interval:
    measure = metrics.parse(by.name)
    least = statistics.least_queries(measure, settings.metric).for_interval
    resamples = statistics.affordable_resamples(settings.queries, DRAWN)
    return statistics.difference_interval(*pair, measure.family.aggregation, least=least, resamples=resamples)


def _test(by: Column, pair: Pair) -> PairedTest:
    mine, theirs = _contributions(by, pair)
    resamples = statistics.affordable_resamples(len(mine), DRAWN)
    return statistics.randomisation_test(mine, theirs, resamples=resamples)


def _effects(by: Column, pair: Pair | None) -> Effects | None:
    if pair is None or by.direction == "none":
        return None
    mine, theirs = _contributions(by, pair)
    return statistics.effect_sizes(mine, theirs, lower_is_better=by.direction == "lower")


def _contributions(by: Column, pair: Pair) -> tuple[Floats, Floats]:
    """What each query adds to the means of the two, over the queries where both have a value."""
    aggregation = metrics.parse(by.name).family.aggregation
    first, second = statistics.common(*pair)
    return statistics.contributions(first, aggregation), statistics.contributions(second, aggregation)


def _beside(by: Column, entries: Sequence[Entry], pair: Pair | None) -> MeasureBeside:
    first, second = (one.figure(by.name) for one in entries)
    difference = None if first.mean is None or second.mean is None else first.mean - second.mean
    return MeasureBeside(by, first, second, difference, _effects(by, pair))


def _queries(
    known: Sequence[JudgedQuery], settings: ScoringSettings, first: Floats | None, second: Floats | None, texts: bool
) -> tuple[ComparedQuery, ...]:
    rows = []
    for query in known:
        mine, theirs = value_in(first, query.position), value_in(second, query.position)
        rows.append(
            ComparedQuery(
                external_id=query.external_id,
                text=query.text if texts else "",
                tags=tuple(query.tags) if texts else (),
                position=query.position,
                counted=not query.excluded
                and (query.best_grade is not None or settings.judging is Judging.COMPLETE)
                and not (mine is None and theirs is None),
                first=mine,
                second=theirs,
                difference=None if mine is None or theirs is None else mine - theirs,
            )
        )
    return tuple(rows)


def _sorted(rows: Sequence[ComparedQuery], by: Column, sort: str) -> tuple[ComparedQuery, ...]:
    """By position; by one of the runs or their difference, what speaks most for the first run first; "-" the other
    way."""
    wanted, backwards = known_order(sort, ("position", "a", "b", "difference"))
    value = {"a": lambda row: row.first, "b": lambda row: row.second, "difference": lambda row: row.difference}
    return tuple(by.sort(rows, value[wanted], backwards)) if wanted in value else tuple(rows)
