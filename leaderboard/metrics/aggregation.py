"""How a measure's columns over queries become one figure.

An aggregation takes columns, each float64[Q] with NaN where a query has no value. Sums run one after the other over the
queries as `query_order` has them, as trec_eval's do: another order may change the last digit of a mean that is printed,
so columns are always given in this one. An interval over resampled queries calls the very same code with weights: how
often each query was drawn.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from leaderboard.metrics.segments import Floats

Columns = tuple[Floats, ...]

GEOMETRIC_FLOOR = 1e-5


@dataclass(frozen=True, eq=False)
class Aggregation:
    """How one measure goes from queries to the run.

    name     as shown to a reader
    combine  (columns, None) -> the figure, NaN when undefined; of columns of float64[Q, S] float64[S], the figures of
             S systems at once; or, for B resamples of them, (the same columns, weights float64[B, Q]) -> float64[B, S]
    values   columns -> float64[Q], each query's own value
    has_interval  whether the columns give a confidence interval
    """

    name: str
    combine: Callable[[Columns, Floats | None], Any]
    values: Callable[[Columns], Floats] = itemgetter(0)
    has_interval: bool = True


def query_order(queries: Iterable[str]) -> list[str]:
    """Query ids in the one order in which values are added up everywhere: as UTF-8 bytes, rising.

    >>> query_order(["q2", "q10", "Q1"])
    ['Q1', 'q10', 'q2']
    """
    return sorted(queries)  # by code points, which sort as their UTF-8 bytes do


def mean(column: Floats, weights: Floats | None = None) -> Any:
    """The mean over the queries that have a value; NaN when none has. Columns and weights as `Aggregation.combine`."""
    defined = ~np.isnan(column)
    values = np.where(defined, column, 0.0)
    if weights is None:
        sums, sizes = in_order(values), defined.sum(axis=0)
    else:
        sums, sizes = weights @ values, weights @ defined.astype(np.float64)
    return np.divide(sums, sizes, out=np.full_like(sums, np.nan), where=sizes > 0)[()]


def in_order(values: Floats) -> Any:
    """The sum over the first axis, one value after the other."""
    return np.cumsum(values, axis=0)[-1] if len(values) else np.zeros(values.shape[1:])[()]


def _value_of_means(columns: Columns, weights: Floats | None) -> Any:
    p_miss, weighted_p_fa = columns
    return 1.0 - mean(p_miss, weights) - mean(weighted_p_fa, weights)


MEAN = Aggregation("mean over queries", lambda columns, weights: mean(columns[0], weights))
SUM = Aggregation(
    "sum over queries", lambda columns, weights: in_order(columns[0]) if weights is None else weights @ columns[0]
)
GEOMETRIC_MEAN = Aggregation(
    "geometric mean over queries, values below 0.00001 raised to it",
    lambda columns, weights: np.exp(mean(np.log(np.maximum(columns[0], GEOMETRIC_FLOOR)), weights)),
)
VALUE_OF_MEANS = Aggregation(
    "1 − mean P_miss − β · mean P_fa, each mean over the queries that the policy counts",
    _value_of_means,
    lambda columns: 1.0 - columns[0] - columns[1],
)
WHOLE_RUN = Aggregation(
    "defined on the whole run, not on its queries", lambda _columns, _weights: math.nan, has_interval=False
)
