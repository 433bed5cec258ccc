"""Years linked by systems that ran unchanged in several: how much of a change is the system's, how much the queries'.

Two periods have different queries, so two means say nothing of change until it is known how much harder one set of
queries is. A version of a system that ran unchanged in both tells that. The model: a version's mean in a period is
version effect + period effect; what that leaves unexplained (the version does better on this period's queries than the
others do) is the rest.

Fit. Least squares on the means of the cells (version × period), each weighted by its period's number of queries, which
is least squares on the per-query values. A version that ran in one period only gets its effect from that cell and says
nothing of the periods. Effects exist within a connected part: periods are linked when a chain of versions, each in two
periods, leads from one to the other. Across parts nothing can be said, and that is refused. The first period of a part,
in the order given, is its reference: its effect is 0, so a version's effect is the mean that it has, or would have had,
on that period's queries.

Intervals. A period's queries are drawn again with replacement, the same draw for all versions in it, since queries that
are hard are hard for all; periods are drawn apart from each other. The weights stay, so every effect is a sum over
periods of a mean over its queries, and has a standard error of its own in every draw: intervals are studentised and
symmetric (bootstrap-t of |t|: equal tails covered less in simulations, docs/statistics.md). None where a period that
counts has fewer than 5 queries, or values so alike that draws without any spread are frequent.

What it does not say: that the versions which link two periods stand for all others. A period whose collection or task
changed for some kind of systems only shows in the rest, not in the period's effect.

Sources: B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993 (bootstrap-t); M. J. Kolen and R. L.
Brennan, Test Equating, Scaling, and Linking, 2014 (common items, turned round: here systems are common, not queries).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from leaderboard.errors import BadInput
from leaderboard.metrics.segments import Floats
from leaderboard.statistics.samples import ALPHA, LEAST_QUERIES, RESAMPLES, SEED, blocks, check_resamples

Cell = tuple[str, str]  # version, period
ROUNDING = 1e-12

TOO_FEW = f"a period has fewer than {LEAST_QUERIES} queries on which all of its versions have a value"
TOO_ALIKE = "too many queries have one and the same value"
NOT_LINKED = "no chain of versions that ran unchanged in two periods links {first} and {second}"


class Effect(NamedTuple):
    """An estimate with its interval. low, high: None where the queries are too few or too alike for one, and `reason`
    says so. All three are equal where drawing queries changes nothing."""

    estimate: float
    low: float | None = None
    high: float | None = None
    reason: str | None = None


class LinkedPart(NamedTuple):
    """Periods that versions link, and the versions that ran in them, both in the order given.

    periods    -> the period's effect: how much higher means are on its queries than on the first period's, whose own
               effect is 0
    versions   -> the mean that the version has, or would have had, on the first period's queries
    links      versions that ran in more than one of the periods
    left_out   period -> queries without a value for one of its versions, which do not count; only where there are any
    """

    periods: Mapping[str, Effect]
    versions: Mapping[str, Effect]
    links: tuple[str, ...]
    left_out: Mapping[str, int]


class Change(NamedTuple):
    """From one cell to another: total = of_version + of_periods + rest, in the estimates.

    total       the difference of the two means
    of_version  of it the difference of the two versions' effects; 0 for a version compared with itself
    of_periods  of it the difference of the two periods' effects: the queries'
    rest        of it what version and period effects do not explain
    reason      why nothing is said; the four are None then
    """

    total: Effect | None = None
    of_version: Effect | None = None
    of_periods: Effect | None = None
    rest: Effect | None = None
    reason: str | None = None


def linked_parts(
    cells: Mapping[Cell, Floats],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[LinkedPart, ...]:
    """The effects of versions and periods, apart for each connected part, in the order of their first cells.

    cells: (version, period) -> float64[Q_p], the measure's values of that version on the period's queries, in one order
    for all versions of the period, NaN where undefined (`contributions`, whose mean is the figure). A query without a
    value for one of the versions does not count. Raises BadInput for cells of a period that differ in length, a period
    without any query that counts or resamples below 1.

    >>> import numpy as np
    >>> first, second = np.array([0.2, 0.4, 0.6, 0.4, 0.4]), np.array([0.1, 0.3, 0.5, 0.3, 0.3])
    >>> (part,) = linked_parts({("a", "2025"): first, ("a", "2026"): second, ("b", "2026"): second + 0.2})
    >>> {period: round(effect.estimate, 6) for period, effect in part.periods.items()}  # harder queries
    {'2025': 0.0, '2026': -0.1}
    >>> {version: round(effect.estimate, 6) for version, effect in part.versions.items()}
    {'a': 0.4, 'b': 0.6}
    """
    parts = []
    for part in _connected(cells):
        model = _Model({cell: cells[cell] for cell in part})
        rows = [*model.of_period.values(), *model.of_version.values()]
        effects = model.effects(np.array(rows), resamples, seed)
        ran_in = Counter(version for version, _ in part)
        parts.append(
            LinkedPart(
                periods=dict(zip(model.periods, effects, strict=False)),
                versions=dict(zip(model.versions, effects[len(model.periods) :], strict=True)),
                links=tuple(version for version, times in ran_in.items() if times > 1),
                left_out={period: gone for period, gone in model.left_out.items() if gone},
            )
        )
    return tuple(parts)


def change(
    cells: Mapping[Cell, Floats],
    first: Cell,
    second: Cell,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Change:
    """Of the change from `first` to `second`, two of the cells, what is the system's and what the queries'.

    cells and errors as in `linked_parts`; BadInput too for a cell that is not there. Refused, with the reason, where
    nothing links the two periods.

    >>> import numpy as np
    >>> easy, hard = np.array([0.2, 0.4, 0.6, 0.4, 0.4]), np.array([0.1, 0.3, 0.5, 0.3, 0.3])
    >>> cells = {("old", "2025"): easy, ("new", "2026"): hard + 0.2, ("bm25", "2025"): easy, ("bm25", "2026"): hard}
    >>> found = change(cells, ("old", "2025"), ("new", "2026"))
    >>> [round(each.estimate, 6) for each in (found.total, found.of_version, found.of_periods, found.rest)]
    [0.1, 0.2, -0.1, 0.0]
    >>> del cells["bm25", "2026"]
    >>> change(cells, ("old", "2025"), ("new", "2026")).reason
    'no chain of versions that ran unchanged in two periods links 2025 and 2026'
    """
    for version, period in {first, second} - cells.keys():
        raise BadInput(f"there are no values of version {version} in period {period}")
    part = next(part for part in _connected(cells) if first in part)
    if second not in part:
        return Change(reason=NOT_LINKED.format(first=first[1], second=second[1]))
    model = _Model({cell: cells[cell] for cell in part})
    whole = model.of_cell[second] - model.of_cell[first]
    versions = model.of_version[second[0]] - model.of_version[first[0]]
    periods = model.of_period[second[1]] - model.of_period[first[1]]
    rows = np.array([whole, versions, periods, whole - versions - periods])
    total, of_version, of_periods, rest = model.effects(rows, resamples, seed)
    return Change(total, of_version, of_periods, rest)


def _connected(cells: Mapping[Cell, Floats]) -> list[list[Cell]]:
    """The cells by connected part: two cells are connected when they share a version or a period."""
    parts: list[list[Cell]] = []
    for cell in cells:
        touched = [part for part in parts if any(cell[0] == own[0] or cell[1] == own[1] for own in part)]
        parts = [part for part in parts if part not in touched]
        parts.append([*(own for part in touched for own in part), cell])
    order = {cell: index for index, cell in enumerate(cells)}
    return sorted((sorted(part, key=order.__getitem__) for part in parts), key=lambda part: order[part[0]])


class _Model:
    """The fit of one connected part. What it estimates are rows of weights over the cells' means, float64[cells]."""

    def __init__(self, cells: Mapping[Cell, Floats]) -> None:
        self.cells = list(cells)
        self.versions = tuple(dict.fromkeys(version for version, _ in cells))
        self.periods = tuple(dict.fromkeys(period for _, period in cells))
        self.values: dict[str, Floats] = {}  # period -> float64[Q, versions in it], without the queries left out
        self.left_out: dict[str, int] = {}
        for period in self.periods:
            own = [values for (_, when), values in cells.items() if when == period]
            if len({values.shape for values in own}) != 1:
                raise BadInput(f"the versions in {period} have values on different numbers of queries")
            together = np.stack(own, axis=1)
            counts = ~np.isnan(together).any(axis=1)
            if not counts.any():
                raise BadInput(f"no query of {period} has a value for every version in it")
            self.values[period] = together[counts]
            self.left_out[period] = int(np.count_nonzero(~counts))
        of_version = np.eye(len(self.versions))[[self.versions.index(version) for version, _ in cells]]
        of_period = np.eye(len(self.periods))[[self.periods.index(period) for _, period in cells]]
        design = np.hstack([of_version, of_period[:, 1:]])
        roots = np.sqrt([float(len(self.values[period])) for _, period in cells])
        fit = np.asarray(np.linalg.pinv(design * roots[:, np.newaxis]) * roots, np.float64)  # effects from means
        self.of_cell = dict(zip(cells, np.eye(len(cells)), strict=True))
        self.of_version = dict(zip(self.versions, fit, strict=False))
        periods = np.vstack([np.zeros((1, len(cells))), fit[len(self.versions) :]])
        self.of_period = dict(zip(self.periods, periods, strict=True))

    def effects(self, rows: Floats, resamples: int, seed: int) -> list[Effect]:
        """What the rows of weights, float64[E, cells], estimate, each with its interval."""
        check_resamples(resamples)
        # Within a period a row gives every query one number, and the estimate is the sum of these numbers' means.
        numbers = []
        for period in self.periods:
            weights = rows[:, [index for index, (_, when) in enumerate(self.cells) if when == period]]
            weights = np.where(np.abs(weights) <= ROUNDING, 0.0, weights)
            numbers.append(self.values[period] @ weights.T)
        estimates, errors = _sums_of_means(numbers, [np.ones((1, len(own))) for own in numbers])
        estimate, error = estimates[0], errors[0]
        scale = np.sum([np.abs(own).max(axis=0) for own in numbers], axis=0)
        estimate = np.where(np.abs(estimate) <= ROUNDING * scale, 0.0, estimate)
        used = np.array([(own != 0).any(axis=0) for own in numbers])  # periods × rows
        short = np.array([len(own) < LEAST_QUERIES for own in numbers])
        drawn = _studentised(numbers, estimate, resamples, seed)
        reach = error * np.quantile(np.abs(drawn), 1 - ALPHA, axis=0, method="inverted_cdf")
        reach[error <= ROUNDING * scale] = 0.0
        effects = []
        for row, (middle, half) in enumerate(zip(estimate.tolist(), reach.tolist(), strict=True)):
            reason = TOO_FEW if (used[:, row] & short).any() else TOO_ALIKE if np.isinf(half) else None
            effects.append(Effect(middle, reason=reason) if reason else Effect(middle, middle - half, middle + half))
        return effects


