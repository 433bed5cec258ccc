"""Confidence level, number of resamples and seed: what every procedure takes unless told otherwise, and the checks.

Draws of the queries with replacement: what intervals, rank sets and all other bootstraps are made of.

What each query adds to a system's mean: the one number a query that paired tests need.

A measure's columns (each float64[Q], NaN where a query has no value) are what its aggregation takes, and they may be
two: AQWV under `pfa_only` is made of P_miss and β · P_fa. A paired test needs one number a query.

How many queries a measure needs before anything is said of other queries like these.

Under P_fa, and under AQWV with a large β, one query in twenty may cost a run more than all others together; so may a
query on which nothing is found under a geometric mean. A sample that lacks it shows nothing of it, so no procedure that
looks at the sample alone can be right: what helps is more queries. How many was found by simulation
(docs/statistics.md).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from leaderboard.errors import BadInput
from leaderboard.metrics.aggregation import GEOMETRIC_FLOOR, GEOMETRIC_MEAN, SUM, VALUE_OF_MEANS, Aggregation, Columns
from leaderboard.metrics.measure import Measure
from leaderboard.metrics.ranking import Setting
from leaderboard.metrics.segments import Bools, Floats, Ints

ALPHA = 0.05
CONFIDENCE = 1 - ALPHA
RESAMPLES = 10_000
LEAST_RESAMPLES = 1_000  # where many queries would make more take too long
SEED = 1  # any fixed number will do: it is shown beside every figure that depends on it

LEAST_QUERIES = 5  # fewer say next to nothing of their own spread: simulated, 95 % intervals cover far less

ALIKE = 1e-12  # values that differ by less, or by that share of one above 1, differ by rounding
CELLS = 2**22  # numbers in the largest matrix held at once: 32 MB


def affordable_resamples(queries: int, drawn: int) -> int:
    """How many resamples of so many queries draw at most `drawn` of them; never fewer than LEAST_RESAMPLES, nor more
    than RESAMPLES.

    >>> affordable_resamples(50, 2_000_000), affordable_resamples(500, 2_000_000), affordable_resamples(7000, 2_000_000)
    (10000, 4000, 1000)
    """
    return max(LEAST_RESAMPLES, min(RESAMPLES, drawn // max(1, queries)))


def check_resamples(resamples: int) -> None:
    """Raises BadInput unless resamples >= 1.

    >>> check_resamples(10_000)
    """
    if resamples < 1:
        raise BadInput(f"at least one resample is needed; this asks for {resamples}")


def draws(queries: int, resamples: int, seed: int, width: int = 1) -> Iterator[Floats]:
    """Matrices float64[b, Q] of how often each query was drawn, each row summing to Q; `resamples` rows in all.

    width: how many numbers a caller holds for each row, if that is more than Q; b is made so that all fit in CELLS. The
    rows are the same whatever b is. Raises BadInput for resamples below 1.

    >>> import numpy as np
    >>> np.concatenate(list(draws(3, 4, seed=1))).sum(axis=1).tolist()
    [3.0, 3.0, 3.0, 3.0]
    """
    check_resamples(resamples)
    generator = np.random.default_rng(seed)
    for size in blocks(resamples, max(queries, width)):
        drawn = generator.integers(0, queries, (size, queries))
        drawn += np.arange(size)[:, np.newaxis] * queries
        counts = np.bincount(drawn.ravel(), minlength=size * queries)
        yield counts.reshape(size, queries).astype(np.float64)


def blocks(rows: int, width: int) -> Iterator[int]:
    """How many of so many rows are worked on at once, time after time, so that as many rows of `width` fit in CELLS.

    >>> list(blocks(5, CELLS // 2))
    [2, 2, 1]
    """
    size = max(1, CELLS // width)
    return (min(size, rows - start) for start in range(0, rows, size))


def has_value(columns: Columns) -> Bools:
    """bool[Q]: the queries that have a value in at least one of the columns, float64[Q] each.

    >>> import numpy as np
    >>> has_value((np.array([0.5, np.nan, np.nan]), np.array([0.1, 0.2, np.nan]))).tolist()
    [True, True, False]
    """
    defined: Bools = ~np.all(np.isnan(columns), axis=0)
    return defined


def common(first: Columns, second: Columns) -> tuple[Columns, Columns]:
    """Both systems' columns (float64[Q] each) with NaN wherever either of them has none, column by column.

    >>> import numpy as np
    >>> mine, theirs = common((np.array([0.5, np.nan]),), (np.array([0.25, 0.75]),))
    >>> theirs[0].tolist()
    [0.25, nan]
    """
    missing = np.isnan(first) | np.isnan(second)
    return tuple(np.where(missing, np.nan, first)), tuple(np.where(missing, np.nan, second))


def contributions(columns: Columns, aggregation: Aggregation) -> Floats:
    """What each query adds to the mean, times the number of queries: float64[Q], NaN where it adds nothing.

    The plain mean of these is the system's mean (its logarithm under a geometric mean), so exchanging two systems on a
    query changes it as it changes the mean. Under a plain mean they are the values themselves. Under `pfa_only` a query
    without relevant documents has no Value, but its false alarms count in AQWV, so they count here:
    1 − P_miss · n / n(P_miss) − β · P_fa · n / n(P_fa), where a missing term is 0. An aggregation that is not one of
    the metric module's own contributes the values that it names.

    columns: float64[Q] each, NaN where undefined, as `Evaluated.columns` has them.

    >>> import numpy as np
    >>> from leaderboard.metrics.aggregation import MEAN, VALUE_OF_MEANS
    >>> contributions((np.array([0.5, np.nan, 1.0]),), MEAN).tolist()
    [0.5, nan, 1.0]
    >>> p_miss, weighted_p_fa = np.array([0.5, np.nan]), np.array([0.125, 0.25])
    >>> contributions((p_miss, weighted_p_fa), VALUE_OF_MEANS).tolist()
    [-0.125, 0.75]
    """
    if aggregation is GEOMETRIC_MEAN:
        return np.log(np.maximum(columns[0], GEOMETRIC_FLOOR))
    if aggregation is SUM:
        return columns[0] * np.count_nonzero(~np.isnan(columns[0]))
    if aggregation is VALUE_OF_MEANS:
        counts = has_value(columns)
        p_miss, weighted_p_fa = (_scaled(column, int(counts.sum())) for column in columns)
        return np.where(counts, 1.0 - p_miss - weighted_p_fa, np.nan)
    return aggregation.values(columns)


def terms(columns: Columns, aggregation: Aggregation) -> tuple[Floats, ...]:
    """float64[Q] each, NaN where a query has none: the figure (its logarithm, for a geometric mean) is a constant and
    the sum of their means, each over the queries that have the term."""
    if aggregation is VALUE_OF_MEANS:
        return tuple(-column for column in columns)
    return (contributions(columns, aggregation),)


def _scaled(column: Floats, queries: int) -> Floats:
    """The column scaled so that its mean over `queries` is its mean over those that have a value; 0 for the others."""
    defined = ~np.isnan(column)
    return np.where(defined, column, 0.0) * (queries / max(1, int(defined.sum())))


def most_frequent(values: Floats) -> Ints:
    """int64[p]: how often the most frequent value of each column of float64[Q, p] occurs, rounding apart; 0 for none.

    >>> import numpy as np
    >>> most_frequent(np.array([[0.3, 1.0], [0.1 + 0.2, np.nan], [0.5, np.nan]])).tolist()
    [2, 1]
    """
    rising = np.sort(values, axis=0)  # NaN last
    starts = np.ones(rising.shape, dtype=bool)
    starts[1:] = ~(np.diff(rising, axis=0) <= ALIKE * np.maximum(1.0, np.abs(rising[1:])))
    row = np.arange(len(rising))[:, np.newaxis]
    lengths = row + 1 - np.maximum.accumulate(np.where(starts, row, 0), axis=0)
    longest: Ints = np.where(np.isnan(rising), 0, lengths).max(axis=0, initial=0)
    return longest


class Least(NamedTuple):
    """How many queries are needed. for_interval: for an interval; for_ranks: for rank sets."""

    for_interval: int
    for_ranks: int


LEAST = Least(LEAST_QUERIES, LEAST_QUERIES)
WHERE_COSTLY = Least(25, 150)
OF_LOGARITHMS = Least(LEAST_QUERIES, 150)
COSTLY = 50.0  # β: with more than that, what false alarms cost outweighs all else
VALUES = ("Value", "AQWV", "MQWV")  # not OQWV: its θ is chosen query by query, so none costs anything


def least_queries(measure: Measure, setting: Setting) -> Least:
    """How many queries the measure needs in an evaluation with that setting.

    >>> from leaderboard.metrics import parse
    >>> least_queries(parse("AQWV"), Setting(beta=20.0)), least_queries(parse("AQWV"), Setting(beta=999.9))
    (Least(for_interval=5, for_ranks=5), Least(for_interval=25, for_ranks=150))
    >>> least_queries(parse("Pfa"), Setting(beta=20.0)), least_queries(parse("GMAP"), Setting())
    (Least(for_interval=25, for_ranks=150), Least(for_interval=5, for_ranks=150))
    """
    family = measure.family
    if family.aggregation is GEOMETRIC_MEAN:
        return OF_LOGARITHMS
    costly = family.unit == "false alarms" or (family.name in VALUES and (setting.beta or 0.0) > COSTLY)
    return WHERE_COSTLY if costly else LEAST
