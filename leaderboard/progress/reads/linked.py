"""A change between two periods of a condition, split by versions that ran unchanged in several: how much of it is a
better system, how much an easier year. It is worked out from means that the reader sees on the boards anyway."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import db, errors
from leaderboard.access import Actor
from leaderboard.boards.reads import entries as table
from leaderboard.campaigns import reads as campaign_reads
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads import evaluations as reads
from leaderboard.frozen import frozen
from leaderboard.metrics import parse
from leaderboard.progress.reads.progress import Line, Period, PeriodPoint, ProgressPage, line_of, progress_in
from leaderboard.statistics import least_queries
from leaderboard.statistics.linked_years import Cells, SplitChange, change, linked
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import on_boards

MOST_CHOICES = 40  # runs of a period that a reader can choose; others by their address

TOO_FEW_PERIODS = "It takes two periods, each with one evaluation whose systems are ranked by this measure."
NOT_COMPARABLE = "Not the same in all periods: {}. So their means can't be compared."
NO_LINK = "No version ran unchanged in both {} and {}, and no chain of versions links them. So nothing can be said."
SAME_PERIOD = "Both runs are of {}. Runs of one period are compared on its board."
BEST_OF_SEVERAL = "a mean is the best of several runs, which is high by chance too"
FEW_QUERIES = "{} takes at least {} queries in each period"


@frozen
class YearsPage(ProgressPage):
    """compared: two runs of two periods: those that the reader chose, else the best of the last period and of the first
    one that is linked to it; empty where there are no two periods to compare.

    pair, field  the split of their difference, and of that of the means of all systems of their two periods
    reason       why nothing is split, in a sentence; empty where something is
    versions     those that ran in several periods, and those that are compared; once: how many others there are
    choices      the best runs of each period; names: system -> what it is called
    """

    compared: tuple[PeriodPoint, ...]
    pair: SplitChange | None
    field: SplitChange | None
    reason: str
    versions: tuple[Line, ...]
    once: int
    choices: tuple[tuple[PeriodPoint, ...], ...]
    names: Mapping[int, str]

    def name(self, run: PeriodPoint) -> str:
        """Its system, with its version where that is not the period's name."""
        system, version = self.names[run.entry.system.id], run.entry.version
        return system if version in ("", run.period.name) else f"{system}, version {version}"


def years(
    session: Session,
    actor: Actor,
    campaign_slug: str,
    now: datetime,
    *,
    condition: str | None = None,
    measure: str | None = None,
    first: str | None = None,
    last: str | None = None,
) -> YearsPage:
    """first, last: numbers of runs of two periods. Raises NotFound and BadInput as `progress` does, BadInput too for a
    run that is not on the page."""
    campaign = reads.find_campaign(session, actor, campaign_slug)
    evaluations = campaign_reads.evaluations_of(session, actor, campaign.id)
    [page] = progress_in(session, actor, campaign, evaluations, now, [condition], measure=measure)
    means = _Means(page, _repeated(session, actor, evaluations, now, page))
    compared, reason = means.compared(means.asked("first", first), means.asked("last", last))
    is_split = compared and not reason
    versions = means.lines(compared)
    return db.snapshot(
        YearsPage,
        page,
        compared=compared,
        pair=means.split(*([run] for run in compared)) if is_split else None,
        field=means.split(*(means.best_first(run.period, systems=True) for run in compared)) if is_split else None,
        reason=reason,
        versions=versions,
        once=len(means.by_version) - len(versions),
        choices=tuple(tuple(means.best_first(period)[:MOST_CHOICES]) for period in page.periods),
        names=means.names,
    )


def _repeated(
    session: Session, actor: Actor, evaluations: Iterable[Evaluation], now: datetime, page: ProgressPage
) -> Iterator[PeriodPoint]:
    """The newest run in each period of versions that ran in several periods of the page, without those that stand for
    their systems, which it has: the team of a better version may have sent the old one beside it."""
    periods = {period.evaluation_id: period for period in page.periods}
    here = Submission.evaluation_id.in_(periods), ~Submission.late, Submission.scored_at.is_not(None), on_boards()
    version = Submission.system_id, Submission.version
    times = sa.func.count(Submission.evaluation_id.distinct())
    several = sa.select(*version).where(*here).group_by(*version).having(times > 1)
    standing = [point.entry.submission_id for line in (*page.systems, *page.baselines) for point in line.points]
    others = sa.tuple_(*version).in_(several), Submission.id.not_in(standing)
    runs = sa.select(sa.func.max(Submission.id)).where(*here, *others).group_by(Submission.evaluation_id, *version)
    shown = table.disclosures(session, actor, [each for each in evaluations if each.id in periods], now)
    names = {evaluation: period.measures[page.column.name] for evaluation, period in periods.items()}
    for entry in table.load_entries(session, shown, names.values(), runs=runs):
        yield PeriodPoint(periods[entry.evaluation_id], entry, entry.figure(names[entry.evaluation_id]), None)


