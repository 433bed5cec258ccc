"""The board of an evaluation, ranked by one measure: what stands on it, in which order and on which page, of all of its
rows, or where every run is listed, many to a system, of one page and the numbers of all others."""

import datetime as dt
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Content, may_see, require
from leaderboard.audit.events import Verifications, verifications
from leaderboard.boards.reads.entries import (
    ROWS,
    WHOLE,
    Column,
    Disclosure,
    Entry,
    Figure,
    Paging,
    column,
    columns_of,
    gives_interval,
    is_found,
    load_entries,
    paged,
    paging_of,
    pick,
    with_figures,
)
from leaderboard.boards.reads.ranking import (
    BoardStatistics,
    ParkedRun,
    Show,
    as_rounded,
    choose,
    load_candidates,
    of_worker,
    parked_runs,
    ranks,
    received_runs,
    show_of,
    sort_entries,
    stands_by,
    statistics_of,
)
from leaderboard.errors import BadInput
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.find import find_evaluation_and_set
from leaderboard.evaluations.reads.form_fields import form_fields
from leaderboard.evaluations.reads.headings import (
    EvaluationHeading,
    Terms,
    campaign_measures,
    closed_details,
    evaluation_heading,
    judged_queries,
    terms,
)
from leaderboard.evaluations.rules import Subset
from leaderboard.history.reads import BoardVersion, board_version, replaced_beside, visible_set
from leaderboard.metrics import Floats, parse, query_order
from leaderboard.metrics.segments import Bools, Ints
from leaderboard.results.reads.run import figures_over, load_vectors
from leaderboard.statistics import LEAST, Least, least_queries
from leaderboard.submissions.reads.run_arrays import Runs, Wanted, load_figures, load_runs
from leaderboard.submissions.reads.selection import has_choice, on_boards
from leaderboard.submissions.reads.status import BoardAnswers, board_answers
from leaderboard.submissions.rules import RunChoice, StoredChoice, places_of
from leaderboard.worker.models import ScoringSet

APART = 20  # baselines: as many stand above the rows of every page of every run, more of them among these
OWN = 20  # rows of the reader's on other pages of every run that are named


@dataclass(frozen=True, slots=True)
class BoardQuery:
    """What a reader asks of a board or of the pages behind it; "" and None ask for what they show by themselves.

    measure  to rank by
    tag      only queries with it
    show     which runs (`Show`)
    sort     a column, with - before it the other way round
    answer   `key:answer`: only runs with this answer to a field of the form, with the ranks that they have among all
    text     only rows whose system, team or run has it in its name
    page     of a board of more than WHOLE rows; None for all rows. run: instead, the one that this submission stands on
    set_id   instead of the current scoring set, another one, as it stood when boards ceased to show it
    """

    measure: str = ""
    tag: str = ""
    show: str = ""
    sort: str = ""
    answer: str = ""
    text: str = ""
    page: int | None = None
    run: int | None = None
    set_id: int | None = None

    @property
    def is_plain(self) -> bool:
        """Whether it says no more than by which measure, which runs and which page."""
        return replace(self, measure="", show="", page=None, run=None) == BoardQuery()


EVERYTHING = BoardQuery()


@dataclass(frozen=True, slots=True)
class AskedBoard:
    """A board that a reader asks for, by one scoring set and by the rules of one moment.

    positions  of the queries that figures are over; None for all of the reader's
    """

    session: Session
    actor: Actor
    evaluation: Evaluation
    scoring_set: ScoringSet
    moment: dt.datetime
    disclosure: Disclosure
    view: BoardQuery
    show: Show
    details_open: bool
    columns: tuple[Column, ...]
    ranked_by: Column
    positions: Sequence[int] | None

    @property
    def results_open(self) -> bool:
        return self.disclosure.sees(Content.RESULTS, own=False)

    @property
    def decisive(self) -> list[str]:
        """The measures that decide where rows stand."""
        return [each.name for each in self.columns if each.name in (self.ranked_by.name, self.view.sort.lstrip("-"))]

    def entries(self, runs: Sequence[int] | None = None, standing: Any = None) -> list[Entry]:
        """Runs of the set, with the figures that decide."""
        asked = self.session, self.actor, [self.evaluation], self.moment, self.decisive
        return load_entries(*asked, scoring_set=self.scoring_set, standing=standing, runs=runs)

    def with_figures(self, entries: Sequence[Entry], measures: Sequence[str]) -> list[Entry]:
        """The same runs with figures of these measures."""
        if self.positions is None:
            lacking = [name for name in measures if name not in self.decisive]
            return with_figures(self.session, self.disclosure, entries, lacking)
        settings = self.scoring_set.settings
        names = [*measures, *settings.kept]
        vectors = load_vectors(self.session, [entry.scoring_id for entry in entries], names, self.disclosure.subset)
        where = np.array(self.positions, dtype=np.int64)
        over_tag = []
        for entry in entries:
            own = {name: vectors[entry.scoring_id, name] for name in names if (entry.scoring_id, name) in vectors}
            figures = figures_over(own, where, measures, settings.no_relevant, settings.beta)
            over_tag.append(replace(entry, figures=figures))
        return over_tag


