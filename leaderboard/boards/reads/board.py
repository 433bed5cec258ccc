"""The board of an evaluation: one row for each system, ranked by one measure."""

import datetime as dt
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy.orm import Session

from leaderboard.access import Actor, Content, may_see, require
from leaderboard.audit.events import Verifications, verifications
from leaderboard.boards.reads.columns import Column, column, columns_of, pick
from leaderboard.boards.reads.entries import Disclosure, Entry, Figure
from leaderboard.boards.reads.listing import EVERYTHING, AskedBoard, BoardQuery, Listing, Whole, list_rows
from leaderboard.boards.reads.paging import ROWS, Paging, paging_of
from leaderboard.boards.reads.ranking import Show, show_of
from leaderboard.boards.reads.statistics import (
    BoardStatistics,
    ParkedRun,
    as_rounded,
    of_worker,
    parked_runs,
    received_runs,
    statistics_of,
)
from leaderboard.errors import BadInput
from leaderboard.evaluations.reads.find import find_evaluation_and_set
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
from leaderboard.history.reads.boards import StoodSet, replaced_beside, seen_set, stood_set
from leaderboard.metrics import parse, query_order
from leaderboard.statistics import LEAST, Least, least_queries
from leaderboard.submissions.reads.selection import has_choice
from leaderboard.submissions.reads.status import BoardAnswers, board_answers
from leaderboard.submissions.rules import RunChoice
from leaderboard.worker.models import ScoringSet


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
    old: StoodSet | None = None
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
            for place, column in enumerate(self.columns)
            if all(row.figures[place].mean is None for row in rows)
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
        scoring_set, moment = seen_set(session, actor, evaluation, view.set_id, now)
        ends = {} if scoring_set.shown else replaced_beside(session, evaluation)
        old = stood_set(evaluation, scoring_set, ends.get(scoring_set.id))
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
    in_full = asked.with_figures([*listing.shown, *listing.baselines], names)
    figures = {entry.scoring_id: tuple(entry.figure(name) for name in names) for entry in in_full}
    full = {entry.scoring_id: entry for entry in in_full}
    rows = {
        entry.submission_id: BoardRow(
            rank=listing.places.get(entry.submission_id),
            rank_set=statistics.ranks.get(entry.scoring_id) if statistics else None,
            entry=full.get(entry.scoring_id, entry),
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
    for place, name in enumerate(names):
        own = [figures[place].count for figures in rows if figures[place].count]
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
