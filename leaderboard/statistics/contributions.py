"""What each query adds to a system's mean: the one number a query that paired tests need.

A measure's columns (each float64[Q], NaN where a query has no value) are what its aggregation takes, and they may be
two: AQWV under `pfa_only` is made of P_miss and β · P_fa. A paired test needs one number a query.
"""

import numpy as np

from leaderboard.metrics.aggregation import GEOMETRIC_FLOOR, GEOMETRIC_MEAN, SUM, VALUE_OF_MEANS, Aggregation, Columns
from leaderboard.metrics.segments import Bools, Floats


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
    missing = [np.isnan(mine) | np.isnan(theirs) for mine, theirs in zip(first, second, strict=True)]
    return (
        tuple(np.where(without, np.nan, column) for without, column in zip(missing, first, strict=True)),
        tuple(np.where(without, np.nan, column) for without, column in zip(missing, second, strict=True)),
    )


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


def _scaled(column: Floats, queries: int) -> Floats:
    """The column scaled so that its mean over `queries` is its mean over those that have a value; 0 for the others."""
    defined = ~np.isnan(column)
    return np.where(defined, column, 0.0) * (queries / max(1, int(defined.sum())))
