"""The board of an evaluation: one row for each system, ranked by one measure."""

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Sight, may_see, require, subset_seen
from leaderboard.errors import BadInput
from leaderboard.lookup import find_evaluation_and_set, form_fields, has_choice
from leaderboard.metrics import parse, query_order
from leaderboard.models import Evaluation, ScoringSet
from leaderboard.reads.answers import BoardAnswers, board_answers
from leaderboard.reads.board_queue import ParkedRun, of_worker, parked_runs, received_runs
from leaderboard.reads.board_statistics import BoardStatistics, as_rounded, statistics_of
from leaderboard.reads.columns import Column, column, pick
from leaderboard.reads.entries import Entry, Figure, load_entries, with_figures
from leaderboard.reads.every_run import EveryRun, Whole, beaten, every_run
from leaderboard.reads.headings import (
    EvaluationHeading,
    JudgedQuery,
    Terms,
    campaign_measures,
    closed_details,
    evaluation_heading,
    judged_queries,
    terms,
)
from leaderboard.reads.paging import ROWS, WHOLE, Paging, is_found, paged, paging_of
from leaderboard.reads.query_values import figures_over, load_vectors
from leaderboard.reads.standings import Show, choose, load_candidates, ranks, show_of, sort_entries, stands_by
from leaderboard.reads.stood import StoodSet, replaced_beside, seen_set, stood_set
from leaderboard.reads.verifications import Verifications, verifications
from leaderboard.rules.settings import Subset
from leaderboard.rules.standings import KeptChoice, RunChoice, is_ranked
from leaderboard.statistics import LEAST, Least, least_queries

