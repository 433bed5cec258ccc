"""What one system has on the queries, ready for statistics.

A measure's columns (each float64[Q], NaN where a query has no value) are what its aggregate takes. A paired test needs
one number a query instead: the query's contribution, whose plain mean is the measure's own figure.
"""

import numpy as np

from leaderboard.metrics.aggregation import GEOMETRIC_FLOOR, GEOMETRIC_MEAN, SUM, VALUE_OF_MEANS, Aggregation, Columns
from leaderboard.metrics.ranking import Bools, Floats

__all__ = ["common", "contributions", "stated"]


def stated(columns: Columns) -> Bools:
    """bool[Q]: the queries that have a value in at least one column."""
    defined: Bools = ~np.all(np.isnan(columns), axis=0)
    return defined


def common(first: Columns, second: Columns) -> tuple[Columns, Columns]:
    """Both systems' columns with NaN wherever either has none, column by column."""
    both = [np.isnan(mine) | np.isnan(theirs) for mine, theirs in zip(first, second, strict=True)]
    return (
        tuple(np.where(missing, np.nan, column) for missing, column in zip(both, first, strict=True)),
        tuple(np.where(missing, np.nan, column) for missing, column in zip(both, second, strict=True)),
    )


def contributions(columns: Columns, aggregation: Aggregation) -> Floats:
    """float64[Q], NaN where the query adds nothing: what each query adds to the figure, times the number of queries.

    Their mean is the aggregate (its logarithm for a geometric mean), so that swapping two systems on a query changes
    it as it changes the figure. For a plain mean they are the values. Under `pfa_only` a query without relevant
    documents has no Value of its own, but its false alarms count in AQWV, and so they do here:
    1 − P_miss · n / n(P_miss) − β · P_fa · n / n(P_fa), a missing term 0. For an aggregation that the metric module
    does not list, they are the values it names.
    """
    if aggregation is GEOMETRIC_MEAN:
        return np.log(np.maximum(columns[0], GEOMETRIC_FLOOR))
    if aggregation is SUM:
        return columns[0] * np.count_nonzero(~np.isnan(columns[0]))
    if aggregation is VALUE_OF_MEANS:
        has_any = stated(columns)
        p_miss, weighted_p_fa = (_share(column, int(has_any.sum())) for column in columns)
        return np.where(has_any, 1.0 - p_miss - weighted_p_fa, np.nan)
    return aggregation.values(columns)


def _share(column: Floats, queries: int) -> Floats:
    """A column scaled so that its sum over `queries` is the mean over those that have a value; 0 for the others."""
    defined = ~np.isnan(column)
    return np.where(defined, column, 0.0) * (queries / max(1, int(defined.sum())))
