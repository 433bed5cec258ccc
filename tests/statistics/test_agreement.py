"""κ of two sources of judgments, against its definition, written down document by document."""

from itertools import product

import numpy as np
import pytest

from leaderboard.statistics import Kappa, distances, kappa
from trials.judging_agreement import coverage

GRADES = np.arange(4)
APART = {
    "relevant": lambda one, other: float((one >= 2) != (other >= 2)),
    "linear": lambda one, other: float(abs(one - other)),
    "quadratic": lambda one, other: float((one - other) ** 2),
}


def tables_of(pairs):
    """pairs: of each query the two grades of each document."""
    tables = np.zeros((len(pairs), 4, 4), np.int64)
    for table, documents in zip(tables, pairs, strict=True):
        for one, other in documents:
            table[one, other] += 1
    return tables


def by_definition(documents, apart):
    """1 − the distance of the two grades of a document over that of any one's first and any other's second grade."""
    observed = np.mean([apart(*grades) for grades in documents])
    expected = np.mean([apart(one, other) for (one, _), (_, other) in product(documents, documents)])
    return 1 - observed / expected


@pytest.mark.parametrize("name", APART)
def test_kappa_is_its_definition(name):
    draw = np.random.default_rng(2)
    pairs = [[(one, min(3, max(0, one + draw.integers(-1, 2)))) for one in draw.integers(0, 4, 9)] for _ in range(12)]
    found = kappa(tables_of(pairs), distances(GRADES, 2)[name])
    assert found.value == pytest.approx(
        by_definition([each for query in pairs for each in query], APART[name]), abs=1e-12
    )
    assert found.low < found.value < found.high


def test_kappa_worked_out_by_hand():
    """35 of 50 alike; by chance half would be."""
    table = np.array([[[20, 5], [10, 15]]])
    assert kappa(table, 1.0 - np.eye(2)).value == pytest.approx((0.7 - 0.5) / (1 - 0.5))


def test_no_kappa_where_both_give_one_grade_only_and_no_interval_where_nothing_varies():
    apart = distances(GRADES, 2)["linear"]
    assert kappa(tables_of([[(1, 1)], [(1, 1)]]), apart) == Kappa(None)
    # Whether relevant or not is one and the same here, though grades are not.
    assert kappa(tables_of([[(0, 1)], [(1, 0)]]), distances(GRADES, 2)["relevant"]) == Kappa(None)
    assert kappa(tables_of([[(0, 0), (2, 2)]] * 8), apart) == Kappa(1.0)
    assert kappa(tables_of([[(0, 0), (2, 2), (1, 2)]] * 4), apart).low is None  # too few queries


def test_queries_without_a_document_in_common_change_nothing():
    pairs = [[(0, 0), (2, 1)], [(1, 1), (3, 3)], [(0, 2), (2, 2)], [(1, 0)], [(3, 2), (0, 0)], [(2, 2)]]
    apart = distances(GRADES, 2)["linear"]
    assert kappa(tables_of([*pairs, []]), apart) == kappa(tables_of(pairs), apart)


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    _, held, by_percentiles = coverage(0.7, queries=10, campaigns=120, seed=1)
    assert (held >= 0.88).all()
    assert held.mean() > by_percentiles.mean()
