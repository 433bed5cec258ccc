"""The queries of an evaluation; one query across all systems; one run on one query: the ranked list with its grades.

Two runs of an evaluation beside each other: their means, how sure their difference is, and every query.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import db, errors, metrics, statistics
from leaderboard.access import Actor, Content, may_see, require, subset_seen
from leaderboard.boards.reads import entries as table
from leaderboard.boards.reads.board import EVERYTHING, BoardQuery, board
from leaderboard.boards.reads.entries import Column, Disclosure, Entry, Figure, Paging, paged, per_query_columns, pick
from leaderboard.boards.reads.ranking import Show, load_standing, show_of, sorted_rows
from leaderboard.evaluations.reads import evaluations as reads
from leaderboard.evaluations.reads.evaluations import EvaluationHeading, closed_details, evaluation_heading, of_subset
from leaderboard.evaluations.rules import Judging, ScoringSettings, Subset
from leaderboard.frozen import frozen
from leaderboard.judgments.models import Judgment, Query
from leaderboard.judgments.reads import JudgedDocument, rows_of_table
from leaderboard.metrics.curves import MARKS
from leaderboard.results.reads.run import Spread, columns_over, less, load_slices, load_vectors, spread_of, value_in
from leaderboard.scoring import ReturnedBy, returned, returned_by
from leaderboard.store import RunStore
from leaderboard.submissions.reads.status import find_scored, label_of
from leaderboard.worker.models import Curve, ScoringSet

PAGE = 500  # queries


@frozen
class QueryHeading:
    """text, description, tags: empty until the evaluation opens. relevant: documents judged at least as relevant as the
    evaluation asks; None where that may not be seen, and where nobody judged the query."""

    external_id: str
    text: str
    description: str
    tags: tuple[str, ...]
    position: int
    relevant: int | None
    excluded: bool
    excluded_because: str


@frozen
class QuerySummary:
    """The median, best and worst value over the board's systems on one query; None where no system has one."""

    query: QueryHeading
    median: float | None
    best: float | None
    worst: float | None
    best_system: str


@frozen
class QueryListPage:
    """texts_open: whether texts and tags may be seen; details_open: whether values may; systems: how many these are
    taken over; queries: those of this page."""

    evaluation: EvaluationHeading
    texts_open: bool
    details_open: bool
    closed_because: str
    columns: tuple[Column, ...]
    column: Column | None
    systems: int
    sort: str
    tag: str
    queries: tuple[QuerySummary, ...]
    paging: Paging

    @property
    def as_file(self) -> str:
        """Id, text and tags of each, as `leaderboard score --queries` reads them."""
        own = (row.query for row in self.queries)
        return "".join(f"{each.external_id}\t{' '.join(each.text.split())}\t{','.join(each.tags)}\n" for each in own)


@frozen
class QueryResult:
    """One system on one query: its values, in the columns' order."""

    entry: Entry
    values: tuple[float | None, ...]


@frozen
class QueryPage:
    """rows: those of this page; ends: the values of all by the column that they are sorted by."""

    evaluation: EvaluationHeading
    query: QueryHeading
    columns: tuple[Column, ...]
    column: Column
    show: Show
    sort: str
    rows: tuple[QueryResult, ...]
    ends: tuple[float, ...]
    paging: Paging
    previous: str | None
    next: str | None


