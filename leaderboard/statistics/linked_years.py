"""Years linked by versions that ran unchanged in several: how much of a change is a better system, how much the year.

Two periods have different queries, so two means say nothing of change until it is known how much harder one set of
queries is. A version of a system that ran unchanged in both tells that. The model, for a version's mean in a period:

    mean(v, p) = effect of v + effect of p + how well v suits p

Fit. Least squares on the means of versions that ran in several periods (links), within the periods that a chain of
links connects. A period's effect is the mean over links of what it adds, the version's own level apart. A version that
ran once gets its effect from its only mean.

Intervals. Links are taken as a random sample of all versions, and how well a version suits a period as drawn anew for
each mean: it holds what the period's queries do to this version only, and any way in which it reacts to the period
unlike others. Its size is known from how unequally the links change. So intervals are Student's, with the residual
degrees of freedom of the fit: L − 1 for L links of two periods. Drawing queries again would not do: it knows nothing
of how far the links stand for other versions. With fewer than LEAST_FREEDOM there is none (docs/statistics.md).

Sources: H. Scheffé, The Analysis of Variance, 1959 (two-way layouts); M. J. Kolen and R. L. Brennan, Test Equating,
Scaling, and Linking, 2014 (common items, turned round: here systems are common, not queries).
"""

import math
from typing import NamedTuple

import numpy as np

from leaderboard.frozen import frozen
from leaderboard.metrics.segments import Bools, Floats, Ints
from leaderboard.numbers import counted
from leaderboard.statistics.intervals import students_t
from leaderboard.statistics.samples import ALIKE, ALPHA

LEAST_FREEDOM = 2  # with 1, intervals are 12.7 standard errors wide at each side: as wide as most measures' range
WIDER = 1.06  # systems vary unequally from query to query: without it real runs' version parts were held in .92 to .95

FEW_LINKS = "{} that ran unchanged can't show how far others would change"
ALL_ALIKE = "all versions that ran unchanged changed alike, so how far others would is not known"


@frozen
class Part:
    """An estimate with its interval; low and high are None where there is none."""

    estimate: float
    low: float | None = None
    high: float | None = None


class Cells(NamedTuple):
    """Versions, by their rows, in one period, by its column; of several the mean is meant."""

    versions: Ints
    period: int


@frozen
class SplitChange:
    """From cells of one period to cells of another: last − first = of_versions + of_periods + rest, in the estimates.

    first, last  the two means; runs: over how many cells each
    of_versions  the difference of the versions' effects: how much better the second would be in the same period
    of_periods   what the average version gains from the one period's queries to the other's, as they are
    rest         how much better the second versions suit their period than the first suit theirs; None where the fit
                 has no means left to tell it from the effects, as where all of them ran once or one link is compared
    links        how many versions link the two periods, if only through others between them
    reason       why the parts have no intervals; None where they have
    """

    first: float
    last: float
    runs: tuple[int, int]
    of_versions: Part
    of_periods: Part
    rest: float | None
    links: int
    reason: str | None


def linked(ran: Bools) -> Bools:
    """bool[P, P]: whether a chain of versions, each in two periods, leads from one period to the other.

    ran: bool[V, P], whether a version ran in a period.

    >>> import numpy as np
    >>> linked(np.array([[True, True, False, False], [False, True, True, False]]))[0].tolist()
    [True, True, True, False]
    """
    periods = ran.shape[1]
    direct = (ran.T.astype(float) @ ran > 0) | np.eye(periods, dtype=bool)
    reached: Bools = np.linalg.matrix_power(direct.astype(float), periods) > 0
    return reached


def change(means: Floats, first: Cells, second: Cells, no_interval: str | None = None) -> SplitChange | None:
    """How the change from `first` to `second` is split; None where nothing links their periods.

    means: float64[V, P] of the versions in the periods, NaN where a version did not run. no_interval: why there is none
    whatever the means are

    >>> import numpy as np
    >>> bm25, tfidf, old, new = [0.4, 0.3], [0.3, 0.2], [0.5, np.nan], [np.nan, 0.6]  # the second year is harder
    >>> split = change(np.array([bm25, tfidf, old, new]), Cells(np.array([2]), 0), Cells(np.array([3]), 1))
    >>> [round(part, 6) for part in (split.last - split.first, split.of_versions.estimate, split.of_periods.estimate)]
    [0.1, 0.2, -0.1]
    >>> split.reason
    "2 versions that ran unchanged can't show how far others would change"
    """
    near = linked(~np.isnan(means))[first.period]
    if not near[second.period]:
        return None
    inside = np.where(near, means, np.nan)
    ran = ~np.isnan(inside)
    times = np.maximum(1, ran.sum(axis=1))
    links = ran.sum(axis=1) > 1
    of_links = ran[links].astype(float)
    # Means and periods less each link's own level, which leaves the periods' effects alone in the equations.
    within = np.where(ran[links], inside[links] - np.nanmean(inside[links], axis=1, keepdims=True), 0.0)
    inverse = np.linalg.pinv(np.diag(of_links.sum(axis=0)) - (of_links / times[links, np.newaxis]).T @ of_links)
    periods = inverse @ within.sum(axis=0)
    versions = np.where(ran, inside - periods, 0.0).sum(axis=1) / times
    residuals = np.where(ran, inside - periods - versions[:, np.newaxis], 0.0)
    freedom = int(of_links.sum() - len(of_links) - near.sum() + 1)

    cells = np.zeros(means.shape)
    cells[second.versions, second.period] += 1 / len(second.versions)
    cells[first.versions, first.period] -= 1 / len(first.versions)
    compared = cells.sum(axis=1)
    own = np.where(ran[links], cells[links] - (compared / times)[links, np.newaxis], 0.0)
    in_rest = (own**2).sum() - own.sum(axis=0) @ inverse @ own.sum(axis=0)  # its variance, in that of one mean
    step = np.zeros(means.shape[1])
    step[[first.period, second.period]] = -1, 1
    through = (compared / times) @ ran  # how far the versions' effects go by those of the periods
    of_versions = float(compared @ versions)
    of_periods = float(step @ periods)
    start, end = (float(means[cells.versions, cells.period].mean()) for cells in (first, second))
    error = math.sqrt((residuals**2).sum() / max(1, freedom))
    few = FEW_LINKS.format(counted(len(of_links), "version")) if freedom < LEAST_FREEDOM else None
    no_interval = no_interval or few or (ALL_ALIKE if error <= ALIKE else None)
    reach = None if no_interval else error * float(students_t(np.array(freedom), ALPHA))
    return SplitChange(
        start,
        end,
        (len(first.versions), len(second.versions)),
        _part(of_versions, WIDER**2 * float((compared**2 / times).sum() + through @ inverse @ through), reach),
        _part(of_periods, float(step @ inverse @ step), reach),
        end - start - of_versions - of_periods if in_rest > ALIKE else None,
        len(of_links),
        no_interval,
    )


def _part(estimate: float, variance: float, reach: float | None) -> Part:
    """variance: in that of one mean, 0 of a part that is 0 for certain; reach: half of the interval that one mean would
    have, None for no interval"""
    if reach is None or variance <= ALIKE:
        return Part(estimate)
    half = math.sqrt(variance) * reach
    return Part(estimate, estimate - half, estimate + half)