@dataclass(frozen=True, slots=True)
class Whole:
    """What a page of a board says of all of its rows, those too that stand on other pages.

    rows       without the baselines that stand apart
    ranked     how many of them have a rank
    baselines  all of them
    beaten     how many ranked rows are ahead of the best baseline
    ends       the lowest and the highest of all means and ends of intervals, by the measure that ranks
    has_intervals  whether one of them has an interval
    """

    rows: int = 0
    ranked: int = 0
    baselines: int = 0
    beaten: int = 0
    ends: tuple[float, ...] = ()
    has_intervals: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """What a page needs of a board's runs.

    entries  in the order of the board: all; of every run in pages those of the page, those that lead, the reader's own
             and baselines that stand apart, each with all that share its place
    baselines  those that stand apart, above the rows of every page
    listed   all others that pass the reader's filters; shown: those of the page
    places   submission -> rank
    ranked   the scorings of all that have a rank
    own_elsewhere  the reader's own on other pages, each with that page's number
    counts   the fewest and the most queries that a mean that ranks is over; None where none has one
    """

    entries: Sequence[Entry]
    baselines: Sequence[Entry]
    listed: Sequence[Entry]
    shown: Sequence[Entry]
    places: Mapping[int, int]
    ranked: frozenset[int]
    paging: Paging
    own_elsewhere: Sequence[tuple[Entry, int]]
    counts: tuple[int, int] | None
    whole: Whole
    answers: BoardAnswers


def list_rows(asked: AskedBoard) -> Listing:
    """The rows that the reader asks for. Raises BadInput for an order or a filter that the board does not have."""
    in_pages = asked.view.is_plain and asked.view.page is not None and asked.show is Show.ALL
    may_be = asked.results_open and asked.details_open
    filters_answers = any(field.filter for field in form_fields(asked.evaluation))
    listing = _every_run(asked) if in_pages and may_be and not filters_answers else None
    return listing or _all_rows(asked)