def query_list(
    session: Session, actor: Actor, campaign_slug: str, slug: str, now: datetime, view: BoardQuery = EVERYTHING
) -> QueryListPage:
    """One page of the list, or all of it, of the queries that the reader may know of. Texts and tags open with the
    evaluation, values with the details.

    Raises NotFound for no such evaluation, BadInput for a measure or an order that it does not have.
    """
    evaluation, scoring_set = reads.find_evaluation_and_set(session, actor, campaign_slug, slug)
    details = may_see(actor, evaluation, Content.DETAILS, now)
    texts = may_see(actor, evaluation, Content.TEXTS, now)
    subset = subset_seen(actor, evaluation, now)
    queries = session.scalars(sa.select(Query).where(*of_subset(evaluation.id, subset)).order_by(Query.position)).all()
    if view.tag:
        queries = [query for query in queries if texts and view.tag in query.tags]
    rows: Sequence[QuerySummary] = [
        QuerySummary(query_heading(query, None, texts), None, None, None, "") for query in queries
    ]
    columns: tuple[Column, ...] = ()
    by, systems = None, 0
    if scoring_set and details:
        columns = per_query_columns(scoring_set)
        by = pick(columns, view.measure)
        entries = load_standing(session, actor, evaluation, now, by)
        vectors = load_vectors(session, [entry.scoring_id for entry in entries], [by.name], subset)
        with_values = [entry for entry in entries if entry.scoring_id in vectors]
        spread = spread_of([vectors[entry.scoring_id][by.name] for entry in with_values], by)
        called = table.disambiguate(entry.system for entry in with_values)
        names = [called[entry.system.id] for entry in with_values]
        relevant = relevant_documents(session, scoring_set)
        systems = len(entries)
        rows = sorted_rows(
            [_summary(query_heading(query, relevant[query.id], texts), spread, names) for query in queries],
            view.sort,
            {
                "median": (by, lambda row: row.median),
                "best": (by, lambda row: row.best),
                "relevant": (replace(by, direction="higher"), lambda row: row.query.relevant),
            },
        )
    shown, paging = paged(rows, view.page, PAGE)
    return QueryListPage(
        evaluation=evaluation_heading(evaluation, now),
        texts_open=texts,
        details_open=by is not None,
        closed_because="" if details else closed_details(evaluation),
        columns=columns,
        column=by,
        systems=systems,
        sort=view.sort if by else "",
        tag=view.tag,
        queries=shown,
        paging=paging,
    )


def query(
    session: Session,
    actor: Actor,
    campaign_slug: str,
    slug: str,
    external_id: str,
    now: datetime,
    view: BoardQuery = EVERYTHING,
) -> QueryPage:
    """One page of the systems on a query, where they are more than WHOLE, or all of them.

    Raises NotFound for no such query, NotAllowed while single queries may not be seen.
    """
    evaluation, scoring_set = reads.find_with_details(session, actor, campaign_slug, slug, now)
    subset = subset_seen(actor, evaluation, now)
    row = reads.find_query(session, evaluation, external_id, subset)
    columns = per_query_columns(scoring_set)
    show = show_of(view.show, evaluation.campaign.run_choice)
    by = pick(columns, view.sort.removeprefix("-"))
    entries = load_standing(session, actor, evaluation, now, table.column(scoring_set.primary_measure), show)
    entries.sort(key=lambda entry: (entry.system.name.casefold(), entry.submission_id))
    scorings = [entry.scoring_id for entry in entries]
    sorted_by = load_slices(session, scorings, [by.name], subset, row.position)
    ends = [value for value in sorted_by.values() if value is not None]
    entries = by.sort(entries, lambda entry: sorted_by.get((entry.scoring_id, by.name)), view.sort.startswith("-"))
    shown, paging = paged(entries, view.page if len(entries) > table.WHOLE else None, table.ROWS)
    names = [each.name for each in columns]
    values = sorted_by | load_slices(session, [entry.scoring_id for entry in shown], names, subset, row.position)
    relevant = relevant_documents(session, scoring_set, Judgment.query_id == row.id)[row.id]
    return QueryPage(
        evaluation=evaluation_heading(evaluation, now),
        query=query_heading(row, relevant, may_see(actor, evaluation, Content.TEXTS, now)),
        columns=columns,
        column=by,
        show=show,
        sort=view.sort,
        rows=tuple(
            QueryResult(entry, tuple(values.get((entry.scoring_id, name)) for name in names)) for entry in shown
        ),
        ends=tuple(ends),
        paging=paging,
        **neighbours(session, row, subset),
    )


@frozen
class BoardValues:
    """The values of all runs of a board by one measure.

    runs     what heads a run's values, its system and its number, -> the run; in the order of the board, baselines
             first
    queries  those that count and on which a run has a value -> a value for each run, None where it is undefined
    """

    evaluation: EvaluationHeading
    scoring_set: int
    measure: Column
    runs: Mapping[str, Entry]
    queries: Mapping[str, tuple[float | None, ...]]


