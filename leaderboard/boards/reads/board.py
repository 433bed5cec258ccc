"""The board of an evaluation, ranked by one measure: what stands on it, in which order and on which page, of all of its
rows, or where every run is listed, many to a system, of one page and the numbers of all others."""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from itertools import islice

import numpy as np
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Content, may_see, require
from leaderboard.audit.stored_events import Verifications, verifications
from leaderboard.boards.reads import entries as table, ranking
from leaderboard.boards.reads.history import BoardVersion, board_version, stood_from, visible_sets
from leaderboard.errors import BadInput
from leaderboard.evaluations.reads import evaluations as reads
from leaderboard.frozen import frozen
from leaderboard.metrics import Bools, Floats, parse, query_order
from leaderboard.results.reads.holes import Holes, holes_of, measures_of_holes
from leaderboard.results.reads.run import figure_over, load_vectors
from leaderboard.submissions.reads.run_arrays import Wanted, load_figures, load_runs
from leaderboard.submissions.reads.selection import on_boards
from leaderboard.submissions.reads.status import BoardAnswers, board_answers
from leaderboard.submissions.rules import RunChoice, StoredChoice, places_of

APART = 20  # baselines: as many stand above the rows of every page of every run, more of them among these
OWN = 20  # rows of the reader's on other pages that are named