def _sums_of_means(numbers: Sequence[Floats], counts: Sequence[Floats]) -> tuple[Floats, Floats]:
    """(estimates, their standard errors), float64[B, E] each: numbers of each period are float64[Q, E], counts of how
    often each query was drawn float64[B, Q]."""
    total, variance = np.zeros((2, len(counts[0]), numbers[0].shape[1]))
    for own, drawn in zip(numbers, counts, strict=True):
        queries = len(own)
        centre = own.mean(axis=0)  # squares are taken around it, so that they don't cancel
        means = drawn @ (own - centre) / queries
        squares = drawn @ (own - centre) ** 2 / queries
        total += means + centre
        variance += np.maximum(0.0, squares - means**2) / max(1, queries - 1)
    return total, np.sqrt(variance)


def _studentised(numbers: Sequence[Floats], estimate: Floats, resamples: int, seed: int) -> Floats:
    """float64[resamples, E]: (estimate of a draw − estimate) / standard error of the draw; 0 where both are 0."""
    generator = np.random.default_rng(seed)
    columns = []
    for size in blocks(resamples, max(len(own) for own in numbers)):
        counts = [
            generator.multinomial(len(own), np.full(len(own), 1 / len(own)), size).astype(np.float64) for own in numbers
        ]
        drawn, errors = _sums_of_means(numbers, counts)
        away = drawn - estimate
        none = np.where(np.abs(away) > ROUNDING, np.copysign(np.inf, away), 0.0)
        columns.append(np.divide(away, errors, out=none, where=errors > 0))
    return np.concatenate(columns)
