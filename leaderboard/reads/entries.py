"""Scored runs as boards and progress see them: who may see which, under which name, with which figures.

One SQL statement loads all of them with a few figures each, two with many, however many runs, systems and evaluations
there are.
"""

import datetime as dt
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.access import Actor, Sight, may_see, rounding_seen, subset_seen
from leaderboard.lookup import current_sets, select_scored_runs, with_sets
from leaderboard.metrics.measure import Family
from leaderboard.models import Evaluation, Pseudonym, Score, Scoring, ScoringSet, Submission, System, Team
from leaderboard.rules.disclosure import Rounding, is_told_rounded
from leaderboard.rules.settings import Subset
from leaderboard.rules.site_names import pseudonym
from leaderboard.rules.standings import Designation, ScoredRun, SystemKind, name_of_run
from leaderboard.rules.states import STANDING, SetState
from leaderboard.statistics import LEAST_QUERIES

__all__ = [
    "NO_FIGURE",
    "Entry",
    "Figure",
    "Sights",
    "SystemLabel",
    "anonymous",
    "figure_as_seen",
    "figures_of",
    "gives_interval",
    "label_without_name",
    "load_entries",
    "rounded",
    "scorings_of",
    "system_label",
    "told_apart",
    "with_figures",
]


@dataclass(frozen=True, slots=True)
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
Which = sa.ColumnElement[bool] | None
BESIDE = 4  # figures that are read in the row of their run; of more a statement of their own is faster
FIELDS = len(fields(ScoredRun))
LABELLED = (  # what an entry holds beside the fields of `ScoredRun`
    Submission.team_id,
    Submission.run_at,
    Submission.received_assumed,
    Submission.label,
    Submission.designation,
    Scoring.missing,
    System.name,
    System.kind,
    System.slug,
    Team.name,
    Team.slug,
)


@dataclass(frozen=True, slots=True)
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


def told_apart(systems: Iterable[SystemLabel]) -> dict[int, str]:
    """System -> what sentences and charts call it among these: its name, and where several share that, its team too, as
    in `Sysone of Elm`. Teams that a reader may not know of are not on the labels; made-up names are all different.
    """
    named = {system.id: system for system in systems}
    times = Counter(system.name.casefold() for system in named.values())
    return {
        number: f"{one.name} of {one.team}" if times[one.name.casefold()] > 1 and one.team else one.name
        for number, one in named.items()
    }


@dataclass(frozen=True, slots=True)
class Entry(ScoredRun):
    """One scored run with its figures.

    run_at   when it was made, where that is known
    received_assumed  whether the import that brought it in assumed when it was received
    own      whether it is of a team of the reader's
    missing  how many queries that the reader may know of it has no list for
    """

    run_at: dt.datetime | None
    received_assumed: bool
    system: SystemLabel
    label: str
    designation: Designation
    own: bool
    missing: int
    figures: dict[str, Figure]

    @property
    def name(self) -> str:
        """The run's, with its label where this reader may know it."""
        return name_of_run(self.label, self.submission_id, self.date)

    @property
    def date(self) -> dt.datetime:
        """When it was made, where that is known, else when it was received."""
        return self.run_at or self.received_at

    @property
    def date_assumed(self) -> bool:
        """Whether that date is one that an import assumed."""
        return self.run_at is None and self.received_assumed

    def figure(self, measure: str) -> Figure:
        return self.figures.get(measure, NO_FIGURE)


