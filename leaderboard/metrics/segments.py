"""Arithmetic within queries, on columns that hold all queries one after the other.

Sums run in order, as trec_eval's do: pairwise sums differ in the last digits, and the last digit of a figure is read.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Numbers = NDArray[np.integer[Any] | np.floating[Any]]


def count(query: Ints, queries: int) -> Ints:
    """int64[Q]: how often each query occurs in `query`.

    >>> count(np.array([0, 0, 2]), 3)
    array([2, 0, 1])
    """
    return np.bincount(query, minlength=queries).astype(np.int64, copy=False)


def total(query: Ints, amount: Floats, queries: int) -> Floats:
    """float64[Q]: the sum of `amount` over each query.

    >>> total(np.array([0, 0, 2]), np.array([1.0, 2.0, 5.0]), 3)
    array([3., 0., 5.])
    """
    return np.bincount(query, weights=amount, minlength=queries).astype(np.float64, copy=False)


def starts(query: Ints, queries: int) -> Ints:
    """int64[Q+1]: where each query starts in `query`, which never falls.

    >>> starts(np.array([0, 0, 2]), 3)
    array([0, 2, 2, 3])
    """
    return np.searchsorted(query, np.arange(queries + 1))


def opens(*columns: Ints) -> Ints:
    """int64[n]: where stretches of rows start that are the same in all columns.

    >>> opens(np.array([4, 4, 7]))
    array([0, 2])
    """
    changes = np.ones(len(columns[0]), np.bool_)
    changes[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return np.flatnonzero(changes)


def share(part: Numbers, whole: Numbers) -> Floats:
    """float64: part / whole, 0 where whole is 0.

    >>> share(np.array([1, 1]), np.array([2, 0]))
    array([0.5, 0. ])
    """
    return np.divide(part, whole, out=np.zeros(len(part)), where=np.asarray(whole) != 0)


def running(query: Ints, amount: Floats, step: np.ufunc = np.add, *, backwards: bool = False) -> Floats:
    """float64[n]: `step` accumulated within each query up to and with each element (from the end on: backwards).

    query never falls. Each query is summed on its own, so its rounding does not depend on the queries before it.

    >>> running(np.array([0, 0, 1]), np.array([1.0, 2.0, 5.0]))
    array([1., 3., 5.])
    """
    # A table with one row per query, for queries of similar length together, so that one long query costs no memory in
    # the rows of short ones: each row is at least half full.
    if not len(query):
        return amount
    first = opens(query)
    sizes = np.diff(np.append(first, len(query)))
    bits = np.frexp(sizes)[1]
    if bits.min() == bits.max():
        return _accumulated(sizes, amount, step, backwards)
    done = np.empty(len(query))
    of_each = np.repeat(bits, sizes)
    for like in np.flatnonzero(np.bincount(bits)):  # np.unique would import masked arrays
        here = of_each == like
        done[here] = _accumulated(sizes[bits == like], amount[here], step, backwards)
    return done


def _accumulated(sizes: Ints, amount: Floats, step: np.ufunc, backwards: bool) -> Floats:
    """`step` accumulated along rows of these sizes, in one table as wide as the longest."""
    row = np.repeat(np.arange(len(sizes)), sizes)
    column = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    if backwards:
        column = sizes[row] - 1 - column
    table = np.zeros((len(sizes), int(sizes.max())))
    table[row, column] = amount
    return np.asarray(step.accumulate(table, axis=1, out=table)[row, column])