class _Means:
    """The means of all versions, float64[V, P], NaN where a version did not run, and what is worked out from them.

    Of several runs of a version in a period the one that stands for its system counts, else the newest.
    """

    def __init__(self, page: ProgressPage, repeated: Iterable[PeriodPoint]) -> None:
        self.page = page
        self.by_version: dict[tuple[int, str], dict[int, PeriodPoint]] = defaultdict(dict)
        for run in (*repeated, *(point for line in (*page.systems, *page.baselines) for point in line.points)):
            if run.figure.mean is not None:
                self.by_version[run.entry.system.id, run.entry.version][run.period.evaluation_id] = run
        self.runs = [run for own in self.by_version.values() for run in own.values()]
        self.names = table.disambiguate(run.entry.system for run in self.runs)
        self.row = {version: row for row, version in enumerate(self.by_version)}
        self.column = {period.evaluation_id: column for column, period in enumerate(page.periods)}
        self.values = np.full((len(self.row), len(self.column)), np.nan)
        for run in self.runs:
            self.values[self._cell(run)] = run.figure.mean

    def _cell(self, run: PeriodPoint) -> tuple[int, int]:
        return self.row[run.entry.system.id, run.entry.version], self.column[run.period.evaluation_id]

    def asked(self, name: str, text: str | None) -> PeriodPoint | None:
        run = next((run for run in self.runs if str(run.entry.submission_id) == text), None)
        if text and run is None:
            raise errors.BadInput(f"{name}={text}: this page has no such run")
        return run

    def best_first(self, period: Period, *, systems: bool = False) -> list[PeriodPoint]:
        """The runs of a period; those that stand for systems, baselines apart, where only these are wanted."""
        standing = (run for line in self.page.systems if (run := line.at(period)))
        runs = standing if systems else (run for run in self.runs if run.period is period)
        return self.page.column.sort(list(runs), lambda run: run.figure.mean)

    def lines(self, compared: Sequence[PeriodPoint]) -> tuple[Line, ...]:
        """The versions that ran in several periods, and those of these runs; those that ran in most first."""
        of_these = {(run.entry.system.id, run.entry.version) for run in compared}
        listed = [
            line_of([own[each] for each in self.column if each in own], 0, f"{self.names[system]}, version {version}")
            for (system, version), own in self.by_version.items()
            if len(own) > 1 or (system, version) in of_these
        ]
        return tuple(sorted(listed, key=lambda line: (-len(line.points), line.called.casefold())))

    def compared(self, first: PeriodPoint | None, last: PeriodPoint | None) -> tuple[tuple[PeriodPoint, ...], str]:
        """The two runs to compare, those of them that are None being chosen, or none; and why they can't be, or ""."""
        page = self.page
        if broken := [page.differing[name] for name in ("beta", "metric_version") if name in page.differing]:
            return (), NOT_COMPARABLE.format(", ".join(broken))
        best = [runs[0] for period in page.periods if (runs := self.best_first(period, systems=True))]
        if not page.is_series or len(best) < 2:
            return (), TOO_FEW_PERIODS
        last = last or best[-1]
        near = linked(~np.isnan(self.values))[self._cell(last)[1]]
        others = [run for run in best if run.period is not last.period]
        first = first or max(others, key=lambda run: near[self._cell(run)[1]])
        if first.period is last.period:
            return (first, last), SAME_PERIOD.format(first.period.label)
        is_linked = near[self._cell(first)[1]]
        return (first, last), "" if is_linked else NO_LINK.format(first.period.label, last.period.label)

    def split(self, *ends: Sequence[PeriodPoint]) -> SplitChange | None:
        """Of the change from the mean of the first runs, all of one period, to that of the second; None where there are
        none, and where nothing links the periods."""
        if not all(ends):
            return None
        cells = [np.array([self._cell(run) for run in runs]) for runs in ends]
        first, last = (Cells(own[:, 0], int(own[0, 1])) for own in cells)
        return change(self.values, first, last, self._no_interval([run for runs in ends for run in runs]))

    def _no_interval(self, compared: Sequence[PeriodPoint]) -> str | None:
        """Why a change has no interval, whatever the means are; None where it may have."""
        name = self.page.column.name
        runs = [*compared, *(run for own in self.by_version.values() if len(own) > 1 for run in own.values())]
        if any(run.entry.chosen_of > 1 for run in runs):
            return BEST_OF_SEVERAL
        settings = [(period.measures[name], period.terms.settings.metric) for period in self.page.periods]
        least = max(least_queries(parse(measure), setting).for_ranks for measure, setting in settings)
        return FEW_QUERIES.format(name, least) if min(run.figure.count for run in runs) < least else None