__all__ = ["BoardPage", "BoardRow", "Tag", "board"]


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A run on the board.

    rank        None for baselines, late runs and undefined means
    rank_set    the best and the worst rank that it may have at the board's confidence; None without statistics
    figures     one for each of the page's columns, in their order; none of a row that is not shown
    ranked_by   the figure of the measure that ranks
    """

    rank: int | None
    rank_set: tuple[int, int] | None
    entry: Entry
    figures: tuple[Figure, ...]
    ranked_by: Figure

    @property
    def may_be_best(self) -> bool | None:
        """Whether rank 1 is in its set; None without statistics."""
        return None if self.rank_set is None else self.rank_set[0] == 1


@dataclass(frozen=True, slots=True)
class Tag:
    name: str
    queries: int


@dataclass(frozen=True, slots=True)
class BoardPage:
    """`terms` is None before the first judgments. `results_open`: whether this reader sees everybody's rows.

    waiting  runs queued or being scored; rescoring: those of a new scoring set that will replace the current one
    tag      if not empty, figures are means over the `tag_queries` queries with this tag only
    tags     none while details are closed
    text     if not empty, rows are listed whose system, team or run has it in its name
    rows     all of them; `listed` are those that pass the reader's filters, `shown` those of this page. Of a board of
             every run that comes in pages, those only that the page tells of (`every_run`); `whole` counts all
    baselines  those that stand above the rows of every page
    own_elsewhere  rows of the reader's teams that stand on another page, each with that page's number
    queries_in_means  measure -> the fewest and the most queries that a mean is over; only measures that have means.
             Under the measure that ranks of all rows, under others of those shown and the baselines
    answers  to the organisers' form fields: which are columns, and what the reader filters by
    statistics  of exactly the runs shown; None until the worker has computed them, and for a tag
    organised  whether this reader organises the campaign
    parked   what organisers have to look at; empty for everybody else
    verified  for organisers only
    old       which set it is of, where that is not the current one, or was asked for by its number
    """

    evaluation: EvaluationHeading
    terms: Terms | None
    results_open: bool
    details_open: bool
    columns: tuple[Column, ...]
    ranked_by: Column | None
    show: Show
    sort: str
    tag: str
    tag_queries: int
    tags: tuple[Tag, ...]
    text: str
    rows: tuple[BoardRow, ...]
    listed: tuple[BoardRow, ...]
    shown: tuple[BoardRow, ...]
    paging: Paging
    baselines: tuple[BoardRow, ...]
    own_elsewhere: tuple[tuple[BoardRow, int], ...]
    whole: Whole
    queries_in_means: Mapping[str, tuple[int, int]]
    answers: BoardAnswers
    statistics: BoardStatistics | None
    waiting: int
    rescoring: int
    organised: bool
    parked: tuple[ParkedRun, ...]
    verified: Verifications | None
    old: StoodSet | None
    judgments_open: bool

    @property
    def ranked(self) -> tuple[BoardRow, ...]:
        """The rows that have a rank, best first whatever the page is sorted by."""
        return tuple(sorted((row for row in self.rows if row.rank is not None), key=lambda row: row.rank or 0))

    @property
    def some_may_not_be_best(self) -> bool:
        """Whether rank sets tell anybody apart from the best; where they do not, no row is picked out."""
        return any(row.may_be_best is False for row in self.rows)

    @property
    def other_columns(self) -> tuple[Column, ...]:
        """All columns but the one that ranks."""
        return tuple(column for column in self.columns if column is not self.ranked_by)

    def others(self, row: BoardRow) -> tuple[tuple[Column, Figure], ...]:
        pairs = zip(self.columns, row.figures, strict=True)
        return tuple((column, figure) for column, figure in pairs if column is not self.ranked_by)

    @property
    def least_for_intervals(self) -> int | None:
        """How many queries an interval needs, where the figures that rank are over fewer; else None."""
        most = self.queries_in_means.get(self.ranked_by.name, (0, 0))[1] if self.ranked_by else 0
        return self.least.for_interval if 0 < most < self.least.for_interval else None

    @property
    def least(self) -> Least:
        """How many queries are needed under the measure that ranks."""
        if self.ranked_by is None or self.terms is None:
            return LEAST
        return least_queries(parse(self.ranked_by.name), self.terms.settings.metric)

    @property
    def not_over_tag(self) -> tuple[str, ...]:
        """Measures that have no figure over a part of the queries, because they are not made of per-query values."""
        rows = (*self.shown, *self.baselines)
        if not (self.tag and rows):
            return ()
        return tuple(
            column.name
            for place, column in enumerate(self.columns)
            if all(row.figures[place].mean is None for row in rows)
        )


def board(
    session: Session,
    actor: Actor,
    campaign_slug: str,
    slug: str,
    now: dt.datetime,
    *,
    measure: str | None = None,
    tag: str | None = None,
    show: str | None = None,
    sort: str | None = None,
    answer: str | None = None,
    set_id: int | None = None,
    text: str | None = None,
    page: int | None = None,
    run: int | None = None,
) -> BoardPage:
    """The board by the current scoring set, or by another one, as it stood when boards ceased to show it.

    page  of a board of more than WHOLE rows; None for all rows. run: instead, the page that this submission stands on

    Raises NotFound for no such evaluation, BadInput for a measure, tag, choice or order that it does not have.

    Over a tag only where single queries may be seen, NotAllowed otherwise: a tag of one query, or of all but one, would
    give that query's values away.
    """
    evaluation, scoring_set = find_evaluation_and_set(session, actor, campaign_slug, slug)
    old: StoodSet | None = None
    moment, organised = now, actor.may_organise(evaluation.campaign_id)
    if set_id is not None:
        scoring_set, moment = seen_set(session, actor, evaluation, set_id, now)
        ends = {} if scoring_set.shown else replaced_beside(session, evaluation)
        old = stood_set(evaluation, scoring_set, ends.get(scoring_set.id))
    shown = show_of(show, evaluation.campaign.run_choice)
    results_open = may_see(actor, evaluation, Sight.RESULTS, moment)
    details_open = may_see(actor, evaluation, Sight.DETAILS, moment)
    held: Terms | None = None
    ranked_by: Column | None = None
    statistics: BoardStatistics | None = None
    rows: list[BoardRow] = []
    positions: dict[str, list[int]] = {}
    counts: dict[str, tuple[int, int]] = {}
    listed: Sequence[Entry] = ()
    shown_here: Sequence[Entry] = ()
    apart: Set[int] = frozenset()
    paging = paging_of(0, None, ROWS)
    own_elsewhere: Sequence[tuple[Entry, int]] = ()
    whole, some_failed = Whole(), True
    if tag:
        require(details_open, closed_details(evaluation))
    if scoring_set is None:
        columns = tuple(column(name) for name in campaign_measures(evaluation.campaign))
        answers = board_answers(session, evaluation, (), answer)
        waiting, rescoring = received_runs(session, evaluation), 0
    else:
        subset = subset_seen(actor, evaluation, moment)
        judged = judged_queries(session, [scoring_set])[scoring_set.id] if details_open else None
        held = terms(session, actor, evaluation, scoring_set, moment)
        columns, ranked_by = held.columns, pick(held.columns, measure)
        texts_open = may_see(actor, evaluation, Sight.TEXTS, now)
        positions = _positions_by_tag(judged, scoring_set, subset) if judged and texts_open else {}
        names = [one.name for one in columns]
        needed = [name for name in names if name in (ranked_by.name, (sort or "").lstrip("-"))]
        plain = shown is Show.ALL and results_open and details_open and not (old or tag or sort or text or answer)
        every = _in_pages(session, actor, evaluation, scoring_set, moment, ranked_by, page, run) if plain else None
        seen = (
            every.entries
            if every
            else _candidates(session, actor, evaluation, scoring_set, moment, needed, shown, ranked_by, old)
        )
        entries = list(every.entries) if every else choose(seen, shown, ranked_by)
        if tag:
            if tag not in positions:
                there = ", ".join(positions) or "none"
                raise BadInput(f"no query of this evaluation has the tag {tag}; there are: {there}")
            entries = _over_tag(session, scoring_set, entries, positions[tag], subset, needed)
        places = every.places if every else ranks(entries, ranked_by) if results_open else {}
        ranked = every.ranked if every else {one.scoring_id for one in entries if one.submission_id in places}
        computed, *unfinished, some_failed = of_worker(
            session, evaluation, scoring_set, ranked_by.name, subset, organised
        )
        waiting, rescoring = (0, 0) if old else unfinished
        statistics = None if tag or computed is None else statistics_of(computed, ranked)
        if statistics is not None and not details_open:
            chosen_by_digits = evaluation.campaign.run_choice is RunChoice.BEST and (
                has_choice(session, evaluation, scoring_set) if shown is Show.BEST and not old else _has_choice(seen)
            )
            statistics = _told_rounded(statistics, entries, places, ranked_by, chosen_by_digits)
        ordered = entries if every else sort_entries(entries, ranked_by, columns, sort or "")
        answers = board_answers(session, evaluation, ordered, answer)
        apart = {entry.submission_id for entry in (every.baselines if every else ordered) if entry.is_baseline}
        competing = [entry for entry in ordered if entry.submission_id not in apart]
        listed = [
            entry for entry in competing if answers.has(entry.submission_id) and is_found(text or "", _names(entry))
        ]
        shown_here, paging = (every.shown, every.paging) if every else _on_page(listed, page, run)
        in_full: Sequence[Entry] = [*shown_here, *(entry for entry in ordered if entry.submission_id in apart)]
        if tag:
            in_full = _over_tag(session, scoring_set, in_full, positions[tag], subset, names)
        else:
            more = [name for name in names if name not in needed]
            in_full = with_figures(session, actor, evaluation, scoring_set, moment, in_full, more)
        full = {entry.scoring_id: entry for entry in in_full}
        rows = [
            _row(
                full.get(one.scoring_id, one), columns if one.scoring_id in full else (), ranked_by, places, statistics
            )
            for one in ordered
        ]
        counts = _counts(rows, names, ranked_by)
        whole = every.whole if every else _whole(rows, ranked_by)
        if every and every.counts:
            counts[ranked_by.name] = every.counts
        own_elsewhere = every.own_elsewhere if every else _own_elsewhere(listed, shown_here)
    by_run = {row.entry.submission_id: row for row in rows}
    return BoardPage(
        evaluation=evaluation_heading(evaluation, now),
        terms=held,
        results_open=results_open,
        details_open=details_open,
        columns=columns,
        ranked_by=ranked_by,
        show=shown,
        sort=sort or "",
        tag=tag or "",
        tag_queries=len(positions[tag]) if tag and held else 0,
        tags=tuple(Tag(name, len(where)) for name, where in positions.items()),
        text=text or "",
        rows=tuple(row for row in rows if row.entry.submission_id not in apart),
        listed=tuple(by_run[entry.submission_id] for entry in listed),
        shown=tuple(by_run[entry.submission_id] for entry in shown_here),
        paging=paging,
        baselines=tuple(row for row in rows if row.entry.submission_id in apart),
        own_elsewhere=tuple((by_run[entry.submission_id], number) for entry, number in own_elsewhere),
        whole=whole,
        queries_in_means=counts,
        answers=answers,
        statistics=statistics,
        waiting=waiting,
        rescoring=rescoring,
        organised=organised,
        parked=parked_runs(session, evaluation) if organised and some_failed and not old else (),
        verified=verifications(session) if organised and not old else None,
        old=old,
        judgments_open=may_see(actor, evaluation, Sight.JUDGMENTS, now),
    )


def _in_pages(
    session: Session,
    actor: Actor,
    evaluation: Evaluation,
    scoring_set: ScoringSet,
    now: dt.datetime,
    ranked_by: Column,
    page: int | None,
    run: int | None,
) -> EveryRun | None:
    """Every run where a page of them is asked for, and no filter offers the answers of all."""
    if page is None or any(field.filter for field in form_fields(evaluation)):
        return None
    return every_run(session, actor, evaluation, scoring_set, now, ranked_by, page, run)


def _candidates(
    session: Session,
    actor: Actor,
    evaluation: Evaluation,
    scoring_set: ScoringSet,
    now: dt.datetime,
    measures: Sequence[str],
    show: Show,
    ranked_by: Column,
    old: StoodSet | None,
) -> list[Entry]:
    """The runs that `choose` has to choose from."""
    if old is None:
        by = {evaluation.id: [ranked_by.name]}
        return load_candidates(session, actor, [evaluation], now, measures, show=show, by=by)
    standing = stands_by(KeptChoice(RunChoice.PRIMARY)) if show is Show.PRIMARY else None
    return load_entries(session, actor, [evaluation], now, measures, scoring_set=scoring_set, standing=standing)


def _told_rounded(
    statistics: BoardStatistics,
    entries: Sequence[Entry],
    places: Mapping[int, int],
    ranked_by: Column,
    chosen_by_digits: bool,
) -> BoardStatistics:
    figures = [entry.figure(ranked_by.name) for entry in entries]
    too_few = all(figure.low is None for figure in figures)
    queries = max((figure.count for figure in figures), default=0)
    return as_rounded(statistics, entries, places, queries, hide=chosen_by_digits or too_few)


def _names(entry: Entry) -> tuple[str, ...]:
    """What a reader looks for a row by."""
    return entry.system.name, entry.system.team, entry.label


def _on_page(listed: Sequence[Entry], page: int | None, run: int | None) -> tuple[Sequence[Entry], Paging]:
    """The rows of the page that is asked for, or of the one that this submission stands on."""
    if len(listed) <= WHOLE:
        return paged(listed, None, ROWS)
    place = next((place for place, entry in enumerate(listed) if entry.submission_id == run), None)
    return paged(listed, page if place is None else place // ROWS + 1, ROWS)


def _own_elsewhere(listed: Sequence[Entry], shown: Sequence[Entry]) -> list[tuple[Entry, int]]:
    """`BoardPage.own_elsewhere`."""
    here = {entry.submission_id for entry in shown}
    numbered = ((entry, place // ROWS + 1) for place, entry in enumerate(listed))
    return [(entry, number) for entry, number in numbered if entry.own and entry.submission_id not in here]


def _whole(rows: Sequence[BoardRow], ranked_by: Column) -> Whole:
    """What a page says of all rows, where all of them are at hand."""
    baselines = [row for row in rows if row.entry.is_baseline]
    ranked = [row for row in rows if row.rank is not None]
    ends = [end for row in rows for end in row.ranked_by.ends if end is not None]
    return Whole(
        rows=len(rows) - len(baselines),
        ranked=len(ranked),
        baselines=len(baselines),
        beaten=beaten(ranked_by, *(_means(some) for some in (baselines, ranked))),
        ends=(min(ends), max(ends)) if ends else (),
        has_intervals=any(row.ranked_by.low is not None for row in rows),
    )


def _means(rows: Sequence[BoardRow]) -> Any:
    return np.array([row.ranked_by.mean for row in rows], dtype=float)


def _counts(rows: Sequence[BoardRow], names: Sequence[str], ranked_by: Column) -> dict[str, tuple[int, int]]:
    """`BoardPage.queries_in_means`."""
    in_full = [row.figures for row in rows if row.figures]
    counts = {name: [own[place].count for own in in_full if own[place].count] for place, name in enumerate(names)}
    counts[ranked_by.name] = [row.ranked_by.count for row in rows if row.ranked_by.count]
    return {name: (min(own), max(own)) for name, own in counts.items() if own}


def _row(
    entry: Entry,
    columns: Sequence[Column],
    ranked_by: Column,
    places: dict[int, int],
    statistics: BoardStatistics | None,
) -> BoardRow:
    return BoardRow(
        rank=places.get(entry.submission_id),
        rank_set=statistics.ranks.get(entry.scoring_id) if statistics else None,
        entry=entry,
        figures=tuple(entry.figure(column.name) for column in columns),
        ranked_by=entry.figure(ranked_by.name),
    )


def _has_choice(entries: Sequence[Entry]) -> bool:
    """Whether a system has several runs that may stand for it."""
    return max(Counter(entry.system_id for entry in entries if is_ranked(entry)).values(), default=0) > 1


def _positions_by_tag(judged: Sequence[JudgedQuery], scoring_set: ScoringSet, subset: Subset) -> dict[str, list[int]]:
    """Tag -> positions of its queries that may count, in the order in which their values are added up.

    Tags come in the order of their first query.
    """
    excluded = set(scoring_set.settings.excluded)
    positions: dict[str, dict[str, int]] = {}
    for one in judged:
        if one.external_id not in excluded and not subset.leaves_out(one.split):
            for tag in one.tags:
                positions.setdefault(tag, {})[one.external_id] = one.position
    return {tag: [own[query] for query in query_order(own)] for tag, own in positions.items()}


def _over_tag(
    session: Session,
    scoring_set: ScoringSet,
    entries: Sequence[Entry],
    positions: Sequence[int],
    subset: Subset,
    measures: Sequence[str],
) -> list[Entry]:
    """The same runs with figures of these measures over these positions only, computed from the per-query values."""
    settings = scoring_set.settings
    names = [*measures, *settings.kept]
    vectors = load_vectors(session, [entry.scoring_id for entry in entries], names, subset)
    where = np.array(positions, dtype=np.int64)
    over = []
    for entry in entries:
        own = {name: vectors[entry.scoring_id, name] for name in names if (entry.scoring_id, name) in vectors}
        figures = figures_over(own, where, measures, settings.no_relevant, settings.beta)
        over.append(replace(entry, figures=figures))
    return over
