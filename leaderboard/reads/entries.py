"""Scored runs as boards and progress see them: who may see which, under which name, with which figures.

Two SQL statements load all of them, however many runs, systems and evaluations there are.
"""

import datetime as dt
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.access import Actor, Sight, may_see, rounding_seen, subset_seen
from leaderboard.lookup import IS_CURRENT, current_sets, select_scored_runs
from leaderboard.metrics.measure import Family
from leaderboard.models import Evaluation, Score, Scoring, ScoringSet, Submission, System, Team
from leaderboard.rules.disclosure import Rounding
from leaderboard.rules.settings import Subset
from leaderboard.rules.standings import Designation, ScoredRun, SystemKind, name_of_run
from leaderboard.statistics import LEAST_QUERIES

__all__ = ["NO_FIGURE", "Entry", "Figure", "SystemLabel", "load_entries", "rounded", "system_label"]


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


@dataclass(frozen=True, slots=True)
class Entry(ScoredRun):
    """One scored run with its figures.

    run_at   when it was made, where that is known
    own      whether it is of a team of the reader's
    missing  how many queries that the reader may know of it has no list for
    """

    run_at: dt.datetime | None
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
) -> list[Entry]:
    """Every scored run of the evaluations' current sets that `actor` may see the means of, in order of arrival.

    Those whose place stays empty are among them, for `reads.standings.choose` to leave their places empty.

    measures     canonical names whose figures are wanted; None for all
    scoring_set  of the one evaluation, instead of its current set: its runs as long as boards showed it. `now` is then
                 what `access.as_of` says
    """
    if not evaluations:
        return []
    by_id = {evaluation.id: evaluation for evaluation in evaluations}
    rows = session.execute(
        select_scored_runs(Submission, System, Team, Scoring.id, Scoring.missing, of_sets=_of_set(scoring_set))
        .join(Team, Team.id == Submission.team_id)
        .where(Submission.evaluation_id.in_(by_id))
        .order_by(Submission.received_at, Submission.id)
    ).all()
    figures = _figures(session, actor, evaluations, now, measures, scoring_set)
    subsets = {one.id: subset_seen(actor, one, now) for one in evaluations}
    partly = [
        one.id for one in evaluations if subsets[one.id] is Subset.SHOWN or not may_see(actor, one, Sight.DETAILS, now)
    ]
    sets = dict.fromkeys(partly, scoring_set) if scoring_set else current_sets(session, partly) if partly else {}
    entries = []
    first_runs: dict[tuple[int, int], str] = {}
    families = {name: metrics.parse(name).family for own in figures.values() for name in own}
    for *scored, run, system, team, scoring_id, missing in rows:
        evaluation = by_id[run.evaluation_id]
        secret = first_runs.setdefault((run.evaluation_id, run.system_id), run.sha256)
        if not may_see(actor, evaluation, Sight.RESULTS, now, run.team_id):
            continue
        means, lacking = figures.get(scoring_id, {}), missing
        if current := sets.get(evaluation.id):
            lacking = current.settings.counted(missing, subsets[evaluation.id])
            if rounding := rounding_seen(actor, evaluation, current.settings, now, run.team_id):
                means = {name: _rounded(figure, families[name], rounding) for name, figure in means.items()}
        label = system_label(system, team)
        named = may_see(actor, evaluation, Sight.NAMES, now, run.team_id) or label.is_baseline
        shown = label if named else anonymous(system, secret)
        own, tag = actor.is_in(run.team_id), run.label if named else ""
        more = (run.run_at, shown, tag, run.designation, own, len(lacking), means)
        entries.append(Entry(*[*scored, *more]))
    return entries


def _of_set(scoring_set: ScoringSet | None) -> sa.ColumnElement[bool]:
    """A condition on ScoringSet and Scoring: of that set, as long as boards showed it; else of the current one."""
    if scoring_set is None:
        return IS_CURRENT
    own = ScoringSet.id == scoring_set.id
    until = scoring_set.shown_until
    return own if until is None else sa.and_(own, Scoring.finished_at <= until)


def system_label(system: System, team: Team) -> SystemLabel:
    """The system under its own name, with its team."""
    return SystemLabel(system.id, system.name, system.kind, system.slug, team.name, team.slug)


def anonymous(system: System, secret: str) -> SystemLabel:
    """The system under a made-up name, the same on every page of the evaluation.

    secret: the hash of its first run's file, which only its team knows; a hash of anything public could be guessed.
    """
    digest = hashlib.sha256(secret.encode()).hexdigest()
    return SystemLabel(system.id, f"Anonymous {digest[:4]}", system.kind)


def _figures(
    session: Session,
    actor: Actor,
    evaluations: Sequence[Evaluation],
    now: dt.datetime,
    measures: Iterable[str] | None,
    scoring_set: ScoringSet | None,
) -> dict[int, dict[str, Figure]]:
    """Scoring id -> measure -> figure, over the subset of queries that `actor` sees means of in each evaluation."""
    seen: dict[Subset, list[int]] = {}
    for evaluation in evaluations:
        seen.setdefault(subset_seen(actor, evaluation, now), []).append(evaluation.id)
    statement = (
        sa.select(Score.scoring_id, Score.measure, Score.mean, Score.low, Score.high, Score.count)
        .join(Scoring, Scoring.id == Score.scoring_id)
        .join(ScoringSet, ScoringSet.id == Scoring.scoring_set_id)
        .where(
            _of_set(scoring_set),
            sa.or_(
                *(sa.and_(ScoringSet.evaluation_id.in_(ids), Score.subset == subset) for subset, ids in seen.items())
            ),
        )
    )
    if measures is not None:
        statement = statement.where(Score.measure.in_(list(measures)))
    figures: dict[int, dict[str, Figure]] = {}
    for scoring_id, measure, mean, low, high, count in session.execute(statement):
        ends = (low, high) if count >= LEAST_QUERIES else (None, None)
        figures.setdefault(scoring_id, {})[measure] = Figure(mean, *ends, count)
    return figures


def _rounded(figure: Figure, family: Family, rounding: Rounding) -> Figure:
    """The figure as a reader sees it who may not see single queries; none of a measure that tells of judgments only."""
    if family.of_judgments:
        return NO_FIGURE
    return rounded(figure, family.unit, rounding)


def rounded(figure: Figure, unit: str, rounding: Rounding | None) -> Figure:
    """The figure with as many digits as its reader may see; None: with all."""
    if rounding is None:
        return figure
    low, high = rounding.interval(figure.low, figure.high, unit)
    return Figure(rounding.mean(figure.mean, unit), low, high, rounding.queries, at_most=True)
