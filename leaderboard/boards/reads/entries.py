"""The measures as a page's columns, and how to find the one a reader asks for; long tables page by page; and scored
runs as boards and progress see them: who may see which, under which name, with which figures.

One SQL statement loads all of them with a few figures each, two with many, however many runs, systems and evaluations
there are. Means, intervals and counts leave the reads through `Disclosure` only, which rounds them where it has to.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, TypeVar

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import db, errors, metrics
from leaderboard.access import Actor, Content, may_see, rounding_seen, subset_seen
from leaderboard.boards.models import Standing
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import ScoringSettings
from leaderboard.frozen import frozen
from leaderboard.metrics.measure import Direction
from leaderboard.statistics import LEAST_QUERIES
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import select_scored_runs
from leaderboard.submissions.rules import STANDING, Designation, ScoredRun, SystemKind, name_of_run, places
from leaderboard.teams.models import Pseudonym, System, Team
from leaderboard.teams.rules import pseudonym
from leaderboard.worker.models import Score, Scoring, ScoringSet
from leaderboard.worker.reads import current_sets

Row = TypeVar("Row")


@frozen
class Column:
    """A measure as a column. direction: which way is better; lowest, highest: the bounds of its values.

    per_query: whether it has a value for a single query; MQWV has one for the whole run only.
    """

    name: str
    title: str
    summary: str
    unit: str
    direction: Direction
    lowest: float
    highest: float
    per_query: bool

    def places(self, values: Sequence[float | None]) -> list[int]:
        """The place of each value under this measure; see `submissions.rules.places`."""
        return places(values, self.direction)

    def sort(self, rows: Sequence[Row], value: Callable[[Row], float | None], backwards: bool = False) -> list[Row]:
        """The rows, the best value first (or last, if `backwards`). Ties keep their order; undefined ones are last."""
        values = [value(row) for row in rows]
        sign = -1 if backwards else 1
        keys = [(own is None, sign * rank) for own, rank in zip(values, self.places(values), strict=True)]
        return [rows[index] for index in sorted(range(len(rows)), key=keys.__getitem__)]


def column(name: str) -> Column:
    """The column of a measure, by its name with parameters. Raises UnknownMeasure."""
    measure = metrics.parse(name)
    lowest, highest = measure.range()
    more = {"lowest": lowest, "highest": highest, "per_query": measure.has_interval}
    return db.snapshot(Column, measure.family, name=name, **more)


def columns_of(settings: ScoringSettings) -> tuple[Column, ...]:
    """The columns of the measures that these settings show, the primary one first."""
    return tuple(column(name) for name in settings.measures)


def at_level(name: str, level: int) -> str:
    """What a measure of the campaign is called in an evaluation with this relevance level."""
    return str(metrics.parse(name).at_relevance(level)) if level != 1 else name


def pick(columns: Sequence[Column], asked: str | None) -> Column:
    """The column that the reader names, in any of its spellings; the first when none is named.

    Raises BadInput that lists the columns when it isn't among them.
    """
    if not asked:
        return columns[0]
    names = ", ".join(column.name for column in columns)
    try:
        wanted = metrics.parse(asked)
    except errors.UnknownMeasure as error:
        raise errors.BadInput(f"{error.message}; this page shows {names}") from None
    for column in columns:
        shown = metrics.parse(column.name)
        # The evaluation's relevance level is part of the names it keeps: AP stands for AP(rel=2) there.
        level = dict(shown.given).get("rel")
        if shown == wanted or (isinstance(level, int) and shown == wanted.at_relevance(level)):
            return column
    raise errors.BadInput(f"{wanted} isn't shown here; this page shows {names}")


def per_query_columns(scoring_set: ScoringSet) -> tuple[Column, ...]:
    """The set's measures that have a value on one query; all of them in the odd case that none has."""
    columns = columns_of(scoring_set.settings)
    return tuple(column for column in columns if column.per_query) or columns


ROWS = 100  # of a page of a table of systems
WHOLE = 200  # rows: up to so many stand on one page

COUNTED = 1000  # rows of a list that may be far longer
NEAR = 2  # pages before and after the one that is shown


@frozen
class Paging:
    """Which page of how many, 1-based; `rows` over all of them; where `more`, at least so many."""

    page: int
    pages: int
    rows: int
    more: bool = False

    @property
    def near(self) -> tuple[int, ...]:
        """The pages that this one links to, itself among them: the first, the last, and those around it.

        >>> Paging(7, 20, 2000).near
        (1, 5, 6, 7, 8, 9, 20)
        """
        around = range(max(self.page - NEAR, 1), min(self.page + NEAR, self.pages) + 1)
        return tuple(sorted({1, *around, self.pages}))

    def before(self, size: int) -> int:
        """How many rows stand on the pages before this one."""
        return (self.page - 1) * size


