from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from leaderboard.errors import BadInput
from leaderboard.statistics import randomisation_test

# Multiples of 1/8 so that the slow definition below sums without rounding.
EIGHTHS = st.integers(-8, 8).map(lambda eighth: eighth / 8)


def by_definition(differences):
    """All 2^n ways to swap the two systems, one after the other."""
    observed = abs(sum(differences))
    sums = [
        abs(sum(sign * d for sign, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return sum(size >= observed for size in sums) / len(sums)


def test_three_queries_won_by_the_same_amount_give_a_quarter():
    result = randomisation_test(np.array([0.5, 0.75, 1.0]), np.array([0.25, 0.5, 0.75]))
    assert (result.p, result.statistic, result.queries, result.exact) == (0.25, 0.25, 3, True)
    assert result.resamples is None
    assert result.seed is None


@given(st.lists(EIGHTHS, min_size=1, max_size=9))
@settings(max_examples=60, deadline=None)
def test_few_queries_are_enumerated(differences):
    result = randomisation_test(np.array(differences), np.zeros(len(differences)))
    assert result.exact
    assert result.p == pytest.approx(by_definition(differences))


def test_it_agrees_with_scipys_exact_permutation_test():
    draw = np.random.default_rng(5)
    first, second = draw.random(12), draw.random(12)
    theirs = stats.permutation_test(
        (first, second), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf
    )
    ours = randomisation_test(first, second)
    assert ours.p == pytest.approx(theirs.pvalue, abs=1e-12)
    assert ours.statistic == pytest.approx(theirs.statistic)


def test_many_queries_are_drawn_and_come_close_to_the_exact_value():
    # 36 queries won by 1 and 20 lost by 1: |sum| >= 16 means at least 36 or at most 20 heads of 56 coins.
    first = np.array([1.0] * 36 + [0.0] * 20)
    result = randomisation_test(first, 1.0 - first, resamples=20_000)
    exact = 2 * stats.binom.sf(35, 56, 0.5)
    assert (result.exact, result.resamples, result.seed) == (False, 20_000, 1)
    assert abs(result.p - exact) < 4 * np.sqrt(exact * (1 - exact) / 20_000)


def test_a_drawn_p_is_never_zero():
    result = randomisation_test(np.ones(50), np.zeros(50), resamples=999)
    assert result.p == 1 / 1000


def test_neither_the_order_of_the_queries_nor_that_of_the_systems_changes_p():
    draw = np.random.default_rng(2)
    first, second = draw.random(60), draw.random(60)
    order = draw.permutation(60)
    p = randomisation_test(first, second, resamples=500).p
    assert randomisation_test(first[order], second[order], resamples=500).p == p
    assert randomisation_test(second, first, resamples=500).p == p
    assert randomisation_test(second, first).statistic == pytest.approx(-randomisation_test(first, second).statistic)


def test_the_same_seed_gives_the_same_p_and_another_seed_another():
    draw = np.random.default_rng(3)
    first, second = draw.random(40), draw.random(40)
    p = [randomisation_test(first, second, resamples=997, seed=seed).p for seed in (4, 4, 5)]
    assert p[0] == p[1] != p[2]


def test_drawing_in_several_blocks_counts_every_resample(monkeypatch):
    first = np.array([1.0] * 36 + [0.0] * 20)
    whole = randomisation_test(first, 1.0 - first, resamples=5000).p
    monkeypatch.setattr("leaderboard.statistics.randomisation.CELLS", 56 * 300)
    assert randomisation_test(first, 1.0 - first, resamples=5000).p == whole


def test_an_undefined_query_is_left_out_and_counted():
    first = np.array([0.5, np.nan, 1.0, 0.75])
    second = np.array([0.25, 0.5, np.nan, 0.5])
    result = randomisation_test(first, second)
    assert (result.p, result.queries, result.left_out) == (0.5, 2, 2)


@pytest.mark.parametrize("values", [[0.3], [0.3, 0.1, 0.9], [0.5] * 40])
def test_identical_systems_give_p_one(values):
    result = randomisation_test(np.array(values), np.array(values))
    assert (result.p, result.statistic, result.reason) == (1.0, 0.0, None)


def test_one_query_gives_p_one():
    assert randomisation_test(np.array([0.9]), np.array([0.1])).p == 1.0


def test_without_a_common_query_there_is_no_p_but_a_reason():
    result = randomisation_test(np.array([0.9, np.nan]), np.array([np.nan, 0.1]))
    assert (result.p, result.statistic, result.queries, result.left_out) == (None, None, 0, 2)
    assert result.reason == "no query has a value for both systems"


def test_sums_that_differ_by_rounding_only_count_as_equal():
    # .1 + .2 and .3 differ in the last bit; every one of the eight sums with |sum| = .6 or 0 must be seen as such.
    first = np.array([0.1, 0.2, 0.0])
    second = np.array([0.0, 0.0, 0.3])
    assert randomisation_test(first, second).p == 1.0
    assert randomisation_test(first, -second).p == 0.25


def test_no_resamples_and_unequal_lengths_are_refused():
    with pytest.raises(BadInput, match="at least one resample is needed; this asks for 0"):
        randomisation_test(np.zeros(3), np.ones(3), resamples=0)
    with pytest.raises(ValueError, match="the same queries"):
        randomisation_test(np.zeros(3), np.ones(4))
