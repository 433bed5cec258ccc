from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from leaderboard.errors import BadInput
from leaderboard.statistics import effect_sizes, randomisation_test
from leaderboard.statistics.comparison import paired_t, wilcoxon

# Multiples of 1/8 so that the slow definition below sums without rounding.


def test_many_queries_are_drawn_and_come_close_to_the_exact_value():
    # 36 queries won by 1 and 20 lost by 1: |sum| >= 16 means at least 36 or at most 20 heads of 56 coins.
    first = np.array([1.0] * 36 + [0.0] * 20)
    result = randomisation_test(first, 1.0 - first, resamples=20_000)
    exact = 2 * stats.binom.sf(35, 56, 0.5)
    assert (result.exact, result.resamples, result.seed) == (False, 20_000, 1)
    assert abs(result.p - exact) < 4 * np.sqrt(exact * (1 - exact) / 20_000)


def test_neither_the_order_of_the_queries_nor_that_of_the_systems_changes_p():
    draw = np.random.default_rng(2)
    first, second = draw.random(60), draw.random(60)
    order = draw.permutation(60)
    p = randomisation_test(first, second, resamples=500).p
    assert randomisation_test(first[order], second[order], resamples=500).p == p
    assert randomisation_test(second, first, resamples=500).p == p
    assert randomisation_test(second, first).statistic == pytest.approx(-randomisation_test(first, second).statistic)


def test_an_undefined_query_is_left_out_and_counted_and_without_any_other_there_is_no_p_but_a_reason():
    first = np.array([0.5, np.nan, 1.0, 0.75])
    second = np.array([0.25, 0.5, np.nan, 0.5])
    result = randomisation_test(first, second)
    assert (result.p, result.queries, result.left_out) == (0.5, 2, 2)
    none = randomisation_test(first[1:3], second[1:3])
    assert (none.p, none.statistic, none.queries, none.left_out) == (None, None, 0, 2)
    assert none.reason == "no query has a value for both systems"


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


@pytest.mark.parametrize("queries", [2, 3, 10, 250])
def test_t_agrees_with_scipy(queries):
    draw = np.random.default_rng(queries)
    first, second = draw.random(queries), draw.random(queries)
    theirs = stats.ttest_rel(first, second)
    ours = paired_t(first, second)
    assert ours.statistic == pytest.approx(theirs.statistic)
    assert ours.p == pytest.approx(theirs.pvalue)
    assert ours.queries == queries


def test_what_has_no_spread_has_no_p_but_a_reason():
    one = paired_t(np.array([0.5]), np.array([0.25]))
    same_amount = paired_t(np.array([0.3, 0.4, 0.9]), np.array([0.2, 0.3, 0.8]))  # 0.1 each, but for rounding
    neither = paired_t(np.array([np.nan]), np.array([0.25]))
    assert [result.p for result in (one, same_amount, neither)] == [None, None, None]
    assert one.reason == "one query has no spread"
    assert same_amount.reason == "every query differs by the same amount: there is no spread"
    assert neither.reason == "no query has a value for both systems"


def p_of_all_signs(differences):
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
def test_wilcoxon_of_small_cases_with_ties_and_zeros_is_exact(differences):
    result = wilcoxon(np.array(differences, dtype=float), np.zeros(len(differences)))
    assert result.exact
    assert result.p == pytest.approx(p_of_all_signs(differences))


def test_wilcoxon_agrees_with_scipys_approximation_on_many_queries_with_ties():
    draw = np.random.default_rng(9)
    first, second = draw.integers(0, 50, 900) / 64, draw.integers(2, 52, 900) / 64
    theirs = stats.wilcoxon(first, second, method="asymptotic", correction=False)
    ours = wilcoxon(first, second)
    assert not ours.exact
    assert ours.statistic == theirs.statistic
    assert ours.p == pytest.approx(theirs.pvalue)


def test_wilcoxon_of_degenerate_pairs_has_defined_answers():
    same = np.array([0.1, 0.7])
    assert wilcoxon(same, same).p == 1.0
    assert wilcoxon(np.array([0.9]), np.array([0.1])).p == 1.0
    nothing = wilcoxon(np.array([np.nan]), np.array([0.1]))
    assert (nothing.p, nothing.left_out, nothing.reason) == (None, 1, "no query has a value for both systems")


def test_effect_sizes_by_hand():
    # differences .5, .25, 0, −.25: mean .125, variance (.375² + .125² + .125² + .375²) / 3
    result = effect_sizes(np.array([1.0, 0.5, 0.5, 0.25]), np.array([0.5, 0.25, 0.5, 0.5]))
    assert result.difference == 0.125
    assert result.d_z == pytest.approx(0.125 / (0.3125 / 3) ** 0.5)
    assert (result.better, result.worse, result.tied, result.queries) == (2, 1, 1, 4)
    assert result.dominance == 0.25


def test_effect_sizes_where_lower_is_better_a_smaller_value_wins_and_the_difference_keeps_its_sign():
    result = effect_sizes(np.array([0.1, 0.2]), np.array([0.4, 0.3]), lower_is_better=True)
    assert (result.better, result.worse, result.dominance) == (2, 0, 1.0)
    assert result.difference == pytest.approx(-0.2)
    assert result.d_z < 0


def test_degenerate_pairs_have_defined_effect_sizes():
    same = np.array([0.5, 0.25])
    assert (effect_sizes(same, same).d_z, effect_sizes(same, same).tied) == (0.0, 2)
    assert effect_sizes(same + 0.25, same).d_z is None  # by the same amount everywhere
    assert effect_sizes(np.array([0.5]), np.array([0.25])).d_z is None
    nothing = effect_sizes(np.array([np.nan, 0.5]), np.array([0.5, np.nan]))
    assert (nothing.difference, nothing.d_z, nothing.dominance) == (None, None, None)
    assert (nothing.queries, nothing.left_out, nothing.reason) == (0, 2, "no query has a value for both systems")
