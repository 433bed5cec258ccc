from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from leaderboard.statistics import wilcoxon


def by_definition(differences):
    """Every way to give the ranks signs, one after the other."""
    differences = [d for d in differences if d != 0]
    sizes = [abs(d) for d in differences]
    ranks = [sum(other < size for other in sizes) + (sizes.count(size) + 1) / 2 for size in sizes]
    middle = sum(ranks) / 2
    away = abs(sum(rank for rank, d in zip(ranks, differences, strict=True) if d > 0) - middle)
    sums = [
        sum(rank for rank, sign in zip(ranks, signs, strict=True) if sign)
        for signs in product((0, 1), repeat=len(ranks))
    ]
    return sum(abs(total - middle) >= away for total in sums) / len(sums)


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=9))
@settings(max_examples=60, deadline=None)
def test_small_cases_with_ties_and_zeros_are_exact(differences):
    result = wilcoxon(np.array(differences, dtype=float), np.zeros(len(differences)))
    assert result.exact
    assert result.p == pytest.approx(by_definition(differences))


@pytest.mark.parametrize("queries", [5, 12, 40])
def test_it_agrees_with_scipys_exact_test(queries):
    draw = np.random.default_rng(queries)
    first, second = draw.random(queries), draw.random(queries)
    theirs = stats.wilcoxon(first, second, method="exact")
    ours = wilcoxon(first, second)
    assert ours.statistic == theirs.statistic
    assert ours.p == pytest.approx(theirs.pvalue)


def test_it_agrees_with_scipys_approximation_on_many_queries_with_ties():
    draw = np.random.default_rng(9)
    first, second = draw.integers(0, 50, 900) / 64, draw.integers(2, 52, 900) / 64
    theirs = stats.wilcoxon(first, second, method="asymptotic", correction=False)
    ours = wilcoxon(first, second)
    assert not ours.exact
    assert ours.statistic == theirs.statistic
    assert ours.p == pytest.approx(theirs.pvalue)


def test_the_exact_value_and_the_approximation_meet_where_one_takes_over():
    draw = np.random.default_rng(4)
    difference = draw.normal(0.1, 1, 300)
    exact = wilcoxon(difference, np.zeros(300))
    approximate = stats.wilcoxon(difference, method="asymptotic", correction=False)
    assert exact.exact
    assert exact.p == pytest.approx(approximate.pvalue, abs=1e-4)


def test_differences_that_are_equal_but_for_rounding_share_a_rank():
    first = np.array([0.3, 0.2, 0.9])  # less second: 0.1 up to the last bit, 0.1, −0.1
    second = np.array([0.2, 0.1, 1.0])
    assert wilcoxon(first, second).p == by_definition([1, 1, -1]) == 1.0
    assert wilcoxon(first, second).statistic == 2.0


def test_it_is_the_same_for_both_orders_of_the_systems():
    draw = np.random.default_rng(1)
    first, second = draw.random(30), draw.random(30)
    assert wilcoxon(first, second) == wilcoxon(second, first)


def test_degenerate_pairs_have_defined_answers():
    same = np.array([0.1, 0.7])
    assert wilcoxon(same, same).p == 1.0
    assert wilcoxon(np.array([0.9]), np.array([0.1])).p == 1.0
    nothing = wilcoxon(np.array([np.nan]), np.array([0.1]))
    assert (nothing.p, nothing.left_out, nothing.reason) == (None, 1, "no query has a value for both systems")