def load_entries(
    session: Session,
    actor: Actor,
    evaluations: Sequence[Evaluation],
    now: dt.datetime,
    measures: Iterable[str] | None = None,
    *,
    scoring_set: ScoringSet | None = None,
    standing: Which = None,
    runs: Collection[int] | sa.SelectBase | None = None,
) -> list[Entry]:
    """Every scored run of the evaluations' current sets that `actor` may see the means of, in order of arrival.

    Those whose place stays empty are among them, for `reads.standings.choose` to leave their places empty.

    measures     canonical names whose figures are wanted; None for all
    scoring_set  of the one evaluation, instead of its current set: its runs as long as boards showed it, or all where
                 it stands beside the current one. `now` is then what `access.as_of` says
    standing     only the runs that stand for their systems by the rows of Standing with this condition, or stood for
                 them when boards ceased to show that set; all where that is not kept
    runs         only these submissions: their ids, or a statement that finds them
    """
    if not evaluations:
        return []
    by_id = {evaluation.id: evaluation for evaluation in evaluations}
    which, standing = scorings_of(scoring_set, now, standing) if scoring_set else ([], standing)
    which += [] if runs is None else [Scoring.submission_id.in_(runs)]
    names = None if measures is None else list(dict.fromkeys(measures))
    beside = {} if names is None or len(names) > BESIDE else {name: sa.orm.aliased(Score) for name in names}
    nameless = [one.id for one in evaluations if not may_see(actor, one, Sight.NAMES, now)]
    of_system = Pseudonym.system_id == Submission.system_id
    in_place = Pseudonym.evaluation_id == Submission.evaluation_id, Pseudonym.evaluation_id.in_(nameless)
    statement = (
        select_scored_runs(*LABELLED, Pseudonym.number, of_sets=_of_set(scoring_set), standing=standing)
        .join(Team, Team.id == Submission.team_id)
        .outerjoin(Pseudonym, sa.and_(of_system, *in_place))
        .where(ScoringSet.evaluation_id.in_(by_id), *which)
        .order_by(Submission.received_at, Submission.id)
    )
    for name, score in beside.items():
        of_run = score.scoring_id == Scoring.id, score.measure == name, _is_seen(score, actor, evaluations, now)
        statement = statement.outerjoin(score, sa.and_(*of_run)).add_columns(*_of_figure(score))
    rows: Sequence[Any] = session.execute(statement).all()
    labelled, after = slice(FIELDS, FIELDS + len(LABELLED)), FIELDS + len(LABELLED) + 1
    if beside:
        figures = {row[2]: _figures_beside(row[after:], beside) for row in rows}
    else:
        figures = _figures(session, actor, evaluations, now, names, _of_set(scoring_set), standing, which)
    subsets = {one.id: subset_seen(actor, one, now) for one in evaluations}
    partly = [
        one.id for one in evaluations if subsets[one.id] is Subset.SHOWN or not may_see(actor, one, Sight.DETAILS, now)
    ]
    sets = dict.fromkeys(partly, scoring_set) if scoring_set else current_sets(session, partly) if partly else {}
    families = {name: metrics.parse(name).family for name in set().union(*figures.values())}
    sights: dict[tuple[int, bool], Sights] = {}
    entries = []
    for row in rows:
        evaluation_id, _, scoring_id, system_id, *_ = row
        team_id, run_at, assumed, label, designation, missing, name, kind, slug, team, team_slug = row[labelled]
        evaluation, own = by_id[evaluation_id], actor.is_in(team_id)
        current = sets.get(evaluation_id)
        sight = sights.get((evaluation_id, own))
        if sight is None:
            sight = sights[evaluation_id, own] = Sights(actor, evaluation, current, now, own)
        if not sight.results:
            continue
        means, lacking = figures.get(scoring_id, {}), missing
        if current:
            lacking = current.settings.counted(missing, subsets[evaluation_id])
            if sight.rounding:
                means = {name: _rounded(figure, families[name], sight.rounding) for name, figure in means.items()}
        if named := sight.names or kind is SystemKind.BASELINE:
            shown = SystemLabel(system_id, name, kind, slug, team, team_slug)
        else:
            shown = anonymous(system_id, kind, row[after - 1])
        more = (run_at, assumed, shown, label if named else "", designation, own, len(lacking), means)
        entries.append(Entry(*[*row[:FIELDS], *more]))
    return entries


def with_figures(
    session: Session,
    actor: Actor,
    evaluation: Evaluation,
    scoring_set: ScoringSet,
    now: dt.datetime,
    entries: Sequence[Entry],
    measures: Iterable[str],
) -> list[Entry]:
    """The entries, of that set of the evaluation, with the figures of these measures beside those that they have."""
    names = list(measures)
    wanted = Scoring.id.in_([entry.scoring_id for entry in entries])
    own_set = ScoringSet.id == scoring_set.id
    figures = _figures(session, actor, [evaluation], now, names, own_set, None, [wanted]) if entries and names else {}
    families = {name: metrics.parse(name).family for name in names}
    sights = {own: Sights(actor, evaluation, scoring_set, now, own) for own in {entry.own for entry in entries}}
    found = []
    for entry in entries:
        means, rounding = figures.get(entry.scoring_id, {}), sights[entry.own].rounding
        if rounding:
            means = {name: _rounded(figure, families[name], rounding) for name, figure in means.items()}
        found.append(replace(entry, figures={**means, **entry.figures}))
    return found


class Sights:
    """What a reader may see of the runs of one evaluation: those of teams of the reader's (`own`), or of all others.

    scoring_set: whose figures may have to be rounded.
    """

    def __init__(
        self, actor: Actor, evaluation: Evaluation, scoring_set: ScoringSet | None, now: dt.datetime, own: bool
    ) -> None:
        team_id = min(actor.teams) if own else None
        self.results = may_see(actor, evaluation, Sight.RESULTS, now, team_id)
        self.names = may_see(actor, evaluation, Sight.NAMES, now, team_id)
        self.rounding: Rounding | None = None
        if scoring_set:
            self.rounding = rounding_seen(actor, evaluation, scoring_set.settings, now, team_id)


def _of_set(scoring_set: ScoringSet | None) -> sa.ColumnElement[bool]:
    """A condition on sets: that set; else the current one."""
    return ScoringSet.state == SetState.CURRENT if scoring_set is None else ScoringSet.id == scoring_set.id


def scorings_of(
    scoring_set: ScoringSet, now: dt.datetime, standing: Which
) -> tuple[list[sa.ColumnElement[bool]], Which]:
    """Conditions on the scorings of that set that a board by it lists, and on rows of Standing, where those are meant;
    `now` and `standing` as `load_entries` has them."""
    until = scoring_set.shown_until
    if until and scoring_set.state in STANDING and now > until:
        return [], None  # beside the official one it goes on; its rows say what stood while it was the current one
    if until and standing is None:
        return [sa.or_(Scoring.finished_at <= until, Scoring.of_the_past)], None
    return [], standing


