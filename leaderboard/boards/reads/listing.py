"""What stands on a board, in which order and on which page: of all of its rows, or where every run is listed, many to a
system, of one page and the numbers of all others."""

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Content
from leaderboard.boards.reads.columns import Column
from leaderboard.boards.reads.entries import Disclosure, Entry, gives_interval, load_entries, with_figures
from leaderboard.boards.reads.paging import ROWS, WHOLE, Paging, is_found, paged, paging_of
from leaderboard.boards.reads.ranking import Show, choose, load_candidates, ranks, sort_entries, stands_by
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.form_fields import form_fields
from leaderboard.metrics import Floats
from leaderboard.metrics.segments import Bools, Ints
from leaderboard.results.reads.query_values import figures_over, load_vectors
from leaderboard.submissions.reads.run_arrays import Runs, Wanted, load_figures, load_runs
from leaderboard.submissions.reads.selection import on_boards
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
    offers_answers_of_all = any(field.filter for field in form_fields(asked.evaluation))
    listing = _every_run(asked) if in_pages and may_be and not offers_answers_of_all else None
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
    numbered = ((entry, place // ROWS + 1) for place, entry in enumerate(listed))
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
        return asked.entries(
            standing=stands_by(StoredChoice(RunChoice.PRIMARY)) if asked.show is Show.PRIMARY else None
        )
    by = {asked.evaluation.id: [asked.ranked_by.name]}
    return load_candidates(
        asked.session, asked.actor, [asked.evaluation], asked.moment, asked.decisive, show=asked.show, by=by
    )


def _on_page(listed: Sequence[Entry], view: BoardQuery) -> tuple[Sequence[Entry], Paging]:
    """The rows of the page that is asked for, or of the one that its submission stands on."""
    if len(listed) <= WHOLE:
        return paged(listed, None, ROWS)
    place = next((place for place, entry in enumerate(listed) if entry.submission_id == view.run), None)
    return paged(listed, view.page if place is None else place // ROWS + 1, ROWS)


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
    page_of = {number: place // ROWS + 1 for number, place in at.items()}
    loaded = np.isin(ids, [entry.submission_id for entry in entries])
    rank = dict(zip(ids[loaded].tolist(), lines.rank[loaded].tolist(), strict=True))
    elsewhere = [
        (entry, page_of[entry.submission_id])
        for entry in listed
        if entry.own and not first <= at[entry.submission_id] < last
    ]
    return Listing(
        entries=entries,
        baselines=[entry for entry in entries if entry.submission_id not in at],
        listed=listed,
        shown=[entry for entry in listed if first <= at[entry.submission_id] < last],
        places={entry.submission_id: rank[entry.submission_id] for entry in entries if rank[entry.submission_id]},
        ranked=frozenset(lines.runs.scorings[lines.rank > 0].tolist()),
        paging=paging,
        own_elsewhere=elsewhere[:OWN],
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
    place, undefined = places_of(means, column.direction), np.isnan(means)
    keys = place + (len(place) + 1) * (2 * runs.late + undefined)
    apart = runs.baseline if runs.baseline.sum() <= APART else np.zeros(len(place), dtype=bool)
    order = np.argsort(keys, kind="stable")
    order = order[~apart[order]]
    rank = np.zeros(len(means), dtype=np.int64)
    if column.direction != "none":
        has_rank = ~(runs.late | runs.baseline | undefined)
        rank[has_rank] = places_of(means[has_rank], column.direction)
    group = np.cumsum(np.diff(keys[order], prepend=keys[order[:1]]) != 0)
    return _Lines(runs, means, np.nan_to_num(counts), lows, highs, apart, rank, order, group)