def board_values(
    session: Session, actor: Actor, campaign_slug: str, slug: str, now: datetime, view: BoardQuery = EVERYTHING
) -> BoardValues:
    """By the measure that `view` names, else the first that has a value for each query.

    Raises NotFound for no such board, NotAllowed where single queries may not be seen, BadInput for a measure without
    values for them.
    """
    page = board(session, actor, campaign_slug, slug, now, view)  # a set that the reader may not see is not there
    evaluation, _ = reads.find_with_details(session, actor, campaign_slug, slug, now)
    scoring_set = session.get_one(ScoringSet, page.scoring_set)  # an old one where `view` asks for it
    by, subset = pick(per_query_columns(scoring_set), view.measure), subset_seen(actor, evaluation, now)
    entries = [row.entry for row in (*page.baselines, *page.listed)]
    vectors = load_vectors(session, [entry.scoring_id for entry in entries], [by.name], subset)
    called = table.disambiguate(entry.system for entry in entries)
    judged = {query.external_id: query for query in reads.judged_queries(session, scoring_set)}
    values = {
        query: tuple(value_in(vectors.get(run.scoring_id, {}).get(by.name), judged[query].position) for run in entries)
        for query in scoring_set.settings.counted(judged, subset)
        if not view.tag or view.tag in judged[query].tags
    }
    return BoardValues(
        evaluation=page.evaluation,
        scoring_set=scoring_set.id,
        measure=by,
        runs={f"{called[entry.system.id]} ({entry.submission_id})": entry for entry in entries},
        queries={query: own for query, own in values.items() if any(value is not None for value in own)},
    )


def _summary(heading: QueryHeading, spread: Spread, names: Sequence[str]) -> QuerySummary:
    """names: of the systems that the spread is over."""
    at = heading.position
    median, best, worst = (value_in(values, at) for values in (spread.median, spread.best, spread.worst))
    return QuerySummary(heading, median, best, worst, "" if best is None else names[spread.first[at]])


def relevant_documents(
    session: Session, scoring_set: ScoringSet, *which: sa.ColumnElement[bool]
) -> defaultdict[int, int | None]:
    """Query id -> documents judged relevant at the set's level; None where nobody judged a query, of pooled judgments.

    which  conditions on Judgment
    """
    settings = scoring_set.settings
    own, is_relevant = Judgment.revision_id == scoring_set.revision_id, Judgment.grade >= settings.relevance_level
    relevant = sa.func.count().filter(is_relevant)
    counts = sa.select(Judgment.query_id, relevant).where(own, *which).group_by(Judgment.query_id)
    without_any = 0 if settings.judging is Judging.COMPLETE else None
    return defaultdict(lambda: without_any, session.execute(counts).all())


def neighbours(session: Session, query: Query, subset: Subset) -> Mapping[Any, Any]:
    """`previous` and `next`: the external ids of the subset's queries around it, in the evaluation's order, or None."""
    own = sa.select(Query.external_id).where(*of_subset(query.evaluation_id, subset)).limit(1)
    before = own.where(Query.position < query.position).order_by(Query.position.desc())
    after = own.where(Query.position > query.position).order_by(Query.position)
    both = before.scalar_subquery().label("previous"), after.scalar_subquery().label("next")
    return session.execute(sa.select(*both)).mappings().one()


def query_heading(query: Query, relevant: int | None, texts: bool) -> QueryHeading:
    """What a page shows of a query. relevant: how many documents are relevant; None where that is not to be seen.
    texts: whether its text, description and tags may be seen."""
    return db.snapshot(
        QueryHeading,
        query,
        text=query.text if texts else "",
        description=query.description if texts else "",
        tags=tuple(query.tags) if texts else (),
        relevant=relevant,
        excluded=query.excluded_at is not None,
    )


@frozen
class ListedDocument:
    """A line of the run. grade: None when not judged; returned: whether AQWV and the set measures count it so."""

    rank: int
    document: str
    score: float
    grade: int | None
    relevant: bool
    returned: bool


@frozen
class RankedListPage:
    """relevant: over the judgments; the other counts are over the list.

    complete  whether a document without a judgment counts as not relevant; nothing is `unjudged` then
    missed   relevant documents that the run does not list, best first; empty unless `judgments_open`
    returned_by  what decides what counts as returned: "decisions", "threshold" or "all"
    theta    of the run's curve: the lowest score with decision Y on any query, where one θ gives all decisions; or None
    """

    submission_id: int
    system: table.SystemLabel
    label: str
    evaluation: EvaluationHeading
    query: QueryHeading
    columns: tuple[Column, ...]
    values: tuple[float | None, ...]
    threshold: float | None
    theta: float | None
    returned_by: ReturnedBy
    lines: tuple[ListedDocument, ...]
    retrieved: int
    returned: int
    found: int
    unjudged: int
    complete: bool
    relevant: int
    judgments_open: bool
    missed: tuple[JudgedDocument, ...]
    previous: str | None
    next: str | None