def system_label(system: System, team: Team) -> SystemLabel:
    """The system under its own name, with its team."""
    return SystemLabel(system.id, system.name, system.kind, system.slug, team.name, team.slug)


def label_without_name(
    session: Session, actor: Actor, evaluation: Evaluation, system: System, team: Team, now: dt.datetime
) -> SystemLabel:
    """The system as boards show it to a reader who may not know its name; a baseline has its own."""
    if system.kind is SystemKind.BASELINE or may_see(actor, evaluation, Sight.NAMES, now):
        return system_label(system, team)
    return anonymous(system.id, system.kind, session.get_one(Pseudonym, (evaluation.id, system.id)).number)


def anonymous(system_id: int, kind: SystemKind, number: int) -> SystemLabel:
    """The system under a made-up name, the same on every page of the evaluation, made of its `Pseudonym`."""
    return SystemLabel(system_id, pseudonym(number), kind)


def _figures(
    session: Session,
    actor: Actor,
    evaluations: Sequence[Evaluation],
    now: dt.datetime,
    measures: Iterable[str] | None,
    of_sets: sa.ColumnElement[bool],
    standing: Which,
    which: Sequence[sa.ColumnElement[bool]],
) -> dict[int, dict[str, Figure]]:
    """Scoring id -> measure -> figure, over the subset of queries that `actor` sees means of in each evaluation."""
    scores = sa.select(Score.scoring_id, Score.measure, *_of_figure(Score)).join(
        Scoring, Scoring.id == Score.scoring_id
    )
    statement = with_sets(scores, standing).where(of_sets, *which, _is_seen(Score, actor, evaluations, now))
    if measures is not None:
        statement = statement.where(Score.measure.in_(list(measures)))
    figures: dict[int, dict[str, Figure]] = {}
    for scoring_id, measure, mean, low, high, count in session.execute(statement):
        figures.setdefault(scoring_id, {})[measure] = _figure(mean, low, high, count)
    return figures


def _is_seen(
    score: type[Score], actor: Actor, evaluations: Sequence[Evaluation], now: dt.datetime
) -> sa.ColumnElement[bool]:
    """A condition on scores and ScoringSet: over the subset of queries that `actor` sees means of."""
    seen: dict[Subset, list[int]] = {}
    for evaluation in evaluations:
        seen.setdefault(subset_seen(actor, evaluation, now), []).append(evaluation.id)
    return sa.or_(*(sa.and_(ScoringSet.evaluation_id.in_(ids), score.subset == subset) for subset, ids in seen.items()))


def _of_figure(score: type[Score]) -> tuple[Any, ...]:
    """What `_figure` takes, as columns."""
    return score.mean, score.low, score.high, score.count


def _figures_beside(row: Sequence[Any], measures: Collection[str]) -> dict[str, Figure]:
    """Measure -> figure, of columns that stand one figure after the other; none of a measure without a score."""
    width = len(row) // len(measures)
    parts = (row[width * place : width * (place + 1)] for place in range(len(measures)))
    return {name: _figure(*part) for name, part in zip(measures, parts, strict=True) if part[-1] is not None}


def figures_of(scores: Iterable[Score], rounding: Rounding | None) -> dict[str, Figure]:
    """Measure -> figure of one run, given its scores over one subset, with as many digits as its reader may see."""
    figures = {one.measure: _figure(one.mean, one.low, one.high, one.count) for one in scores}
    if rounding is None:
        return figures
    return {name: _rounded(figure, metrics.parse(name).family, rounding) for name, figure in figures.items()}


def gives_interval(queries: Any) -> Any:
    """Whether a figure over so many queries, a number or an array of them, is given with an interval."""
    return queries >= LEAST_QUERIES


def _figure(mean: float | None, low: float | None, high: float | None, count: int) -> Figure:
    """A stored figure, without an interval where too few queries have a value."""
    ends = (low, high) if gives_interval(count) else (None, None)
    return Figure(mean, *ends, count)


def figure_as_seen(
    mean: float | None, low: float | None, high: float | None, count: int, family: Family, rounding: Rounding | None
) -> Figure:
    """A stored figure with as many digits as its reader may see."""
    figure = _figure(mean, low, high, count)
    return _rounded(figure, family, rounding) if rounding else figure


def _rounded(figure: Figure, family: Family, rounding: Rounding) -> Figure:
    """The figure as a reader sees it who may not see single queries; none of a measure that tells of judgments only."""
    if not is_told_rounded(family):
        return NO_FIGURE
    return rounded(figure, family.unit, rounding)


def rounded(figure: Figure, unit: str, rounding: Rounding | None) -> Figure:
    """The figure with as many digits as its reader may see; None: with all."""
    if rounding is None:
        return figure
    low, high = rounding.interval(figure.low, figure.high, unit)
    return Figure(rounding.mean(figure.mean, unit), low, high, rounding.queries, at_most=True)