@frozen
class BoardQuery:
    """What a reader asks of a board or of the pages behind it; "" and None ask for what they show by themselves.

    measure  to rank by
    tag      only queries with it
    show     which runs (`Show`)
    sort     system, kind, date or that measure, with - before it the other way round
    answer   `key:answer`: only runs with this answer to a field of the form, with the ranks that they have among all
    text     only rows whose system, team or run has it in its name
    page     of a board of more than WHOLE rows; None for all rows. run: instead, the one that this submission stands on
    set_id   instead of the current scoring set, another one, as it stood when boards ceased to show it
    intervals  `yes`: the page has a column with the ends of intervals; changes nothing that is read
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
    intervals: str = ""


EVERYTHING = BoardQuery()


@frozen
class Whole:
    """What a page of a board says of all of its rows, those too that stand on other pages.

    rows       without the baselines
    ranked     how many of them have a rank
    baselines  all of them
    beaten     how many ranked rows are ahead of the best baseline
    ends       the lowest and the highest of all means and ends of intervals, by the measure that ranks
    has_intervals  whether one of them has an interval
    counts     the fewest and the most queries that a mean that ranks is over; empty where none has one
    """

    rows: int = 0
    ranked: int = 0
    baselines: int = 0
    beaten: int = 0
    ends: tuple[float, ...] = ()
    has_intervals: bool = False
    counts: tuple[int, ...] = ()


@frozen
class BoardRow:
    """A run on the board.

    rank        None for baselines, late runs and undefined means
    rank_set    the best and the worst rank that it may have at the board's confidence; None without statistics
    may_be_best  whether it is among those of which one is the best at that confidence; None without statistics
    figures     one for each of the page's columns, in their order; none of a row that is not shown
    ranked_by   the figure of the measure that ranks
    """

    rank: int | None
    rank_set: tuple[int, int] | None
    may_be_best: bool | None
    entry: table.Entry
    figures: tuple[table.Figure, ...]
    ranked_by: table.Figure


@frozen
class Tag:
    name: str
    queries: int


@frozen
class BoardPage:
    """`terms` is None before the first judgments, and all behind `show` empty. `results_open`: whether this reader sees
    everybody's rows.

    waiting  runs queued or being scored; rescoring: those of a new scoring set that will replace the current one
    tag      if not empty, figures are means over the `tag_queries` queries with this tag only
    tags     none while details are closed
    text     if not empty, rows are listed whose system, team or run has it in its name
    rows     all of them; `listed` are those that pass the reader's filters, `shown` those of this page. Of a board of
             every run that comes in pages, those only that the page tells of (`every_run`); `whole` counts all
    baselines  those that stand above the rows of every page; of every run none where there are more than APART
    own_elsewhere  rows of the reader's teams that stand on another page, each with that page's number
    answers  to the organisers' form fields: which are columns, and what the reader filters by
    holes    which of the rows are judged far less than the others; None where that can't be said, for every run and
             for a tag
    statistics  of exactly the runs shown; None until the worker has computed them, and for a tag
    organised  whether this reader organises the campaign
    parked   what organisers have to look at; empty for everybody else
    verified  for organisers only
    several_sources  whether boards by several sources of judgments stand side by side, where the reader sees them
    old       which set it is of, where that is not the current one, or was asked for by its number
    scoring_set  the number of its set, in the address of the board as it stood; None before the first judgments
    stood_from  the date that a citation has (`history.stood_from`); None while runs are taken: the day of reading
    """

    evaluation: reads.EvaluationHeading
    terms: reads.Terms | None
    results_open: bool
    details_open: bool
    columns: tuple[table.Column, ...]
    ranked_by: table.Column | None
    show: ranking.Show
    sort: str
    tag: str
    tag_queries: int = 0
    tags: tuple[Tag, ...] = ()
    text: str = ""
    rows: tuple[BoardRow, ...] = ()
    listed: tuple[BoardRow, ...] = ()
    shown: tuple[BoardRow, ...] = ()
    paging: table.Paging = table.ONE_PAGE
    baselines: tuple[BoardRow, ...] = ()
    own_elsewhere: tuple[tuple[BoardRow, int], ...] = ()
    whole: Whole = field(default_factory=Whole)
    answers: BoardAnswers = field(default_factory=BoardAnswers)
    statistics: ranking.BoardStatistics | None = None
    holes: Holes | None = None
    waiting: int = 0
    rescoring: int = 0
    organised: bool = False
    parked: tuple[ranking.ParkedRun, ...] = ()
    verified: Verifications | None = None
    old: BoardVersion | None = None
    judgments_open: bool = False
    several_sources: bool = False
    scoring_set: int | None = None
    stood_from: datetime | None = None

    @property
    def ranked(self) -> tuple[BoardRow, ...]:
        """The rows that have a rank, best first whatever the page is sorted by."""
        return tuple(sorted((row for row in self.rows if row.rank is not None), key=lambda row: row.rank or 0))

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


@frozen
class AskedBoard:
    """A board that a reader asks for, by one scoring set and by the rules of one moment.

    page       what is known before its runs are
    positions  of the queries that figures are over; None for all of the reader's
    """

    session: Session
    disclosure: table.Disclosure
    view: BoardQuery
    page: BoardPage
    ranked_by: table.Column
    positions: Sequence[int] | None

    def with_figures(self, entries: Sequence[table.Entry], measures: Sequence[str]) -> list[table.Entry]:
        """The same runs with figures of these measures."""
        if self.positions is None:
            return table.with_figures(self.session, [self.disclosure], entries, measures)
        settings, scorings = self.disclosure.scoring_set.settings, [entry.scoring_id for entry in entries]
        vectors = load_vectors(self.session, scorings, [*measures, *settings.kept], self.disclosure.subset)
        over_tag = []
        for entry in entries:
            of_run = vectors.get(entry.scoring_id, {}), self.positions, settings
            over_tag.append(replace(entry, figures={name: figure_over(parse(name), *of_run) for name in measures}))
        return over_tag


@frozen
class Listing:
    """What a page needs of a board's runs; of the rows the submissions.

    entries  in the order of the board: all; of every run in pages those of the page, those that lead, the reader's own
             and baselines
    baselines  those that stand above the rows of every page; of every run none where there are more than APART
    listed   those others that pass the reader's filters; shown: those of the page
    places   scoring -> rank, of all that have one
    own_elsewhere  the reader's own on other pages, each with that page's number
    """

    entries: Sequence[table.Entry]
    baselines: Sequence[int]
    listed: Sequence[int]
    shown: Sequence[int]
    places: Mapping[int, int]
    paging: table.Paging
    own_elsewhere: Mapping[int, int]
    whole: Whole
    answers: BoardAnswers


def list_rows(asked: AskedBoard) -> Listing:
    """The rows that the reader asks for. Raises BadInput for an order or a filter that the board does not have."""
    view, page = asked.view, asked.page
    is_plain = replace(view, measure="", show="", page=None, run=None, intervals="") == EVERYTHING
    may_be = is_plain and view.page and page.show is ranking.Show.ALL and page.results_open and page.details_open
    if may_be and not any(field.filter for field in reads.form_fields(asked.disclosure.evaluation)):
        return _every_run(asked) or _all_rows(asked)
    return _all_rows(asked)


def _all_rows(asked: AskedBoard) -> Listing:
    view, ranked_by, page = asked.view, asked.ranked_by, asked.page
    session, disclosure, judged = asked.session, asked.disclosure, measures_of_holes(asked.disclosure)
    if view.set_id is None:
        where = session, disclosure.actor, disclosure.evaluation, disclosure.moment
        entries = ranking.load_standing(*where, ranked_by, page.show, judged)
    else:
        own_rows = ranking.stands_by(StoredChoice(RunChoice.PRIMARY)) if page.show is ranking.Show.PRIMARY else None
        candidates = table.load_entries(session, [disclosure], [ranked_by.name, *judged], standing=own_rows)
        entries = ranking.choose(candidates, page.show, ranked_by)
    if asked.positions is not None:
        entries = asked.with_figures(entries, [ranked_by.name])
    places = ranking.ranks(entries, ranked_by) if page.results_open else {}
    entries = ranking.sort_entries(entries, ranked_by, view.sort, page.show)
    answers = board_answers(session, disclosure.evaluation, entries, view.answer)
    listed = [
        entry.submission_id
        for entry in entries
        if not entry.is_baseline
        and answers.has(entry.submission_id)
        and table.is_found(view.text, (entry.system.name, entry.system.team, entry.label))
    ]
    paging, shown, elsewhere = _paged(view, listed, {entry.submission_id for entry in entries if entry.own})
    baselines = [entry.submission_id for entry in entries if entry.is_baseline]
    own = (entry.figure(ranked_by.name) for entry in entries)
    figures = np.array([(each.mean, each.count, each.low, each.high) for each in own], float).reshape(-1, 4).T
    is_baseline = np.array([entry.is_baseline for entry in entries], bool)
    is_ranked = np.array([entry.scoring_id in places for entry in entries], bool)
    return Listing(
        entries=entries,
        baselines=baselines,
        listed=listed,
        shown=shown,
        places=places,
        paging=paging,
        own_elsewhere=elsewhere,
        whole=_whole(ranked_by, figures, is_baseline, is_ranked),
        answers=answers,
    )


def _paged(
    view: BoardQuery, listed: Sequence[int], own: Container[int]
) -> tuple[table.Paging, Sequence[int], dict[int, int]]:
    """(which page it is, the runs on it, the reader's own on others with their pages)."""
    page_of = {run: index // table.ROWS + 1 for index, run in enumerate(listed)}
    page = page_of.get(view.run or 0, view.page) if len(listed) > table.WHOLE else None
    shown, paging = table.paged(listed, page, table.ROWS)
    others = ((run, number) for run, number in page_of.items() if run in own and number != paging.page)
    return paging, shown, dict(islice(others, OWN)) if paging.pages > 1 else {}


def _every_run(asked: AskedBoard) -> Listing | None:
    """One page of every run, or the one that the asked submission stands on, for a reader who sees everybody's means
    with all their digits. Only the runs that the page tells of are read in full: all others are numbers in arrays.

    None where up to WHOLE rows stand on one page, and where each system has one run: that is the board of the runs that
    stand.
    """
    disclosure, column = asked.disclosure, asked.ranked_by
    set_id = disclosure.scoring_set.id
    runs = load_runs(asked.session, disclosure.actor, [set_id], on_boards(), by_arrival=True)[set_id]
    if not runs.has_several:
        return None
    wanted = Wanted(disclosure, [column.name], runs, in_full=[column.name])
    figures = load_figures(asked.session, [wanted])[0][column.name].stored
    figures[2:, ~table.gives_interval(np.nan_to_num(figures[1]))] = np.nan
    rank = np.zeros(len(runs.systems), dtype=np.int64)  # 0 for those without one, as `ranking.ranks` has it
    if column.direction != "none":
        has_rank = ~(runs.late | runs.baseline | np.isnan(figures[0]))
        rank[has_rank] = places_of(figures[0, has_rank], column.direction)
    order = np.lexsort((places_of(figures[0], column.direction), np.isnan(figures[0]), runs.late))  # ties by arrival
    apart = runs.baseline & (runs.baseline.sum() <= APART)
    listed = runs.submissions[order[~apart[order]]].tolist()
    if len(listed) <= table.WHOLE:
        return None
    paging, shown, elsewhere = _paged(asked.view, listed, set(runs.submissions[runs.own].tolist()))
    baselines = runs.submissions[order[apart[order]]].tolist()
    leads = runs.submissions[np.isin(rank, np.unique(rank[rank > 0])[:2])].tolist()
    wanted_runs = {*baselines, *leads, *shown, *elsewhere}
    entries = table.load_entries(asked.session, [disclosure], [column.name], runs=wanted_runs)
    known = {entry.submission_id: entry for entry in entries}
    return Listing(
        entries=[known[run] for run in (*baselines, *listed) if run in known],
        baselines=baselines,
        listed=[run for run in listed if run in known],
        shown=shown,
        places=dict(zip(runs.scorings[rank > 0].tolist(), rank[rank > 0].tolist(), strict=True)),
        paging=paging,
        own_elsewhere=elsewhere,
        whole=_whole(column, figures, runs.baseline, rank > 0),
        answers=board_answers(asked.session, disclosure.evaluation, entries, ""),
    )


def _whole(column: table.Column, figures: Floats, baselines: Bools, ranked: Bools) -> Whole:
    """figures: float64[4, runs], the means, over how many queries they are, and the ends of their intervals; NaN where
    there is none."""
    means, counts, lows, highs = figures
    shown = ~np.isnan(lows) & ~np.isnan(highs)
    known = np.concatenate([means[~np.isnan(means)], lows[shown], highs[shown]])
    counts = counts[counts > 0]
    places = places_of(np.concatenate([means[baselines], means[ranked]]), column.direction)
    ahead = places[baselines.sum() :] < places[: baselines.sum()].min(initial=len(places))
    return Whole(
        rows=int((~baselines).sum()),
        ranked=int(ranked.sum()),
        baselines=int(baselines.sum()),
        beaten=int(ahead.sum()) if baselines.any() else 0,
        ends=(float(known.min()), float(known.max())) if known.size else (),
        has_intervals=bool(shown.any()),
        counts=(int(counts.min()), int(counts.max())) if counts.size else (),
    )


def board(
    session: Session, actor: Actor, campaign_slug: str, slug: str, now: datetime, view: BoardQuery = EVERYTHING
) -> BoardPage:
    """The board by the current scoring set, or by the one that `view` names.

    Raises NotFound for no such evaluation, BadInput for a measure, tag, choice or order that it does not have.

    Over a tag only where single queries may be seen, NotAllowed otherwise: a tag of one query, or of all but one, would
    give that query's values away.
    """
    evaluation, scoring_set = reads.find_evaluation_and_set(session, actor, campaign_slug, slug)
    moment, old = now, None
    if view.set_id is not None:
        [(scoring_set, moment)] = visible_sets(session, actor, evaluation, [view.set_id], now)
        old = board_version(evaluation, scoring_set)
    details_open = may_see(actor, evaluation, Content.DETAILS, moment)
    if view.tag:
        require(details_open, reads.closed_details(evaluation))
    organised = actor.may_organise(evaluation.campaign_id)
    scored = [(evaluation, scoring_set)] if scoring_set else []
    page = BoardPage(
        evaluation=reads.evaluation_heading(evaluation, now),
        terms=reads.terms_of(session, actor, scored, moment).get(evaluation.id),
        results_open=may_see(actor, evaluation, Content.RESULTS, moment),
        details_open=details_open,
        columns=tuple(table.column(name) for name in reads.campaign_measures(evaluation.campaign)),
        ranked_by=None,
        show=ranking.show_of(view.show, evaluation.campaign.run_choice),
        sort=view.sort,
        tag=view.tag,
        text=view.text,
        organised=organised,
        parked=ranking.parked_runs(session, evaluation) if organised and not old else (),
        verified=verifications(session) if organised and not old else None,
        old=old,
        judgments_open=may_see(actor, evaluation, Content.JUDGMENTS, now),
    )
    if scoring_set is None:
        return replace(page, waiting=ranking.received_runs(session, evaluation))
    disclosure = table.Disclosure(actor, evaluation, scoring_set, moment)
    tags: Mapping[str, Sequence[int]] = {}
    if details_open and may_see(actor, evaluation, Content.TEXTS, now):
        tags = positions_by_tag(session, disclosure)
    if view.tag and view.tag not in tags:
        raise BadInput(f"no query of this evaluation has the tag {view.tag}; there are: {', '.join(tags) or 'none'}")
    columns, positions = table.columns_of(scoring_set.settings), tags.get(view.tag)
    ranked_by = table.pick(columns, view.measure)
    page = replace(
        page,
        columns=columns,
        ranked_by=ranked_by,
        scoring_set=scoring_set.id,
        stood_from=stood_from(page.evaluation, old or board_version(evaluation, scoring_set), now),
        tags=tuple(Tag(name, len(own)) for name, own in tags.items()),
        tag_queries=len(positions or ()),
    )
    return _with_rows(AskedBoard(session, disclosure, view, page, ranked_by, positions))


def _with_rows(asked: AskedBoard) -> BoardPage:
    """The page with what depends on the board's runs."""
    listing, ranked_by, disclosure, page = list_rows(asked), asked.ranked_by, asked.disclosure, asked.page
    session, evaluation = asked.session, disclosure.evaluation
    computed, waiting, rescoring, several_sources = ranking.of_worker(
        session, evaluation, disclosure.scoring_set, ranked_by.name, disclosure.subset
    )
    statistics = None
    if computed is not None and asked.positions is None:
        statistics = ranking.statistics_of(computed, listing.places)
        if any(entry.chosen_of > 1 for entry in listing.entries):
            statistics = ranking.silent(statistics)  # the best of several runs is high by chance too
        elif not page.details_open:
            statistics = _rounded(asked, statistics, listing)
    names = [each.name for each in page.columns]
    wanted = {*listing.shown, *listing.baselines}
    entries = [entry for entry in listing.entries if entry.submission_id in wanted]
    in_full = {entry.scoring_id: entry for entry in asked.with_figures(entries, names)}
    figures = {number: tuple(entry.figure(name) for name in names) for number, entry in in_full.items()}
    ranks, best = (statistics.ranks, statistics.may_be_best) if statistics else ({}, ())
    rows = {
        entry.submission_id: BoardRow(
            rank=listing.places.get(entry.scoring_id),
            rank_set=ranks.get(entry.scoring_id),
            may_be_best=entry.scoring_id in best if entry.scoring_id in ranks else None,
            entry=in_full.get(entry.scoring_id, entry),
            figures=figures.get(entry.scoring_id, ()),
            ranked_by=entry.figure(ranked_by.name),
        )
        for entry in listing.entries
    }
    listed, shown, baselines = (
        tuple(map(rows.__getitem__, runs)) for runs in (listing.listed, listing.shown, listing.baselines)
    )
    return replace(
        page,
        rows=tuple(row for run, row in rows.items() if run not in listing.baselines),
        listed=listed,
        shown=shown,
        paging=listing.paging,
        baselines=baselines,
        own_elsewhere=tuple((rows[run], number) for run, number in listing.own_elsewhere.items()),
        whole=listing.whole,
        answers=listing.answers,
        statistics=statistics,
        holes=None if page.show is ranking.Show.ALL else holes_of(listing.entries),
        several_sources=several_sources and page.details_open and not page.old,
        waiting=0 if page.old else waiting,
        rescoring=0 if page.old else rescoring,
    )


def _rounded(asked: AskedBoard, statistics: ranking.BoardStatistics, listing: Listing) -> ranking.BoardStatistics:
    """The statistics for a reader who sees rounded means: of systems that share a rank they tell none from another.

    A rank set takes in every place that the shared rank stands for, so whoever shares the first rank may be the best;
    and so may whoever shares the rank of a system that may be.
    What the queries can tell is left out: all of it is worked out from single queries' values. So is how many queries
    have a value, and how many resamples were drawn, which on a very large board follows from that.

    Nothing is said of ranks where no figure has an interval, and where best runs stand: that they are given for the one
    of a system's runs that stands would say that it is better.
    """
    disclosure, whole, places = asked.disclosure, listing.whole, listing.places
    nothing = ranking.silent(statistics)
    if not whole.has_intervals or disclosure.evaluation.campaign.run_choice is RunChoice.BEST:
        return nothing
    shared, ranks = Counter(places.values()), {}
    for entry in listing.entries:
        if entry.scoring_id in statistics.ranks:
            (low, high), rank = statistics.ranks[entry.scoring_id], places[entry.scoring_id]
            ranks[entry.scoring_id] = min(low, rank), max(high, rank + shared[rank] - 1)
    queries, needed = max(whole.counts, default=0), statistics.needed_queries
    of_best = {1, *(places[run] for run in statistics.may_be_best)}
    best = frozenset(run for run, (low, _) in ranks.items() if low == 1 and places[run] in of_best)
    return replace(
        nothing, ranks=ranks, may_be_best=best, rank_resamples=None, rank_queries=queries, needed_queries=needed
    )


def positions_by_tag(session: Session, disclosure: table.Disclosure) -> dict[str, list[int]]:
    """Tag -> positions of its queries that may count, in the order in which their values are added up.

    Tags come in the order of their first query.
    """
    scoring_set = disclosure.scoring_set
    positions: dict[str, dict[str, int]] = {}
    for query in reads.judged_queries(session, scoring_set):
        if query.external_id not in scoring_set.settings.excluded and not disclosure.subset.leaves_out(query.split):
            for tag in query.tags:
                positions.setdefault(tag, {})[query.external_id] = query.position
    return {tag: [own[query] for query in query_order(own)] for tag, own in positions.items()}