ONE_PAGE = Paging(1, 1, 0)


def paging_of(rows: int, page: int | None, size: int) -> Paging:
    """Where page `page` of so many rows is; None: all of them on one. A page past the last is the last."""
    pages = 1 if page is None else max(1, -(-rows // size))
    return Paging(min(max(page or 1, 1), pages), pages, rows)


def paging_within(session: Session, rows: sa.Select[Any], page: int | None, size: int) -> Paging:
    """The same of the rows of a statement, which are counted up to COUNTED behind the page, so that it takes no longer
    where there are far more."""
    bound = None if page is None else page * size + COUNTED
    counted = session.scalar(sa.select(sa.func.count()).select_from(rows.limit(bound).subquery())) or 0
    return replace(paging_of(counted, page, size), more=counted == bound)


def paged(rows: Sequence[Row], page: int | None, size: int) -> tuple[tuple[Row, ...], Paging]:
    """The rows of one page, or all of them (`page` None). A page past the last is the last."""
    paging = paging_of(len(rows), page, size)
    before = paging.before(size)
    return tuple(rows if page is None else rows[before : before + size]), paging


def found_on_page(
    rows: Sequence[Row], names: Callable[[Row], Iterable[str]], text: str, page: int | None
) -> tuple[tuple[Row, ...], Paging]:
    """The rows of one page of a table of more than WHOLE systems, or those with this text in one of their names."""
    listed = [row for row in rows if is_found(text, names(row))]
    return paged(listed, page if len(listed) > WHOLE else None, ROWS)


def is_found(text: str, names: Iterable[str]) -> bool:
    """Whether a reader who looks for this text means one of these names: blanks at its ends, several together and
    capitals are nothing to look for.

    >>> is_found(" okapi  bm25 ", ["Okapi BM25, stemmed"])
    True
    """
    wanted = " ".join(text.casefold().split())
    return not wanted or any(wanted in " ".join(name.casefold().split()) for name in names)


@frozen
class Figure:
    """A measure's mean over `count` queries, None when undefined; low, high: its 95 % interval.

    at_most  whether `count` says how many queries count at most: a reader who may not see single queries gets mean and
             interval rounded, and isn't told how many of the evaluation's queries are judged
    """

    mean: float | None
    low: float | None = None
    high: float | None = None
    count: int = 0
    at_most: bool = False

    @property
    def ends(self) -> tuple[float | None, float | None, float | None]:
        """The values that a scale or an axis must show."""
        return self.mean, self.low, self.high


NO_FIGURE = Figure(None)
Condition = sa.ColumnElement[bool]
# Of up to so many figures each is read in the row of its run; of more a statement of their own is faster. Made once:
# making one takes as long as all else of the statement.
SCORES = [sa.orm.aliased(Score) for _ in range(4)]
FIELDS = len(fields(ScoredRun))
LABELLED = (  # what an entry holds beside the fields of `ScoredRun`, and of which set it is
    Scoring.scoring_set_id,
    *(Submission.team_id, Submission.run_at, Submission.received_assumed, Submission.label, Submission.version),
    Submission.designation,
    *(Scoring.missing, Scoring.unjudged, System.kind, Pseudonym.number, System.name, System.slug, Team.name, Team.slug),
)
WIDTH = FIELDS + len(LABELLED) + 1  # and from how many runs its mean chose it


def gives_interval(queries: Any) -> Any:
    """Whether a figure over so many queries, a number or an array of them, is given with an interval."""
    return queries >= LEAST_QUERIES


class Disclosure:
    """What a reader sees of the runs of one evaluation and of their figures by one scoring set.

    Everywhere `own` says whether a run is of a team of the reader's, or which runs of an array are.

    moment  by whose rules it is seen
    """

    def __init__(self, actor: Actor, evaluation: Evaluation, scoring_set: ScoringSet, moment: datetime) -> None:
        self.actor, self.evaluation, self.scoring_set, self.moment = actor, evaluation, scoring_set, moment
        self.subset = subset_seen(actor, evaluation, moment)
        self._shown = frozenset(scoring_set.settings.measures)
        teams = {False: None, True: min(actor.teams, default=None)}
        self._seen = {
            (sight, own): may_see(actor, evaluation, sight, moment, team)
            for sight in (Content.RESULTS, Content.NAMES, Content.TEXTS)
            for own, team in teams.items()
        }
        self._rounding = {
            own: rounding_seen(actor, evaluation, scoring_set.settings, moment, team) for own, team in teams.items()
        }

    @property
    def is_rounded(self) -> bool:
        """Whether this reader, as a member of a team where they are of one, sees means rounded."""
        return self._rounding[True] is not None

    def sees(self, sight: Content, own: bool) -> bool:
        """Whether the means of a run are seen (`Content.RESULTS`), whose it is (`Content.NAMES`), or texts of queries
        (`Content.TEXTS`)."""
        return self._seen[sight, own]

    def hides(self, measure: str, own: bool) -> bool:
        """Whether a measure has no figure: where single queries are closed, one that tells of the judgments only, or
        that the campaign does not show, such as how much of a run is judged."""
        closed = self._rounding[own] is not None
        return closed and (measure not in self._shown or metrics.parse(measure).family.of_judgments)

    def missing(self, own: bool, missing: Iterable[str], unjudged: Iterable[str]) -> int:
        """How many queries a run has no list for, without those that nobody judged where single queries are open."""
        left_out = unjudged if self._rounding[own] is None else ()
        return len(self.scoring_set.settings.counted({*missing}.difference(left_out), self.subset))

    def sees_each(self, sight: Content, own: metrics.Bools) -> metrics.Bools:
        """The same of an array of runs."""
        return np.where(own, self._seen[sight, True], self._seen[sight, False])

    def figure(
        self, measure: str, own: bool, mean: float | None, low: float | None, high: float | None, count: int
    ) -> Figure:
        """A stored figure as the reader sees it: no interval over too few queries, and where single queries are closed
        rounded, or nothing (`hides`)."""
        rounding = self._rounding[own]
        if not gives_interval(count):
            low = high = None
        if rounding is None:
            return Figure(mean, low, high, count)
        if self.hides(measure, own):
            return NO_FIGURE
        unit = metrics.parse(measure).family.unit
        low, high = rounding.interval(low, high, unit)
        return Figure(rounding.mean(mean, unit), low, high, rounding.queries, at_most=True)

    def means(self, measure: str, own: metrics.Bools, means: metrics.Floats) -> metrics.Floats:
        """Stored means of runs, with the digits that `figure` gives them; NaN is none."""
        unit, shown = metrics.parse(measure).family.unit, means.copy()
        for is_own, rounding in self._rounding.items():
            if rounding is not None:
                of_these = own == is_own
                shown[of_these] = np.nan if self.hides(measure, is_own) else rounding.means(means[of_these], unit)
        return shown

    def figures(self, measure: str, own: metrics.Bools, stored: metrics.Floats) -> list[Figure]:
        """Stored figures of runs, float64[4, runs] as `run_arrays.load_figures` gives them."""
        shown = []
        for is_own, *numbers in zip(own.tolist(), *stored.tolist(), strict=True):
            mean, count, low, high = (None if math.isnan(number) else number for number in numbers)
            shown.append(NO_FIGURE if count is None else self.figure(measure, is_own, mean, low, high, int(count)))
        return shown


@frozen
class SystemLabel:
    """A system as a page names it; in an anonymous period with no more than its made-up name and its kind."""

    id: int
    name: str
    kind: SystemKind
    slug: str = ""
    team: str = ""
    team_slug: str = ""

    @property
    def is_anonymous(self) -> bool:
        return not self.slug

    @property
    def is_baseline(self) -> bool:
        return self.kind == SystemKind.BASELINE


def disambiguate(systems: Iterable[SystemLabel]) -> dict[int, str]:
    """System -> what sentences and charts call it among these: its name, and where several share that, its team too, as
    in `Sysone of Elm`. Teams that a reader may not know of are not on the labels; made-up names are all different.
    """
    named = {system.id: system for system in systems}
    times = Counter(system.name.casefold() for system in named.values())
    return {
        number: f"{label.name} of {label.team}" if times[label.name.casefold()] > 1 and label.team else label.name
        for number, label in named.items()
    }


@frozen
class Entry(ScoredRun):
    """One scored run with its figures.

    run_at   when it was made, where that is known
    received_assumed  whether the import that brought it in assumed when it was received
    version  of its system; equal versions of several periods ran unchanged. Empty while its name is hidden
    own      whether it is of a team of the reader's
    missing  how many queries that the reader may know of it has no list for (`Disclosure.missing`)
    chosen_of  from how many runs of its system their means chose this one; 1 where they had no say
    """

    run_at: datetime | None
    received_assumed: bool
    system: SystemLabel
    label: str
    version: str
    designation: Designation
    own: bool
    missing: int
    figures: dict[str, Figure]
    chosen_of: int = 1

    @property
    def name(self) -> str:
        """The run's, with its label where this reader may know it."""
        return name_of_run(self.label, self.submission_id, self.date)

    @property
    def date(self) -> datetime:
        """When it was made, where that is known, else when it was received."""
        return self.run_at or self.received_at

    @property
    def date_assumed(self) -> bool:
        """Whether that date is one that an import assumed."""
        return self.run_at is None and self.received_assumed

    def figure(self, measure: str) -> Figure:
        """Without an interval where the mean had to be the best of several: an interval of one run covers less then."""
        figure = self.figures.get(measure, NO_FIGURE)
        return figure if self.chosen_of == 1 else replace(figure, low=None, high=None)


def disclosures(session: Session, actor: Actor, evaluations: Iterable[Evaluation], now: datetime) -> list[Disclosure]:
    """What `actor` sees of these evaluations by their current sets; of those without one there is nothing to see."""
    evaluations = list(evaluations)
    sets = current_sets(session, [evaluation.id for evaluation in evaluations])
    return [Disclosure(actor, each, sets[each.id], now) for each in evaluations if each.id in sets]


def load_entries(
    session: Session,
    shown: Sequence[Disclosure],
    measures: Iterable[str] | None,
    *,
    standing: Condition | None = None,
    runs: Collection[int] | sa.SelectBase | None = None,
) -> list[Entry]:
    """Every scored run of these sets, one of each evaluation, whose means are seen, in order of arrival.

    Those whose place stays empty are among them, for `ranking.choose` to leave their places empty. Of a set that boards
    have ceased to show its runs as long as they showed it, or all where it stands beside the current one.

    measures     canonical names whose figures are wanted; None for all
    standing     only the runs that stand for their systems by the rows of Standing with this condition, or stood for
                 them when boards ceased to show that set; all where that is not kept
    runs         only these submissions: their ids, or a statement that finds them
    """
    by_set = {each.scoring_set.id: each for each in shown}
    which: list[Condition] = [] if runs is None else [Scoring.submission_id.in_(runs)]
    for each in shown:
        if each.scoring_set.shown_until:
            of_past, standing = scorings_of(each.scoring_set, each.moment, standing)
            which += of_past
    chosen_of = sa.literal(1) if standing is None else Standing.chosen_of
    nameless = [each.evaluation.id for each in shown if not each.sees(Content.NAMES, own=False)]
    of_system = Pseudonym.system_id == Submission.system_id, Pseudonym.evaluation_id == Submission.evaluation_id
    statement = (
        select_scored_runs(*LABELLED, chosen_of, of_sets=ScoringSet.id.in_(by_set), standing=standing)
        .where(*which)
        .join(Team, Team.id == Submission.team_id)
        .outerjoin(Pseudonym, sa.and_(*of_system, Pseudonym.evaluation_id.in_(nameless)))
        .order_by(Submission.received_at, Submission.id)
    )
    names = None if measures is None else list(dict.fromkeys(measures))
    joined = names if names and len(names) <= len(SCORES) else []
    for name, score in zip(joined, SCORES, strict=False):
        of_run = score.scoring_id == Scoring.id, score.measure == name, _is_seen(score, ScoringSet.id, shown)
        statement = statement.outerjoin(score, sa.and_(*of_run)).add_columns(*_columns(score))
    rows = session.execute(statement) if by_set else ()
    entries = [entry for row in rows if (entry := _entry(by_set[row[FIELDS]], row, joined)) is not None]
    return entries if joined or names == [] else with_figures(session, shown, entries, names)


def with_figures(
    session: Session, shown: Sequence[Disclosure], entries: Sequence[Entry], measures: Collection[str] | None
) -> list[Entry]:
    """The entries with their figures by these measures, or by all (None), beside those that they have."""
    if not entries or measures == []:
        return list(entries)
    disclosure = {each.evaluation.id: each for each in shown}
    rows = session.execute(
        sa.select(Score.scoring_id, Score.measure, *_columns(Score))
        .join(Scoring, Scoring.id == Score.scoring_id)
        .where(Scoring.id.in_([entry.scoring_id for entry in entries]), _is_seen(Score, Scoring.scoring_set_id, shown))
        .where(sa.true() if measures is None else Score.measure.in_(measures))
    )
    figures: dict[int, dict[str, Sequence[Any]]] = {}
    for scoring_id, measure, *figure in rows:
        figures.setdefault(scoring_id, {})[measure] = figure
    return [
        replace(entry, figures=_as_seen(disclosure[entry.evaluation_id], entry.own, own) | entry.figures)
        for entry in entries
        for own in [figures.get(entry.scoring_id, {})]
    ]


def scorings_of(
    scoring_set: ScoringSet, moment: datetime, standing: Condition | None
) -> tuple[list[Condition], Condition | None]:
    """Conditions on the scorings of that set that a board by it lists, and on rows of Standing, where those are meant;
    `standing` as `load_entries` has it."""
    until = scoring_set.shown_until
    if until and scoring_set.state in STANDING and moment > until:
        return [], None  # beside the official one it goes on; its rows say what stood while it was the current one
    if until and standing is None:
        return [sa.or_(Scoring.finished_at <= until, Scoring.of_the_past)], None
    return [], standing


def anonymous(system_id: int, kind: SystemKind, number: int) -> SystemLabel:
    """The system under a made-up name, the same on every page of the evaluation, made of its `Pseudonym`."""
    return SystemLabel(system_id, pseudonym(number), kind)


def labels_of(
    session: Session, evaluations: Collection[int], listed: Container[int], named: Container[int]
) -> dict[int, SystemLabel]:
    """System -> how it is named, without a run of each at hand, of those that are `listed`: by its name if it is among
    `named`, else by the made-up one of the one evaluation. In one statement, in the order of their ids."""
    rows: Iterable[Any] = session.execute(
        sa.select(System.id, System.kind, Pseudonym.number, System.name, System.slug, Team.name, Team.slug)
        .join(Team, Team.id == System.team_id)
        .outerjoin(Pseudonym, sa.and_(Pseudonym.system_id == System.id, Pseudonym.evaluation_id.in_(evaluations)))
        .where(System.id.in_(sa.select(Submission.system_id).where(Submission.evaluation_id.in_(evaluations))))
        .order_by(System.id)
    )
    return {system: _label(system in named, system, *label) for system, *label in rows if system in listed}


def _label(
    is_named: bool, system_id: int, kind: SystemKind, number: int, name: str, slug: str, team: str, team_slug: str
) -> SystemLabel:
    return SystemLabel(system_id, name, kind, slug, team, team_slug) if is_named else anonymous(system_id, kind, number)


def _entry(disclosure: Disclosure, row: Sequence[Any], measures: Sequence[str]) -> Entry | None:
    """The run of a row of the statement, with these figures; None where the reader may not see its means."""
    labelled = row[FIELDS + 1 : WIDTH]
    team_id, run_at, assumed, label, version, designation, missing, unjudged, kind, *named, chosen_of = labelled
    own = disclosure.actor.is_in(team_id)
    if not disclosure.sees(Content.RESULTS, own):
        return None
    is_named = kind is SystemKind.BASELINE or disclosure.sees(Content.NAMES, own)
    system = _label(is_named, row[3], kind, *named)
    missing = disclosure.missing(own, missing, unjudged)
    stored = {name: row[start : start + 4] for start, name in zip(range(WIDTH, len(row), 4), measures, strict=True)}
    figures = _as_seen(disclosure, own, stored)
    label, version = (label, version) if is_named else ("", "")
    more = run_at, assumed, system, label, version, designation, own, missing, figures, chosen_of
    return Entry(*[*row[:FIELDS], *more])


def _as_seen(disclosure: Disclosure, own: bool, stored: Mapping[str, Sequence[Any]]) -> dict[str, Figure]:
    """Of those that there are: without a score no query is counted."""
    return {
        measure: disclosure.figure(measure, own, *figure)
        for measure, figure in stored.items()
        if figure[-1] is not None and not disclosure.hides(measure, own)
    }


def _columns(score: type[Score]) -> list[Any]:
    """In the order in which `Disclosure.figure` takes them."""
    return [score.mean, score.low, score.high, score.count]


def _is_seen(score: type[Score], set_id: Any, shown: Iterable[Disclosure]) -> Condition:
    """A condition on scores of these sets: over the subset of queries that the reader sees means of."""
    subsets = {each.scoring_set.id: sa.literal(each.subset, Score.subset.type) for each in shown}
    return score.subset == sa.case(subsets, value=set_id) if subsets else sa.false()