def ranked_list(
    session: Session, actor: Actor, store: RunStore, submission_id: int, external_id: str, now: datetime
) -> RankedListPage:
    """Raises NotFound for no such scored run or query, NotAllowed while single documents may not be seen."""
    scored = find_scored(session, actor, submission_id, now)
    run, scoring, scoring_set, subset = scored.run, scored.scoring, scored.scoring_set, scored.subset
    evaluation = run.evaluation
    require(scored.details, closed_details(evaluation))
    query = reads.find_query(session, evaluation, external_id, subset)
    level = scoring_set.settings.relevance_level
    judged = rows_of_table(session, Judgment, scoring_set.revision_id, Query.id == query.id)
    grades = {document: grade for _, document, grade in judged}
    relevant = {document: grade for document, grade in grades.items() if grade >= level}
    compat = scoring_set.settings.compat
    listed = store.ranked_list(run.id, compat, query.position)
    is_returned = returned(listed.scores, listed.decisions, run.threshold, compat).tolist()
    own = zip(listed.documents, listed.scores.tolist(), is_returned, strict=True)
    lines = [
        ListedDocument(rank, document, score, grades.get(document), document in relevant, here)
        for rank, (document, score, here) in enumerate(own, 1)
    ]
    judgments = may_see(actor, evaluation, Content.JUDGMENTS, now, run.team_id)
    missed = sorted((relevant[document], document) for document in relevant.keys() - {*listed.documents})
    columns = per_query_columns(scoring_set)
    values = load_slices(session, [scoring.id], [column.name for column in columns], subset, query.position)
    complete = scoring_set.settings.judging is Judging.COMPLETE
    kept = scoring_set.settings.subset_kept(subset)
    mark = session.scalar(sa.select(Curve.values).filter_by(scoring_id=scoring.id, subset=kept, name=MARKS[0]))
    return RankedListPage(
        submission_id=run.id,
        system=label_of(session, actor, run, now),
        label=run.label if scored.named else "",
        evaluation=evaluation_heading(evaluation, now),
        query=query_heading(query, len(relevant), may_see(actor, evaluation, Content.TEXTS, now)),
        columns=columns,
        values=tuple(values.get((scoring.id, column.name)) for column in columns),
        threshold=run.threshold,
        theta=float(mark[0]) if mark is not None and np.isfinite(mark[0]) else None,
        returned_by=returned_by(listed.decisions, run.threshold),
        lines=tuple(lines),
        retrieved=len(lines),
        returned=sum(line.returned for line in lines),
        found=sum(line.relevant for line in lines),
        unjudged=0 if complete else sum(line.grade is None for line in lines),
        complete=complete,
        relevant=len(relevant),
        judgments_open=judgments,
        missed=tuple(JudgedDocument(document, grade) for grade, document in reversed(missed)) if judgments else (),
        **neighbours(session, query, subset),
    )


Pair = tuple[metrics.Columns, metrics.Columns]  # what a measure is aggregated from, of both runs

DRAWN = 2_000_000  # queries drawn for an interval at most: it is worked out while the page is awaited


@frozen
class RunToCompare:
    """A run that can be chosen: the one that stands for its system on the board."""

    submission_id: int
    name: str


@frozen
class MeasureBeside:
    """Both means by a measure. difference: first − second; effects: on how many queries which of them is better, None
    for a measure that has no values on single queries."""

    column: Column
    first: Figure
    second: Figure
    difference: float | None
    effects: statistics.Effects | None


@frozen
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


@frozen
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
    interval: statistics.Interval | None
    test: statistics.PairedTest | None
    effects: statistics.Effects | None
    sort: str
    queries: tuple[ComparedQuery, ...]
    shown: tuple[ComparedQuery, ...]
    paging: Paging


@frozen
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
    now: datetime,
    *,
    a: int | None = None,
    b: int | None = None,
    view: BoardQuery = EVERYTHING,
) -> ComparePage:
    """Two runs of a board, by their numbers; without both, what there is to choose from.

    Raises NotAllowed while single queries may not be seen, NotFound for a run that is on no board of this evaluation.
    """
    evaluation, scoring_set = reads.find_with_details(session, actor, campaign_slug, slug, now)
    wanted = [number for number in (a, b) if number is not None]
    disclosure, measures = Disclosure(actor, evaluation, scoring_set, now), scoring_set.settings.measures
    loaded = table.load_entries(session, [disclosure], measures, runs=wanted) if wanted else ()
    own = {entry.submission_id: entry for entry in loaded if not entry.off_board}
    standing = load_standing(session, actor, evaluation, now, table.column(scoring_set.primary_measure))
    runs = _runs(standing, list(own.values()))
    if lost := [number for number in wanted if number not in own]:
        raise errors.NotFound(f"submission {lost[0]} is on no board of {evaluation.title}")
    both, texts = len(wanted) == 2, disclosure.sees(Content.TEXTS, own=False)
    compared = _compared(session, disclosure, [own[number] for number in wanted], texts, view) if both else None
    return ComparePage(evaluation_heading(evaluation, now), runs, wanted[0] if wanted else None, compared)


