"""Two runs of an evaluation beside each other: their means, how sure their difference is, and every query."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy.orm import Session

from leaderboard import metrics, statistics
from leaderboard.access import Actor, Content, may_see, require
from leaderboard.boards.reads import entries as table
from leaderboard.boards.reads.board import EVERYTHING, BoardQuery
from leaderboard.boards.reads.ranking import load_standing, sorted_rows
from leaderboard.db import snapshot
from leaderboard.errors import BadInput, InvalidFields, NotFound
from leaderboard.evaluations import reads as headings
from leaderboard.evaluations.reads import find_evaluation_and_set
from leaderboard.evaluations.rules import Judging, ScoringSettings, Subset
from leaderboard.metrics.aggregation import Columns
from leaderboard.metrics.families.detection import columns_from_values
from leaderboard.metrics.segments import Floats
from leaderboard.numbers import read_whole
from leaderboard.results.reads.run import less, load_vectors, value_in
from leaderboard.statistics import Effects, Interval, PairedTest

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

    column: table.Column
    first: table.Figure
    second: table.Figure
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

    first: table.Entry
    second: table.Entry
    names: tuple[str, str]
    measures: tuple[MeasureBeside, ...]
    column: table.Column
    interval: Interval | None
    test: PairedTest | None
    effects: Effects | None
    sort: str
    queries: tuple[ComparedQuery, ...]
    shown: tuple[ComparedQuery, ...]
    paging: table.Paging


@dataclass(frozen=True, slots=True)
class ComparePage:
    """runs: those that can be chosen, by name; compared: None until two are. first: the one that is chosen already."""

    evaluation: headings.EvaluationHeading
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
    view: BoardQuery = EVERYTHING,
) -> ComparePage:
    """Two runs of a board, by their numbers; without both, what there is to choose from.

    Raises NotAllowed while single queries may not be seen, BadInput for what is no number of a run, InvalidFields
    for one run twice, NotFound for a run that is on no board of this evaluation.
    """
    evaluation, scoring_set = find_evaluation_and_set(session, actor, campaign_slug, slug)
    require(may_see(actor, evaluation, Content.DETAILS, now), headings.closed_details(evaluation))
    asked = {name: _number(name, text) for name, text in (("a", a), ("b", b)) if text}
    wanted = list(asked.values())
    if len(wanted) > len(set(wanted)):
        raise InvalidFields({"b": ["the same run twice: choose another one"]})
    own: dict[int, table.Entry] = {}
    runs: tuple[RunToCompare, ...] = ()
    if scoring_set is not None:
        disclosure = table.Disclosure(actor, evaluation, scoring_set, now)
        if wanted:
            loaded = table.load_entries(session, [disclosure], scoring_set.settings.measures, runs=wanted)
            own = {entry.submission_id: entry for entry in loaded if not entry.off_board}
        standing = load_standing(session, actor, evaluation, now, table.column(scoring_set.primary_measure))
        runs = _runs(standing, list(own.values()))
    if lost := [number for number in wanted if number not in own]:
        raise NotFound(f"submission {lost[0]} is on no board of {evaluation.title}")
    compared: Compared | None = None
    if len(wanted) == 2:
        texts = may_see(actor, evaluation, Content.TEXTS, now)
        compared = _compared(session, disclosure, [own[number] for number in wanted], texts, view)
    return ComparePage(headings.evaluation_heading(evaluation, now), runs, wanted[0] if wanted else None, compared)


def _number(name: str, text: str) -> int:
    try:
        return read_whole(text)
    except ValueError:
        raise BadInput(f"{name}={text}: give the number of a run, as its page's address has it") from None


def _runs(standing: Sequence[table.Entry], chosen: Sequence[table.Entry]) -> tuple[RunToCompare, ...]:
    """The runs that stand, and those that the address names, by the names of their systems."""
    entries = {entry.submission_id: entry for entry in (*standing, *chosen)}
    called = table.disambiguate(entry.system for entry in entries.values())
    stands = {entry.system_id: entry.submission_id for entry in standing if not entry.late}
    named = [
        RunToCompare(
            number, called[entry.system.id] + ("" if stands.get(entry.system_id) == number else f", {entry.name}")
        )
        for number, entry in entries.items()
    ]
    return tuple(sorted(named, key=lambda run: (run.name.casefold(), run.submission_id)))


def _compared(
    session: Session, disclosure: table.Disclosure, entries: Sequence[table.Entry], texts: bool, view: BoardQuery
) -> Compared:
    settings, columns = disclosure.scoring_set.settings, table.columns_of(disclosure.scoring_set.settings)
    chosen = table.pick(table.per_query_columns(disclosure.scoring_set), view.measure)
    known = headings.queries_of_subset(session, disclosure.scoring_set, Subset.ALL, texts)
    scorings = [entry.scoring_id for entry in entries]
    vectors = load_vectors(session, scorings, [*settings.measures, *settings.kept], disclosure.subset)
    positions = {query.external_id: query.position for query in known if query.position < settings.queries}
    order = [positions[query] for query in metrics.query_order(positions)]
    values = [{name: own for (scoring, name), own in vectors.items() if scoring == each} for each in scorings]
    pairs = {each.name: _pair(each.name, settings, values, order) for each in columns}
    interval = test = None
    if pair := pairs[chosen.name]:
        measure, own = metrics.parse(chosen.name), _contributions(chosen, pair)
        interval = statistics.difference_interval(
            *pair,
            measure.family.aggregation,
            least=statistics.least_queries(measure, settings.metric).for_interval,
            resamples=statistics.affordable_resamples(settings.queries, DRAWN),
        )
        resamples = statistics.affordable_resamples(len(own[0]), DRAWN)
        test = statistics.randomisation_test(*own, resamples=resamples)
    shown_queries = [query for query in known if not disclosure.subset.leaves_out(query.split)]
    rows = _queries(shown_queries, settings, *(own.get(chosen.name) for own in values))
    ordered = sorted_rows(
        rows,
        view.sort,
        {
            "a": (chosen, lambda row: row.first),
            "b": (chosen, lambda row: row.second),
            "difference": (chosen, lambda row: row.difference),
        },
    )
    shown, paging = table.paged(ordered, view.page, PAGE)
    called = table.disambiguate(entry.system for entry in entries)
    same = entries[0].system_id == entries[1].system_id
    names = [entry.name if same else called[entry.system.id] for entry in entries]
    return Compared(
        first=entries[0],
        second=entries[1],
        names=(names[0], names[1]),
        measures=tuple(_beside(each, entries, pairs[each.name]) for each in columns),
        column=chosen,
        interval=interval,
        test=test,
        effects=_effects(chosen, pair),
        sort=view.sort,
        queries=ordered,
        shown=shown,
        paging=paging,
    )


def _pair(
    name: str, settings: ScoringSettings, values: Sequence[dict[str, Floats]], order: Sequence[int]
) -> Pair | None:
    """What the measure is aggregated from, of both runs, in the order in which values are added up."""
    columns_of_run = partial(columns_from_values, metrics.parse(name), beta=settings.beta)
    mine, theirs = (columns_of_run(own, no_relevant=settings.no_relevant.value) for own in values)
    if mine is None or theirs is None:
        return None
    return tuple(column[order] for column in mine), tuple(column[order] for column in theirs)


def _effects(by: table.Column, pair: Pair | None) -> Effects | None:
    if pair is None or by.direction == "none":
        return None
    return statistics.effect_sizes(*_contributions(by, pair), lower_is_better=by.direction == "lower")


def _contributions(by: table.Column, pair: Pair) -> list[Floats]:
    """What each query adds to the means of the two, over the queries where both have a value."""
    aggregation = metrics.parse(by.name).family.aggregation
    return [statistics.contributions(own, aggregation) for own in statistics.common(*pair)]


def _beside(by: table.Column, entries: Sequence[table.Entry], pair: Pair | None) -> MeasureBeside:
    first, second = (entry.figure(by.name) for entry in entries)
    return MeasureBeside(by, first, second, less(first.mean, second.mean), _effects(by, pair))


def _queries(
    known: Sequence[headings.JudgedQuery], settings: ScoringSettings, first: Floats | None, second: Floats | None
) -> tuple[ComparedQuery, ...]:
    rows = []
    for query in known:
        mine, theirs = value_in(first, query.position), value_in(second, query.position)
        judged = query.best_grade is not None or settings.judging is Judging.COMPLETE
        counted = not query.excluded and judged and not (mine is None and theirs is None)
        more = {"counted": counted, "first": mine, "second": theirs, "difference": less(mine, theirs)}
        rows.append(snapshot(ComparedQuery, query, tags=tuple(query.tags), **more))
    return tuple(rows)