def _all_rows(asked: AskedBoard) -> Listing:
    view, ranked_by = asked.view, asked.ranked_by
    entries = choose(_candidates(asked), asked.show, ranked_by)
    if asked.positions is not None:
        entries = asked.with_figures(entries, asked.decisive)
    places = ranks(entries, ranked_by) if asked.results_open else {}
    entries = sort_entries(entries, ranked_by, asked.columns, view.sort)
    answers = board_answers(asked.session, asked.evaluation, entries, view.answer)
    baselines = [entry for entry in entries if entry.is_baseline]
    ranked = [entry for entry in entries if entry.submission_id in places]
    listed = [
        entry
        for entry in entries
        if not entry.is_baseline
        and answers.has(entry.submission_id)
        and is_found(view.text, (entry.system.name, entry.system.team, entry.label))
    ]
    shown, paging = _on_page(listed, view)
    here = {entry.submission_id for entry in shown}
    numbered = ((entry, index // ROWS + 1) for index, entry in enumerate(listed))
    figures = [entry.figure(ranked_by.name) for entry in entries]
    counts = [figure.count for figure in figures if figure.count]
    ends = [end for figure in figures for end in figure.ends if end is not None]
    means = (np.array([entry.figure(ranked_by.name).mean for entry in some], float) for some in (baselines, ranked))
    return Listing(
        entries=entries,
        baselines=baselines,
        listed=listed,
        shown=shown,
        places=places,
        ranked=frozenset(entry.scoring_id for entry in ranked),
        paging=paging,
        own_elsewhere=[each for each in numbered if each[0].own and each[0].submission_id not in here],
        counts=(min(counts), max(counts)) if counts else None,
        whole=Whole(
            rows=len(entries) - len(baselines),
            ranked=len(ranked),
            baselines=len(baselines),
            beaten=_beaten(ranked_by, *means),
            ends=(min(ends), max(ends)) if ends else (),
            has_intervals=any(figure.low is not None for figure in figures),
        ),
        answers=answers,
    )


def _candidates(asked: AskedBoard) -> list[Entry]:
    """The runs that `choose` has to choose from."""
    if asked.view.set_id is not None:
        is_primary = asked.show is Show.PRIMARY
        return asked.entries(standing=stands_by(StoredChoice(RunChoice.PRIMARY)) if is_primary else None)
    by = {asked.evaluation.id: [asked.ranked_by.name]}
    of_current = asked.session, asked.actor, [asked.evaluation], asked.moment, asked.decisive
    return load_candidates(*of_current, show=asked.show, by=by)


def _on_page(listed: Sequence[Entry], view: BoardQuery) -> tuple[Sequence[Entry], Paging]:
    """The rows of the page that is asked for, or of the one that its submission stands on."""
    if len(listed) <= WHOLE:
        return paged(listed, None, ROWS)
    pages = (index // ROWS + 1 for index, entry in enumerate(listed) if entry.submission_id == view.run)
    return paged(listed, next(pages, view.page), ROWS)


def _beaten(column: Column, baselines: Floats, ranked: Floats) -> int:
    """How many of the ranked means are ahead of the best baseline; NaN is an undefined one."""
    if not len(baselines):
        return 0
    places = places_of(np.concatenate([baselines, ranked]), column.direction)
    return int((places[len(baselines) :] < places[: len(baselines)].min()).sum())


def _every_run(asked: AskedBoard) -> Listing | None:
    """One page of every run, or the one that the asked submission stands on, for a reader who sees everybody's means
    with all their digits. None where up to WHOLE rows stand on one page, and where each system has one run: that is the
    board of the runs that stand.
    """
    lines = _lines(asked)
    if lines is None or len(lines.order) <= WHOLE:
        return None
    run, ids = asked.view.run, lines.runs.submissions
    paging = paging_of(len(lines.order), asked.view.page, ROWS)
    wanted = lines.needed(_rows_of(paging), run)
    entries = sort_entries(asked.entries([*ids[wanted].tolist(), *ids[lines.apart].tolist()]), asked.ranked_by, ())
    at = lines.places_of(entries)
    if run in at:
        paging = paging_of(len(lines.order), at[run] // ROWS + 1, ROWS)
    first, last = _rows_of(paging)
    listed = [entry for entry in entries if entry.submission_id in at]
    loaded = np.isin(ids, [entry.submission_id for entry in entries])
    rank = dict(zip(ids[loaded].tolist(), lines.rank[loaded].tolist(), strict=True))
    own = [(entry, at[entry.submission_id]) for entry in listed if entry.own]
    return Listing(
        entries=entries,
        baselines=[entry for entry in entries if entry.submission_id not in at],
        listed=listed,
        shown=[entry for entry in listed if first <= at[entry.submission_id] < last],
        places={entry.submission_id: rank[entry.submission_id] for entry in entries if rank[entry.submission_id]},
        ranked=frozenset(lines.runs.scorings[lines.rank > 0].tolist()),
        paging=paging,
        own_elsewhere=[(entry, index // ROWS + 1) for entry, index in own if not first <= index < last][:OWN],
        counts=lines.ends_of_counts,
        whole=lines.whole(asked.ranked_by),
        answers=board_answers(asked.session, asked.evaluation, entries, ""),
    )


def _rows_of(paging: Paging) -> tuple[int, int]:
    """Between which places of all rows those of the page stand."""
    return paging.before(ROWS), paging.before(ROWS) + ROWS


@dataclass(frozen=True, slots=True)
class _Lines:
    """The numbers of every run that the board shows, as arrays; NaN where there is none.

    apart   the baselines that stand above the rows
    rank    of each among those that have one; 0 for all others
    order   of all others the places in these arrays, as they stand on the board; those that tie in no order
    group   of each of `order` a number that rises, the same for those that share a place
    """

    runs: Runs
    means: Floats
    counts: Floats
    lows: Floats
    highs: Floats
    apart: Bools
    rank: Ints
    order: Ints
    group: Ints

    def needed(self, rows: tuple[int, int], run: int | None) -> Ints:
        """Which runs are read in full: on these rows, or where `run` is; that lead; of the reader's; with all that
        share their places."""
        ids, (first, last) = self.runs.submissions[self.order], rows
        if run is not None and (stands := np.flatnonzero(ids == run)).size:
            ties = np.flatnonzero(self.group == self.group[stands[0]])  # on which of their pages is known later
            first, last = ties[0] // ROWS * ROWS, ties[-1] // ROWS * ROWS + ROWS
        own = np.flatnonzero(self.runs.own[self.order])
        own = own[(own < first) | (own >= last)][:OWN]
        leaders = np.isin(self.rank[self.order], np.unique(self.rank[self.rank > 0])[:2])
        groups = np.concatenate([self.group[first:last], self.group[leaders], self.group[own]])
        return self.order[np.isin(self.group, groups)]

    def places_of(self, entries: Sequence[Entry]) -> dict[int, int]:
        """Submission -> where it stands among all rows. entries: in the order of the board, whole groups of them."""
        ids = self.runs.submissions[self.order]
        here = np.isin(ids, [entry.submission_id for entry in entries])
        group_of = dict(zip(ids[here].tolist(), self.group[here].tolist(), strict=True))
        before: Counter[int] = Counter()
        places = {}
        for entry in entries:
            if (group := group_of.get(entry.submission_id)) is not None:
                places[entry.submission_id] = int(np.searchsorted(self.group, group)) + before[group]
                before[group] += 1
        return places

    @property
    def ends_of_counts(self) -> tuple[int, int] | None:
        counts = self.counts[self.counts > 0]
        return (int(counts.min()), int(counts.max())) if counts.size else None

    def whole(self, column: Column) -> Whole:
        shown = gives_interval(self.counts) & ~np.isnan(self.lows) & ~np.isnan(self.highs)
        known = np.concatenate([self.means[~np.isnan(self.means)], self.lows[shown], self.highs[shown]])
        ranked, baseline = self.rank > 0, self.runs.baseline
        return Whole(
            rows=len(self.order),
            ranked=int(ranked.sum()),
            baselines=int(baseline.sum()),
            beaten=_beaten(column, self.means[baseline], self.means[ranked]),
            ends=(float(known.min()), float(known.max())) if known.size else (),
            has_intervals=bool(shown.any()),
        )


def _lines(asked: AskedBoard) -> _Lines | None:
    """None where no system has several runs. In the order that `sort_entries` gives, but for those that tie."""
    set_id, column = asked.scoring_set.id, asked.ranked_by
    runs = load_runs(asked.session, asked.actor, [set_id], on_boards())[set_id]
    if not runs.has_several:
        return None
    wanted = Wanted(set_id, asked.disclosure, [column.name], runs, in_full=[column.name])
    means, counts, lows, highs = load_figures(asked.session, [wanted])[0][column.name].stored
    places, undefined = places_of(means, column.direction), np.isnan(means)
    keys = places + (len(places) + 1) * (2 * runs.late + undefined)
    apart = runs.baseline if runs.baseline.sum() <= APART else np.zeros(len(places), dtype=bool)
    order = np.argsort(keys, kind="stable")
    order = order[~apart[order]]
    rank = np.zeros(len(means), dtype=np.int64)
    if column.direction != "none":
        has_rank = ~(runs.late | runs.baseline | undefined)
        rank[has_rank] = places_of(means[has_rank], column.direction)
    group = np.cumsum(np.diff(keys[order], prepend=keys[order[:1]]) != 0)
    return _Lines(runs, means, np.nan_to_num(counts), lows, highs, apart, rank, order, group)


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
    """`terms` is None before the first judgments, and all behind `show` empty. `results_open`: whether this reader sees
    everybody's rows.

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
    tag_queries: int = 0
    tags: tuple[Tag, ...] = ()
    text: str = ""
    rows: tuple[BoardRow, ...] = ()
    listed: tuple[BoardRow, ...] = ()
    shown: tuple[BoardRow, ...] = ()
    paging: Paging = field(default_factory=lambda: paging_of(0, None, ROWS))
    baselines: tuple[BoardRow, ...] = ()
    own_elsewhere: tuple[tuple[BoardRow, int], ...] = ()
    whole: Whole = field(default_factory=Whole)
    queries_in_means: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    answers: BoardAnswers = field(default_factory=BoardAnswers)
    statistics: BoardStatistics | None = None
    waiting: int = 0
    rescoring: int = 0
    organised: bool = False
    parked: tuple[ParkedRun, ...] = ()
    verified: Verifications | None = None
    old: BoardVersion | None = None
    judgments_open: bool = False

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
            for index, column in enumerate(self.columns)
            if all(row.figures[index].mean is None for row in rows)
        )


def board(
    session: Session,
    actor: Actor,
    campaign_slug: str,
    slug: str,
    now: dt.datetime,
    view: BoardQuery = EVERYTHING,
) -> BoardPage:
    """The board by the current scoring set, or by the one that `view` names.

    Raises NotFound for no such evaluation, BadInput for a measure, tag, choice or order that it does not have.

    Over a tag only where single queries may be seen, NotAllowed otherwise: a tag of one query, or of all but one, would
    give that query's values away.
    """
    evaluation, scoring_set = find_evaluation_and_set(session, actor, campaign_slug, slug)
    moment, old = now, None
    if view.set_id is not None:
        scoring_set, moment = visible_set(session, actor, evaluation, view.set_id, now)
        ends = {} if scoring_set.shown else replaced_beside(session, evaluation)
        old = board_version(evaluation, scoring_set, ends.get(scoring_set.id))
    details_open = may_see(actor, evaluation, Content.DETAILS, moment)
    if view.tag:
        require(details_open, closed_details(evaluation))
    organised = actor.may_organise(evaluation.campaign_id)
    page = BoardPage(
        evaluation=evaluation_heading(evaluation, now),
        terms=None,
        results_open=may_see(actor, evaluation, Content.RESULTS, moment),
        details_open=details_open,
        columns=tuple(column(name) for name in campaign_measures(evaluation.campaign)),
        ranked_by=None,
        show=show_of(view.show, evaluation.campaign.run_choice),
        sort=view.sort,
        tag=view.tag,
        text=view.text,
        organised=organised,
        verified=verifications(session) if organised and not old else None,
        old=old,
        judgments_open=may_see(actor, evaluation, Content.JUDGMENTS, now),
    )
    if scoring_set is None:
        parked = parked_runs(session, evaluation) if organised else ()
        answers = board_answers(session, evaluation, (), view.answer)
        return replace(page, parked=parked, answers=answers, waiting=received_runs(session, evaluation))
    page = replace(page, terms=terms(session, actor, evaluation, scoring_set, moment))
    disclosure = Disclosure(actor, evaluation, scoring_set, moment)
    tags: Mapping[str, Sequence[int]] = {}
    if details_open and may_see(actor, evaluation, Content.TEXTS, now):
        tags = _positions_by_tag(session, scoring_set, disclosure.subset)
    if view.tag and view.tag not in tags:
        raise BadInput(f"no query of this evaluation has the tag {view.tag}; there are: {', '.join(tags) or 'none'}")
    columns = columns_of(scoring_set.settings)
    ranked_by, positions = pick(columns, view.measure), tags.get(view.tag)
    where = session, actor, evaluation, scoring_set, moment, disclosure
    asked = AskedBoard(*where, view, page.show, details_open, columns, ranked_by, positions)
    page = replace(page, tags=tuple(Tag(name, len(positions)) for name, positions in tags.items()))
    return _with_rows(asked, page)


def _with_rows(asked: AskedBoard, page: BoardPage) -> BoardPage:
    """The page with what depends on the board's runs."""
    listing, ranked_by = list_rows(asked), asked.ranked_by
    computed, waiting, rescoring, some_failed = of_worker(
        asked.session, asked.evaluation, asked.scoring_set, ranked_by.name, asked.disclosure.subset, page.organised
    )
    statistics = None
    if computed is not None and asked.positions is None:
        statistics = statistics_of(computed, listing.ranked)
        if not asked.details_open:
            statistics = _rounded(asked, statistics, listing)
    names = [each.name for each in asked.columns]
    in_full = {entry.scoring_id: entry for entry in asked.with_figures([*listing.shown, *listing.baselines], names)}
    figures = {number: tuple(entry.figure(name) for name in names) for number, entry in in_full.items()}
    rows = {
        entry.submission_id: BoardRow(
            rank=listing.places.get(entry.submission_id),
            rank_set=statistics.ranks.get(entry.scoring_id) if statistics else None,
            entry=in_full.get(entry.scoring_id, entry),
            figures=figures.get(entry.scoring_id, ()),
            ranked_by=entry.figure(ranked_by.name),
        )
        for entry in listing.entries
    }
    apart = {entry.submission_id for entry in listing.baselines}
    return replace(
        page,
        columns=asked.columns,
        ranked_by=ranked_by,
        tag_queries=len(asked.positions or ()),
        rows=tuple(row for number, row in rows.items() if number not in apart),
        listed=_of(listing.listed, rows),
        shown=_of(listing.shown, rows),
        paging=listing.paging,
        baselines=_of(listing.baselines, rows),
        own_elsewhere=tuple((rows[entry.submission_id], number) for entry, number in listing.own_elsewhere),
        whole=listing.whole,
        queries_in_means=_counts(names, figures.values(), ranked_by, listing),
        answers=listing.answers,
        statistics=statistics,
        waiting=0 if page.old else waiting,
        rescoring=0 if page.old else rescoring,
        parked=parked_runs(asked.session, asked.evaluation) if some_failed and not page.old else (),
    )


def _of(entries: Iterable[Entry], rows: Mapping[int, BoardRow]) -> tuple[BoardRow, ...]:
    return tuple(rows[entry.submission_id] for entry in entries)


def _rounded(asked: AskedBoard, statistics: BoardStatistics, listing: Listing) -> BoardStatistics:
    """For a reader who sees rounded means. Nothing is said of ranks where no figure has an interval, and where best
    runs stand and a system has several: that they are given for the one that stands would say that it is better."""
    figures = [entry.figure(asked.ranked_by.name) for entry in listing.entries]
    hide = all(figure.low is None for figure in figures) or (
        asked.evaluation.campaign.run_choice is RunChoice.BEST
        and has_choice(asked.session, asked.evaluation, asked.scoring_set)
    )
    queries = max((figure.count for figure in figures), default=0)
    return as_rounded(statistics, listing.entries, listing.places, queries, hide=hide)


def _counts(
    names: Sequence[str], rows: Collection[tuple[Figure, ...]], ranked_by: Column, listing: Listing
) -> dict[str, tuple[int, int]]:
    """`BoardPage.queries_in_means`. rows: the figures of those that are shown, in the order of the names."""
    counts: dict[str, tuple[int, int] | None] = {}
    for index, name in enumerate(names):
        own = [figures[index].count for figures in rows if figures[index].count]
        counts[name] = (min(own), max(own)) if own else None
    counts[ranked_by.name] = listing.counts
    return {name: ends for name, ends in counts.items() if ends is not None}


def _positions_by_tag(session: Session, scoring_set: ScoringSet, subset: Subset) -> dict[str, list[int]]:
    """Tag -> positions of its queries that may count, in the order in which their values are added up.

    Tags come in the order of their first query.
    """
    excluded = set(scoring_set.settings.excluded)
    positions: dict[str, dict[str, int]] = {}
    for query in judged_queries(session, [scoring_set])[scoring_set.id]:
        if query.external_id not in excluded and not subset.leaves_out(query.split):
            for tag in query.tags:
                positions.setdefault(tag, {})[query.external_id] = query.position
    return {tag: [own[query] for query in query_order(own)] for tag, own in positions.items()}