def _runs(standing: Sequence[Entry], chosen: Sequence[Entry]) -> tuple[RunToCompare, ...]:
    """The runs that stand, and those that the address names, by the names of their systems."""
    entries = {entry.submission_id: entry for entry in (*standing, *chosen)}
    called = table.disambiguate(entry.system for entry in entries.values())
    stands = {entry.submission_id for entry in standing if not entry.late}
    named = [
        RunToCompare(number, called[entry.system.id] + ("" if number in stands else f", {entry.name}"))
        for number, entry in entries.items()
    ]
    return tuple(sorted(named, key=lambda run: (run.name.casefold(), run.submission_id)))


def _compared(
    session: Session, disclosure: Disclosure, entries: Sequence[Entry], texts: bool, view: BoardQuery
) -> Compared:
    settings, columns = disclosure.scoring_set.settings, table.columns_of(disclosure.scoring_set.settings)
    chosen = pick(per_query_columns(disclosure.scoring_set), view.measure)
    known = reads.queries_of_subset(session, disclosure.scoring_set, Subset.ALL, texts)
    scorings = [entry.scoring_id for entry in entries]
    vectors = load_vectors(session, scorings, [*settings.measures, *settings.kept], disclosure.subset)
    positions = {query.external_id: query.position for query in known if query.position < settings.queries}
    order = [positions[query] for query in metrics.query_order(positions)]
    values = [vectors.get(each, {}) for each in scorings]
    pairs, measures = dict[str, Pair | None](), []
    for each in columns:
        mine, theirs = (columns_over(metrics.parse(each.name), own, order, settings) for own in values)
        pairs[each.name] = pair = (mine, theirs) if mine and theirs else None
        figure, other = (entry.figure(each.name) for entry in entries)
        measures.append(MeasureBeside(each, figure, other, less(figure.mean, other.mean), _effects(each, pair)))
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
    rows = _compared_queries(shown_queries, settings, [own.get(chosen.name) for own in values])
    ordered = sorted_rows(
        rows,
        view.sort,
        {
            "a": (chosen, lambda row: row.first),
            "b": (chosen, lambda row: row.second),
            "difference": (chosen, lambda row: row.difference),
        },
    )
    shown, paging = paged(ordered, view.page, PAGE)
    called = table.disambiguate(entry.system for entry in entries)
    first, second = entries
    same = first.system_id == second.system_id
    names = [entry.name if same else called[entry.system.id] for entry in entries]
    return Compared(
        first=first,
        second=second,
        names=(names[0], names[1]),
        measures=tuple(measures),
        column=chosen,
        interval=interval,
        test=test,
        effects=_effects(chosen, pair),
        sort=view.sort,
        queries=ordered,
        shown=shown,
        paging=paging,
    )


def _effects(by: Column, pair: Pair | None) -> statistics.Effects | None:
    if not pair or by.direction == "none":
        return None
    return statistics.effect_sizes(*_contributions(by, pair), lower_is_better=by.direction == "lower")


def _contributions(by: Column, pair: Pair) -> list[metrics.Floats]:
    """What each query adds to the means of the two, over the queries where both have a value."""
    aggregation = metrics.parse(by.name).family.aggregation
    return [statistics.contributions(own, aggregation) for own in statistics.common(*pair)]


def _compared_queries(
    known: Sequence[reads.JudgedQuery], settings: ScoringSettings, values: Sequence[metrics.Floats | None]
) -> tuple[ComparedQuery, ...]:
    """values: of both runs."""
    rows = []
    for query in known:
        mine, theirs = (value_in(own, query.position) for own in values)
        judged = query.best_grade is not None or settings.judging is Judging.COMPLETE
        counted = not query.excluded and judged and not (mine is None and theirs is None)
        difference = less(mine, theirs)
        rows.append(
            db.snapshot(ComparedQuery, query, counted=counted, first=mine, second=theirs, difference=difference)
        )
    return tuple(rows)
